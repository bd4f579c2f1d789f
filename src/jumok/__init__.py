"""Jumok: train a translator from sentence pairs with the Transformer, and look inside it.

import jumok
jumok.train("recipes/demo.toml")
translator = jumok.load("runs/demo")
translator.translate("어제 카페에 갔어요.")
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jumok.config import Config as Config
    from jumok.config import load_config as load_config
    from jumok.decoding.sampling import Sampling as Sampling
    from jumok.errors import JumokError as JumokError
    from jumok.pipeline import evaluate as evaluate
    from jumok.pipeline import prepare as prepare
    from jumok.pipeline import train as train
    from jumok.text.glossary import Glossary as Glossary
    from jumok.translation import Translation as Translation
    from jumok.translator import Translator as Translator
    from jumok.translator import load as load

__version__ = "0.1.0"

# OpenMP's threads spin while they wait for each other. Beside any other busy program that costs most of the speed;
# sleeping at once cost a tenth in one quiet run. So they spin briefly, then sleep.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

# Where each public name lives; it is imported when it is first used, so that `jumok --help` answers at once.
_PUBLIC = {
    "Config": "jumok.config",
    "Glossary": "jumok.text.glossary",
    "JumokError": "jumok.errors",
    "Sampling": "jumok.decoding.sampling",
    "Translation": "jumok.translation",
    "Translator": "jumok.translator",
    "evaluate": "jumok.pipeline",
    "load": "jumok.translator",
    "load_config": "jumok.config",
    "prepare": "jumok.pipeline",
    "train": "jumok.pipeline",
}
__all__ = [*sorted(_PUBLIC), "__version__"]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'jumok' has no attribute {name!r}")
