"""Nothing comes from outside, nobody asks under another name, and no request is endless."""

from __future__ import annotations

import re

import pytest

from jumok.serving.app import web_file, web_modules
from jumok.serving.guard import digest


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "localhost.evil.example", "", "127.0.0.1.nip.io"]
)
def test_another_sites_name_is_refused(client, host):
    response = client.get("/api/model", headers={"Host": host})
    assert response.status_code == 403
    assert response.json()["error"].startswith("this server does not answer for")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:8123", "[::1]:80"])
def test_this_machines_names_are_answered(client, host):
    assert client.get("/health", headers={"Host": host}).status_code == 200


def test_a_name_that_was_given_is_answered(make_client, run):
    with make_client(run.path, hosts=["box.local"]) as client:
        assert client.get("/health", headers={"Host": "box.local:8000"}).status_code == 200
        assert client.get("/health").status_code == 403
    with make_client(run.path, hosts=["*"]) as client:
        assert client.get("/health", headers={"Host": "anything"}).status_code == 200


def test_every_answer_carries_the_policy(client):
    for path in ("/", "/web/main.js", "/api/model", "/nothing"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self' 'sha256-")
        assert "http" not in headers["content-security-policy"] and "unsafe" not in headers["content-security-policy"]
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")


def test_the_one_script_inside_the_page_is_the_one_of_the_policy(client):
    page = client.get("/")
    (inside,) = re.findall(r"<script(?![^>]*\bsrc=)[^>]*>(.+?)</script>", page.text, re.DOTALL)
    assert digest(inside) in page.headers["content-security-policy"]
    assert "style=" not in page.text


def test_parts_of_the_page(client):
    assert client.get("/").headers["content-type"] == "text/html; charset=utf-8"
    assert client.get("/web/style.css").headers["content-type"] == "text/css; charset=utf-8"
    for name in web_modules():
        response = client.get(f"/web/{name}")
        assert response.text == web_file(name)
        assert response.headers["content-type"] == "text/javascript; charset=utf-8"


@pytest.mark.parametrize("path", ["/api/translate", "/translate"])
@pytest.mark.parametrize("is_counted", [True, False])
def test_a_request_of_a_megabyte_is_refused(client, path, is_counted):
    body = b'{"text": "' + b"a" * (1 << 20) + b'"}'
    content = body if is_counted else iter([body[:1000], body[1000:]])  # in chunks it does not say how long it is
    response = client.post(path, content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == 413
    assert response.json() == {"error": "the request is longer than 1,048,576 bytes"}
