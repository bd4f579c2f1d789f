"""From the name in a configuration to a model."""

from __future__ import annotations

from jumok.config import ModelConfig
from jumok.models.interface import TranslationModel
from jumok.models.transformer import Transformer

ARCHITECTURES = {"transformer": Transformer}


def build_model(config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int, pad_id: int) -> TranslationModel:
    """A new model with random weights; `torch.manual_seed` decides them."""
    return ARCHITECTURES[config.architecture](config, src_vocab_size, tgt_vocab_size, pad_id)
