"""Why sinusoids."""

from __future__ import annotations

from jumok.inspection.positions import frequencies, position_tables, similarities
from jumok.serving.answers.look import Answer, Look
from jumok.serving.arrays import pack


def positions(look: Look, length: int) -> Answer:
    """Four ways to tell positions, at the model's width."""
    d_model = look.subject.config.model.d_model
    return {
        "tables": {
            name: {"vectors": pack(table.vectors), "distances": pack(table.distances)}
            for name, table in position_tables(length, d_model).items()
        },
        "frequencies": frequencies(d_model).tolist(),
        "similarities": similarities(length, d_model).tolist(),
    }
