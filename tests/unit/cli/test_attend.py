"""`jumok attend` as it is typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from jumok.config import parse_config
from jumok.models import build_model
from jumok.storage.checkpoints import model_tensors
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import PAD_ID

Jumok = Callable[..., Any]
TEXT, TARGET = "나는 집에 간다.", "I go home."


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def make_other(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A run of another architecture with random weights, the tokenizer of `run`."""

    def make(architecture: str) -> Path:
        like = RunDirectory(run)
        settings = like.config().model_dump(exclude_unset=True)
        settings["model"] = {"architecture": architecture, "d_model": 16}
        config = parse_config(settings)
        directory = RunDirectory(tmp_path_factory.mktemp(architecture) / "run")
        directory.create(config, run)
        torch.manual_seed(1)
        size = like.tokenizers()[0].vocab_size
        directory.save_model(model_tensors(build_model(config.model, size, size, PAD_ID)))
        return directory.path

    return make


def is_picture(path: Path) -> bool:
    with Image.open(path) as image:
        return image.format == "PNG" and image.width > 500


def test_grid_goes_to_the_folder_where_we_are(jumok: Jumok, run: Path) -> None:
    ended = jumok("attend", run, TEXT, "--target", TARGET)
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[:3] == [TEXT, f"→ {TARGET}", ""] and lines[-1] == "picture: attention.png"
    assert lines[3].split() == ["word", "looks", "most", "at", "weight"]
    assert [line.split()[0] for line in lines[4:7]] == ["I", "go", "home."]
    assert lines[-2] == "weights: cross attention, layer 1, mean of heads 1-4"
    assert is_picture(Path("attention.png"))
    assert [path.name for path in Path().iterdir()] == ["attention.png"]


def test_own_translation_where_none_is_given(jumok: Jumok, run: Path) -> None:
    own = json.loads(jumok("attend", run, TEXT, "--json").out)
    same = json.loads(jumok("attend", run, TEXT, "--target", own["translation"], "--json").out)
    assert own["source"] == same["source"] == TEXT and own["translation"] == same["translation"]
    assert list(Path().iterdir()) == []  # a picture only where -o asks for it


@pytest.mark.parametrize(
    "options",
    [
        ["--layers", "1", "--heads", "2"],
        ["--kind", "encoder", "--heads", "1,3-4"],
        ["--kind", "decoder", "--word", "go"],
        ["--word", "집에"],
        ["--word", "2", "--heads", "1"],
    ],
)
@pytest.mark.parametrize("ending", ["png", "svg", "html"])
def test_every_choice_in_every_format(jumok: Jumok, run: Path, options: list[str], ending: str) -> None:
    file = Path(f"seen.{ending}")
    ended = jumok("attend", run, TEXT, "--target", TARGET, *options, "-o", file)
    assert (ended.code, ended.err) == (0, "")
    assert str(file) in ended.out.splitlines()[-1]
    if ending == "png":
        assert is_picture(file)
        return
    written = file.read_text(encoding="utf-8")
    assert written.startswith("<?xml") if ending == "svg" else written.startswith("<!doctype html>")
    if ending == "html":
        assert ("data:image/svg+xml" in written) == ("--word" in options)
        assert 'src="http' not in written and TEXT in written
        data = json.loads(written.split('id="data">')[1].split("</script>")[0])
        assert data["first"]["kind"] == (options[1] if "--kind" in options else "cross")


def test_json_names_pieces_and_links(jumok: Jumok, run: Path) -> None:
    found = json.loads(jumok("attend", run, TEXT, "--target", TARGET, "--json", "-o", "a.png", "--heads", "1").out)
    assert (found["kind"], found["layers"], found["heads"], found["file"]) == ("cross", [1], [1], "a.png")
    assert found["row_pieces"][-1] == found["column_pieces"][-1] == "</s>"
    assert [link["word"]["text"] for link in found["links"]] == ["I", "go", "home."]
    assert all(0 < link["weight"] <= 1 for link in found["links"])


def test_recurrent_attention_has_one_head(jumok: Jumok, make_other: Callable[[str], Path]) -> None:
    recurrent = make_other("bahdanau")
    ended = jumok("attend", recurrent, TEXT, "--target", TARGET, "-o", "a.png")
    assert (ended.code, ended.err) == (0, "") and is_picture(Path("a.png"))
    assert "weights: cross attention, layer 1, head 1" in ended.out
    assert jumok("attend", recurrent, TEXT, "--word", "나는", "-o", "b.html").code == 0
    refused = jumok("attend", recurrent, TEXT, "--kind", "encoder", "-o", "c.png")
    assert refused.err == "jumok: kind encoder: this model has cross attention only\n"
    assert not Path("c.png").exists()


def test_model_without_attention_is_refused(jumok: Jumok, make_other: Callable[[str], Path]) -> None:
    ended = jumok("attend", make_other("seq2seq"), TEXT)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("jumok: Seq2Seq has no attention to look at; take one run whose architecture has it")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["  "], "the sentence is empty; write one"),
        ([TEXT, "--target", " "], "the translation is empty; write one, or leave it to the model"),
        ([TEXT, "--layers", "2"], "no layer of cross attention has number 2; there is only 1"),
        ([TEXT, "--heads", "9"], "no head in a layer has number 9; there are 1 to 4"),
        ([TEXT, "--layers", "0"], "--layers 0: expected numbers from 1 on, such as 2 or 1,3 or 1-3"),
        ([TEXT, "--heads", "3-1"], "--heads 3-1: expected numbers from 1 on, such as 2 or 1,3 or 1-3"),
        ([TEXT, "--heads", "a"], "--heads a: expected numbers from 1 on"),
        ([TEXT, "--target", TARGET, "--word", "train"], f"word train: is not in “{TARGET}” nor in “{TEXT}”"),
        ([TEXT, "--target", TARGET, "--word", "7"], f"word 7: “{TARGET}” has words 1 to 3; choose one of them"),
        ([TEXT, "-o", "a.gif"], "a.gif: attention is written as .png, .svg or .html; let the name end in one of them"),
        ([TEXT, "-o", "gone/a.png"], "gone/a.png: its directory does not exist"),
        ([TEXT, "--kind", "self"], "Invalid value for '--kind'"),
        (["집 " * 250], "the sentence has "),
        (["\udcff"], "TEXT: not UTF-8; is the terminal set to another encoding?"),
        ([], "Missing argument 'TEXT'; `jumok attend --help` shows how"),
    ],
)
def test_what_it_refuses(jumok: Jumok, run: Path, arguments: list[str], message: str) -> None:
    ended = jumok("attend", run, *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"jumok: {message}") and ended.err.count("\n") == 1
    assert list(Path().iterdir()) == []


def test_missing_run_is_named(jumok: Jumok) -> None:
    assert jumok("attend", "gone", TEXT).err.startswith("jumok: gone: no such run directory")
