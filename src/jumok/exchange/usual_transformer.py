"""What other software knows: the Transformer, without the variants that are there to be learned from."""

from __future__ import annotations

from jumok.errors import UsageError
from jumok.models.transformer import Transformer
from jumok.storage.run_directory import RunDirectory


def usual_transformer(run: RunDirectory, form: str) -> Transformer:
    """The run's model, which can be written in another form; any other is refused."""
    model = run.load_model()
    if not isinstance(model, Transformer):
        raise UsageError(f"{run.path}: only the Transformer can be written as {form}")
    unusual = model.config.unusual()
    if unusual is not None:
        raise UsageError(f"{run.path}: a Transformer with {unusual} cannot be written as {form}; use the run itself")
    return model
