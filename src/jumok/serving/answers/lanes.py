"""Training against prediction: the gold prefix, the model's own prefix, and that with a word overwritten."""

from __future__ import annotations

import math

from jumok.errors import UsageError
from jumok.inspection.predictions import Prediction, Said, free_run, predictions
from jumok.inspection.subject import Pair, Subject
from jumok.serving.answers.look import Answer, Look
from jumok.serving.answers.words import NUM_CONSIDERED, another_word, piece_of
from jumok.serving.questions import Change, LanesQuestion


def lanes(look: Look, question: LanesQuestion) -> Answer:
    """Under the gold prefix, under the model's own, and with one word of that overwritten."""
    subject = look.subject
    pair = subject.pair(question.text, question.target)
    found = predictions(subject, pair, NUM_CONSIDERED)
    said, ids = free_run(subject, pair.src_ids)
    answer: Answer = {
        "gold": _gold_lane(pair, found),
        "free": {"pieces": [_step(one) for one in said], "text": subject.text(ids)},
        "default_change": another_word(subject, pair, found),
    }
    if question.overwrite is not None:
        answer["overwritten"] = _overwritten_lane(subject, pair, ids, question.overwrite)
    return answer


def _gold_lane(pair: Pair, found: list[Prediction]) -> Answer:
    return {
        "pieces": [
            {
                "reads": reads,
                "says": one.top[0].label,
                "p": one.top[0].probability,
                "is_right": one.top[0].piece == one.gold.piece,
                "gold": one.gold.label,
            }
            for reads, one in zip(pair.tgt_in_labels, found, strict=True)
        ],
        "loss": -sum(math.log(max(one.gold.probability, 1e-30)) for one in found) / len(found),
    }


def _overwritten_lane(subject: Subject, pair: Pair, ids: list[int], change: Change) -> Answer:
    if change.position >= len(ids):
        raise UsageError(f"position {change.position}: the model says {len(ids)} pieces; they are counted from 0")
    said, ids = free_run(subject, pair.src_ids, [*ids[: change.position], piece_of(subject, change.piece)])
    steps = [_step(one) for one in said]
    steps[change.position]["is_forced"] = True
    return {"pieces": steps, "text": subject.text(ids)}


def _step(said: Said) -> Answer:
    return {"reads": said.reads, "says": said.says.label, "p": said.says.probability, "is_forced": False}
