"""What is hidden from whom, and why it is filled with −∞ and not with 0."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jumok.inspection.predictions import label_of
from jumok.inspection.subject import Pair, Subject
from jumok.inspection.trace import HeadRecord
from jumok.inspection.what_if import change_word
from jumok.nn.masks import causal_mask
from jumok.serving.answers.attention import softmax, trace_of
from jumok.serving.answers.look import Answer, Look
from jumok.serving.answers.words import piece_of
from jumok.serving.arrays import pack
from jumok.serving.questions import MasksQuestion

_SHORTER_BY = 2  # pieces of the sentence that is shown with padding


def masks(look: Look, question: MasksQuestion) -> Answer:
    """What is hidden, what three fillings make of one row of scores, and what a changed word moves."""
    subject = look.subject
    subject.transformer  # noqa: B018 - refuses what has no such masks
    pair = subject.pair(question.text, question.target)
    head = trace_of(subject, pair).decoder[0].head(0)
    return {
        "masks": _masks(pair),
        "batch_labels": ["1", "2"],
        "batch_columns": pair.src_labels,
        "softmax": {"labels": pair.tgt_in_labels, **_three_fillings(head)},
        **_change(subject, pair, question),
    }


def _masks(pair: Pair) -> Answer:
    """1 is what may be seen; the batch that needs padding is the sentence and a shorter one."""
    num_src, num_tgt = len(pair.src_labels), len(pair.tgt_in_labels)
    padding = np.ones((2, num_src), np.float32)
    padding[1, max(1, num_src - _SHORTER_BY) :] = 0
    return {
        "padding": pack(padding),
        "causal": pack(causal_mask(num_tgt).float().numpy()),
        "cross": pack(np.ones((num_tgt, num_src), np.float32)),
    }


def _three_fillings(head: HeadRecord) -> Answer:
    """One row in the middle of the first head: scores, what it may see, and its weights under each filling."""
    num_rows = len(head.scores)
    row = min(num_rows - 1, max(1, num_rows // 2))
    visible: NDArray[Any] = head.visible[row]
    scores = head.scores[row] / math.sqrt(head.q.shape[-1])
    weights = {
        "minus_infinity": softmax(np.where(visible, scores, -np.inf)),
        "zero_before": softmax(np.where(visible, scores, 0.0)),
        "zero_after": np.where(visible, softmax(scores), 0.0),
    }
    return {
        "scores": scores.tolist(),
        "visible": visible.tolist(),
        "weights": {fill: shares.tolist() for fill, shares in weights.items()},
    }


def _change(subject: Subject, pair: Pair, question: MasksQuestion) -> Answer:
    if question.change is None:
        return {}
    piece = piece_of(subject, question.change.piece)
    moved = change_word(subject, pair, question.change.position, piece, question.is_causal, masking=question.fill)
    return {
        "changed_label": label_of(subject, piece),
        "predictions": [
            {
                "before": label_of(subject, one.before),
                "after": label_of(subject, one.after),
                "change": one.change,
            }
            for one in moved
        ],
    }
