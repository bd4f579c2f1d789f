"""What a comparison has found: written by the runner, read by whatever shows it.

`runs/NAME/comparison.json` is `Comparison.to_json()`. Figures that are not known, or not comparable, are None.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

from jumok.evaluation.cost import flops_by_time

Status = Literal["done", "failed"]


@dataclass(frozen=True)
class LengthScore:
    """BLEU of the test sentences whose source has from `from_words` to `to_words` words, both included."""

    from_words: int
    to_words: int
    num_sentences: int
    bleu: float

    @property
    def words(self) -> str:
        """The range as one reads it."""
        return str(self.from_words) if self.from_words == self.to_words else f"{self.from_words}–{self.to_words}"


@dataclass(frozen=True)
class Difference:
    """BLEU less the baseline's, by paired bootstrap: the 95 % interval of the difference, and p."""

    bleu: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class CurvePoint:
    """One validation of a training: what it had cost by then, and its greedy BLEU."""

    flops: float
    seconds: float
    bleu: float


@dataclass(frozen=True)
class SystemResult:
    """One row of the table."""

    name: str
    title: str
    paper: str  # "Bahdanau et al. 2015"; empty for a system of one's own
    status: Status = "done"
    error: str | None = None  # one line, where it failed
    note: str = ""
    architecture: str = ""  # empty for an ensemble
    members: tuple[str, ...] = ()  # of an ensemble: its cost is the sum of theirs
    bleu: float | None = None
    bleu_interval: float | None = None  # half the width of the 95 % confidence interval
    chrf: float | None = None
    perplexity: float | None = None  # of the validation set, a piece; None where its pieces are not the shared ones
    params: int | None = None
    train_flops: float | None = None  # counted: the matrix products of all updates, the start_from run's included
    train_seconds: float | None = None  # validations included
    train_tokens: int | None = None  # target pieces
    steps: int | None = None
    tokens_per_second: float | None = None  # target pieces in training, validations left out
    sentences_per_second: float | None = None  # in translation, torch engine, the beam of the configuration
    bleu_by_length: tuple[LengthScore, ...] = ()
    difference: Difference | None = None  # None for the baseline itself
    curve: tuple[CurvePoint, ...] = ()
    layers: dict[str, Any] | None = None  # the last "layers" event of metrics.jsonl, with training.record_layers

    @property
    def is_done(self) -> bool:
        """Whether it has figures."""
        return self.status == "done"

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Back from plain values."""
        difference = values.get("difference")
        return cls(
            **{
                **values,
                "members": tuple(values.get("members", ())),
                "bleu_by_length": tuple(LengthScore(**score) for score in values.get("bleu_by_length", ())),
                "difference": Difference(**difference) if difference else None,
                "curve": tuple(CurvePoint(**point) for point in values.get("curve", ())),
            }
        )


@dataclass(frozen=True)
class Machine:
    """What the trainings ran on."""

    device: str  # "cpu, 2 threads", say
    num_devices: int
    sustained_flops: float  # a second, measured with one matrix product of the size of a training step's


@dataclass(frozen=True)
class Comparison:
    """The whole table, in its order."""

    name: str
    source: str
    target: str
    test_set: str  # "test, 1,000 sentences"
    budget: str  # "1.5 minutes", say
    baseline: str  # the name of a system
    machine: Machine
    signature: str  # of BLEU
    systems: tuple[SystemResult, ...]
    with_paper: bool = False  # show the paper's own rows beside
    remark: str = ""  # what a reader of the figures has to know

    @property
    def done(self) -> list[SystemResult]:
        """The systems that have figures."""
        return [system for system in self.systems if system.is_done]

    def paper_flops(self, system: SystemResult) -> float | None:
        """What the training cost in the paper's way of counting: time × devices × sustained FLOPS.

        Paper: Vaswani et al. 2017, section 6.1, footnote 5.
        """
        if system.train_seconds is None:
            return None
        return flops_by_time(system.train_seconds, self.machine.sustained_flops, self.machine.num_devices)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Back from plain values."""
        return cls(
            **{
                **values,
                "machine": Machine(**values["machine"]),
                "systems": tuple(SystemResult.from_json(system) for system in values["systems"]),
            }
        )
