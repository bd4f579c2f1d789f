"""The report: complete, self-contained, safe, and written whatever is missing."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, ClassVar

import pytest

from jumok.architectures.seq2seq import Seq2SeqConfig
from jumok.inspection.report import Sample, write_report
from jumok.models import TranslationModel, build_model
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import PAD_ID, Tokenizer

SOURCE, TARGET = "어제 카페에 갔어요.", "I like the cafe."
RESULT = {
    "name": "tiny", "params": 2456832, "steps": 300, "epochs": 2, "train_seconds": 7384.2, "train_tokens": 573543,
    "train_flops": 8.232e12, "scored_on": "test", "bleu": 92.43, "chrf": 95.93, "bleu_composition": 87.12,
    "signature": "nrefs:1|case:mixed|tok:13a", "bleu_lowercase": 92.5, "beam": 4, "length_penalty": 0.6,
}  # fmt: skip
TRAIN = {
    "epoch": 0,
    "loss": 7.37,
    "learning_rate": 1e-4,
    "grad_norm": 1.9,
    "tokens_per_second": 2748.8,
    "seconds": 12.9,
}
FIRST = {"loss": 1.25, "perplexity": 3.49, "bleu": 55.5, "example": ["가", "I sea.", "I see."]}
SECOND = {"loss": 0.25, "perplexity": 1.28, "bleu": 88.5, "example": ["가", "I see.", "I see."]}
EVENTS = [
    {"event": "train", "step": 10, **TRAIN},
    {"event": "validate", "step": 10, **FIRST},
    {"event": "validate", "step": 20, **SECOND},
    {"event": "save", "step": 20, "path": "x"},
    {"event": "model", "step": 20, "chosen": "mean of steps 10, 20", "loss": 0.25},
]
SAMPLES = [
    Sample(SOURCE, TARGET, "I like the park."),
    Sample("</script><script>alert(1)</script>", '<img src="x">', "<b>&amp;"),
    Sample("바다", "sea", "sea"),
    Sample("공원 " * 200, "park", "park"),
]


Write = Callable[..., str]


@pytest.fixture(scope="module")
def write_into(model: TranslationModel, tokenizer: Tokenizer) -> Write:
    def write(
        run: RunDirectory,
        samples: Sequence[Sample] = SAMPLES,
        result: dict[str, Any] | None = RESULT,
        events: Sequence[dict[str, Any]] = EVENTS,
    ) -> str:
        if result is not None:
            run.write_result(result)
        run.metrics_file.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
        write_report(run, model, tokenizer, tokenizer, samples)
        return run.report_file.read_text(encoding="utf-8")

    return write


@pytest.fixture(scope="module")
def full_run(
    make_run: Callable[[Path], RunDirectory], write_into: Write, tmp_path_factory: pytest.TempPathFactory
) -> RunDirectory:
    run = make_run(tmp_path_factory.mktemp("full") / "run")
    write_into(run)
    return run


@pytest.fixture(scope="module")
def full(full_run: RunDirectory) -> str:
    return full_run.report_file.read_text(encoding="utf-8")


class Page(HTMLParser):
    """Tags with their attributes, and whether every one is closed."""

    VOID: ClassVar = {"meta", "br", "input"}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


def embedded_data(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found.group(1))
    return data


def test_scores_and_how_they_were_made(full: str) -> None:
    for text in (
        "Korean → English", "92.4", "95.9", "87.1", "2,456,832", "2 h 3 min", "573,543", "8.23 × 10<sup>12</sup>",
        "nrefs:1|case:mixed|tok:13a", "beam 4", "length penalty α = 0.6", "mean of steps 10, 20", "encoder_layers = 3",
    ):  # fmt: skip
        assert text in full


def test_page_is_wellformed_and_has_every_part(full: str) -> None:
    page = Page(full)
    assert page.count("figure") == 5
    assert page.count("tr") >= len(SAMPLES) + 3
    assert {"ko", "en"} <= {attributes.get("lang") for _, attributes in page.tags}


def test_texts_are_escaped(full: str) -> None:
    assert "alert(1)</script>" not in full
    assert "<img" not in full
    assert "&lt;b&gt;&amp;amp;" in full.replace("<mark>", "").replace("</mark>", "")
    assert Page(full).count("script") == 2


def test_nothing_is_requested_from_outside(full: str) -> None:
    loading = {"src", "href", "xlink:href", "srcset", "data", "poster", "action", "style"}
    for tag, attributes in Page(full).tags:
        assert not loading & set(attributes), (tag, attributes)
        assert tag not in {"link", "iframe", "object", "embed", "img", "base"}
    assert not re.search(r"url\(|@import|\bfetch\(|XMLHttpRequest|\bimport\(", full)


def test_policy_allows_only_our_own_style_and_script(full: str) -> None:
    policy = next(a["content"] for t, a in Page(full).tags if t == "meta" and a.get("http-equiv"))
    assert policy is not None and policy.startswith("default-src 'none'") and "unsafe" not in policy
    for tag in ("style", "script"):
        found = re.search(f"<{tag}>(.*?)</{tag}>", full, re.DOTALL)
        assert found
        assert base64.b64encode(hashlib.sha256(found.group(1).encode()).digest()).decode() in policy


def test_attention_of_every_head_is_embedded(full: str, full_run: RunDirectory) -> None:
    sentences = embedded_data(full)["sentences"]
    assert len(sentences) == 3
    assert sentences[0]["translation"] == TARGET
    for kind, num_layers in (("encoder", 3), ("decoder", 2), ("cross", 2)):
        part = sentences[0]["kinds"][kind]
        assert [len(heads) for heads in part["layers"]] == [4] * num_layers
        for heads in part["layers"]:
            for weights in heads:
                assert len(weights) == len(part["rows"]) * len(part["columns"])
                assert sum(weights) == pytest.approx(1000 * len(part["rows"]), rel=0.02)
    assert (full_run.path / "attention.png").stat().st_size > 10_000


def test_long_sentences_are_not_traced(write_into: Write, run: RunDirectory) -> None:
    page = write_into(run, [SAMPLES[3]])
    assert embedded_data(page)["sentences"] == []
    assert not (run.path / "attention.png").exists()


def test_without_samples_metrics_and_result(write_into: Write, run: RunDirectory) -> None:
    page = write_into(run, [], None, [])
    assert "not been scored yet" in page
    assert "No figures were recorded" in page
    assert 'id="attention"' not in page
    Page(page)


def test_without_validation_bleu(write_into: Write, run: RunDirectory) -> None:
    events = [{k: v for k, v in event.items() if k not in ("bleu", "example")} for event in EVENTS]
    page = write_into(run, SAMPLES[3:], RESULT, events)
    assert Page(page).count("figure") == 4
    assert "Validation BLEU" not in page and "while it learned" not in page


def test_step_that_occurs_twice_is_shown_once(write_into: Write, run: RunDirectory) -> None:
    again = [{**EVENTS[1], "loss": 0.777, "example": ["가", "We saw.", "I see."]}]
    page = write_into(run, SAMPLES[3:], RESULT, [*EVENTS, *again])
    assert page.count('<th scope="row">10</th>') == 2  # once in each table
    assert "0.777" in page and "We" in page and "<td>1.25</td>" not in page


def test_model_without_attention(run: RunDirectory, tokenizer: Tokenizer) -> None:
    config = Seq2SeqConfig(d_model=8, encoder_layers=1, decoder_layers=1)
    model = build_model(config, tokenizer.vocab_size, tokenizer.vocab_size, PAD_ID)
    write_report(run, model, tokenizer, tokenizer, SAMPLES)
    page = run.report_file.read_text(encoding="utf-8")
    assert 'id="attention"' not in page and "Translations" in page
    assert not (run.path / "attention.png").exists()


def test_same_run_gives_same_report(write_into: Write, run: RunDirectory, full: str) -> None:
    assert write_into(run) == full


def test_matplotlib_is_not_loaded_before_it_draws() -> None:
    code = "import sys, jumok.inspection.report; assert 'matplotlib' not in sys.modules"
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
