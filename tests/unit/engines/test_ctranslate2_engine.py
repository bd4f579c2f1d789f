"""The same model, the same search, another library: the same translations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ctranslate2
import pytest
import torch

from jumok.config import Config, DecodingConfig, parse_config
from jumok.data.prepared import prepare
from jumok.decoding.batches import search
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.look_back import look_back
from jumok.decoding.sampling import Sampling
from jumok.decoding.sentence import Sentence
from jumok.engines.ctranslate2_engine import CTranslate2Engine, converted
from jumok.engines.loading import Engines
from jumok.errors import UsageError
from jumok.exchange.ctranslate2 import export_ctranslate2
from jumok.models import build_model
from jumok.storage.averaging import average_models
from jumok.storage.checkpoints import model_tensors
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import PAD_ID
from jumok.translator import Translator

WORDS = ["나는", "너는", "그는", "집에", "산에", "강에", "간다", "온다", "산다", "새가", "물을", "본다"]
TEXTS = [" ".join(WORDS[(i * 5 + j * 7) % len(WORDS)] for j in range(1 + i % 6)) + "." for i in range(24)]
MakeRun = Callable[..., RunDirectory]


@pytest.fixture(scope="module")
def make_run(tmp_path_factory: pytest.TempPathFactory) -> MakeRun:
    """A run whose weights are random, biases and gains too; keyword arguments change the model."""

    def make(seed: int = 1, is_joint: bool = True, **model: Any) -> RunDirectory:
        folder = tmp_path_factory.mktemp("random")
        (folder / "t.tsv").write_text("".join(f"{text}\t{text[::-1]} {i}\n" for i, text in enumerate(TEXTS)))
        config = parse_config(
            {
                "name": "random",
                "data": {"source": "ko", "target": "en", "train": "t.tsv", "valid": "t.tsv", "folder": str(folder)},
                "tokenizer": {"vocab_size": 310, "joint": is_joint},
                "model": {"preset": "tiny", "d_model": 16, "d_ff": 32, "num_heads": 2, "encoder_layers": 2} | model,
            }
        )
        run = RunDirectory(folder / "run")
        run.create(config, prepare(config, folder / "prepared").folder)
        sizes = [tokenizer.vocab_size for tokenizer in run.tokenizers()]
        run.save_model(random_weights(config, sizes, seed))
        return run

    return make


def random_weights(config: Config, sizes: list[int], seed: int) -> dict[str, torch.Tensor]:
    torch.manual_seed(seed)
    model = build_model(config.model, *sizes, PAD_ID)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model_tensors(model)


def sentences_of(run: RunDirectory) -> list[Sentence]:
    return [Sentence(ids) for ids in run.tokenizers()[0].encode(TEXTS)]


def engine_of(run: RunDirectory, **options: Any) -> CTranslate2Engine:
    model = run.config().model
    max_length = model.max_length if model.position == "learned" else None
    return CTranslate2Engine(converted(run), *run.tokenizers(), max_length, **options)


VARIANTS: dict[str, dict[str, Any]] = {
    "pre-norm": {"norm": "pre"},
    "post-norm": {"norm": "post"},
    "learned positions": {"position": "learned", "max_length": 300},
    "two-way": {"tie_embeddings": "two-way"},
    "two vocabularies": {"tie_embeddings": "two-way", "is_joint": False},
    "untied, post-norm, swish": {"tie_embeddings": "none", "norm": "post", "activation": "swish"},
    "all biases, gelu": {"attention_bias": True, "output_bias": True, "activation": "gelu"},
    "one decoder layer": {"decoder_layers": 1},
}


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_every_variant_translates_as_with_torch(make_run: MakeRun, variant: dict[str, Any]) -> None:
    run = make_run(**variant)
    model, sentences = run.load_model(), sentences_of(run)
    engine = engine_of(run)
    for settings in (DecodingConfig(beam=1), DecodingConfig(beam=4, patience=1.5, max_extra_length=8)):
        expected = search(model, sentences, settings)
        found = engine.begin(sentences, settings)()
        same = [a[0].ids == b[0].ids for a, b in zip(expected, found, strict=True)]
        assert sum(same) >= 0.8 * len(same)  # hypotheses of random weights may be nearly as good as each other
        for a, b, is_same in zip(expected, found, same, strict=True):
            if is_same:
                # The library leaves the pieces that are never said out before the softmax, our search after it.
                assert b[0].score == pytest.approx(a[0].score, rel=0.05)
                assert b[0].is_complete == a[0].is_complete


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_every_variant_gives_every_piece_the_same_probability(make_run: MakeRun, variant: dict[str, Any]) -> None:
    run = make_run(**variant)
    src_tokenizer, tgt_tokenizer = run.tokenizers()
    targets = tgt_tokenizer.encode([text[::-1] for text in TEXTS])
    hypotheses = [[Hypothesis(ids, 0.0, 0.0)] for ids in targets]
    expected = look_back(run.load_model(), sentences_of(run), hypotheses, DecodingConfig(), use_attention=False)
    translator = ctranslate2.Translator(str(converted(run)), compute_type="float32")
    found = translator.score_batch(
        [src_tokenizer.id_to_piece(sentence.ids) for sentence in sentences_of(run)],
        [tgt_tokenizer.id_to_piece(ids) for ids in targets],
    )
    for [hypothesis], scored in zip(expected, found, strict=True):
        assert scored.log_probs == pytest.approx(hypothesis.piece_log_probs, abs=1e-3)


def test_model_is_converted_once_and_again_for_other_weights(make_run: MakeRun) -> None:
    run = make_run()
    folder = converted(run)
    model_file = folder / "model.bin"
    first = model_file.stat().st_mtime_ns
    assert converted(run) == folder and model_file.stat().st_mtime_ns == first
    run.save_model(random_weights(run.config(), [310, 310], seed=2))
    assert converted(run) == folder and model_file.stat().st_mtime_ns != first
    assert [path.name for path in run.path.iterdir() if path.name.startswith(".ctranslate2")] == []


def test_another_configuration_of_the_same_weights_is_converted_again(make_run: MakeRun) -> None:
    run = make_run()
    stamp = (converted(run) / "converted-from.json").read_text()
    run.config_file.write_text(run.config_file.read_text().replace("num_heads = 2", "num_heads = 4"))
    assert (converted(run) / "converted-from.json").read_text() != stamp
    assert (run.path / "ctranslate2").stat().st_mode & 0o777 == run.path.stat().st_mode & 0o777


def test_damaged_stamp_or_half_a_folder_is_made_again(make_run: MakeRun) -> None:
    run = make_run()
    folder = converted(run)
    for damage in ("", "{", json.dumps({"weights": "other"})):
        (folder / "converted-from.json").write_text(damage)
        (folder / "model.bin").unlink()
        assert (converted(run) / "model.bin").exists()


def test_order_is_kept_over_many_batches(make_run: MakeRun) -> None:
    run = make_run()
    engine, sentences = engine_of(run), sentences_of(run)
    together = engine.begin(sentences, DecodingConfig(beam=2, batch_tokens=64))()
    alone = [engine.begin([sentence], DecodingConfig(beam=2))()[0] for sentence in sentences]
    assert [found[0].ids for found in together] == [found[0].ids for found in alone]


def test_n_best_is_best_first_and_cut_off_ones_are_marked(make_run: MakeRun) -> None:
    run = make_run()
    [found] = engine_of(run).begin(sentences_of(run)[:1], DecodingConfig(beam=4, max_extra_length=1))()
    ranked = sorted(found, key=lambda hypothesis: (not hypothesis.is_complete, -hypothesis.score))
    assert len(found) == 4 and found == ranked
    assert any(not hypothesis.is_complete for hypothesis in found)


@pytest.mark.parametrize(
    ("settings", "sampling", "sentence", "what"),
    [
        ({"coverage_penalty": 0.2}, None, {}, "coverage penalty"),
        ({"no_repeat_ngram": 3}, None, {}, "rule against repeated n-grams"),
        ({"min_length": 3}, None, {}, "minimum length"),
        ({}, Sampling(), {}, "sampling"),
        ({}, None, {"prefix": (5,)}, "prefix"),
        ({}, None, {"terms": (((5,),),)}, "glossary"),
    ],
)
def test_what_it_cannot_do_is_left_to_torch_or_refused(
    make_run: MakeRun, settings: dict[str, Any], sampling: Sampling | None, sentence: dict[str, Any], what: str
) -> None:
    run = make_run()
    config, sentences = DecodingConfig(**settings), [Sentence([5, 6], **sentence)]
    engines = Engines([run])
    assert engines.choose(sentences, config, sampling) is engines.torch
    assert engines.choose([Sentence([5, 6])], DecodingConfig()) is engines.ctranslate2
    with pytest.raises(UsageError, match=f"the ctranslate2 engine knows no {what}; use --engine torch"):
        Engines([run], "ctranslate2").choose(sentences, config, sampling).begin(sentences, config, sampling)


@pytest.mark.parametrize(
    ("engine", "compute", "message"),
    [
        ("fast", "auto", "engine fast: expected auto, ctranslate2, torch"),
        ("auto", "int4", "compute int4: expected auto, float32, int8"),
        ("torch", "int8", "the torch engine computes in float32; --compute int8 needs --engine ctranslate2"),
    ],
)
def test_wrong_names_are_refused(make_run: MakeRun, engine: str, compute: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Engines([make_run()], engine, compute)


def test_several_runs_are_for_torch(make_run: MakeRun) -> None:
    run = make_run()
    assert Engines([run, run]).choose([Sentence([5])], DecodingConfig()) is not None
    with pytest.raises(UsageError, match="the ctranslate2 engine cannot run several runs together"):
        Engines([run, run], "ctranslate2")


def test_run_that_may_only_be_read_is_converted_elsewhere(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run()
    monkeypatch.setattr("os.access", lambda path, mode: False)
    folder = converted(run)
    assert folder.parent != run.path and (folder / "model.bin").exists()
    assert not (run.path / "ctranslate2").exists()


def test_an_export_splits_long_texts_as_its_run_does(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run()
    run.write_result({"name": "random", "usual_length": 7})
    export_ctranslate2(run, tmp_path / "exported")
    average_models([run, run], tmp_path / "mean")
    for path in (run.path, tmp_path / "exported", tmp_path / "mean"):
        assert Translator.load(path).usual_length == 7


@pytest.mark.parametrize(
    ("variant", "named"),
    [
        ({"d_k": 4}, "d_k = 4"),
        ({"scale_scores": False}, "scale_scores = false"),
        ({"use_residual": False}, "use_residual = false"),
        ({"position": "bits"}, "position = bits"),
    ],
)
def test_a_transformer_that_is_not_the_usual_one_is_for_torch(
    make_run: MakeRun, tmp_path: Path, variant: dict[str, Any], named: str
) -> None:
    run = make_run(**variant)
    engines = Engines([run])
    assert engines.choose([Sentence([5, 6])], DecodingConfig()) is engines.torch
    assert engines.max_length is None
    with pytest.raises(UsageError, match=f"the ctranslate2 engine cannot run a Transformer with {named}; use --engine"):
        Engines([run], "ctranslate2")
    with pytest.raises(UsageError, match=f"a Transformer with {named} cannot be written as a CTranslate2 model; use"):
        export_ctranslate2(run, tmp_path / "exported")
    assert not (tmp_path / "exported").exists()
