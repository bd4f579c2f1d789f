"""Words that a reader puts in the place of others, as pieces of the target's vocabulary."""

from __future__ import annotations

from jumok.errors import UsageError
from jumok.inspection.predictions import Prediction
from jumok.inspection.subject import Pair, Subject
from jumok.text.tokenizer import UNK_ID

NUM_CONSIDERED = 20  # candidates among which there is another word


def piece_of(subject: Subject, text: str) -> int:
    """The first piece of a word as the target's vocabulary spells it."""
    ids = subject.tgt_tokenizer.encode([text])[0]
    if not ids or ids[0] == UNK_ID:
        raise UsageError(f"{text!r}: the target vocabulary has no piece for it; write another word")
    return ids[0]


def another_word(subject: Subject, pair: Pair, found: list[Prediction]) -> str:
    """A word to put in the place of another: the next best at the last position that is a word."""
    position = max(0, len(pair.tgt_ids) - 2)
    own = pair.tgt_ids[position] if pair.tgt_ids else None
    for candidate in found[position].top:
        word = candidate.label.replace("▁", "")
        ids = subject.tgt_tokenizer.encode([word])[0]
        if word.isalnum() and ids and ids[0] not in (UNK_ID, own):
            return word
    return "x"
