"""A run as a folder that Hugging Face's transformers loads, weights and tokenizer.

A post-norm model becomes a `MarianMTModel`. Marian has no pre-norm; Pegasus is the same network with it, so a pre-norm
model becomes a `PegasusForConditionalGeneration`, with Marian's tokenizer. Transformers is not needed to write it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

from jumok.architectures import TransformerConfig
from jumok.config import Config
from jumok.data.prepared import tokenizer_files
from jumok.errors import UsageError
from jumok.exchange.huggingface_card import model_card
from jumok.exchange.huggingface_vocabulary import LANGUAGE_CODE
from jumok.exchange.huggingface_weights import NEVER_SAID, is_attention_bias, layer_matches, split, to_theirs
from jumok.exchange.usual_transformer import usual_transformer
from jumok.models.transformer import Transformer
from jumok.nn.position import LearnedPositions, sinusoids
from jumok.storage.checkpoints import Tensors, model_tensors
from jumok.storage.folders import new_folder
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID, Tokenizer

_NUM_POSITIONS = 1024  # sinusoids have no end, but a table of them has
_MAX_NEW_PIECES = 512
# Wu et al. rank by log P / ((5 + n) / 6)^α, Hugging Face by log P / n^p. How much one more piece counts is the same
# where p = α·n / (n + 5), for which a sentence of 15 pieces stands.
LENGTH_PENALTY_RATIO = 15 / (15 + 5)


def export_huggingface(run: RunDirectory, folder: Path) -> None:
    """Write the folder, whole or not at all."""
    config, model = run.config(), usual_transformer(run, "a Hugging Face model")
    src_tokenizer, tgt_tokenizer = run.tokenizers()
    if src_tokenizer.has_words or tgt_tokenizer.has_words:
        raise UsageError(
            f"{run.path}: has a vocabulary of whole words, which Hugging Face's tokenizer would cut otherwise"
        )
    with new_folder(folder) as unfinished:
        tensors = _tensors(model)
        save_file(tensors, unfinished / "model.safetensors", metadata={"format": "pt"})
        settings = _model_settings(config, src_tokenizer.vocab_size, tgt_tokenizer.vocab_size)
        _write_json(unfinished / "config.json", settings)
        _write_json(unfinished / "generation_config.json", _generation_settings(config, model))
        _write_tokenizer(unfinished, config, tokenizer_files(run.path), src_tokenizer, tgt_tokenizer)
        card = model_card(config, run.result(), model.num_parameters(), settings["architectures"][0])
        (unfinished / "README.md").write_text(card, encoding="utf-8")


def _tensors(model: Transformer) -> Tensors:
    """All weights under Hugging Face's names."""
    config, ours = model.config, model_tensors(model)
    is_pre_norm = config.norm == "pre"
    theirs: Tensors = {}
    for match in layer_matches(config.encoder_layers, config.decoder_layers, is_pre_norm):
        if is_attention_bias(match) and not config.attention_bias:
            theirs |= {name: torch.zeros(config.d_model) for name in match.theirs}
        else:
            theirs |= to_theirs(match, ours[match.ours])
    theirs |= _embeddings(model)
    if config.position == "learned" or is_pre_norm:  # Marian computes its sinusoids, Pegasus wants them in the file
        for stack, positions in (("encoder", model.src_position), ("decoder", model.tgt_position)):
            table = sinusoids(_NUM_POSITIONS, config.d_model)
            if isinstance(positions, LearnedPositions):
                table = positions.embedding.weight.detach()
            theirs[f"model.{stack}.embed_positions.weight"] = split(table, 1).contiguous()
    return theirs


def _embeddings(model: Transformer) -> Tensors:
    """The tables of pieces, each as often as it is not tied to another.

    Pegasus ties all or nothing, and has one size for both sides: what is missing is filled up by pieces that are never
    said. That its three tables differ is possible in transformers 5 and later only.
    """
    config = model.config
    src, tgt = model.src_embedding.weight.detach(), model.tgt_embedding.weight.detach()
    output, bias = model.output_weight.detach(), torch.zeros(len(tgt))
    if model.output_bias is not None:
        bias = model.output_bias.detach()
    if config.tie_embeddings == "three-way":
        tables = {"model.shared.weight": src}
    else:
        tables = {"model.encoder.embed_tokens.weight": src, "model.decoder.embed_tokens.weight": tgt}
        if config.tie_embeddings == "none" or config.norm == "pre":
            tables["lm_head.weight"] = output
        if config.norm == "pre":
            size = max(len(src), len(tgt))
            tables = {name: F.pad(table, (0, 0, 0, size - len(table))) for name, table in tables.items()}
            tables["model.shared.weight"] = tables["model.encoder.embed_tokens.weight"]  # there, though not used
            bias = F.pad(bias, (0, size - len(bias)), value=NEVER_SAID)
    split_tables = {name: split(table, 1).contiguous() for name, table in tables.items()}
    return {**split_tables, "final_logits_bias": bias[None].clone()}


def _model_settings(config: Config, src_size: int, tgt_size: int) -> dict[str, Any]:
    model = config.model
    assert isinstance(model, TransformerConfig)
    is_pre_norm, tying = model.norm == "pre", model.tie_embeddings
    settings = {
        "model_type": "pegasus" if is_pre_norm else "marian",
        "architectures": ["PegasusForConditionalGeneration" if is_pre_norm else "MarianMTModel"],
        "vocab_size": max(src_size, tgt_size) if is_pre_norm else src_size,
        "d_model": model.d_model,
        "encoder_layers": model.encoder_layers,
        "decoder_layers": model.decoder_layers,
        "encoder_attention_heads": model.num_heads,
        "decoder_attention_heads": model.num_heads,
        "encoder_ffn_dim": model.d_ff,
        "decoder_ffn_dim": model.d_ff,
        "activation_function": model.activation,
        "dropout": model.dropout,
        "attention_dropout": model.attention_dropout,
        "activation_dropout": model.feed_forward_dropout,
        "max_position_embeddings": model.max_length if model.position == "learned" else _NUM_POSITIONS,
        "scale_embedding": True,
        "is_encoder_decoder": True,
        "tie_word_embeddings": tying == "three-way" or (tying == "two-way" and not is_pre_norm),
        "forced_eos_token_id": None,
        **_SPECIAL_IDS,
        "dtype": "float32",
    }
    if not is_pre_norm:
        settings |= {"share_encoder_decoder_embeddings": tying == "three-way", "decoder_vocab_size": tgt_size}
    return settings


_SPECIAL_IDS = {
    "pad_token_id": PAD_ID,
    "bos_token_id": BOS_ID,
    "eos_token_id": EOS_ID,
    "decoder_start_token_id": BOS_ID,
}


def _generation_settings(config: Config, model: Transformer) -> dict[str, Any]:
    decoding = config.decoding
    return {
        **_SPECIAL_IDS,
        "num_beams": decoding.beam,
        "early_stopping": decoding.beam > 1,  # a sentence is done when so many hypotheses have ended, as in our search
        "length_penalty": round(decoding.length_penalty * LENGTH_PENALTY_RATIO, 6),
        "no_repeat_ngram_size": decoding.no_repeat_ngram,
        "min_length": decoding.min_length + 1 if decoding.min_length else 0,  # it counts the begin mark
        "max_length": min(_MAX_NEW_PIECES, model.max_length or _MAX_NEW_PIECES),
        "suppress_tokens": [PAD_ID, UNK_ID, BOS_ID],
    }


def _write_tokenizer(
    folder: Path, config: Config, files: list[Path], src_tokenizer: Tokenizer, tgt_tokenizer: Tokenizer
) -> None:
    """The SentencePiece files as they are; their pieces and ids as JSON, in one file where both sides have the same."""
    shutil.copyfile(files[0], folder / "source.spm")
    shutil.copyfile(files[-1], folder / "target.spm")
    src_pieces, tgt_pieces = src_tokenizer.all_pieces(), tgt_tokenizer.all_pieces()
    has_two = src_pieces != tgt_pieces
    _write_json(folder / "vocab.json", _ids(src_pieces))
    if has_two:
        _write_json(folder / "target_vocab.json", _ids(tgt_pieces))
    settings = {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": config.data.source,
        "target_lang": config.data.target,
        "separate_vocabs": has_two,
        "pad_token": src_pieces[PAD_ID],
        "unk_token": src_pieces[UNK_ID],
        "bos_token": src_pieces[BOS_ID],
        "eos_token": src_pieces[EOS_ID],
        "model_max_length": config.data.max_length,
    }
    _write_json(folder / "tokenizer_config.json", settings)


def _ids(pieces: list[str]) -> dict[str, int]:
    """Marian's tokenizer cuts a language code off by itself, before there is a ▁ in front of it."""
    bare = (piece.removeprefix("▁") for piece in pieces)
    names = [code if LANGUAGE_CODE.fullmatch(code) else piece for code, piece in zip(bare, pieces, strict=True)]
    return {name: i for i, name in enumerate(names)}


def _write_json(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
