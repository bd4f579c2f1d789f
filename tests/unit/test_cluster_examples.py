"""The examples for clusters name options, recipes and settings that exist.

No YAML library is among the dependencies, so the manifests are read as the plain text that they are.
"""

from __future__ import annotations

import argparse
import re
import shlex
import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
import typer
from torch.distributed.run import get_args_parser

from jumok.cli.train import train
from jumok.config import load_config

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
MANIFESTS = sorted((EXAMPLES / "kubernetes").glob("*.yaml"))
SBATCH = EXAMPLES / "slurm" / "train.sbatch"


def words_of_script(path: Path) -> list[str]:
    """What follows torchrun in the script, shell variables replaced by 1 and "$@" by a recipe."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    (command,) = re.findall(r"^srun torchrun (.+)$", text, re.MULTILINE)
    command = command.replace('"$@"', "recipes/wmt14-en-de-base.toml --run runs/base --set training.max_steps=10")
    return shlex.split(re.sub(r"\$\w+", "1", command))


def words_of_manifest(path: Path) -> list[str]:
    """What follows torchrun in the manifest: its command on one line, its arguments on a line each."""
    text = path.read_text(encoding="utf-8")
    (command,) = re.findall(r"^ *command: \[torchrun, (.+)\]$", text, re.MULTILINE)
    (arguments,) = re.findall(r"^ *args:\n((?: *- .+\n)+)", text, re.MULTILINE)
    return [*command.split(", "), *(line.strip().removeprefix("- ") for line in arguments.splitlines())]


COMMANDS = {
    SBATCH.name: words_of_script(SBATCH),
    **{path.name: words_of_manifest(path) for path in MANIFESTS},
}


@pytest.fixture(params=COMMANDS)
def started(request: pytest.FixtureRequest) -> argparse.Namespace:
    """An example's command as torchrun reads it; a wrong option ends the test here."""
    return get_args_parser().parse_args(COMMANDS[request.param])


def test_torchrun_starts_jumok_train(started: argparse.Namespace) -> None:
    assert started.module
    assert started.training_script == "jumok"
    assert started.training_script_args[0] == "train"


def test_torchrun_would_take_the_run_option_for_its_own_without_the_bare_dashes() -> None:
    with pytest.raises(SystemExit):
        get_args_parser().parse_args(["-m", "jumok", "train", "recipes/wmt14-en-de-base.toml", "--run", "runs/base"])


def test_options_of_jumok_train_exist(started: argparse.Namespace) -> None:
    app = typer.Typer()
    app.command()(train)
    known = {option for parameter in typer.main.get_command(app).params for option in parameter.opts}
    used = {word for word in started.training_script_args if word.startswith("--")}
    assert used
    assert used <= known


def test_recipe_and_settings_exist(started: argparse.Namespace) -> None:
    words = started.training_script_args
    settings = [value for option, value in pairwise(words) if option == "--set"]
    load_config(ROOT / words[1], settings)


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_manifests_are_indented_as_yaml_wants_it(path: Path) -> None:
    previous = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        assert "\t" not in line
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        assert indent % 2 == 0
        assert indent <= previous + (4 if line.lstrip().startswith("- ") else 2)
        assert re.match(r"(- )?[\w./-]+:( .+)?$|- [^\s].*$|---$", line.lstrip())
        previous = indent + (2 if line.lstrip().startswith("- ") else 0)


@pytest.mark.parametrize("path", [SBATCH, *MANIFESTS], ids=lambda path: path.name)
def test_nothing_of_a_machine_stands_in_them(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for place in (Path.home(), Path.cwd(), Path(tempfile.gettempdir())):
        assert str(place) not in text
    images = re.findall(r"image: (.+)", text)
    assert all("/" not in image for image in images), "a registry is the user's to name"


def test_times_to_save_fit_into_the_times_to_stop() -> None:
    for path in (SBATCH, *MANIFESTS):
        text = path.read_text(encoding="utf-8")
        (to_save,) = re.findall(r'SHUTDOWN_TIMEOUT(?:=|.*\n +value: ")(\d+)', text)
        (to_stop,) = re.findall(r"(?:TERM@|terminationGracePeriodSeconds: )(\d+)", text)
        assert int(to_save) < int(to_stop)
