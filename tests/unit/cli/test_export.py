"""`jumok export` and `jumok import`: what they say and what they leave behind."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jumok.cli import export as command

Jumok = Callable[..., Any]


def test_out_to_hugging_face_and_back_translates_the_same(jumok: Jumok, run: Path, tmp_path: Path) -> None:
    out, back = tmp_path / "out", tmp_path / "back"
    ended = jumok("export", run, "--to", "huggingface", "-o", out)
    assert (ended.code, ended.out) == (0, f"{out}\n")
    assert "AutoModelForSeq2SeqLM.from_pretrained" in ended.err
    assert {path.name for path in out.iterdir()} == {
        "README.md",
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "source.spm",
        "target.spm",
        "tokenizer_config.json",
        "vocab.json",
    }
    ended = jumok("import", "--from", "huggingface", out, "-o", back)
    assert (ended.code, ended.out) == (0, f"{back}\n")
    assert f"try it: jumok translate {back}" in ended.err
    config = (back / "config.toml").read_text(encoding="utf-8")  # only this is not handed over
    config = config.replace("max_extra_length = 50", "max_extra_length = 3")
    (back / "config.toml").write_text(config, encoding="utf-8")
    said = [jumok("translate", of, "--text", "나는 집에 간다.", "--scores") for of in (run, back)]
    assert said[0].code == 0 and said[0].out == said[1].out


def test_the_place_is_chosen_where_none_is_given(
    jumok: Jumok, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "runs" / "copy"
    copy.mkdir(parents=True)
    for name in ("config.toml", "tokenizer.model", "model.safetensors"):
        (copy / name).write_bytes((run / name).read_bytes())
    ended = jumok("export", copy, "--to", "huggingface")
    assert ended.out == f"{copy / 'export' / 'huggingface'}\n"
    ended = jumok("export", copy, "--to", "huggingface")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.endswith("exists already and is not empty; choose another place or remove it\n")
    monkeypatch.chdir(tmp_path)
    ended = jumok("import", copy / "export" / "huggingface")
    assert ended.out == "runs/huggingface\n"
    assert (tmp_path / "runs" / "huggingface" / "model.safetensors").exists()


def test_ctranslate2_and_onnx_come_out_too(jumok: Jumok, run: Path, tmp_path: Path) -> None:
    assert jumok("export", run, "--to", "ctranslate2", "--compute", "int8", "-o", tmp_path / "c").code == 0
    assert (tmp_path / "c" / "model.bin").exists()
    assert jumok("export", run, "--to", "onnx", "-o", tmp_path / "o").code == 0
    assert any(path.suffix == ".onnx" for path in (tmp_path / "o").iterdir())


def test_wrong_use_is_refused_in_one_line(jumok: Jumok, run: Path, tmp_path: Path) -> None:
    for arguments, message in (
        (["export", tmp_path / "no", "--to", "onnx"], "no such run directory"),
        (["export", run, "--to", "huggingface", "--compute", "int8"], "go with --to ctranslate2"),
        (["export", run, "--to", "onnx", "--vocabulary-map"], "go with --to ctranslate2"),
        (["export", run, "--to", "tensorflow"], "'tensorflow' is not one of 'ctranslate2', 'huggingface', 'onnx'"),
        (["import", tmp_path / "no"], "is neither a directory nor a name on the Hugging Face hub"),
    ):
        ended = jumok(*arguments)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
        assert message in ended.err
    ended = jumok("export", run)
    assert ended.code == 2 and "Missing option '--to'" in ended.err and "huggingface" in ended.err


def test_a_missing_library_is_named_with_the_extra_that_brings_it(
    jumok: Jumok, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "onnx" else find_spec(name))
    ended = jumok("export", run, "--to", "onnx", "-o", tmp_path / "out")
    assert ended.code == 2 and "pip install 'jumok[onnx]'" in ended.err
    assert not (tmp_path / "out").exists()
