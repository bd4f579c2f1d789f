"""Which pairs are good enough, and how many were left out for which reason."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from jumok.config import DataConfig


class Cleaner:
    """Decides pair by pair and counts why one is left out; nothing is dropped in silence."""

    REASONS = ("empty", "duplicate", "too long", "length ratio")

    def __init__(self, config: DataConfig, only_length: bool = False) -> None:
        self.config = config
        self.only_length = only_length  # for validation: nothing is judged but what the model could not take
        self.dropped: Counter[str] = Counter(dict.fromkeys(self.REASONS, 0))
        self.num_read = 0
        self._seen: set[bytes] = set()

    @property
    def num_kept(self) -> int:
        """Pairs that passed."""
        return self.num_read - self.dropped.total()

    def accept_text(self, src: str, tgt: str) -> bool:
        """What can be decided before the text is cut into pieces: emptiness and repetition."""
        self.num_read += 1
        if self.only_length:
            return True
        if not src or not tgt:
            return self._drop("empty")
        if not self.config.keep_duplicates:
            digest = hashlib.blake2b(f"{src}\n{tgt}".encode(), digest_size=8).digest()
            if digest in self._seen:
                return self._drop("duplicate")
            self._seen.add(digest)
        return True

    def accept_pieces(self, src_ids: Sequence[int], tgt_ids: Sequence[int]) -> bool:
        """What needs the number of pieces: length and the ratio of lengths."""
        short, long = sorted((len(src_ids), len(tgt_ids)))
        if long > self.config.max_length:
            return self._drop("too long")
        if self.only_length:
            return True
        # A word against a short phrase is no sign of a bad pair, so a few pieces of difference never count.
        if long - short > 10 and long > self.config.max_length_ratio * short:
            return self._drop("length ratio")
        return True

    def _drop(self, reason: str) -> bool:
        self.dropped[reason] += 1
        return False

    def summary(self) -> str:
        """One line: what was read, what was kept, what was left out and why."""
        reasons = ", ".join(f"{self.dropped[reason]:,} {reason}" for reason in self.REASONS if self.dropped[reason])
        return f"{self.num_read:,} pairs read, {self.num_kept:,} kept" + (f"; left out: {reasons}" if reasons else "")
