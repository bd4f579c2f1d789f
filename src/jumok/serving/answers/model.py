"""What every view needs to know of the model, and what its figure 1 shows."""

from __future__ import annotations

from dataclasses import asdict

from jumok.inspection.history import learned_sentence
from jumok.inspection.subject import MAX_PIECES
from jumok.models.transformer import Transformer
from jumok.serving.answers.look import Answer, Look, attentions_of
from jumok.serving.blocks import blocks_of
from jumok.serving.questions import MAX_CHARACTERS
from jumok.text.languages import language

_FIGURES = ("bleu", "chrf", "scored_on", "steps", "train_seconds")  # of result.json


def describe(look: Look) -> Answer:
    """Names, numbers, parts, limits, and a sentence to begin with."""
    subject, config = look.subject, look.subject.config
    source, target = language(config.data.source), language(config.data.target)
    result = look.run.result() or {}
    return {
        "name": config.name,
        "architecture": config.model.architecture,
        "source": {"code": source.code, "name": source.name},
        "target": {"code": target.code, "name": target.name},
        "numbers": _numbers(look),
        "position": getattr(config.model, "position", "none"),
        "params": subject.model.num_parameters(),
        "blocks": [asdict(block) for block in blocks_of(subject.model)],
        "attentions": attentions_of(subject),
        "result": {name: result[name] for name in _FIGURES if name in result},
        "decoding": {"beam": config.decoding.beam, "length_penalty": config.decoding.length_penalty},
        "checkpoints": look.run.checkpoints.steps(),
        "example": {"source": example(look)},
        "limits": {"characters": MAX_CHARACTERS, "pieces": MAX_PIECES},
    }


def _numbers(look: Look) -> Answer:
    subject = look.subject
    numbers = subject.config.model.model_dump(exclude={"architecture", "preset"})
    numbers["src_vocab_size"] = subject.src_tokenizer.vocab_size
    numbers["vocab_size"] = subject.tgt_tokenizer.vocab_size
    if isinstance(subject.model, Transformer):
        numbers["d_k"] = subject.model.config.heads_width // subject.model.config.num_heads
    return numbers


def example(look: Look) -> str:
    """A sentence to begin with: the one that the training watched, else something that any vocabulary can spell."""
    source, _ = learned_sentence(look.run)
    return source or "1 2 3"
