"""How the program introduces itself, and how it fails."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jumok import __version__
from jumok.errors import DataError, DivergenceError, ResourceError

COMMANDS = ["demo", "prepare", "train", "translate", "attend", "evaluate", "compare", "serve"]
COMMANDS += ["average", "export", "import"]
Jumok = Callable[..., Any]


def test_help_lists_every_command(jumok: Jumok) -> None:
    for flag in ("--help", "-h"):
        ended = jumok(flag)
        assert ended.code == 0 and ended.err == ""
        for command in COMMANDS:
            assert f" {command} " in ended.out
        assert "New here? Type jumok demo" in ended.out


def test_help_answers_without_torch() -> None:
    script = (
        "import sys; sys.argv = ['jumok', '--help']\n"
        "from jumok.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'sentencepiece', 'pyarrow', 'sacrebleu', 'safetensors', 'matplotlib', 'pydantic'}\n"
        "print('HEAVY', sorted(heavy & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1].strip() in ("HEAVY []", "HEAVY ['pydantic']")


def test_no_command_shows_the_help(jumok: Jumok) -> None:
    ended = jumok()
    assert "Usage: jumok" in ended.out and "demo" in ended.out
    assert "Traceback" not in ended.err


def test_version(jumok: Jumok) -> None:
    assert jumok("--version") == type(jumok("--version"))(0, f"jumok {__version__}\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(jumok: Jumok, command: str) -> None:
    ended = jumok(command, "--help")
    assert ended.code == 0
    flat = " ".join(ended.out.split())
    assert "Example: " in flat and f"jumok {command}" in flat.split("Example: ")[1]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["trian"], "jumok: No such command 'trian'. Did you mean 'train'? `jumok --help` shows how"),
        (["train"], "jumok: Missing argument 'CONFIG'; `jumok train --help` shows how"),
        (["train", "nope.toml"], "jumok: nope.toml: no such file; `recipes/` holds complete examples"),
        (["prepare", "nope.toml"], "jumok: nope.toml: no such file; `recipes/` holds complete examples"),
        (
            ["translate", "runs/nope"],
            "jumok: runs/nope: no such run directory; `jumok train CONFIG` makes one under runs/",
        ),
        (
            ["evaluate", "runs/nope"],
            "jumok: runs/nope: no such run directory; `jumok train CONFIG` makes one under runs/",
        ),
        (["evaluate", "x", "--split", "dev"], "jumok: split dev: expected valid, test or composition"),
        (["translate"], "jumok: Missing argument 'RUN [RUN …] [FILE]'; `jumok translate --help` shows how"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    jumok: Jumok, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = jumok(*arguments)
    assert (ended.code, ended.out, ended.err) == (2, "", line + "\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (["translate", "x", "--beam", "-1"], "jumok: Invalid value for '--beam': "),
        (["translate", "x", "--n-best", "0"], "jumok: Invalid value for '--n-best': "),
        (["translate", "x", "--beam", "four"], "jumok: Invalid value for '--beam': "),
        (["evaluate", "x", "--beam", "0"], "jumok: Invalid value for '--beam': "),
        (["train", "x", "--stes", "3"], "jumok: No such option: --stes"),
        (["--debgu"], "jumok: No such option: --debgu"),
    ],
)
def test_wrong_option_is_one_line_and_exit_code_2(jumok: Jumok, arguments: list[str], start: str) -> None:
    ended = jumok(*arguments)
    assert ended.code == 2 and ended.out == ""
    assert ended.err.startswith(start) and ended.err.count("\n") == 1


def test_every_mistake_of_a_configuration_is_a_line(jumok: Jumok, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('name = "x"\n[data]\nsource = "ko"\ntarget = "en"\ntrain = "a"\n[training]\nmax_step = 1\n')
    ended = jumok("train", path)
    assert ended.code == 2
    assert ended.err.splitlines() == [
        f"jumok: {path}: [data] valid is missing; Validation pairs, in the same forms.",
        f"jumok: {path}: [training] max_step is not a known key; did you mean max_steps?",
    ]


def test_bad_setting_is_explained(jumok: Jumok, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('name = "x"\n')
    ended = jumok("train", path, "--set", "max_steps")
    assert (ended.code, ended.err) == (
        2,
        "jumok: --set max_steps: expected section.key=value, such as training.max_steps=120\n",
    )


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "jumok", "--debug", "train", "nope.toml"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("Traceback") and "ConfigError: nope.toml: no such file" in ended.stderr


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ResourceError("full"), 1, "jumok: full\n"),
        (DivergenceError("nan"), 1, "jumok: nan\n"),
        (DataError("bad"), 2, "jumok: bad\n"),
        (KeyboardInterrupt(), 130, "jumok: stopped\n"),
        (OSError(5, "Input/output error"), 1, "jumok: [Errno 5] Input/output error\n"),
    ],
)
def test_exit_code_is_the_kind_of_error(
    jumok: Jumok, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, line: str
) -> None:
    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr("jumok.config.load_config", fail)
    monkeypatch.setattr("jumok.cli.app._close_output", lambda: None)
    ended = jumok("train", "x.toml")
    assert (ended.code, ended.out, ended.err) == (code, "", line)


def test_unequal_files_are_refused_and_nothing_is_written(
    jumok: Jumok, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.ko").write_text("하나\n둘\n")
    Path("a.en").write_text("one\n")
    Path("x.toml").write_text(
        'name = "x"\n[data]\nsource = "ko"\ntarget = "en"\ntrain = ["a.ko", "a.en"]\nvalid = ["a.ko", "a.en"]\n'
    )
    for command in ("prepare", "train"):
        ended = jumok(command, "x.toml")
        assert ended.code == 2 and ended.out == ""
        assert ended.err == (
            f"jumok: {tmp_path}/a.ko has 2 lines and {tmp_path}/a.en has 1; line n of one must translate line n of "
            "the other, so they need equally many\n"
        )
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.en", "a.ko", "x.toml"]


def test_prepare_says_what_comes_next(jumok: Jumok, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Path) -> None:
    monkeypatch.chdir(tmp_path)
    config = run / "config.toml"
    first, second = jumok("prepare", config), jumok("prepare", config)
    assert first.code == second.code == 0
    assert first.out.splitlines()[-1] == f"prepared/untrained: ready; next: jumok train {config}"
    assert second.out.splitlines()[0] == "prepared/untrained: already prepared from the same files and settings"
