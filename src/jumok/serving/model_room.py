"""Where the loaded model is: read in the background, used by one request at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from jumok.errors import JumokError
from jumok.translator import Translator

Answer = TypeVar("Answer")
_PATIENCE = 60.0  # seconds that a request waits for the model to be loaded


class NotReadyError(JumokError):
    """The model is still being loaded."""


class ModelRoom:
    """Loads a run in the background; `use` waits for it and holds it alone for a while."""

    def __init__(self, run: Path, device: str = "auto") -> None:
        self.run = run
        self._lock = threading.Lock()
        pool = ThreadPoolExecutor(1, thread_name_prefix="load")
        self._loaded: Future[Translator] = pool.submit(_load, run, device)
        pool.shutdown(wait=False)

    @property
    def is_ready(self) -> bool:
        """Whether a request would be answered at once."""
        return self._loaded.done() and self._loaded.exception() is None

    def use(self, work: Callable[[Translator], Answer]) -> Answer:
        """What the work says, done while nobody else uses the model."""
        try:
            translator = self._loaded.result(_PATIENCE)
        except TimeoutError:
            raise NotReadyError(f"{self.run}: the model is still being loaded; ask again in a moment") from None
        with self._lock:
            return work(translator)


def _load(run: Path, device: str) -> Translator:
    """A translator whose weights are in memory: from then on it needs the directory no more.

    The page looks into the torch model, so programs are answered by the same one.
    """
    translator = Translator.load(run, device=device, engine="torch")
    translator.model.eval()
    return translator
