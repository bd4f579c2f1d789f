"""A small run, the real server, and Debian's Chromium with the network closed: one of each for all tests."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlencode

import pytest
import torch

from jumok.config import parse_config
from jumok.models import build_model
from jumok.serving.answers.look import Look, look_into
from jumok.storage.checkpoints import model_tensors
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import PAD_ID, Tokenizer, train_tokenizer
from jumok.translator import Translator

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page

SOURCE = "어제 카페에 갔어요."
_LINES = [f"어제 {noun}에 {verb}." for noun in ("카페", "학교", "시장") for verb in ("갔어요", "있어요", "만나요")]
_LINES += [f"I {verb} the {noun}." for noun in ("cafe", "school", "sea", "park") for verb in ("see", "like", "want")]
_FLAGS = ("no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking")
_FLAGS += ("disable-component-update", "disable-sync")


def _leave_out(reason: str) -> NoReturn:
    """Skip, unless the machine has promised a browser."""
    if os.environ.get("JUMOK_REQUIRE_CHROMIUM") == "1":
        pytest.fail(f"JUMOK_REQUIRE_CHROMIUM=1, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def views() -> list[str]:
    """All of the page's views, as the address names them."""
    first = ["translate", "map", "tokens", "positions", "one", "masks"]
    return [*first, "heads", "lanes", "loss", "beam", "stream", "training"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if importlib.util.find_spec("playwright") is None:
        _leave_out("Playwright is not installed: pip install playwright")
    chromium = shutil.which("chromium")
    if chromium is None:
        _leave_out("there is no chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=[f"--{flag}" for flag in _FLAGS])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    """Random weights, larger than at the start of a training, so that nobody looks everywhere alike."""
    folder = tmp_path_factory.mktemp("browser")
    (folder / "tokenizer").mkdir()
    train_tokenizer(_LINES, folder / "tokenizer" / "tokenizer.model", "bpe", vocab_size=340, character_coverage=1.0)
    size = Tokenizer(folder / "tokenizer" / "tokenizer.model").vocab_size
    sizes = {"d_model": 32, "d_ff": 64, "num_heads": 4, "encoder_layers": 3, "decoder_layers": 2}
    config = parse_config(
        {
            "name": "tiny",
            "data": {"source": "ko", "target": "en", "train": "train.tsv", "valid": "valid.tsv"},
            "model": {"architecture": "transformer", **sizes},
            "decoding": {"beam": 3, "max_extra_length": 4},
        }
    )
    run = RunDirectory(folder / "run")
    run.create(config, folder / "tokenizer")
    for step in (10, 20):
        torch.manual_seed(step)
        model = build_model(config.model, size, size, PAD_ID)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.15)
        tensors = model_tensors(model)
        run.checkpoints.save(step, tensors, {}, {"step": step})
    run.save_model(tensors)
    events: list[dict[str, Any]] = []
    for step in (10, 20):
        events.append({"event": "train", "step": step, "loss": 50 / step, "learning_rate": 0.1 / step})
        events.append(
            {"event": "validate", "step": step, "loss": 40 / step, "bleu": step / 8, "example": [SOURCE, "a", "b"]}
        )
    run.metrics_file.write_text("".join(json.dumps(event) + "\n" for event in events))
    return run


@pytest.fixture(scope="session")
def look(run: RunDirectory) -> Look:
    """The same run in this process: what the page should show is computed here."""
    translator = Translator.load(run.path, device="cpu", engine="torch")
    translator.model.eval()
    return look_into(translator, run.path)


@pytest.fixture(scope="session")
def server(browser: Browser, run: RunDirectory, program: list[str]) -> Iterator[str]:
    """The address of `jumok serve`."""
    command = [*program, "serve", str(run.path), "--port", "0", "--no-open"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[0]
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


class Explorer:
    """The page as a reader has it; remembers what a reader should never see."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.asked: list[str] = []
        self.complaints: list[str] = []
        page.set_default_timeout(15_000)
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def open(self, view: str, **state: object) -> Explorer:
        """Come to a view by its address: from another view without a reload, else anew."""
        place = urlencode({"view": view, "lang": "en", **state})
        if self.page.url.startswith(self.address) and f"view={view}" not in self.page.url:
            self.page.evaluate("(place) => { location.hash = place; }", place)
        else:
            self.page.goto("about:blank")
            self.page.goto(f"{self.address}#{place}")
        self.page.locator(f"#view-{view}").wait_for()
        return self.settle()

    def settle(self) -> Explorer:
        """Wait until nothing is being asked."""
        self.page.locator("main:not([aria-busy]) .view").wait_for()
        return self

    def part(self, name: str) -> str:
        return self.page.locator(f'main [data-part="{name}"]').inner_text()

    def control(self, key: str) -> Locator:
        return self.page.locator(f'main [data-key="{key}"]')

    def slide(self, key: str, value: float) -> Explorer:
        """Move a slider as far as a hand would."""
        self.control(key).fill(str(value))
        return self.settle()

    def write(self, text: str) -> Explorer:
        """Another sentence."""
        box = self.page.locator('[data-part="text"]')
        box.fill(text)
        box.press("Enter")
        return self.settle()

    def tables(self) -> list[list[list[str]]]:
        """Every table of the view, those behind a picture too: rows of cells."""
        return self.page.evaluate(
            """async () => {
                for (const details of document.querySelectorAll("main details:not([open])")) {
                    const opened = new Promise((done) => details.addEventListener("toggle", done, { once: true }));
                    details.open = true;
                    await opened;
                }
                return [...document.querySelectorAll("main table")].map((table) =>
                    [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent)));
            }"""
        )

    def problem(self) -> str:
        """The line that says what is wrong."""
        place = self.page.locator("main > .problem:not([hidden])")
        place.wait_for()
        return place.inner_text()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US")
    yield context
    context.close()


@pytest.fixture
def explorer(context: BrowserContext, server: str) -> Iterator[Explorer]:
    """A page; what is asked outside of the server is refused, and a fault, as is whatever the console says."""
    outside: list[str] = []

    def refuse(route: Any) -> None:
        outside.append(route.request.url)
        route.abort()

    context.route(lambda url: not url.startswith(server), refuse)
    explorer = Explorer(context.new_page(), server)
    yield explorer
    assert not outside
    assert not explorer.complaints
