"""The command line in this process, and a run with random weights."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from jumok.cli import main
from jumok.config import parse_config
from jumok.data.prepared import prepare
from jumok.models import build_model
from jumok.storage.checkpoints import model_tensors
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import PAD_ID

PAIRS = [
    (f"{a} {b} {c}.", f"{d} {f} {e}.")
    for a, d in (("나는", "I"), ("너는", "you"))
    for b, e in (("집에", "home"), ("산에", "uphill"), ("강에", "away"))
    for c, f in (("간다", "go"), ("온다", "come"), ("산다", "live"))
]


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str


Jumok = Callable[..., Ended]


@pytest.fixture
def jumok(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Jumok:
    """Run a command as the shell would, but in this process."""

    def run(*arguments: object, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "argv", ["jumok", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run directory with random weights; its test set is test.tsv."""
    folder = tmp_path_factory.mktemp("untrained")
    for name in ("train", "valid", "test"):
        (folder / f"{name}.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in PAIRS))
    config = parse_config(
        {
            "name": "untrained",
            "data": {
                "source": "ko",
                "target": "en",
                "folder": str(folder),
                "train": "train.tsv",
                "valid": "valid.tsv",
                "test": "test.tsv",
                "max_length": 20,
            },
            "tokenizer": {"vocab_size": 310},
            "model": {"preset": "tiny", "d_model": 16, "d_ff": 16, "encoder_layers": 1, "decoder_layers": 1},
            "decoding": {"max_extra_length": 3},
        }
    )
    corpus = prepare(config, folder / "prepared")
    directory = RunDirectory(folder / "run")
    directory.create(config, corpus.folder)
    torch.manual_seed(1)
    size = corpus.src_tokenizer.vocab_size
    directory.save_model(model_tensors(build_model(config.model, size, size, PAD_ID)))
    return directory.path
