"""onnxruntime computes what torch computes, step by step and through a whole search."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import onnx
import pytest
import torch

from jumok.config import DecodingConfig
from jumok.decoding.batches import search
from jumok.decoding.sampling import Sampling
from jumok.decoding.sentence import Sentence
from jumok.engines.onnx_model import OnnxModel, is_onnx_folder
from jumok.errors import DataError, ResourceError, RunError, UsageError
from jumok.exchange.onnx import write_graphs

SRC = torch.tensor([[5, 6, 7, 8, 9, 3], [10, 11, 3, 0, 0, 0], [12, 13, 14, 15, 3, 0]])
SENTENCES = [Sentence(ids) for ids in ([5, 6, 7], [8], [9, 10, 11, 12, 13], [], [5, 6], [7] * 8)]
VARIANTS = [
    {},
    {"norm": "pre"},
    {"norm": "pre", "tie_embeddings": "two-way", "attention_bias": True},
    {"tie_embeddings": "none", "output_bias": True},
    {"position": "learned", "max_length": 16},
    {"position": "learned", "norm": "pre", "tie_embeddings": "none", "attention_bias": True, "output_bias": True},
    {"activation": "swish", "output_bias": True},
    {"activation": "gelu", "norm": "pre"},
    {"encoder_layers": 3, "decoder_layers": 1, "num_heads": 1},
    {"encoder_layers": 1, "decoder_layers": 3, "num_heads": 8},
]
variants = pytest.mark.parametrize("variant", VARIANTS, ids=lambda changes: ",".join(map(str, changes.values())))


@pytest.fixture
def exported(tiny_transformer, tmp_path):
    def export(**changes):
        model = tiny_transformer(**changes)
        write_graphs(model, tmp_path)
        return model, OnnxModel(tmp_path, threads=1)

    return export


def assert_same_steps(model, other, src, num_steps=7) -> None:
    """Feed both the same pieces and reorder, repeat and drop their rows alike."""
    torch.manual_seed(1)
    num_sentences, beam = len(src), 3
    states = [of.start(src) for of in (model, other)]
    rows = torch.arange(num_sentences).repeat_interleave(beam)
    for _ in range(num_steps):
        states = [state.select(rows) for state in states]
        last_ids = torch.randint(2, 23, (len(rows),))
        (expected, states[0]), (found, states[1]) = (
            of.step(last_ids, state) for of, state in zip((model, other), states, strict=True)
        )
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)
        if len(rows) == num_sentences * beam and num_sentences > 1:  # once, a sentence is done
            num_sentences -= 1
            rows = torch.arange(num_sentences)[:, None] + 1  # the others, without the first
        else:
            rows = torch.arange(num_sentences)[:, None]
        rows = (rows * beam + torch.randint(beam, (num_sentences, beam))).flatten()


@variants
@torch.inference_mode()
def test_every_step_is_torchs(exported, variant):
    assert_same_steps(*exported(**variant), SRC)


@torch.inference_mode()
def test_any_number_of_sentences_of_any_length(exported):
    model, other = exported()
    for num_sentences, length in ((1, 1), (1, 9), (5, 2), (2, 40)):
        src = torch.randint(4, 23, (num_sentences, length))
        src[:, -1] = 3
        assert_same_steps(model, other, src)


@torch.inference_mode()
def test_sinusoids_go_on_where_the_torch_models_table_grows(exported):
    model, other = exported(norm="pre")
    src = torch.randint(4, 23, (1, 1500))
    ours, theirs = model.start(src), other.start(src)
    for a, b in zip(ours.memory, theirs.memory, strict=True):
        torch.testing.assert_close(b, a, atol=1e-4, rtol=0)
    for _ in range(600):
        expected, ours = model.step(torch.tensor([7]), ours)
        found, theirs = other.step(torch.tensor([7]), theirs)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


@variants
@pytest.mark.parametrize("beam", [1, 4])
def test_a_search_finds_the_same(exported, variant, beam):
    model, other = exported(**variant)
    config = DecodingConfig(beam=beam, max_extra_length=6, batch_tokens=60)
    for ours, theirs in zip(search(model, SENTENCES, config), search(other, SENTENCES, config), strict=True):
        assert [h.ids for h in theirs] == [h.ids for h in ours]
        assert [h.score for h in theirs] == pytest.approx([h.score for h in ours], abs=1e-4)


def test_sampling_draws_the_same(exported):
    model, other = exported()
    config = DecodingConfig(beam=2, max_extra_length=6)
    ours, theirs = (search(of, SENTENCES, config, Sampling(seed=1)) for of in (model, other))
    assert [[h.ids for h in found] for found in theirs] == [[h.ids for h in found] for found in ours]


def test_learned_positions_are_never_exceeded(exported):
    model, other = exported(position="learned", max_length=10)
    assert (model.max_length, other.max_length) == (10, 10)
    found = search(other, SENTENCES, DecodingConfig(beam=2, max_extra_length=50))
    assert all(len(h.ids) <= 9 for hypotheses in found for h in hypotheses)
    message = (
        f"a sentence of 21 pieces is longer than the 10 positions that {other.folder} learned; split it, or train "
        'again with a higher model.max_length or position = "sinusoidal"'
    )
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        search(other, [Sentence([5] * 20)], DecodingConfig())


def test_sinusoids_have_no_limit(exported):
    assert exported()[1].max_length is None


def test_a_batch_that_does_not_fit_the_memory_is_explained(exported):
    # 4.5 million pieces need 2 x 4.5 M x 4.5 M scores, more than a process can address; nothing before needs much.
    _, other = exported(d_model=2, d_ff=1, num_heads=2, encoder_layers=1, decoder_layers=1)
    with pytest.raises(ResourceError, match=r"^out of memory; lower decoding.batch_tokens or the beam$"):
        search(other, [Sentence([5] * 4_500_000)], DecodingConfig())


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model(SRC, SRC),
        lambda model: model.forward_with_alignment(SRC, SRC),
        lambda model: model.output_weight,
        lambda model: search(model, SENTENCES, DecodingConfig(coverage_penalty=0.2)),
    ],
    ids=["forward", "alignment", "output weight", "coverage"],
)
def test_what_only_the_run_can_do_is_refused(exported, ask):
    _, other = exported()
    message = (
        f"{other.folder}: an ONNX folder only translates, without word alignments and coverage penalty; for more, use "
        "the run that it was exported from"
    )
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        ask(other)


def test_it_is_recognised_by_its_files(exported, tmp_path):
    assert not is_onnx_folder(tmp_path)
    exported()
    assert is_onnx_folder(tmp_path)


def refuses(folder: Path, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        OnnxModel(folder)


ADVICE = "export the run again: `jumok export RUN --to onnx`"


@pytest.mark.parametrize("name", ["encoder.onnx", "decoder.onnx"])
def test_a_missing_file_is_named(exported, tmp_path, name):
    exported()
    (tmp_path / name).unlink()
    refuses(tmp_path, f"{tmp_path / name}: no such file; {ADVICE}")


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "wrong graph", "directory"])
@pytest.mark.parametrize("name", ["encoder.onnx", "decoder.onnx"])
def test_a_damaged_file_is_named(exported, tmp_path, name, damage):
    exported()
    file = tmp_path / name
    if damage == "cut":
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "text":
        file.write_text("version https://git-lfs.github.com/spec/v1\n")
    elif damage == "directory":
        file.unlink()
        file.mkdir()
    else:
        model = onnx.load(file)
        del model.graph.node[3]
        onnx.save(model, file)
    refuses(tmp_path, f"{file}: is damaged or not an ONNX model; {ADVICE}")


def test_two_graphs_of_different_models_are_refused(exported, tiny_transformer, tmp_path):
    exported()
    (tmp_path / "other").mkdir()
    write_graphs(tiny_transformer(num_heads=4), tmp_path / "other")
    (tmp_path / "other/decoder.onnx").replace(tmp_path / "decoder.onnx")
    refuses(tmp_path, f"{tmp_path}: encoder.onnx and decoder.onnx do not fit each other; {ADVICE}")


@pytest.mark.parametrize("name", ["encoder.onnx", "decoder.onnx"])
def test_one_graph_in_the_others_place_is_refused(exported, tmp_path, name):
    exported()
    (tmp_path / ({"encoder.onnx", "decoder.onnx"} - {name}).pop()).write_bytes((tmp_path / name).read_bytes())
    with pytest.raises(RunError, match="do not fit each other"):
        OnnxModel(tmp_path)


def test_without_onnxruntime_the_extra_is_named(exported, tmp_path, monkeypatch):
    exported()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    refuses(tmp_path, f"{tmp_path}/encoder.onnx: needs packages that are not installed: pip install 'jumok[onnx]'")
