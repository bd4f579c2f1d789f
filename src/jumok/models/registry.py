"""From the name in a configuration to a model."""

from __future__ import annotations

from importlib import import_module

from jumok.architectures import ModelConfig
from jumok.models.interface import TranslationModel

# Where each architecture is; its file is imported when it is first wanted.
_MODELS = {
    "transformer": "Transformer",
    "seq2seq": "Seq2Seq",
    "bahdanau": "Bahdanau",
    "luong": "Luong",
    "deep_att": "DeepAtt",
    "gnmt": "Gnmt",
    "bytenet": "ByteNet",
    "convs2s": "ConvS2S",
    "moe": "Moe",
}


def build_model(config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int, pad_id: int) -> TranslationModel:
    """A new model with random weights; `torch.manual_seed` decides them."""
    module = import_module(f"jumok.models.{config.architecture}")
    model = getattr(module, _MODELS[config.architecture])(config, src_vocab_size, tgt_vocab_size, pad_id)
    assert isinstance(model, TranslationModel)
    return model
