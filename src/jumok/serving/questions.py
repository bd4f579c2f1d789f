"""What the page asks, as it comes over the wire; a field that is wrong is named in the answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from jumok.inspection.subject import MAX_PIECES

MAX_CHARACTERS = 2000
Piece = Annotated[str, Field(min_length=1, max_length=100)]


class Question(BaseModel):
    """A key that nobody knows is a mistake."""

    model_config = ConfigDict(extra="forbid")


class SourceQuestion(Question):
    """About a sentence."""

    text: str = Field(max_length=MAX_CHARACTERS)


class SentenceQuestion(SourceQuestion):
    """About a sentence with its translation, the model's own where none is given."""

    target: str | None = Field(None, max_length=MAX_CHARACTERS)


class TranslateQuestion(SourceQuestion):
    """For the view that translates."""

    beam: int | None = Field(None, ge=1, le=16)
    length_penalty: float | None = Field(None, ge=0, le=5)
    n_best: int = Field(4, ge=1, le=8)


class TokensQuestion(SourceQuestion):
    """For the pieces of one side."""

    side: Literal["source", "target"] = "source"


class HeadQuestion(SentenceQuestion):
    """One head of one layer of one of the three attentions; layers and heads are counted from 1, as on the page."""

    kind: Literal["encoder", "decoder", "cross"]
    layer: int = Field(ge=1)
    head: int = Field(ge=1)


class Change(Question):
    """Another piece in the place of one of the target's; positions are counted from 0."""

    position: int = Field(ge=0)
    piece: Piece


class MasksQuestion(SentenceQuestion):
    """What is hidden, how it is hidden, and what a later word changes."""

    is_causal: bool = True
    fill: Literal["minus_infinity", "zero_before", "zero_after"] = "minus_infinity"
    change: Change | None = None


class LanesQuestion(SentenceQuestion):
    """The gold prefix beside the model's own, and beside that with one word overwritten."""

    overwrite: Change | None = None


class LossQuestion(SentenceQuestion):
    """The loss at one position of the target."""

    position: int = Field(0, ge=0)
    epsilon: float = Field(0.1, ge=0, lt=1)


class BeamQuestion(SourceQuestion):
    """One search."""

    beam: int = Field(4, ge=1, le=10)
    length_penalty: float = Field(0.6, ge=0, le=5)
    force: list[Piece] = Field([], max_length=MAX_PIECES)  # pieces that the translation begins with
