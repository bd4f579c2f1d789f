"""The embedded Korean–English corpus: a small grammar of both languages side by side, and samples of it."""

from .counting import count_lower_bound
from .sampling import SAMPLE_SENTENCE, Phrasebook, generate, sample, split

__all__ = ["SAMPLE_SENTENCE", "Phrasebook", "count_lower_bound", "generate", "sample", "split"]
