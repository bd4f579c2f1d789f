"""Small runs with random weights, and a client that asks the application without a network."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient

from jumok.config import parse_config
from jumok.models import build_model
from jumok.serving.app import create_app
from jumok.storage.checkpoints import model_tensors
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import PAD_ID, Tokenizer, train_tokenizer

SOURCE = "어제 카페에 갔어요."
_LINES = [
    f"어제 {noun}에 {verb}." for noun in ("카페", "학교", "시장", "바다") for verb in ("갔어요", "있어요", "만나요")
]
_LINES += [f"I {verb} the {noun}." for noun in ("cafe", "school", "sea", "park") for verb in ("see", "like", "want")]
_MODELS: dict[str, dict[str, Any]] = {
    "transformer": {"d_model": 16, "d_ff": 32, "num_heads": 4, "encoder_layers": 3, "decoder_layers": 2},
    "bahdanau": {"d_model": 16},
}


@pytest.fixture(scope="session")
def make_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., RunDirectory]:
    """A run of an architecture: two checkpoints, the second of them the model, and a record of the training."""
    folder = tmp_path_factory.mktemp("tokenizer")
    train_tokenizer(_LINES, folder / "tokenizer.model", "bpe", vocab_size=340, character_coverage=1.0)
    size = Tokenizer(folder / "tokenizer.model").vocab_size

    def make(path: Path, architecture: str = "transformer") -> RunDirectory:
        model = {"architecture": architecture, **_MODELS[architecture]}
        data = {"source": "ko", "target": "en", "train": "train.tsv", "valid": "valid.tsv"}
        config = parse_config(
            {"name": "tiny", "data": data, "model": model, "decoding": {"beam": 3, "max_extra_length": 4}}
        )
        run = RunDirectory(path)
        run.create(config, folder)
        for step in (10, 20):
            torch.manual_seed(step)
            tensors = model_tensors(build_model(config.model, size, size, PAD_ID))
            run.checkpoints.save(step, tensors, {}, {"step": step})
        run.save_model(tensors)
        events = [
            {"event": "train", "step": 10, "loss": 5.0, "learning_rate": 0.1},
            {"event": "validate", "step": 10, "loss": 4.0, "bleu": 1.5, "example": [SOURCE, "I go", "I went"]},
        ]
        run.metrics_file.write_text("".join(json.dumps(event) + "\n" for event in events))
        return run

    return make


@pytest.fixture(scope="session")
def run(make_run: Callable[..., RunDirectory], tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return make_run(tmp_path_factory.mktemp("runs") / "tiny")


class Client(TestClient):
    """Asks as the page does; what goes wrong in the server is an answer, not an exception."""

    def __init__(self, run: Path, **options: Any) -> None:
        super().__init__(create_app(run, "cpu", **options), base_url="http://localhost", raise_server_exceptions=False)

    def ask(self, name: str, **question: Any) -> dict[str, Any]:
        """The answer to a question that is in order."""
        response = self.post(f"/api/{name}", json=question)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def refusal(self, name: str, **question: Any) -> tuple[int, str]:
        """How a question that is not is refused."""
        response = self.post(f"/api/{name}", json=question)
        assert set(response.json()) == {"error"}, response.text
        return response.status_code, response.json()["error"]


@pytest.fixture(scope="session")
def make_client() -> type[Client]:
    return Client


@pytest.fixture(scope="session")
def client(run: RunDirectory) -> Iterator[Client]:
    with Client(run.path) as client:
        yield client


@pytest.fixture(scope="session")
def recurrent(make_run: Callable[..., RunDirectory], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(make_run(tmp_path_factory.mktemp("runs") / "recurrent", "bahdanau").path) as client:
        yield client


@pytest.fixture(scope="session")
def unpack() -> Callable[[dict[str, Any]], Any]:
    """What the page does with packed numbers."""
    return lambda packed: np.frombuffer(base64.b64decode(packed["f16"]), "<f2").reshape(packed["shape"]).astype(float)
