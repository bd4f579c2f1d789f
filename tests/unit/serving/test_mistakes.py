"""Whatever is asked, the answer is one clear line, and the server lives on."""

from __future__ import annotations

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from jumok.serving import model_room
from jumok.translator import Translator

SOURCE = "어제 카페에 갔어요."
HEAD = {"kind": "cross", "layer": 1, "head": 1}
MISTAKES = [
    ("translate", {"text": "  "}, "the sentence is empty; write one"),
    ("forward", {"text": ""}, "the sentence is empty; write one"),
    ("translate", {"text": "a" * 2001}, "text: string should have at most 2000 characters"),
    ("forward", {"text": "카페에 " * 300}, "pieces, and 200 can be looked at together; take a shorter one"),
    ("forward", {"text": SOURCE, "target": "cafe " * 300}, "the translation has"),
    ("translate", {"text": SOURCE, "bim": 3}, "bim: extra inputs are not permitted"),
    ("translate", {}, "text: field required"),
    ("translate", {"text": "\ud800"}, "text: input should be a valid string"),
    ("translate", {"text": SOURCE, "beam": 0}, "beam: input should be greater than or equal to 1"),
    ("beam", {"text": SOURCE, "beam": 99}, "beam: input should be less than or equal to 10"),
    ("beam", {"text": SOURCE, "force": ["\ud800"]}, "force.0: input should be a valid string"),
    (
        "beam",
        {"text": SOURCE, "force": ["▁I", "no such piece"]},
        "'no such piece': the target vocabulary does not have",
    ),
    (
        "attention",
        {"text": SOURCE, **HEAD, "kind": "sideways"},
        "kind: input should be 'encoder', 'decoder' or 'cross'",
    ),
    ("attention", {"text": SOURCE, **HEAD, "layer": 3}, "layer 3: this model's decoder has 2"),
    ("attention", {"text": SOURCE, **HEAD, "head": 5}, "head 5: this model has 4"),
    ("silence", {"text": SOURCE, **HEAD, "layer": 0}, "layer: input should be greater than or equal to 1"),
    ("masks", {"text": SOURCE, "change": {"position": 0, "piece": "I"}}, "position 0 of the translation: its words"),
    ("masks", {"text": SOURCE, "target": "", "change": {"position": 1, "piece": "I"}}, "it has no word to change"),
    ("masks", {"text": SOURCE, "change": {"position": 1, "piece": " "}}, "' ': the target vocabulary has no piece"),
    ("lanes", {"text": SOURCE, "overwrite": {"position": 99, "piece": "I"}}, "position 99: the model says"),
    ("loss", {"text": SOURCE, "target": "I", "position": 9}, "position 9: the translation has 2"),
    ("loss", {"text": SOURCE, "epsilon": 1}, "epsilon: input should be less than 1"),
]


@pytest.mark.parametrize(("name", "question", "expected"), MISTAKES)
def test_a_question_that_is_not_in_order(client, name, question, expected):
    body = json.dumps(question).encode()  # \ud800 goes as an escape
    response = client.post(f"/api/{name}", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert set(response.json()) == {"error"} and expected in response.json()["error"]
    assert "\n" not in response.json()["error"]


@pytest.mark.parametrize("text", ["ไปคาเฟ่เมื่อวาน", "𓀀𓀁 🏳️‍🌈", "\u200d\u0000\u0301", "a" * 190])
def test_a_language_never_seen_is_looked_at_like_any_other(client, text):
    answer = client.ask("forward", text=text)
    assert len(answer["src_labels"]) > 1
    assert client.ask("beam", text=text, beam=2)["steps"]


def test_what_is_no_json(client):
    response = client.post("/api/translate", content=b"{", headers={"Content-Type": "application/json"})
    assert response.status_code == 400 and response.json() == {"error": "the request is not JSON"}


def test_addresses_that_are_not_there(client):
    for path in (
        "/nothing",
        "/api/nothing",
        "/web/nothing.js",
        "/web/../app.py",
        "/web/%2e%2e/app.py",
        "/web/index.html",
    ):
        assert client.get(path).json() == {"error": "there is nothing at this address"}
    assert client.get("/api/translate").json() == {"error": "this address is asked in another way"}
    assert client.get("/api/positions?length=1000").json()["error"].startswith("query.length: input should be less")


def test_ten_requests_while_the_model_loads(make_client, run, monkeypatch):
    may_load = threading.Event()
    load = Translator.load

    def load_late(*arguments, **options):
        may_load.wait(30)
        return load(*arguments, **options)

    monkeypatch.setattr(Translator, "load", load_late)
    with make_client(run.path) as client, ThreadPoolExecutor(10) as pool:
        waiting = [pool.submit(client.ask, "translate", text=SOURCE) for _ in range(10)]
        assert client.get("/health").json() == {"status": "loading"}
        may_load.set()
        texts = {one.result(60)["text"] for one in waiting}
        assert len(texts) == 1
        assert client.get("/health").json() == {"status": "ok"}


def test_a_model_that_takes_too_long_is_asked_for_again(make_client, run, monkeypatch):
    may_load = threading.Event()
    load = Translator.load
    monkeypatch.setattr(Translator, "load", lambda *a, **o: (may_load.wait(30), load(*a, **o))[1])
    monkeypatch.setattr(model_room, "_PATIENCE", 0.05)
    with make_client(run.path) as client:
        status, error = client.refusal("translate", text=SOURCE)
        assert status == 503 and error.endswith("the model is still being loaded; ask again in a moment")
        may_load.set()
        monkeypatch.setattr(model_room, "_PATIENCE", 60)
        assert client.ask("translate", text=SOURCE)


def test_checkpoints_and_the_whole_directory_can_go(make_client, make_run, tmp_path):
    run = make_run(tmp_path / "run")
    with make_client(run.path) as client:
        before = client.ask("translate", text=SOURCE)
        (run.checkpoints.path(10) / "model.safetensors").unlink()
        answer = client.ask("checkpoints", text=SOURCE)
        assert [one["step"] for one in answer["checkpoints"]] == [20]
        assert "step-10: is incomplete or its manifest is damaged" in answer["problems"][0]
        shutil.rmtree(run.checkpoints.path(10))
        assert client.ask("checkpoints", text=SOURCE)["problems"] == []
        shutil.rmtree(run.path)
        assert client.ask("translate", text=SOURCE) == before
        assert client.ask("checkpoints", text=SOURCE) == {"checkpoints": [], "problems": []}
        assert client.get("/api/training").json()["samples"] == []
        assert client.get("/api/model").json()["checkpoints"] == []


def test_a_run_that_is_not_there_is_said_in_every_answer(make_client, tmp_path):
    with make_client(tmp_path / "gone") as client:
        for _ in range(2):
            status, error = client.refusal("translate", text=SOURCE)
            assert status == 400 and "no such run directory" in error
        assert client.get("/health").json() == {"status": "loading"}
        assert client.get("/").status_code == 200


def test_an_error_of_our_own_is_answered_too(make_client, run, monkeypatch):
    from jumok.inspection.subject import Subject

    with make_client(run.path) as client:
        with monkeypatch.context() as broken:
            broken.setattr(Subject, "search", lambda *_: 1 / 0)
            assert client.refusal("translate", text=SOURCE) == (500, "ZeroDivisionError: division by zero")
        assert client.ask("translate", text=SOURCE)
