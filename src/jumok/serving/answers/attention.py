"""Who looks where: every head at once, one head step by step, and the sentence without a head."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jumok.inspection.kinds import pieces_of
from jumok.inspection.labels import label_pieces
from jumok.inspection.predictions import predictions
from jumok.inspection.subject import Pair, Subject
from jumok.inspection.trace import AttentionTrace, trace_batch
from jumok.inspection.what_if import attention_of, silence_head
from jumok.serving.answers.look import Answer, Look, attentions_of
from jumok.serving.answers.words import NUM_CONSIDERED, another_word
from jumok.serving.arrays import pack
from jumok.serving.questions import HeadQuestion, SentenceQuestion

_NUM_SHOWN = 5  # candidates of a position


def forward(look: Look, question: SentenceQuestion) -> Answer:
    """Every head of every layer, and what was predicted at each position."""
    subject = look.subject
    pair = subject.pair(question.text, question.target)
    found = predictions(subject, pair, NUM_CONSIDERED)
    kinds = attentions_of(subject)
    trace = trace_of(subject, pair) if kinds else None
    return {
        "src_labels": pair.src_labels,
        "tgt_in_labels": pair.tgt_in_labels,
        "tgt_out_labels": pair.tgt_out_labels,
        "text": subject.text(pair.tgt_ids),
        "attention": {kind: pack(np.stack([one.weights for one in getattr(trace, kind)])) for kind in kinds},
        "default_change": another_word(subject, pair, found),
        "predictions": [
            {
                "top": [{"label": candidate.label, "p": candidate.probability} for candidate in one.top[:_NUM_SHOWN]],
                "gold": one.gold.label,
                "p": one.gold.probability,
                "entropy": one.entropy,
            }
            for one in found
        ],
    }


def trace_of(subject: Subject, pair: Pair) -> AttentionTrace:
    """All that was attended to in one pass over a pair."""
    return trace_batch(subject.model, subject.src_tokenizer, subject.tgt_tokenizer, pair.batch)


def one_head(look: Look, question: HeadQuestion) -> Answer:
    """One head, from q·k to the weighted values, with and without the division by √d_k."""
    subject, kind, layer, head = look.subject, question.kind, question.layer - 1, question.head - 1
    d_k = attention_of(subject.transformer, kind, layer, head).width // subject.transformer.config.num_heads
    trace = trace_of(subject, subject.pair(question.text, question.target))
    record = getattr(trace, kind)[layer].head(head)
    rows, columns = pieces_of(trace, kind)
    unscaled = softmax(np.where(record.visible, record.scores, -np.inf))
    return {
        "rows": label_pieces(rows),
        "columns": label_pieces(columns),
        **{name: pack(getattr(record, name)) for name in ("q", "k", "v", "scores", "weights", "context")},
        "scaled": pack(record.scores / math.sqrt(d_k)),
        "visible": pack(record.visible.astype(np.float32)),
        "weights_unscaled": pack(unscaled),
        "entropy": _entropy(record.weights),
        "entropy_unscaled": _entropy(unscaled),
    }


def softmax(scores: NDArray[Any]) -> NDArray[Any]:
    """Of each row; a score of −∞ gets nothing."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: NDArray[Any] = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def _entropy(weights: NDArray[Any]) -> list[float]:
    """Bits of each row."""
    logs = np.log2(np.where(weights > 0, weights, 1.0))
    bits: list[float] = (-(weights * logs).sum(axis=-1)).tolist()
    return bits


def silence(look: Look, question: HeadQuestion) -> Answer:
    """The same sentence without one head."""
    subject = look.subject
    pair = subject.pair(question.text, question.target)
    found = silence_head(subject, pair, question.kind, question.layer - 1, question.head - 1)
    return {
        "pieces": pair.tgt_out_labels,
        "before": {"total": sum(found.before), "by_position": found.before},
        "after": {"total": sum(found.after), "by_position": found.after},
        "translation_before": found.translation_before,
        "translation_after": found.translation_after,
    }
