"""`jumok serve` as a person uses it: an address, a page, Ctrl-C; and the page as a file."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def serving(program: list[str], folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and the first line that it prints."""
    process = subprocess.Popen(
        [*program, "serve", *arguments],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline()
    finally:
        process.kill()
        process.communicate()


def get(address: str, body: dict[str, object] | None = None) -> bytes:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        answer: bytes = response.read()
    return answer


@pytest.mark.slow
def test_a_run_is_served_and_exported(jumok, program, reverse, tmp_path):
    assert jumok("train", reverse(max_steps=20, validate_every=10, num_pairs=300)).returncode == 0
    run = tmp_path / "runs" / "reverse"

    with serving(program, tmp_path, str(run), "--no-open", "--port", "0") as (process, line):
        address = line.split()[0]
        assert address.startswith("http://127.0.0.1:") and line.endswith(f"/ shows {run}; Ctrl-C ends it\n")
        assert b'<main id="view"' in get(address)
        assert json.loads(get(f"{address}api/model"))["name"] == "reverse"
        answer = json.loads(get(f"{address}translate", {"q": "a b c", "source": "en", "target": "en"}))
        plain = jumok("translate", run, "a b c", "--engine", "torch").stdout.strip()
        assert answer == {"translatedText": plain}
        assert json.loads(get(f"{address}api/translate", {"text": "a b c"}))["text"] == plain

        port = address.rstrip("/").rpartition(":")[2]
        taken = jumok("serve", run, "--no-open", "--port", port)
        assert taken.returncode == 2
        assert taken.stderr == f"jumok: 127.0.0.1: port {port} is taken; choose another with --port\n"

        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out.strip(), err) == (0, "", "")

    page = tmp_path / "page.html"
    done = jumok("serve", run, "--export", page, "--text", "c b a")
    assert done.returncode == 0 and done.stdout.startswith(f"{page}: ")
    assert '"example": {"source": "c b a"}' in page.read_text(encoding="utf-8")


def test_the_next_port_is_taken_where_none_is_given(monkeypatch):
    from jumok.cli import serve

    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setattr(serve, "_PORT", other.getsockname()[1])
        with serve._listen("127.0.0.1", None) as found:
            assert found.getsockname()[1] > other.getsockname()[1]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nowhere"], "nowhere: no such run directory; `jumok train CONFIG` makes one under runs/"),
        (["."], ".: is not a run directory (no config.toml in it)"),
    ],
)
def test_without_a_run_nothing_starts(jumok, arguments, expected):
    ended = jumok("serve", *arguments)
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", f"jumok: {expected}\n")


def test_an_address_that_is_not_this_machines():
    from jumok.cli import serve
    from jumok.errors import UsageError

    with pytest.raises(UsageError, match=r"192\.0\.2\.1:8000: cannot be listened at: "):
        serve._listen("192.0.2.1", 8000)


@pytest.mark.parametrize(
    ("is_terminal", "surroundings", "expected"),
    [
        (True, {"DISPLAY": ":0"}, True),
        (True, {"WAYLAND_DISPLAY": "wayland-0"}, True),
        (False, {"DISPLAY": ":0"}, False),
        (True, {"DISPLAY": ":0", "SSH_CONNECTION": "there"}, False),
        (True, {}, False),
    ],
)
def test_the_browser_opens_where_somebody_sits_before_a_screen(monkeypatch, is_terminal, surroundings, expected):
    from jumok.cli import serve

    monkeypatch.setattr(serve.sys, "platform", "linux")
    monkeypatch.setattr(serve.sys.stdout, "isatty", lambda: is_terminal, raising=False)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in surroundings.items():
        monkeypatch.setenv(name, value)
    assert serve._is_desktop() == expected
