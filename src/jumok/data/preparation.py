"""From files to a prepared corpus, in memory that does not grow with the corpus."""

from __future__ import annotations

import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jumok.config import Config
from jumok.data.cleaning import Cleaner, Counts
from jumok.data.duplicates import DuplicateFinder, bits_between
from jumok.data.lexicon import LEXICON_FILE, learn_lexicon, read_lexicon, write_lexicon
from jumok.data.readers import Pair, read_pairs
from jumok.data.shards import cut_into_shards, join_shards, read_counts, whole_file, write_shard
from jumok.errors import ConfigError, DataError, TokenizerError
from jumok.text.languages import language
from jumok.text.normalization import normalize
from jumok.text.tokenizer import Tokenizer, train_tokenizer

# SentencePiece holds all that it learns from in memory: with so many pairs and characters, less than 500 MB of it.
_MAX_LEARNING_PAIRS = 200_000
_MAX_LEARNING_CHARACTERS = {"bpe": 32_000_000, "unigram": 15_000_000, "word": 32_000_000}
_MAX_LEXICON_CHARACTERS = 6_000_000  # the words of a source are held together with all of its target
_SECONDS_BETWEEN_LINES = 10.0
Say = Callable[[str], None]
Tokenizers = tuple[Tokenizer, Tokenizer]


@dataclass(frozen=True)
class Size:
    """How much there is to prepare."""

    num_pairs: int
    num_characters: int


class Preparation:
    """The steps from files to a prepared corpus, in a folder where each keeps what it finished for the next time."""

    def __init__(
        self,
        config: Config,
        work: Path,
        known_pieces: list[Path],
        sizes: dict[str, Size],
        say: Say,
        shard_rows: int,
        num_threads: int,
    ) -> None:
        self.config = config
        self.work = work
        self.parts = work / "parts"  # what is not needed in the end
        self.known_pieces = known_pieces  # tokenizer files to take instead of learning; none: learn
        self.sizes = sizes
        self.say = say
        self.shard_rows = shard_rows
        self.num_threads = num_threads

    def run(self) -> dict[str, Counts]:
        """Learn the pieces and the lexicon, find the duplicates, then clean, encode and write each split."""
        if self.parts.exists():
            self.say("going on from where preparing stopped the last time")
        self.parts.mkdir(parents=True, exist_ok=True)
        tokenizers = self._copy_tokenizers() if self.known_pieces else self._learn_tokenizers()
        if tokenizers[1].has_words:
            self._learn_lexicon()
        later = None if self.config.data.keep_duplicates else self._later_occurrences()
        return {
            "train": self._write_split("train", tokenizers, later),
            "valid": self._write_split("valid", tokenizers),
        }

    # --- the pieces ---------------------------------------------------------------------------------------------

    def _copy_tokenizers(self) -> Tokenizers:
        for path in self.known_pieces:
            with whole_file(self.work / path.name) as file:
                file.write(path.read_bytes())
        tokenizers = [Tokenizer(self.work / path.name) for path in self.known_pieces]
        num_pieces = " and ".join(f"{tokenizer.vocab_size:,}" for tokenizer in tokenizers)
        self.say(f"{num_pieces} pieces taken from {self.known_pieces[0].parent}")
        return tokenizers[0], tokenizers[-1]

    def _learn_tokenizers(self) -> Tokenizers:
        settings, data = self.config.tokenizer, self.config.data
        for code in (data.source, data.target):
            if settings.kind == "word" and not language(code).has_spaces:
                raise ConfigError(
                    f'tokenizer.kind = "word" needs spaces between words, and {language(code).name} has none; use '
                    '"bpe" or "unigram"'
                )
        coverage = [language(code).character_coverage for code in (data.source, data.target)]
        step = self._step(_MAX_LEARNING_CHARACTERS[settings.kind])
        if settings.joint:
            jobs = [("tokenizer.model", (text for pair in self._usable(step) for text in pair), min(coverage))]
        else:
            jobs = [
                ("source.model", (src for src, _ in self._usable(step)), coverage[0]),
                ("target.model", (tgt for _, tgt in self._usable(step)), coverage[1]),
            ]
        problems = []
        for name, texts, character_coverage in jobs:
            if (self.work / name).exists():
                continue
            first = next(texts, None)
            if first is None:
                raise DataError("data.train holds no pair with text on both sides")
            all_texts = itertools.chain([first], texts)
            try:
                train_tokenizer(all_texts, self.work / name, settings.kind, settings.vocab_size, character_coverage)
            except TokenizerError as problem:
                problems.append(problem)
        if problems:
            raise min(problems, key=lambda problem: problem.limit)  # the size that it names works for both languages
        self.say(
            f"{settings.vocab_size:,} {settings.kind} pieces learned"
            + ("" if settings.joint else " for each language")
            + (f" from one training pair in {step}, spread evenly" if step > 1 else "")
        )
        return Tokenizer(self.work / jobs[0][0]), Tokenizer(self.work / jobs[-1][0])

    def _learn_lexicon(self) -> None:
        """What stands behind the words: translations of those that may be unknown."""
        path = self.work / LEXICON_FILE
        if path.exists():
            return
        lexicon = learn_lexicon(self._usable(self._step(_MAX_LEXICON_CHARACTERS)))
        if self.known_pieces:  # of the run that the training starts from
            lexicon = read_lexicon(self.known_pieces[0].with_name(LEXICON_FILE)) | lexicon
        write_lexicon(lexicon, path)
        self.say(f"{len(lexicon):,} words with a clear translation, for those that are unknown")

    def _step(self, max_characters: int) -> int:
        """Learn from one training pair in so many."""
        size = self.sizes["train"]
        return math.ceil(max(size.num_pairs / _MAX_LEARNING_PAIRS, size.num_characters / max_characters))

    def _usable(self, step: int) -> Iterator[Pair]:
        """One training pair in so many, where it has text on both sides."""
        for src, tgt in itertools.islice(_read(self.config, "train"), 0, None, step):
            pair = normalize(src), normalize(tgt)
            if all(pair):
                yield pair

    # --- the pairs ----------------------------------------------------------------------------------------------

    def _later_occurrences(self) -> NDArray[np.uint8]:
        """A bit for each training pair, set where an equal one stands before it."""
        path = self.parts / "later.npy"
        if not path.exists():
            finder = DuplicateFinder(self.parts)
            for pairs in cut_into_shards(_read(self.config, "train"), self.shard_rows):
                finder.add([(normalize(src), normalize(tgt)) for src, tgt in pairs])
            with whole_file(path) as file:
                np.save(file, finder.later_occurrences())
        bits: NDArray[np.uint8] = np.load(path)
        return bits

    def _write_split(self, name: str, tokenizers: Tokenizers, later: NDArray[np.uint8] | None = None) -> Counts:
        """Write the shards that are not there yet, then one file of them all."""
        total, paths, next_line = Counts(), [], time.monotonic() + _SECONDS_BETWEEN_LINES
        for path, count in self._shards(name, tokenizers, later):
            paths.append(path)
            total.add(count)
            if time.monotonic() > next_line:
                self.say(f"{name}: {total.num_read:,} of {self.sizes[name].num_pairs:,} pairs")
                next_line += _SECONDS_BETWEEN_LINES
        self.say(f"{name}: {total.summary()}")
        if total.num_kept == 0:
            raise DataError(f"data.{name}: no pair is left after cleaning: {total.summary()}")
        join_shards(paths, self.work / f"{name}.arrow")
        return total

    def _shards(
        self, name: str, tokenizers: Tokenizers, later: NDArray[np.uint8] | None
    ) -> Iterator[tuple[Path, Counts]]:
        """The finished shards in order.

        SentencePiece encodes on all cores and lets go of Python's lock meanwhile: with a second thread here, the
        next shard is read and normalised, and the last one written, at the same time.
        """
        pool = ThreadPoolExecutor(self.num_threads)
        pending: deque[tuple[Path, Future[Counts]]] = deque()
        start = 0
        try:
            for number, pairs in enumerate(cut_into_shards(_read(self.config, name), self.shard_rows)):
                path = self.parts / f"{name}-{number:05}.arrow"
                is_later = None if later is None else bits_between(later, start, start + len(pairs))
                start += len(pairs)
                if path.exists():
                    pending.append((path, pool.submit(read_counts, path)))
                else:
                    cleaner = Cleaner(self.config.data, only_length=name != "train")
                    pending.append((path, pool.submit(write_shard, path, pairs, is_later, cleaner, tokenizers)))
                if len(pending) > self.num_threads:
                    path, counts = pending.popleft()
                    yield path, counts.result()
            for path, counts in pending:
                yield path, counts.result()
        finally:
            pool.shutdown(cancel_futures=True)


def measure(config: Config, name: str) -> Size:
    """The size of a split; reading it all refuses a bad file."""
    num_pairs = num_characters = 0
    for src, tgt in _read(config, name):
        num_pairs += 1
        num_characters += len(src) + len(tgt)
    return Size(num_pairs, num_characters)


def _read(config: Config, name: str) -> Iterator[Pair]:
    data = config.data
    files = getattr(data, name)
    return iter(()) if files is None else read_pairs(files, data.source, data.target, data.folder)
