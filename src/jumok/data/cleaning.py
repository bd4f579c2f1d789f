"""Which pairs are good enough, and how many were left out for which reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jumok.config import DataConfig
from jumok.data.readers import Pair

REASONS = ("empty", "duplicate", "too long", "length ratio")


@dataclass
class Counts:
    """How many pairs were read, and how many were left out for which reason; nothing is dropped in silence."""

    num_read: int = 0
    dropped: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(REASONS, 0)))

    @property
    def num_kept(self) -> int:
        """Pairs that passed."""
        return self.num_read - self.dropped.total()

    def add(self, other: Counts) -> None:
        """Count the pairs of another part of the corpus in."""
        self.num_read += other.num_read
        self.dropped.update(other.dropped)

    def summary(self) -> str:
        """One line: what was read, what was kept, what was left out and why."""
        reasons = ", ".join(f"{self.dropped[reason]:,} {reason}" for reason in REASONS if self.dropped[reason])
        return f"{self.num_read:,} pairs read, {self.num_kept:,} kept" + (f"; left out: {reasons}" if reasons else "")

    def to_json(self) -> dict[str, Any]:
        """As it stands in prepared.json."""
        return {"read": self.num_read, "kept": self.num_kept, "dropped": dict(self.dropped)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Counts:
        """The counts that `to_json` wrote."""
        return cls(values["read"], Counter(values["dropped"]))


class Cleaner:
    """Judges pairs and counts why one is left out."""

    def __init__(self, config: DataConfig, only_length: bool = False) -> None:
        self.config = config
        self.only_length = only_length  # for validation: nothing is judged but what the model could not take
        self.counts = Counts()

    def accept_texts(self, pairs: list[Pair], is_later: NDArray[np.bool_] | None = None) -> list[Pair]:
        """What can be decided before text is cut into pieces: emptiness, and repetition where it is known."""
        self.counts.num_read += len(pairs)
        if self.only_length:
            return pairs
        kept = []
        for i, (src, tgt) in enumerate(pairs):
            if not src or not tgt:
                self.counts.dropped["empty"] += 1
            elif is_later is not None and is_later[i]:
                self.counts.dropped["duplicate"] += 1
            else:
                kept.append((src, tgt))
        return kept

    def accept_lengths(self, src_lengths: NDArray[np.int32], tgt_lengths: NDArray[np.int32]) -> NDArray[np.bool_]:
        """What needs the number of pieces: length and the ratio of lengths. True for each pair that is kept."""
        longer, shorter = np.maximum(src_lengths, tgt_lengths), np.minimum(src_lengths, tgt_lengths)
        is_too_long = longer > self.config.max_length
        self.counts.dropped["too long"] += int(is_too_long.sum())
        if self.only_length:
            return ~is_too_long
        # A word against a short phrase is no sign of a bad pair, so a few pieces of difference never count.
        is_lopsided = (longer - shorter > 10) & (longer > self.config.max_length_ratio * shorter) & ~is_too_long
        self.counts.dropped["length ratio"] += int(is_lopsided.sum())
        return ~(is_too_long | is_lopsided)
