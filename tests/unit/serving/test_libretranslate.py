"""What LibreTranslate's clients send is answered as they expect it."""

from __future__ import annotations

import json

import pytest

SOURCE = "어제 카페에 갔어요."


def test_languages(client):
    assert client.get("/languages").json() == [
        {"code": "ko", "name": "Korean", "targets": ["en"]},
        {"code": "en", "name": "English", "targets": []},
    ]


@pytest.mark.parametrize("source", ["ko", "auto"])
def test_a_text_for_a_text(client, source):
    wanted = {"q": SOURCE, "source": source, "target": "en", "format": "text", "api_key": ""}
    answer = client.post("/translate", json=wanted)
    assert answer.status_code == 200
    assert answer.json() == {"translatedText": client.ask("translate", text=SOURCE)["text"]}


def test_a_form_is_read_like_json(client):
    wanted = {"q": SOURCE, "source": "ko", "target": "en", "alternatives": 2}
    assert client.post("/translate", data=wanted).json() == client.post("/translate", json=wanted).json()


def test_a_list_for_a_list(client):
    wanted = {"q": [SOURCE, "", "어제 바다에 있어요."], "source": "ko", "target": "en"}
    answer = client.post("/translate", json=wanted).json()
    assert answer["translatedText"][1] == "" and len(answer["translatedText"]) == 3
    alone = client.post("/translate", json={**wanted, "q": SOURCE}).json()["translatedText"]
    assert answer["translatedText"][0] == alone


def test_alternatives(client):
    wanted = {"q": SOURCE, "source": "ko", "target": "en", "alternatives": 2}
    one = client.post("/translate", json=wanted).json()
    assert len(one["alternatives"]) <= 2 and one["translatedText"] not in one["alternatives"]
    many = client.post("/translate", json={**wanted, "q": [SOURCE]}).json()
    assert many == {"translatedText": [one["translatedText"]], "alternatives": [one["alternatives"]]}


def test_a_text_longer_than_the_page_takes(client):
    text = " ".join([SOURCE] * 20)
    answer = client.post("/translate", json={"q": text, "source": "ko", "target": "en"})
    assert answer.status_code == 200 and answer.json()["translatedText"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"q": SOURCE, "source": "en", "target": "ko"}, "en → ko: this model translates ko → en only"),
        ({"q": SOURCE, "source": "ko", "target": "fr"}, "ko → fr: this model translates ko → en only"),
        ({"q": SOURCE, "source": "ko", "target": "en", "format": "html"}, "format: input should be 'text'"),
        ({"q": SOURCE, "source": "ko"}, "target: field required"),
        ({"q": "a" * 20_001, "source": "ko", "target": "en"}, "20,001 characters are more than the 20,000"),
        ({"q": "\ud800", "source": "ko", "target": "en"}, "q holds half of a character"),
        (["q"], "expected a JSON object such as"),
    ],
)
def test_what_it_does_not_do(client, wanted, expected):
    response = client.post(
        "/translate", content=json.dumps(wanted).encode(), headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 400 and expected in response.json()["error"]


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_what_cannot_be_read(client, kind):
    response = client.post("/translate", content=b"\xff{", headers={"Content-Type": kind})
    assert response.status_code == 400 and "expected a JSON object" in response.json()["error"]
