"""What norm and residual connections hold together."""

from __future__ import annotations

from dataclasses import asdict

from jumok.inspection.stream import compare_norms, stream_of
from jumok.inspection.what_if import gradient_by_layer
from jumok.serving.answers.look import Answer, Look
from jumok.serving.questions import SentenceQuestion


def stream(look: Look, question: SentenceQuestion) -> Answer:
    """Sizes after every sub-layer, gradients with and without residual connections, and two kinds of norm."""
    subject = look.subject
    pair = subject.pair(question.text, question.target)
    others = [pair.src_ids[::-1], pair.src_ids[: max(1, len(pair.src_ids) // 2)]]
    return {
        "stream": {side: [asdict(point) for point in points] for side, points in stream_of(subject, pair).items()},
        "gradients": {
            "with": gradient_by_layer(subject, pair),
            "without": gradient_by_layer(subject, pair, use_residual=False),
        },
        "norms": asdict(compare_norms(subject, pair, others)),
    }
