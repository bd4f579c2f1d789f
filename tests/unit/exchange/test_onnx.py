"""The ONNX folder: valid graphs with free dimensions, and all that a translation needs beside them."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import onnx
import pytest

import jumok.exchange.onnx
from jumok.config import parse_config
from jumok.decoding.batches import search
from jumok.decoding.sentence import Sentence
from jumok.engines.onnx_model import OnnxModel
from jumok.errors import RunError, UsageError
from jumok.exchange.onnx import export_onnx, write_graphs
from jumok.models import build_model
from jumok.storage.checkpoints import model_tensors
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import PAD_ID, train_tokenizer

PAIRS = [
    (f"{a} {b}", f"{b} {a}") for a in ("저는", "우리는", "the cat") for b in ("갔어요.", "집에", "is here", "home")
]
DOCS = Path(__file__).resolve().parents[3] / "docs"


def make_run(path: Path, joint: bool = True, **model) -> RunDirectory:
    """A run as training leaves it, with random weights."""
    numbers = {"d_model": 16, "d_ff": 32, "num_heads": 2, "encoder_layers": 2, "decoder_layers": 2, "dropout": 0.0}
    config = parse_config(
        {
            "name": "pairs",
            "data": {"source": "ko", "target": "en", "train": "t", "valid": "v"},
            "tokenizer": {"joint": joint},
            "model": {**numbers, "tie_embeddings": "three-way" if joint else "two-way", **model},
        }
    )
    (path / "prepared").mkdir()
    for name, vocab_size in {"tokenizer": 290}.items() if joint else {"source": 285, "target": 290}.items():
        texts = [text for pair in PAIRS for text in pair]
        train_tokenizer(texts, path / "prepared" / f"{name}.model", "bpe", vocab_size, 1.0)
    run = RunDirectory(path / "run")
    run.create(config, path / "prepared")
    sizes = [tokenizer.vocab_size for tokenizer in run.tokenizers()]
    run.save_model(model_tensors(build_model(config.model, sizes[0], sizes[1], PAD_ID)))
    return run


@pytest.mark.parametrize("joint", [True, False])
def test_the_folder_translates_as_the_run(tmp_path, joint):
    run = make_run(tmp_path, joint)
    export_onnx(run, tmp_path / "onnx")
    folder = RunDirectory(tmp_path / "onnx")
    assert folder.config() == run.config()
    src_tokenizer, _ = folder.tokenizers()
    sentences = [Sentence(ids) for ids in src_tokenizer.encode([pair[0] for pair in PAIRS])]
    decoding = run.config().decoding
    ours, theirs = (search(of, sentences, decoding) for of in (run.load_model(), OnnxModel(tmp_path / "onnx")))
    assert [[h.ids for h in found] for found in theirs] == [[h.ids for h in found] for found in ours]


@pytest.mark.parametrize("joint", [True, False])
def test_the_folder_holds_these_files(tmp_path, joint):
    export_onnx(make_run(tmp_path, joint), tmp_path / "onnx")
    tokenizers = ["tokenizer.model"] if joint else ["source.model", "target.model"]
    assert sorted(path.name for path in (tmp_path / "onnx").iterdir()) == sorted(
        ["README.md", "config.toml", "decoder.onnx", "encoder.onnx", *tokenizers]
    )


def test_the_readme_says_how_to_use_it_and_names_every_input_and_output(tmp_path):
    export_onnx(make_run(tmp_path, position="learned", max_length=256), tmp_path / "pairs-onnx")
    readme = (tmp_path / "pairs-onnx/README.md").read_text(encoding="utf-8")
    assert readme.startswith("# pairs: ko → en, ONNX\n\n`jumok translate pairs-onnx FILE` translates with it")
    assert "up to 256 pieces" in readme
    for name in ("encoder", "decoder"):
        graph = onnx.load(tmp_path / f"pairs-onnx/{name}.onnx").graph
        for value in (*graph.input, *graph.output):
            assert f"`{re.sub('[.][0-9]+[.]', '.i.', value.name)}`" in readme


def test_the_graphs_are_valid_and_their_dimensions_free(tiny_transformer, tmp_path):
    write_graphs(tiny_transformer(), tmp_path)
    free = {}
    for name in ("encoder", "decoder"):
        onnx.checker.check_model(tmp_path / f"{name}.onnx", full_check=True)
        graph = onnx.load(tmp_path / f"{name}.onnx").graph
        free[name] = {
            value.name: [size.dim_param or size.dim_value for size in value.type.tensor_type.shape.dim]
            for value in (*graph.input, *graph.output)
        }
    assert free["encoder"]["src"] == free["encoder"]["memory_mask"] == ["B", "S"]
    assert free["encoder"]["memory.1.value"] == free["decoder"]["memory.1.value"] == ["B", 2, "S", 8]
    assert free["decoder"]["past.0.key"] == ["R", 2, "L", 8]
    assert free["decoder"]["new.0.key"] == ["R", 2, "L + 1", 8]
    assert free["decoder"]["log_probs"] == ["R", 23]


def test_a_tied_matrix_is_stored_once_in_each_graph(tiny_transformer, tmp_path):
    sizes = {}
    for tying in ("three-way", "none"):
        write_graphs(tiny_transformer(vocab_size=5000, tie_embeddings=tying), tmp_path)
        sizes[tying] = (tmp_path / "decoder.onnx").stat().st_size
    assert sizes["none"] - sizes["three-way"] == pytest.approx(5000 * 16 * 4, rel=0.01)


def test_weights_beyond_the_limit_of_a_file_stand_beside_it(tiny_transformer, tmp_path, monkeypatch):
    model = tiny_transformer()
    monkeypatch.setattr(jumok.exchange.onnx, "_MAX_FILE_BYTES", 1000)
    write_graphs(model, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{name}.onnx{end}" for name in ("encoder", "decoder") for end in ("", ".data")
    }
    (tmp_path / "moved").mkdir()
    for path in list(tmp_path.glob("*.onnx*")):
        path.rename(tmp_path / "moved" / path.name)
    sentences = [Sentence([5, 6, 7])]
    decoding = parse_config({"name": "x", "data": dict.fromkeys(("source", "target", "train", "valid"), "ko")}).decoding
    found = search(OnnxModel(tmp_path / "moved"), sentences, decoding)
    assert [h.ids for h in found[0]] == [h.ids for h in search(model, sentences, decoding)[0]]


def test_the_documents_translator_without_jumok_is_greedy_search(tmp_path):
    run = make_run(tmp_path)
    export_onnx(run, tmp_path / "onnx")
    code = re.search(r"```python\n(.*?)```", (DOCS / "onnx.md").read_text(encoding="utf-8"), re.DOTALL)
    names: dict = {}
    exec(code.group(1).replace('"demo-onnx"', repr(str(tmp_path / "onnx"))), names)
    src_tokenizer, tgt_tokenizer = run.tokenizers()
    for text, _ in PAIRS:
        sentences = [Sentence(ids) for ids in src_tokenizer.encode([text])]
        best = search(run.load_model(), sentences, run.config().decoding.model_copy(update={"beam": 1}))[0][0]
        assert names["translate"](text).strip() == tgt_tokenizer.decode([best.ids])[0].strip()


def test_an_unfinished_run_is_refused_and_leaves_nothing(tmp_path):
    run = make_run(tmp_path)
    run.model_file.unlink()
    with pytest.raises(RunError, match="holds no trained model"):
        export_onnx(run, tmp_path / "onnx")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["prepared", "run"]


def test_a_failure_on_the_way_leaves_nothing(tmp_path, monkeypatch):
    run = make_run(tmp_path)
    monkeypatch.setattr(jumok.exchange.onnx, "_readme", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        export_onnx(run, tmp_path / "onnx")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["prepared", "run"]


def test_a_folder_that_is_there_is_not_written_over(tmp_path):
    run = make_run(tmp_path)
    export_onnx(run, tmp_path / "onnx")
    with pytest.raises(UsageError, match="exists already and is not empty"):
        export_onnx(run, tmp_path / "onnx")


def test_another_architecture_is_refused(tmp_path, monkeypatch, prefix_model):
    run = make_run(tmp_path)
    monkeypatch.setattr(RunDirectory, "load_model", lambda self: prefix_model(lambda source, prefix: []))
    message = f"{run.path}: only the Transformer can be written as ONNX"
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        export_onnx(run, tmp_path / "onnx")


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "jumok.exchange.onnx")
    monkeypatch.setitem(sys.modules, "onnx", None)
    message = "ONNX needs packages that are not installed: pip install 'jumok[onnx]'"
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        importlib.import_module("jumok.exchange.onnx")


@pytest.mark.parametrize("unusual", [{"masking": "zero_after"}, {"d_k": 4}], ids=str)
def test_a_transformer_that_is_not_the_usual_one_is_refused(tmp_path, unusual):
    run = make_run(tmp_path, **unusual)
    ((key, value),) = unusual.items()
    message = f"{run.path}: a Transformer with {key} = {value} cannot be written as ONNX; use the run itself"
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        export_onnx(run, tmp_path / "onnx")
    assert not (tmp_path / "onnx").exists()
