"""PosUnk: an unknown word of a translation is replaced through the source word that it came from.

Paper: Luong et al. 2015, "Addressing the Rare Word Problem in Neural Machine Translation", section 3 (a dictionary,
else a copy) and 3.3 (PosUnk); Zhou et al. 2016, section 4.4.2.
Differs: where an unknown word came from is read off the attention, instead of positions that the model learns to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jumok.config import DecodingConfig
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.look_back import look_back
from jumok.decoding.sentence import Sentence
from jumok.errors import UsageError
from jumok.models.interface import TranslationModel
from jumok.text.tokenizer import UNK_ID


def sources_of_unknowns(
    model: TranslationModel,
    sentences: Sequence[Sentence],
    hypotheses: Sequence[Sequence[Hypothesis]],
    config: DecodingConfig,
) -> list[list[list[int]]]:
    """For each unknown of each hypothesis the place of the source piece that it looked at most, the end mark aside."""
    places: list[list[list[int]]] = [[[] for _ in of_sentence] for of_sentence in hypotheses]
    wanted = [(s, h) for s, of in enumerate(hypotheses) for h, one in enumerate(of) if UNK_ID in one.ids]
    if not wanted:
        return places
    try:
        seen = look_back(model, [sentences[s] for s, _ in wanted], [[hypotheses[s][h]] for s, h in wanted], config)
    except UsageError as error:
        raise UsageError(f"decoding.replace_unknown = true: {error}") from None
    for (s, h), [hypothesis] in zip(wanted, seen, strict=True):
        assert hypothesis.attention is not None
        looks = hypothesis.attention[:, : len(sentences[s].ids)]
        places[s][h] = [int(looks[t].argmax()) for t, piece in enumerate(hypothesis.ids) if piece == UNK_ID]
    return places


def replacement(piece: str, lexicon: Mapping[str, str]) -> str:
    """What a source piece becomes in the target: the lexicon's translation, else the piece itself."""
    word = piece.removeprefix("▁")
    return f"▁{lexicon[word]}" if word in lexicon else piece
