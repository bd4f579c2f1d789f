"""The exported page holds everything that it needs, and nothing that it may not load."""

from __future__ import annotations

import base64
import json
import re
from html import unescape

import pytest

from jumok.errors import UsageError
from jumok.serving.answers.look import look_into
from jumok.serving.app import web_file, web_modules
from jumok.serving.export import answers_for, key_of, page_of, write_page
from jumok.serving.guard import digest
from jumok.translator import Translator

SENTENCE = "어제 바다에 있어요."


@pytest.fixture(scope="module")
def page(run, tmp_path_factory):
    file = tmp_path_factory.mktemp("export") / "new" / "page.html"
    write_page(run.path, file, SENTENCE, "cpu")
    return file.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def answers(page):
    (data,) = re.findall(r'<script type="application/json" id="answers">(.*?)</script>', page, re.DOTALL)
    return json.loads(data)


def test_keys_are_written_as_the_browser_writes_them():
    body = {"text": '어 "1"', "length_penalty": 1.0, "epsilon": 0.1, "change": {"position": 1, "piece": "a"}}
    assert key_of("masks", body) == (
        'masks {"change":{"piece":"a","position":1},"epsilon":0.1,"length_penalty":1,"text":"어 \\"1\\""}'
    )


def test_the_answers_are_those_of_the_server(answers, client):
    for key, answer in answers.items():
        name, _, body = key.partition(" ")
        if name == "model":
            assert answer == {**client.get("/api/model").json(), "example": {"source": SENTENCE}}
        elif body:
            assert answer == client.ask(name, **json.loads(body)), key
        else:
            assert answer == client.get(f"/api/{name}").json()


def test_every_view_finds_what_it_asks_for_first(answers):
    text = SENTENCE
    forward = answers[key_of("forward", {"text": text})]
    change = {"position": len(forward["tgt_in_labels"]) - 1, "piece": forward["default_change"]}
    expected = [
        "model",
        "training",
        "positions?length=24",
        key_of("translate", {"text": text}),
        key_of("tokens", {"text": text, "side": "source"}),
        key_of("attention", {"text": text, "kind": "cross", "layer": 1, "head": 1}),
        key_of("silence", {"text": text, "kind": "cross", "layer": 1, "head": 1}),
        key_of("masks", {"text": text, "is_causal": True, "fill": "minus_infinity", "change": change}),
        key_of("loss", {"text": text, "position": 0, "epsilon": 0.1}),
        key_of(
            "beam",
            {"text": text, "beam": 3, "length_penalty": answers["model"]["decoding"]["length_penalty"], "force": []},
        ),
        key_of("stream", {"text": text}),
        key_of("checkpoints", {"text": text}),
    ]
    assert set(expected) <= answers.keys()
    assert not any("error" in answer for answer in answers.values())


def test_the_page_loads_nothing(page):
    head = page.split("</head>")[0]
    assert "web/" not in head and "http:" not in head and "https:" not in head
    policy = unescape(re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)[0])
    assert policy.startswith("default-src 'none'; ") and "self" not in policy and "connect-src" not in policy
    import_map, start = re.findall(r'<script type="(?:importmap|module)">(.*?)</script>', page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert all(digest(part) in policy for part in (import_map, start, style))
    modules = json.loads(import_map)["imports"]
    assert modules.keys() == {f"jumok/{name}" for name in web_modules()}
    assert base64.b64decode(modules["jumok/main.js"].partition(",")[2]).decode() == web_file("main.js")


def test_no_text_can_end_the_data(run):
    look = look_into(Translator.load(run.path, engine="torch", device="cpu"), run.path)
    page = page_of(answers_for(look, "</script><script>alert(1)</script>"))
    assert "<script>alert(1)" not in page and page.count("</script>") == 3  # import map, data, start


def test_the_sentence_of_the_run_is_taken_where_none_is_given(run):
    look = look_into(Translator.load(run.path, engine="torch", device="cpu"), run.path)
    assert key_of("translate", {"text": "어제 카페에 갔어요."}) in answers_for(look)


def test_what_only_a_transformer_has_is_told_in_its_place(make_run, tmp_path):
    run = make_run(tmp_path / "run", "bahdanau")
    look = look_into(Translator.load(run.path, engine="torch", device="cpu"), run.path)
    answers = answers_for(look, SENTENCE)
    assert "in a Transformer only" in answers[key_of("stream", {"text": SENTENCE})]["error"]
    assert "attention" in answers[key_of("translate", {"text": SENTENCE})]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" ", "the sentence is empty"),
        ("카페에 " * 300, "200 can be looked at"),
        ("\udcff", "the sentence is not UTF-8"),  # how a command line's stray byte arrives
    ],
)
def test_a_sentence_that_cannot_be_looked_at_leaves_no_page(run, tmp_path, text, expected):
    with pytest.raises(UsageError, match=expected):
        write_page(run.path, tmp_path / "page.html", text, "cpu")
    assert not list(tmp_path.iterdir())


def test_a_folder_is_no_page(run, tmp_path):
    with pytest.raises(UsageError, match="is a folder; name a file such as page.html"):
        write_page(run.path, tmp_path)
