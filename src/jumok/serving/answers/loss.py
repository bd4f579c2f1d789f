"""What label smoothing does at one position."""

from __future__ import annotations

import math

from jumok.errors import UsageError
from jumok.inspection.predictions import label_of
from jumok.serving.answers.look import Answer, Look
from jumok.serving.questions import LossQuestion

_NUM_SHOWN = 12  # pieces; the others are summed up as the rest


def loss(look: Look, question: LossQuestion) -> Answer:
    """The target distribution, hard and smoothed, beside the model's.

    Paper: Szegedy et al. 2016, section 7: (1 − ε)·one-hot + ε/V.
    """
    subject, epsilon = look.subject, question.epsilon
    pair = subject.pair(question.text, question.target)
    num_pieces = len(pair.tgt_out_labels)
    if question.position >= num_pieces:
        raise UsageError(f"position {question.position}: the translation has {num_pieces}, counted from 0")
    log_probs = subject.log_probs(pair)[question.position]
    probs, size = log_probs.exp(), log_probs.numel()
    gold = int(pair.batch.tgt_out[0, question.position])
    best = log_probs.topk(min(_NUM_SHOWN, size)).indices.tolist()
    shown = list(dict.fromkeys([gold, *best]))[:_NUM_SHOWN]
    on_each = epsilon / size
    on_gold = 1 - epsilon + on_each
    pieces = [
        {
            "label": label_of(subject, i),
            "is_gold": i == gold,
            "is_rest": False,
            "one_hot": float(i == gold),
            "smoothed": on_gold if i == gold else on_each,
            "model": float(probs[i]),
        }
        for i in shown
    ]
    rest = {
        "label": "",
        "is_gold": False,
        "is_rest": True,
        "one_hot": 0.0,
        "smoothed": on_each * (size - len(shown)),
        "model": max(0.0, 1 - float(probs[shown].sum())),
    }
    on_others = (size - 1) * on_each * math.log(on_each) if on_each else 0.0
    return {
        "pieces": [*pieces, rest],
        "vocab_size": size,
        "loss": -float(log_probs[gold]),
        "loss_smoothed": -(1 - epsilon) * float(log_probs[gold]) - epsilon * float(log_probs.mean()),
        "least": -on_gold * math.log(on_gold) - on_others,  # the entropy of the smoothed target
        "best_probability": on_gold,
    }
