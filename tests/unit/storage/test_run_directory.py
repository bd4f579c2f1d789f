"""A run directory that cannot be used says why; two trainings never share one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from jumok.config import Config, parse_config
from jumok.errors import RunError
from jumok.storage.run_directory import RunDirectory


@pytest.fixture
def config() -> Config:
    return parse_config(
        {"name": "x", "data": {"source": "ko", "target": "en", "train": "t", "valid": "v", "folder": '/a"\n\\b'}}
    )


def laid_out(path: Path, config: Config, *names: str) -> RunDirectory:
    folder = path / "prepared"
    folder.mkdir(exist_ok=True)
    for file in folder.iterdir():
        file.unlink()
    for name in names or ("tokenizer.model",):
        (folder / name).write_text(name)
    run = RunDirectory(path / "run")
    run.create(config, folder)
    return run


def refuse(message: str) -> str:
    return f"^{re.escape(message)}$"


def test_missing_run(tmp_path: Path) -> None:
    path = tmp_path / "nope"
    with pytest.raises(
        RunError, match=refuse(f"{path}: no such run directory; `jumok train CONFIG` makes one under runs/")
    ):
        RunDirectory(path).load_model()


def test_folder_that_is_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=refuse(f"{tmp_path}: is not a run directory (no config.toml in it)")):
        RunDirectory(tmp_path).load_model()


def test_run_without_a_model(tmp_path: Path, config: Config) -> None:
    run = laid_out(tmp_path, config)
    start = f"{run.path}: holds no trained model (no model.safetensors); "
    with pytest.raises(RunError, match=refuse(start + "`jumok train` has not saved anything here yet")):
        run.load_model()
    run.checkpoints.path(300).mkdir(parents=True)
    with pytest.raises(
        RunError,
        match=refuse(start + "its training stands at step 300; give the same `jumok train` again to finish it"),
    ):
        run.load_model()


def test_configuration_comes_back(tmp_path: Path, config: Config) -> None:
    assert laid_out(tmp_path, config).config() == config


def test_tokenizers_of_an_earlier_attempt_go(tmp_path: Path, config: Config) -> None:
    laid_out(tmp_path, config, "tokenizer.model")
    run = laid_out(tmp_path, config, "source.model", "target.model")
    assert sorted(path.name for path in run.path.glob("*.model")) == ["source.model", "target.model"]
    run = laid_out(tmp_path, config, "tokenizer.model")
    assert sorted(path.name for path in run.path.glob("*.model")) == ["tokenizer.model"]


def test_result_comes_back_and_is_none_before(tmp_path: Path, config: Config) -> None:
    run = laid_out(tmp_path, config)
    assert run.result() is None
    run.write_result({"bleu": 1.5, "한": "글"})
    assert run.result() == {"bleu": 1.5, "한": "글"}


def test_half_written_line_of_metrics_is_passed_over(tmp_path: Path, config: Config) -> None:
    run = laid_out(tmp_path, config)
    assert run.metrics() == []
    run.metrics_file.write_text('{"step": 1}\n{"step": 2}\n{"st')
    assert run.metrics() == [{"step": 1}, {"step": 2}]


def test_second_training_is_refused_while_the_first_holds_the_lock(tmp_path: Path) -> None:
    script = (
        "import sys; from jumok.storage.run_directory import RunDirectory\n"
        "with RunDirectory(sys.argv[1]).lock(): print('held', flush=True); sys.stdin.read()"
    )
    run = RunDirectory(tmp_path / "run")
    with subprocess.Popen(
        [sys.executable, "-c", script, str(run.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None and other.stdin is not None
        assert other.stdout.readline() == "held\n"
        message = f"{run.path}: another training is at work here; wait for it or choose another --run"
        with pytest.raises(RunError, match=refuse(message)), run.lock():
            pass
        other.stdin.close()
        assert other.wait() == 0
    with run.lock():
        pass


def test_lock_is_free_after_a_failure(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    with pytest.raises(ValueError, match="^inside$"), run.lock():
        raise ValueError("inside")
    with run.lock():
        pass
