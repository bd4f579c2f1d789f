"""How a run got here: its curves, one sentence while it learned, and any sentence at each checkpoint."""

from __future__ import annotations

from dataclasses import dataclass

from jumok.decoding.batches import search
from jumok.decoding.sentence import Sentence
from jumok.errors import JumokError
from jumok.inspection.curves import points_of, thin_out
from jumok.inspection.subject import Subject
from jumok.models import build_model
from jumok.storage.checkpoints import load_weights
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import PAD_ID

_CURVES = {
    "train_loss": ("train", "loss"),
    "valid_loss": ("validate", "loss"),
    "valid_bleu": ("validate", "bleu"),
    "learning_rate": ("train", "learning_rate"),
}
_MAX_POINTS = 200


@dataclass(frozen=True)
class Spoken:
    """What was said at a step, and how it scored, where that is known."""

    step: int
    text: str
    score: float | None


def curves(run: RunDirectory) -> dict[str, list[tuple[float, float]]]:
    """Figures over the steps, by name."""
    events = run.metrics()
    return {name: list(thin_out(points_of(events, *which), _MAX_POINTS)) for name, which in _CURVES.items()}


def learned_sentence(run: RunDirectory) -> tuple[str, list[Spoken]]:
    """A validation sentence, and what the model made of it at each validation."""
    examples = [event for event in run.metrics() if event.get("event") == "validate" and event.get("example")]
    if not examples:
        return "", []
    return examples[0]["example"][0], [Spoken(e["step"], e["example"][1], e.get("bleu")) for e in examples]


def at_checkpoints(subject: Subject, run: RunDirectory, source: str) -> tuple[list[Spoken], list[str]]:
    """The same sentence translated with the weights of each kept checkpoint, oldest first.

    Beside them stands what is wrong with those that are damaged, or were removed while we look.
    """
    sentence = Sentence(subject.source_ids(source))
    sizes = subject.src_tokenizer.vocab_size, subject.tgt_tokenizer.vocab_size
    spoken, problems = [], []
    for step in run.checkpoints.steps():
        model = build_model(subject.config.model, *sizes, PAD_ID)
        try:
            load_weights(model, run.checkpoints.load_model(step), str(run.checkpoints.path(step)))
        except JumokError as error:
            problems.append(str(error))
            continue
        best = search(model.to(subject.device), [sentence], subject.config.decoding)[0][0]
        spoken.append(Spoken(step, subject.text(best.ids), best.score))
    return spoken, problems
