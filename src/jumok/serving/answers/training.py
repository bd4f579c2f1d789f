"""How the model got here."""

from __future__ import annotations

from dataclasses import asdict

from jumok.inspection.history import at_checkpoints, curves, learned_sentence
from jumok.serving.answers.look import Answer, Look
from jumok.serving.questions import SourceQuestion


def training(look: Look) -> Answer:
    """Curves of the run, and its one sentence while it learned."""
    source, spoken = learned_sentence(look.run)
    return {
        "curves": curves(look.run),
        "samples": [{"source": source, "step": one.step, "text": one.text, "bleu": one.score} for one in spoken],
    }


def checkpoints(look: Look, question: SourceQuestion) -> Answer:
    """The same sentence at each kept checkpoint, and what is wrong with those that cannot be read any more."""
    spoken, problems = at_checkpoints(look.subject, look.run, question.text)
    return {"checkpoints": [asdict(one) for one in spoken], "problems": problems}
