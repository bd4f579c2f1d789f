"""The architectures, one file a paper, behind one seam (`interface.py`) and one registry."""

from jumok.models.interface import DecoderState, TranslationModel
from jumok.models.registry import build_model

__all__ = ["DecoderState", "TranslationModel", "build_model"]
