"""A trained run as a translator: text in, text out.

translator = jumok.load("runs/demo")
translator.translate("어제 카페에 갔어요.")           a text in, a text out; a list in, a list out
translator.translate(texts, n_best=3)               a list of Translation, with scores
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from typing import overload

from jumok.config import Config, DecodingConfig
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.sampling import Sampling
from jumok.engines.torch_engine import TorchEngine
from jumok.errors import UsageError
from jumok.nn.device import choose_device
from jumok.storage.run_directory import RunDirectory
from jumok.text.normalization import normalize
from jumok.text.sentences import join_parts, split_long
from jumok.text.tokenizer import Tokenizer

_LINES_AT_A_TIME = 512


@dataclass(frozen=True)
class ScoredText:
    """One way to say it."""

    text: str
    score: float  # log-probability over the length penalty; the mean where a long text was split
    is_complete: bool = True


@dataclass(frozen=True)
class Translation:
    """A source and its translations, best first."""

    source: str
    hypotheses: list[ScoredText]

    @property
    def text(self) -> str:
        """The best one."""
        return self.hypotheses[0].text


class Translator:
    """Translates with a trained run."""

    def __init__(self, config: Config, engine: TorchEngine, src_tokenizer: Tokenizer, tgt_tokenizer: Tokenizer) -> None:
        self.config = config
        self.engine = engine
        self.src_tokenizer = src_tokenizer
        self.tgt_tokenizer = tgt_tokenizer

    @classmethod
    def load(cls, path: str | Path, device: str = "auto") -> Translator:
        """Open a run directory."""
        run = RunDirectory(path)
        model = run.load_model()
        return cls(run.config(), TorchEngine(model, choose_device(device)), *run.tokenizers())

    @overload
    def translate(self, texts: str, *, beam: int | None = ..., sampling: Sampling | None = ...) -> str: ...
    @overload
    def translate(self, texts: list[str], *, beam: int | None = ..., sampling: Sampling | None = ...) -> list[str]: ...
    @overload
    def translate(
        self, texts: str, *, n_best: int, beam: int | None = ..., sampling: Sampling | None = ...
    ) -> Translation: ...
    @overload
    def translate(
        self, texts: list[str], *, n_best: int, beam: int | None = ..., sampling: Sampling | None = ...
    ) -> list[Translation]: ...
    def translate(
        self,
        texts: str | list[str],
        *,
        beam: int | None = None,
        n_best: int | None = None,
        sampling: Sampling | None = None,
    ) -> str | list[str] | Translation | list[Translation]:
        """Translate a text or a list of texts; with `n_best`, return that many hypotheses with their scores."""
        is_single = isinstance(texts, str)
        sources = [texts] if isinstance(texts, str) else list(texts)
        translations = self.translate_scored(sources, beam, 1 if n_best is None else n_best, sampling)
        if n_best is None:
            plain = [translation.text for translation in translations]
            return plain[0] if is_single else plain
        return translations[0] if is_single else translations

    def translate_stream(
        self, lines: Iterable[str], *, beam: int | None = None, n_best: int = 1, sampling: Sampling | None = None
    ) -> Iterator[Translation]:
        """Translate line by line without holding all of them: a line in, a translation out, in order."""
        iterator = iter(lines)
        for number in count():
            chunk = list(islice(iterator, _LINES_AT_A_TIME))
            if not chunk:
                return
            if sampling is not None and sampling.seed is not None and number:
                sampling = replace(sampling, seed=sampling.seed + _LINES_AT_A_TIME)  # other draws for other lines
            yield from self.translate_scored(chunk, beam, n_best, sampling)

    def translate_scored(
        self, sources: Sequence[str], beam: int | None = None, n_best: int = 1, sampling: Sampling | None = None
    ) -> list[Translation]:
        """Translations with scores. An empty text is empty; one that is too long is split and joined again."""
        decoding = self._decoding(beam, n_best, sampling)
        parts_of = [self._split(source) for source in sources]
        flat = [part for parts in parts_of for part in parts]
        found = iter(self.engine.translate(self.src_tokenizer.encode(flat), decoding, sampling))
        translations = []
        for source, parts in zip(sources, parts_of, strict=True):
            hypotheses = [list(islice(next(found), n_best)) for _ in parts]
            translations.append(Translation(source, self._join(hypotheses, n_best)))
        return translations

    def _decoding(self, beam: int | None, n_best: int, sampling: Sampling | None) -> DecodingConfig:
        if n_best < 1:
            raise UsageError(f"n_best = {n_best} must be at least 1")
        if beam is not None and beam < 1:
            raise UsageError(f"beam = {beam} must be at least 1")
        width = beam if beam is not None else max(self.config.decoding.beam, n_best)
        if sampling is not None:
            width = n_best
        if n_best > width:
            raise UsageError(f"n_best = {n_best} needs a beam of at least {n_best}, but beam = {width}")
        return self.config.decoding.model_copy(update={"beam": width})

    def _split(self, text: str) -> list[str]:
        """Parts that are as long as what the model was trained on, at most; none for an empty text."""
        text = normalize(text)
        if not text:
            return []
        limits = [self.config.data.max_length]
        if self.engine.max_length is not None:
            limits.append(self.engine.max_length - 1)
        return split_long(text, min(limits), lambda part: len(self.src_tokenizer.encode([part])[0]))

    def _join(self, parts: list[list[Hypothesis]], n_best: int) -> list[ScoredText]:
        """The n-th best of the whole is made of the n-th best of each part."""
        if not parts:
            return [ScoredText("", 0.0)] * n_best  # so that every line has equally many
        joined = []
        for rank in range(max(len(hypotheses) for hypotheses in parts)):
            chosen = [hypotheses[min(rank, len(hypotheses) - 1)] for hypotheses in parts]
            texts = self.tgt_tokenizer.decode([hypothesis.ids for hypothesis in chosen])
            joined.append(
                ScoredText(
                    join_parts(texts, self.config.data.target),
                    sum(hypothesis.score for hypothesis in chosen) / len(chosen),
                    all(hypothesis.is_complete for hypothesis in chosen),
                )
            )
        return joined


def load(path: str | Path, device: str = "auto") -> Translator:
    """Open a trained run to translate with it."""
    return Translator.load(path, device)
