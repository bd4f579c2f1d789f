"""Every answer holds the numbers of the loaded model: they are compared with the trace and the plain pass."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from jumok.inspection.kinds import weights_of
from jumok.inspection.subject import Subject
from jumok.inspection.trace import trace_batch

SOURCE, TARGET = "어제 카페에 갔어요.", "I like the cafe."
NEAR = {"atol": 2e-3, "rtol": 2e-3}  # float16


@pytest.fixture(scope="module")
def subject(run):
    return Subject(run.load_model(), *run.tokenizers(), run.config())


@pytest.fixture(scope="module")
def trace(subject):
    return trace_batch(subject.model, subject.src_tokenizer, subject.tgt_tokenizer, subject.pair(SOURCE, TARGET).batch)


def test_model(client, subject):
    answer = client.get("/api/model").json()
    assert (answer["source"]["code"], answer["target"]["code"]) == ("ko", "en")
    assert answer["numbers"]["d_k"] == 4 and answer["attentions"] == ["encoder", "decoder", "cross"]
    assert answer["params"] == subject.model.num_parameters()
    assert sum(block["params"] or 0 for block in answer["blocks"]) == answer["params"]
    assert answer["checkpoints"] == [10, 20] and answer["example"]["source"] == SOURCE


def test_translate(client, subject, unpack):
    answer = client.ask("translate", text=SOURCE)
    plain = subject.search(subject.source_ids(SOURCE))
    assert [one["text"] for one in answer["hypotheses"]] == [subject.text(one.ids) for one in plain]
    assert answer["text"] == answer["hypotheses"][0]["text"]
    shape = len(answer["tgt_labels"]), len(answer["src_labels"])
    looks = unpack(answer["attention"])
    assert looks.shape == shape
    for log_prob, places in zip(answer["log_probs"], answer["alternatives"], strict=True):
        (said,) = [place["p"] for place in places if place["is_said"]]
        assert said == pytest.approx(math.exp(log_prob))
    assert len(client.ask("translate", text=SOURCE, beam=1)["hypotheses"]) == 1


def test_tokens(client, subject):
    answer = client.ask("tokens", text=" 카페 漢 ", side="source")
    assert answer["normalized"] == "카페 漢"
    assert [one["id"] for one in answer["pieces"]] == subject.src_tokenizer.encode(["카페 漢"])[0]
    spelled = [one["bytes"] for one in answer["pieces"] if one["is_byte"]]
    assert spelled == ["E6", "BC", "A2"] and "漢" in [one["label"] for one in answer["pieces"]]
    assert answer["pieces"][0]["starts_word"]
    assert client.ask("tokens", text="", side="target")["pieces"] == []


def test_forward(client, subject, trace, unpack):
    answer = client.ask("forward", text=SOURCE, target=TARGET)
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(unpack(answer["attention"][kind]), np.stack(weights_of(trace, kind)), **NEAR)
    log_probs = subject.log_probs(subject.pair(SOURCE, TARGET))
    for row, one in zip(log_probs.exp(), answer["predictions"], strict=True):
        assert [c["p"] for c in one["top"]] == pytest.approx(row.topk(5).values.tolist(), rel=1e-4)
    assert client.ask("forward", text=SOURCE)["text"] == client.ask("translate", text=SOURCE)["text"]


@pytest.mark.parametrize(("kind", "layer", "head"), [("encoder", 3, 4), ("decoder", 1, 2), ("cross", 2, 1)])
def test_one_head(client, trace, unpack, kind, layer, head):
    answer = client.ask("attention", text=SOURCE, target=TARGET, kind=kind, layer=layer, head=head)
    record = getattr(trace, kind)[layer - 1].head(head - 1)
    parts = {
        name: unpack(answer[name]) for name in ("q", "k", "v", "scores", "scaled", "visible", "weights", "context")
    }
    for name in ("q", "k", "v", "scores", "visible", "weights", "context"):
        np.testing.assert_allclose(parts[name], getattr(record, name), **NEAR)
    np.testing.assert_allclose(parts["scores"], parts["q"] @ parts["k"].T, atol=2e-2)
    np.testing.assert_allclose(parts["scaled"], parts["scores"] / 2, **NEAR)  # √d_k = √4
    np.testing.assert_allclose(parts["context"], parts["weights"] @ parts["v"], atol=1e-2)
    np.testing.assert_allclose(unpack(answer["weights_unscaled"]).sum(-1), 1, **NEAR)
    assert (len(answer["rows"]), len(answer["columns"])) == parts["weights"].shape
    bits = -np.sum(record.weights * np.log2(np.maximum(record.weights, 1e-30)), axis=-1)
    assert answer["entropy"] == pytest.approx(bits.tolist(), abs=1e-4)


def test_silence(client, subject):
    question = {"text": SOURCE, "target": TARGET, "kind": "cross", "layer": 1, "head": 2}
    answer = client.ask("silence", **question)
    gold = subject.pair(SOURCE, TARGET).batch.tgt_out[0][:, None]
    plain = subject.log_probs(subject.pair(SOURCE, TARGET)).gather(1, gold)[:, 0]
    assert answer["before"]["by_position"] == pytest.approx(plain.tolist(), abs=1e-4)
    assert answer["after"]["total"] == pytest.approx(sum(answer["after"]["by_position"]))
    assert answer["after"]["total"] != pytest.approx(answer["before"]["total"], abs=1e-6)
    assert client.ask("silence", **question) == answer  # the head has its voice back


def test_positions(client, unpack):
    answer = client.get("/api/positions?length=6").json()
    expected = [[f(t / 10000 ** (2 * i / 16)) for i in range(8) for f in (math.sin, math.cos)] for t in range(6)]
    np.testing.assert_allclose(unpack(answer["tables"]["sinusoidal"]["vectors"]), expected, **NEAR)
    assert unpack(answer["tables"]["counts"]["distances"])[0, 5] == pytest.approx(5 * 4)  # √16 numbers that differ by 5
    assert answer["similarities"][0] == pytest.approx(8)


def test_masks(client, unpack):
    change = {"position": 3, "piece": "school"}
    answer = client.ask("masks", text=SOURCE, target=TARGET, change=change)
    causal = unpack(answer["masks"]["causal"])
    assert (causal == np.tril(np.ones_like(causal))).all()
    assert all(one["change"] == 0 for one in answer["predictions"][:3])
    row = answer["softmax"]
    hidden = [i for i, is_visible in enumerate(row["visible"]) if not is_visible]
    assert hidden
    for fill, does_hide, total in (("minus_infinity", True, 1), ("zero_before", False, 1), ("zero_after", True, None)):
        weights = row["weights"][fill]
        assert all((weights[i] == 0) == does_hide for i in hidden)
        assert sum(weights) == pytest.approx(total) if total else sum(weights) < 1
    for rules in ({"is_causal": False}, {"fill": "zero_before"}):
        answer = client.ask("masks", text=SOURCE, target=TARGET, change=change, **rules)
        assert all(one["change"] > 0 for one in answer["predictions"][:3])


def test_lanes(client):
    answer = client.ask("lanes", text=SOURCE, target=TARGET)
    forward = client.ask("forward", text=SOURCE, target=TARGET)
    assert [one["says"] for one in answer["gold"]["pieces"]] == [
        one["top"][0]["label"] for one in forward["predictions"]
    ]
    mean = -sum(math.log(one["p"]) for one in forward["predictions"]) / len(forward["predictions"])
    assert answer["gold"]["loss"] == pytest.approx(mean, rel=1e-4)
    own = [one["says"] for one in answer["free"]["pieces"]]
    overwritten = client.ask("lanes", text=SOURCE, target=TARGET, overwrite={"position": 1, "piece": "school"})
    steps = overwritten["overwritten"]["pieces"]
    assert [one["is_forced"] for one in steps[:3]] == [False, True, False]
    assert steps[0]["says"] == own[0] and steps[1]["says"] != own[1]


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_loss(client, subject, epsilon):
    pair = subject.pair(SOURCE, TARGET)
    answer = client.ask("loss", text=SOURCE, target=TARGET, position=2, epsilon=epsilon)
    logits = subject.log_probs(pair)[2:3]
    expected = torch.nn.functional.cross_entropy(logits, pair.batch.tgt_out[0, 2:3], label_smoothing=epsilon)
    assert answer["loss_smoothed"] == pytest.approx(float(expected), rel=1e-4)
    for distribution in ("one_hot", "smoothed", "model"):
        assert sum(piece[distribution] for piece in answer["pieces"]) == pytest.approx(1, abs=1e-4)
    assert answer["least"] <= answer["loss_smoothed"]
    assert (answer["least"] == 0) == (epsilon == 0)


def test_beam(client):
    answer = client.ask("beam", text=SOURCE, beam=3, length_penalty=0.6)
    assert answer["text"] == client.ask("translate", text=SOURCE)["text"]
    nodes = {row["id"]: row for step in answer["steps"] for row in step}
    way = [nodes[number] for number in answer["chosen"]]
    assert way[-1]["score"] == pytest.approx(answer["finished"][0]["score"], abs=1e-4)
    branch = next(row for row in answer["steps"][1] if row["id"] not in answer["chosen"])
    forced = client.ask("beam", text=SOURCE, force=branch["path"])
    assert all(row["path"][:2] == branch["path"] for step in forced["steps"][1:] for row in step)
    ended = client.ask("beam", text=SOURCE, force=["▁I", "</s>"])
    assert ended["forced_text"] == "I"


def test_stream(client):
    answer = client.ask("stream", text=SOURCE)
    assert [len(answer["stream"][side]) for side in ("encoder", "decoder")] == [7, 7]
    assert len(answer["gradients"]["with"]) == len(answer["gradients"]["without"]) == 5
    assert answer["norms"]["layer_norm_change"] < 1e-4 < answer["norms"]["batch_norm_change"]


def test_training(client):
    answer = client.get("/api/training").json()
    assert answer["curves"]["train_loss"] == [[10, 5.0]]
    assert answer["samples"] == [{"source": SOURCE, "step": 10, "text": "I go", "bleu": 1.5}]
    spoken = client.ask("checkpoints", text=SOURCE)
    assert [one["step"] for one in spoken["checkpoints"]] == [10, 20] and spoken["problems"] == []
    assert spoken["checkpoints"][1]["text"] == client.ask("translate", text=SOURCE)["text"]


def test_recurrent_attention_shows_what_it_has(recurrent, unpack):
    assert recurrent.get("/api/model").json()["attentions"] == ["cross"]
    text = recurrent.ask("translate", text=SOURCE)["text"]
    assert recurrent.ask("tokens", text=SOURCE)["pieces"]
    forward = recurrent.ask("forward", text=SOURCE)
    weights = unpack(forward["attention"]["cross"])
    assert weights.shape == (1, 1, len(forward["tgt_out_labels"]), len(forward["src_labels"]))
    np.testing.assert_allclose(weights.sum(-1), 1, **NEAR)
    assert recurrent.ask("beam", text=SOURCE, beam=3)["text"] == text
    assert recurrent.ask("lanes", text=SOURCE)["free"]["pieces"]
    assert recurrent.ask("loss", text=SOURCE)["pieces"]
    assert recurrent.get("/api/positions").status_code == 200
    assert recurrent.ask("checkpoints", text=SOURCE)["checkpoints"][1]["text"] == text


@pytest.mark.parametrize("name", ["attention", "silence", "masks", "stream"])
def test_what_needs_a_transformer_says_so(recurrent, name):
    head = {"kind": "cross", "layer": 1, "head": 1} if name in ("attention", "silence") else {}
    status, error = recurrent.refusal(name, text=SOURCE, **head)
    assert status == 400 and error == "this can be seen in a Transformer only; the model is a Bahdanau"
