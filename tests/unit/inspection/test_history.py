"""Curves and sentences of a run, while its files come and go."""

from __future__ import annotations

import json
import shutil

import pytest
import torch

from jumok.inspection.history import at_checkpoints, curves, learned_sentence
from jumok.inspection.subject import Subject
from jumok.storage.checkpoints import model_tensors

SOURCE = "어제 카페에 갔어요."


@pytest.fixture
def subject(model, tokenizer, run):
    return Subject(model, tokenizer, tokenizer, run.config())


def test_a_run_without_a_record(run):
    assert learned_sentence(run) == ("", [])
    assert set(curves(run)) == {"train_loss", "valid_loss", "valid_bleu", "learning_rate"}
    assert not any(curves(run).values())


def test_what_the_training_wrote_down(run):
    events = [
        {"event": "train", "step": 1, "loss": 5.0, "learning_rate": 0.1},
        {"event": "train", "step": 2, "loss": float("nan"), "learning_rate": 0.2},
        {"event": "validate", "step": 2, "loss": 4.0, "bleu": 1.5, "example": ["나는 간다", "I go", "I went"]},
        {"event": "validate", "step": 4, "loss": 3.0, "example": ["나는 간다", "I do go", "I went"]},
    ]
    run.metrics_file.write_text("".join(json.dumps(event) + "\n" for event in events))
    found = curves(run)
    assert found["train_loss"] == [(1, 5.0)]  # what is no number cannot be drawn
    assert found["learning_rate"] == [(1, 0.1), (2, 0.2)]
    assert found["valid_loss"] == [(2, 4.0), (4, 3.0)]
    source, spoken = learned_sentence(run)
    assert source == "나는 간다"
    assert [(one.step, one.text, one.score) for one in spoken] == [(2, "I go", 1.5), (4, "I do go", None)]


def test_the_same_sentence_at_each_checkpoint_that_is_still_whole(subject, run, model):
    tensors = model_tensors(model)
    others = {name: tensor + torch.randn_like(tensor) for name, tensor in tensors.items()}
    for step, weights in ((1, others), (2, tensors), (3, tensors), (4, tensors)):
        run.checkpoints.save(step, weights, {}, {"step": step})
    (run.checkpoints.path(3) / "model.safetensors").write_bytes(b"damaged")
    (run.checkpoints.path(4) / "manifest.json").unlink()
    spoken, problems = at_checkpoints(subject, run, SOURCE)
    assert [one.step for one in spoken] == [1, 2]
    assert spoken[1].text == subject.text(subject.search(subject.source_ids(SOURCE))[0].ids)
    assert "step-3/model.safetensors: is damaged" in problems[0]
    assert "step-4: is incomplete or its manifest is damaged" in problems[1]
    shutil.rmtree(run.checkpoints.folder)
    assert at_checkpoints(subject, run, SOURCE) == ([], [])
