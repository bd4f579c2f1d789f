"""A Marian or Pegasus translation model of Hugging Face's form, such as those of OPUS-MT, as a run of ours.

Read are JSON, SentencePiece and safetensors files, by ourselves: neither transformers is needed nor a pickle opened.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from jumok.config import Config, dump_toml, parse_config
from jumok.errors import DataError, UsageError
from jumok.exchange.huggingface_export import LENGTH_PENALTY_RATIO
from jumok.exchange.huggingface_folder import find_folder, read_json, read_tensors
from jumok.exchange.huggingface_vocabulary import Vocabulary, read_vocabularies
from jumok.exchange.huggingface_weights import (
    NEVER_SAID,
    interleave,
    is_attention_bias,
    layer_matches,
    split,
    to_ours,
)
from jumok.nn.position import sinusoids
from jumok.storage.checkpoints import Tensors
from jumok.storage.folders import new_folder

_ACTIVATIONS = {"relu": "relu", "swish": "swish", "silu": "swish", "gelu": "gelu"}
_MAX_LENGTH = 200  # pieces of a sentence at most; longer ones are split


@dataclass(frozen=True)
class Languages:
    """From which to which, where the folder does not say it."""

    source: str | None = None
    target: str | None = None


def import_huggingface(name: str, run: Path, languages: Languages | None = None) -> None:
    """Read a folder, or a model of the hub by its name, and write a run directory, whole or not at all."""
    folder = find_folder(name)
    settings = read_json(folder / "config.json")
    _refuse_what_we_are_not(folder, settings)
    theirs = read_tensors(folder, name)
    try:
        with new_folder(run) as unfinished:
            vocabularies = read_vocabularies(folder, settings, _said_rows(theirs))
            for file_name, data in vocabularies.files.items():
                (unfinished / file_name).write_bytes(data)
            ours, traits = _convert(theirs, settings, vocabularies.src, vocabularies.tgt)
            tokenizer = {
                "kind": vocabularies.kind,
                "vocab_size": max(260, len(vocabularies.tgt.names)),  # the least that a configuration allows
                "joint": vocabularies.are_one,
            }
            config = _config(folder, name, run.absolute().name, settings, traits, tokenizer, languages or Languages())
            (unfinished / "config.toml").write_text(dump_toml(config), encoding="utf-8")
            save_file(ours, unfinished / "model.safetensors")
    except KeyError as error:
        raise DataError(f"{folder}: holds no {error.args[0]}; it is not a complete Marian or Pegasus model") from None


def _refuse_what_we_are_not(folder: Path, settings: dict[str, Any]) -> None:
    where = folder / "config.json"
    if settings.get("model_type") not in ("marian", "pegasus"):
        raise DataError(
            f"{where}: model_type = {settings.get('model_type')!r}; only marian (OPUS-MT) and pegasus can be imported"
        )
    if settings.get("activation_function", "gelu") not in _ACTIVATIONS:
        raise DataError(
            f"{where}: activation_function = {settings['activation_function']!r}; expected one of "
            f"{', '.join(_ACTIVATIONS)}"
        )
    for key in ("attention_heads", "ffn_dim"):
        encoder, decoder = settings.get(f"encoder_{key}"), settings.get(f"decoder_{key}")
        if encoder != decoder:
            raise DataError(f"{where}: encoder_{key} = {encoder} and decoder_{key} = {decoder}; ours are the same")


def _said_rows(theirs: Tensors) -> int | None:
    """How many rows of the target's table can be said at all: an export of ours may be filled up to the source's."""
    bias = theirs.get("final_logits_bias")
    return None if bias is None else int((bias.flatten() > NEVER_SAID).nonzero().max()) + 1


def _convert(
    theirs: Tensors, settings: dict[str, Any], src: Vocabulary, tgt: Vocabulary
) -> tuple[Tensors, dict[str, Any]]:
    """Our tensors, and what of the model's configuration follows from theirs."""
    is_pre_norm = settings["model_type"] == "pegasus"
    matches = list(layer_matches(settings["encoder_layers"], settings["decoder_layers"], is_pre_norm))
    ours = {match.ours: to_ours(match, theirs) for match in matches}
    biases = [match.ours for match in matches if is_attention_bias(match)]
    has_attention_bias = any(ours[name].any() for name in biases)
    if not has_attention_bias:
        for name in biases:
            del ours[name]
    embeddings, tying = _embeddings(theirs, settings, src, tgt)
    positions = _learned_positions(theirs, settings["d_model"])
    bias = _output_bias(theirs, tgt)
    ours |= embeddings | positions
    if bias.any():
        ours["piece_bias"] = bias
    traits: dict[str, Any] = {
        "norm": "pre" if is_pre_norm else "post",
        "attention_bias": has_attention_bias,
        "output_bias": bool(bias.any()),
        "tie_embeddings": tying,
        "position": "learned" if positions else "sinusoidal",
    }
    if positions:
        traits["max_length"] = len(positions["src_position.embedding.weight"])
    return ours, traits


def _embeddings(theirs: Tensors, settings: dict[str, Any], src: Vocabulary, tgt: Vocabulary) -> tuple[Tensors, str]:
    """Our tables of pieces, and which of them are one."""
    names = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight")
    # Tables that are tied are in the file once, under any of their names.
    shared = theirs.get("model.shared.weight")
    found = [table for table in (theirs.get(name) for name in names) if table is not None]
    tied = shared if shared is not None else found[-1] if found else None
    if tied is None:
        raise KeyError("model.shared.weight")
    of_encoder, of_decoder = (theirs.get(name, tied) for name in names[:2])
    of_output = theirs.get(names[2], of_decoder)
    for name, table, vocabulary in (
        (names[0], of_encoder, src),
        (names[1], of_decoder, tgt),
        (names[2], of_output, tgt),
    ):
        if len(table) <= max(vocabulary.rows):
            raise DataError(f"the vocabulary has an id {max(vocabulary.rows)}, but {name} only {len(table)} rows")
    # Ours multiply by √d_model what is looked up; where theirs do not, the tables are made smaller by as much.
    scale = 1.0 if settings.get("scale_embedding") else settings["d_model"] ** -0.5
    src_table = interleave(of_encoder[src.rows].float(), 1) * scale
    tgt_table = interleave(of_decoder[tgt.rows].float(), 1) * scale
    output = interleave(of_output[tgt.rows].float(), 1)
    if not torch.equal(tgt_table, output):
        tables = {"src_embedding": src_table, "tgt_embedding": tgt_table, "output": output}
        return {f"{name}.weight": table for name, table in tables.items()}, "none"
    if not torch.equal(src_table, tgt_table):
        return {"src_embedding.weight": src_table, "tgt_embedding.weight": tgt_table}, "two-way"
    return {"src_embedding.weight": src_table}, "three-way"


def _output_bias(theirs: Tensors, tgt: Vocabulary) -> Tensor:
    bias = torch.zeros(len(tgt.rows))
    if "final_logits_bias" in theirs:
        bias = theirs["final_logits_bias"].float().flatten()[tgt.rows]
    bias[tgt.never_said] = NEVER_SAID
    return bias


def _learned_positions(theirs: Tensors, d_model: int) -> Tensors:
    """The tables of positions, where there are any that are not the sinusoids."""
    tables = {}
    for ours, stack in (("src", "encoder"), ("tgt", "decoder")):
        table = theirs.get(f"model.{stack}.embed_positions.weight")
        if table is None or torch.allclose(table.float(), split(sinusoids(len(table), d_model), 1), atol=1e-3):
            return {}
        tables[f"{ours}_position.embedding.weight"] = interleave(table.float(), 1).contiguous()
    return tables


def _config(
    folder: Path,
    origin: str,
    name: str,
    settings: dict[str, Any],
    traits: dict[str, Any],
    tokenizer: dict[str, Any],
    languages: Languages,
) -> Config:
    source, target = _find_languages(folder, origin, languages)
    generation = settings | (
        read_json(folder / "generation_config.json") if (folder / "generation_config.json").exists() else {}
    )
    # Their rule of ranking has another form than ours: see LENGTH_PENALTY_RATIO.
    penalty = round(max(0.0, generation.get("length_penalty", 1.0) or 0.0) / LENGTH_PENALTY_RATIO, 6)
    values = {
        "name": re.sub(r"^\W+", "", re.sub(r"[^\w.-]", "-", name)) or "imported",
        "data": {
            "source": source,
            "target": target,
            "train": f"imported from {origin}",
            "valid": f"imported from {origin}",
            "max_length": min(_MAX_LENGTH, traits.get("max_length", _MAX_LENGTH + 1) - 1),
        },
        "tokenizer": tokenizer,
        "model": {
            "d_model": settings["d_model"],
            "d_ff": settings["encoder_ffn_dim"],
            "num_heads": settings["encoder_attention_heads"],
            "encoder_layers": settings["encoder_layers"],
            "decoder_layers": settings["decoder_layers"],
            "dropout": settings.get("dropout", 0.1),
            "attention_dropout": settings.get("attention_dropout", 0.0),
            "feed_forward_dropout": settings.get("activation_dropout", 0.0),
            "activation": _ACTIVATIONS[settings.get("activation_function", "gelu")],
            **traits,
        },
        "decoding": {
            "beam": generation.get("num_beams") or 4,
            "length_penalty": penalty,
            "no_repeat_ngram": generation.get("no_repeat_ngram_size") or 0,
            "min_length": max(0, (generation.get("min_length") or 0) - 1),
        },
    }
    return parse_config(values, where=str(folder / "config.json"))


def _find_languages(folder: Path, origin: str, given: Languages) -> tuple[str, str]:
    """As told, as the tokenizer's settings say, or as the name says: opus-mt-de-en."""
    path = folder / "tokenizer_config.json"
    settings = read_json(path) if path.exists() else {}
    from_name = re.search(r"([a-z]{2,3})-([a-z]{2,3})$", Path(origin).absolute().name)
    source = given.source or settings.get("source_lang") or (from_name.group(1) if from_name else None)
    target = given.target or settings.get("target_lang") or (from_name.group(2) if from_name else None)
    if not source or not target:
        raise UsageError(f"{path}: does not say the languages; give them with --source and --target")
    return source, target
