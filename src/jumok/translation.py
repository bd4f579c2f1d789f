"""What is asked of a translator, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass

from jumok.decoding.sampling import Sampling
from jumok.errors import UsageError
from jumok.text.glossary import Glossary


@dataclass(frozen=True)
class ScoredText:
    """One way to say it."""

    text: str
    score: float  # log-probability over the length penalty; the mean where a long text was split
    is_complete: bool = True
    pieces: tuple[str, ...] | None = None  # on request, the end mark of each part included
    token_scores: tuple[float, ...] | None = None  # on request: the log-probability of each of them
    alignment: tuple[tuple[int, int], ...] | None = None  # words of source and target that belong together


@dataclass(frozen=True)
class Translation:
    """A source and its translations, best first."""

    source: str
    hypotheses: list[ScoredText]

    @property
    def text(self) -> str:
        """The best one."""
        return self.hypotheses[0].text


@dataclass(frozen=True)
class Options:
    """How to translate; what is None is as the run's configuration says."""

    beam: int | None = None
    n_best: int = 1
    patience: float | None = None
    length_penalty: float | None = None
    coverage_penalty: float | None = None
    no_repeat_ngram: int | None = None
    min_length: int | None = None
    replace_unknown: bool | None = None
    sampling: Sampling | None = None
    prefix: str = ""  # the translation begins with this text
    glossary: Glossary | None = None
    with_alignment: bool = False
    with_token_scores: bool = False
    bayes_risk: int = 0  # draw so many candidates, take the one most like the others by chrF

    def __post_init__(self) -> None:
        if self.n_best < 1:
            raise UsageError(f"n_best = {self.n_best} must be at least 1")
        if self.beam is not None and self.beam < 1:
            raise UsageError(f"beam = {self.beam} must be at least 1")
        if self.bayes_risk and self.sampling is None:
            raise UsageError("bayes_risk chooses among draws: give sampling=jumok.Sampling()")
        if self.bayes_risk and self.n_best > self.bayes_risk:
            raise UsageError(f"n_best = {self.n_best} needs as many draws, but bayes_risk = {self.bayes_risk}")
