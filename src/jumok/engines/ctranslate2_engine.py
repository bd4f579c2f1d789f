"""Translating with CTranslate2: the Transformer, plain beam search, several times as fast on a CPU.

The converted model lies in the run directory, RUN/ctranslate2, and is made again when the weights have changed.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ctranslate2

from jumok.config import DecodingConfig
from jumok.data.prepared import tokenizer_files
from jumok.decoding.batches import plan_batches
from jumok.decoding.hypothesis import Hypothesis, rank
from jumok.decoding.length_penalty import length_penalty
from jumok.decoding.sampling import Sampling
from jumok.decoding.sentence import Sentence
from jumok.engines.interface import Finish
from jumok.errors import ResourceError, UsageError
from jumok.exchange.ctranslate2 import VOCABULARY_MAP, convert
from jumok.models.transformer import Transformer
from jumok.storage.compatibility import fixed_numbers
from jumok.storage.files import explain_full_disk, sha256
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import Tokenizer

_FORMAT_VERSION = 1  # of the conversion: another one makes it again
_STAMP = "converted-from.json"
_BATCH_TOKENS = 2048  # with many more, int8 was slower here: a batch no longer fits the processor's cache
_LEAST_POSITIONS = 1024
_END = "</s>"
_NEVER_SAID = [["<pad>"], ["<s>"]]


class CTranslate2Engine:
    """Holds a converted model; one worker a core."""

    def __init__(
        self,
        folder: Path,
        src_tokenizer: Tokenizer,
        tgt_tokenizer: Tokenizer,
        max_length: int | None,
        compute: str = "auto",
        device: str = "cpu",
        threads: int | None = None,
    ) -> None:
        self.max_length = max_length
        self._src_pieces = src_tokenizer.all_pieces()
        self._tgt_ids = {piece: i for i, piece in enumerate(tgt_tokenizer.all_pieces())}
        self._uses_map = (folder / VOCABULARY_MAP).exists()
        on_cpu = device == "cpu"
        try:
            self._translator = ctranslate2.Translator(
                str(folder),
                device=device,
                compute_type=("float32" if on_cpu else "auto") if compute == "auto" else compute,
                inter_threads=(threads or _num_cores()) if on_cpu else 1,
                intra_threads=1,
                max_queued_batches=-1,  # a chunk at a time is all that is ever handed over
            )
        except ValueError as error:
            raise UsageError(f"compute = {compute}: {error}") from None
        except RuntimeError as error:
            raise ResourceError(f"{folder}: CTranslate2 cannot open it: {error}; remove it, it is made again") from None

    def begin(self, sentences: Sequence[Sentence], config: DecodingConfig, sampling: Sampling | None = None) -> Finish:
        """Hand the sentences over in batches of similar length; the library's threads translate them."""
        reason = beyond_it(sentences, config, sampling)
        if reason is not None:
            raise UsageError(f"the ctranslate2 engine knows no {reason}; use --engine torch")
        rows = range(len(sentences))
        config = config.model_copy(update={"batch_tokens": min(config.batch_tokens, _BATCH_TOKENS)})
        waiting = [
            self._begin_batch(batch, sentences, config) for batch in plan_batches(rows, sentences, config.beam, config)
        ]

        def finish() -> list[list[Hypothesis]]:
            found = {row: hypotheses for batch in waiting for row, hypotheses in batch()}
            # The library knows one limit for a batch. Where a shorter sentence came to go beyond its own, it is alone.
            alone = [
                row for row in rows if any(_num_steps(h) > self._limit(sentences[row], config) for h in found[row])
            ]
            for batch in [self._begin_batch([row], sentences, config) for row in alone]:
                found.update(batch())
            return [found[row] for row in rows]

        return finish

    def _begin_batch(
        self, rows: list[int], sentences: Sequence[Sentence], config: DecodingConfig
    ) -> Callable[[], list[tuple[int, list[Hypothesis]]]]:
        longest = max((sentences[row] for row in rows), key=lambda sentence: len(sentence.ids))
        penalty = _nearest_penalty(config.length_penalty, len(longest.ids))
        results = self._translator.translate_batch(
            [[self._src_pieces[i] for i in sentences[row].ids] for row in rows],
            asynchronous=True,
            beam_size=config.beam,
            patience=config.patience,
            num_hypotheses=config.beam,
            length_penalty=penalty,
            max_input_length=0,
            max_decoding_length=self._limit(longest, config),
            min_decoding_length=0,
            disable_unk=True,
            suppress_sequences=_NEVER_SAID,
            return_scores=True,
            return_end_token=True,
            use_vmap=self._uses_map,
        )
        return lambda: [
            (row, self._hypotheses(result.result(), penalty, config)) for row, result in zip(rows, results, strict=True)
        ]

    def _limit(self, sentence: Sentence, config: DecodingConfig) -> int:
        limit = len(sentence.ids) + config.max_extra_length
        return limit if self.max_length is None else min(limit, self.max_length - 1)

    def _hypotheses(self, result: Any, penalty: float, config: DecodingConfig) -> list[Hypothesis]:
        """The library's ranking undone, ours applied; what was cut off ranks last."""
        hypotheses = []
        for pieces, score in zip(result.hypotheses, result.scores, strict=True):
            is_complete = bool(pieces) and pieces[-1] == _END
            log_prob = score * len(pieces) ** penalty
            ids = [self._tgt_ids[piece] for piece in (pieces[:-1] if is_complete else pieces)]
            own_score = log_prob / length_penalty(max(len(pieces), 1), config.length_penalty)
            hypotheses.append(Hypothesis(ids, log_prob, own_score, is_complete))
        return sorted(hypotheses, key=rank)


def _nearest_penalty(alpha: float, length: int) -> float:
    """The exponent p with which length^p grows like Wu et al.'s ((5 + length) / 6)^α around this length.

    It decides only which hypotheses come back where more than the beam have ended; they are then ranked exactly.
    Never 0: with 0 the library stops at the first hypothesis that ends.
    """
    return max(alpha * length / (length + 5.0), 1e-6)


def _num_steps(hypothesis: Hypothesis) -> int:
    """How many pieces were predicted, the end mark counted."""
    return len(hypothesis.ids) + hypothesis.is_complete


def _num_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def beyond_it(sentences: Sequence[Sentence], config: DecodingConfig, sampling: Sampling | None) -> str | None:
    """What of a request only the torch engine does, if anything."""
    if sampling is not None:
        return "sampling"
    if config.coverage_penalty:
        return "coverage penalty"
    if config.no_repeat_ngram:
        return "rule against repeated n-grams"
    if config.min_length:
        return "minimum length"
    if config.replace_unknown:
        return "replacement of unknown words"
    if any(sentence.prefix for sentence in sentences):
        return "prefix"
    if any(sentence.terms for sentence in sentences):
        return "glossary"
    return None


# --- the converted model ----------------------------------------------------------------------------------------


def converted(run: RunDirectory) -> Path:
    """The run's model as CTranslate2 reads it, made now if it is not there or of another model."""
    folder = run.path / "ctranslate2"
    config = run.config()
    num_positions = max(_LEAST_POSITIONS, config.data.max_length + config.decoding.max_extra_length + 2)
    stamp = {
        "format": _FORMAT_VERSION,
        "weights": sha256(run.model_file),
        "model": fixed_numbers(config.model),
        "pieces": [sha256(file) for file in tokenizer_files(run.path)],
        "positions": num_positions,
    }
    if _stamp_of(folder) == stamp:
        return folder
    unfinished = Path(tempfile.mkdtemp(prefix=".ctranslate2-", dir=run.path if os.access(run.path, os.W_OK) else None))
    try:
        with explain_full_disk(folder):
            model = run.load_model()
            assert isinstance(model, Transformer)
            convert(model, *run.tokenizers(), unfinished, num_positions=num_positions)
            (unfinished / _STAMP).write_text(json.dumps(stamp))
            if unfinished.parent != run.path:  # a run that may only be read: the copy is for this process
                atexit.register(shutil.rmtree, unfinished, ignore_errors=True)
                return unfinished
            unfinished.chmod(run.path.stat().st_mode & 0o777)  # whoever may read the run may read this
            return _put(unfinished, folder, stamp)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _put(unfinished: Path, folder: Path, stamp: dict[str, Any]) -> Path:
    """Move it into place, unless another process did so in the meantime."""
    for _ in range(2):
        if _stamp_of(folder) == stamp:
            break
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            unfinished.rename(folder)
            return folder
    shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def _stamp_of(folder: Path) -> Any:
    try:
        return json.loads((folder / _STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
