"""What we export, loaded by transformers itself: the same ids, the same logits, the same translations."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from jumok.config import DecodingConfig, dump_toml, parse_config
from jumok.data.batching import pad_sources
from jumok.decoding.beam import beam_search
from jumok.errors import UsageError
from jumok.exchange.huggingface_export import export_huggingface
from jumok.exchange.huggingface_import import import_huggingface
from jumok.models import TranslationModel, build_model
from jumok.storage.checkpoints import model_tensors
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID, train_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")

SYLLABLES = ["ka", "to", "mi", "re", "su", "lo", "ne", "da", "가", "노", "다", "리"]
VARIANTS = {
    "the paper": {},
    "swish": {"activation": "swish", "tie_embeddings": "two-way"},
    "gelu": {"activation": "gelu", "tie_embeddings": "none"},
    "biases": {"attention_bias": True, "output_bias": True},
    "learned positions": {"position": "learned", "max_length": 64, "output_bias": True, "tie_embeddings": "two-way"},
    "two vocabularies": {"tie_embeddings": "two-way", "joint": False},
    "nothing tied": {"tie_embeddings": "none", "joint": False, "attention_bias": True},
}
ALL = [pytest.param(norm, name, id=f"{norm}, {name}") for norm in ("post", "pre") for name in VARIANTS]


def sentences(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(60)]
    return [" ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(count)]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tokenizers")
    train_tokenizer(sentences(200, 1), folder / "tokenizer.model", "bpe", 330, 1.0)
    train_tokenizer(sentences(200, 1), folder / "source.model", "unigram", 320, 1.0)
    train_tokenizer(sentences(200, 2), folder / "target.model", "bpe", 310, 1.0)
    return folder


@pytest.fixture
def make_run(tmp_path, tokenizers) -> Callable[..., RunDirectory]:
    """A run directory whose weights are all random, biases and gains too."""

    def make(norm: str = "post", joint: bool = True, max_length: int = 1024, **model) -> RunDirectory:
        numbers = {"d_model": 16, "d_ff": 24, "num_heads": 2, "encoder_layers": 2, "decoder_layers": 3}
        values = {
            "name": "random",
            "data": {"source": "ko", "target": "en", "train": "t", "valid": "v", "max_length": 50},
            "tokenizer": {"joint": joint},
            "model": {**numbers, "norm": norm, "max_length": max_length, **model},
        }
        run = RunDirectory(tmp_path / "run")
        run.path.mkdir()
        run.config_file.write_text(dump_toml(parse_config(values)), encoding="utf-8")
        for name in ["tokenizer.model"] if joint else ["source.model", "target.model"]:
            (run.path / name).write_bytes((tokenizers / name).read_bytes())
        torch.manual_seed(7)
        sizes = [tokenizer.vocab_size for tokenizer in run.tokenizers()]
        network = build_model(run.config().model, *sizes, PAD_ID)
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                parameter.add_(torch.randn_like(parameter) * 0.3)
                if "embedding" in name:
                    parameter.mul_(0.3)  # else every piece would be followed by itself
            network.output_weight[EOS_ID] *= 3  # so that sentences end now and then
        run.save_model(model_tensors(network))
        return run

    return make


def variant(make_run, norm: str, name: str) -> RunDirectory:
    return make_run(norm, **VARIANTS[name])


def load(folder: Path):
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    return AutoModelForSeq2SeqLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)


def our_translations(model: TranslationModel, src: torch.Tensor, beam: int, alpha: float = 0.0) -> list[list[int]]:
    found = beam_search(model, src, beam, alpha, [30] * len(src))
    return [hypotheses[0].ids for hypotheses in found]


def their_translations(model, src: torch.Tensor, beam: int, **options) -> list[list[int]]:
    options = {"max_new_tokens": 30, "max_length": None, "length_penalty": 0.0, **options}
    with torch.no_grad():
        found = model.generate(src, attention_mask=(src != PAD_ID).long(), num_beams=beam, **options)
    return [[i for i in row if i not in (PAD_ID, BOS_ID, EOS_ID)] for row in found.tolist()]


@pytest.mark.parametrize(("norm", "name"), ALL)
def test_transformers_computes_the_same(make_run, tmp_path, norm, name):
    run = variant(make_run, norm, name)
    export_huggingface(run, tmp_path / "out")
    theirs, their_tokenizer = load(tmp_path / "out")
    assert type(theirs).__name__ == {"post": "MarianMTModel", "pre": "PegasusForConditionalGeneration"}[norm]
    ours, (src_tokenizer, tgt_tokenizer) = run.load_model(), run.tokenizers()

    texts = [*sentences(6, 3), "전혀 모르는 글자 Ω"]  # bytes too
    batch = their_tokenizer(texts, return_tensors="pt", padding=True)
    src = pad_sources(src_tokenizer.encode(texts))
    assert batch["input_ids"].tolist() == src.tolist()

    tgt = torch.randint(4, tgt_tokenizer.vocab_size, (len(texts), 9))
    tgt[:, 0] = BOS_ID
    with torch.no_grad():
        expected = ours.project(ours(src, tgt))
        logits = theirs(**batch, decoder_input_ids=tgt).logits
    torch.testing.assert_close(logits[..., : tgt_tokenizer.vocab_size], expected, atol=1e-4, rtol=0)
    assert (logits.log_softmax(-1)[..., tgt_tokenizer.vocab_size :] < -900).all()

    for beam in (1, 4):
        said = our_translations(ours, src, beam)
        assert their_translations(theirs, src, beam) == said
    output = theirs.generate(**batch, num_beams=1, max_new_tokens=30, max_length=None)
    assert their_tokenizer.batch_decode(output, skip_special_tokens=True) == [
        text.replace("▁", " ").strip() for text in tgt_tokenizer.decode(our_translations(ours, src, 1))
    ]


@pytest.mark.parametrize(("norm", "name"), ALL)
def test_what_was_exported_comes_back_the_same(make_run, tmp_path, norm, name):
    run = variant(make_run, norm, name)
    export_huggingface(run, tmp_path / "out")
    import_huggingface(str(tmp_path / "out"), tmp_path / "back")
    back = RunDirectory(tmp_path / "back")
    before, after = load_file(run.model_file), load_file(back.model_file)
    assert before.keys() == after.keys()
    assert all(torch.equal(before[key], after[key]) for key in before)
    assert back.config().model.model_dump() == run.config().model.model_dump() | {
        "max_length": 64 if "learned" in name else 1024
    }
    assert back.config().decoding == run.config().decoding == DecodingConfig()
    assert [t.path.read_bytes() for t in back.tokenizers()] == [t.path.read_bytes() for t in run.tokenizers()]


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_beam_of_generate_is_ours_nearly_always(make_run, tmp_path, norm):
    """With the folder's own settings: the rule by which lengths are weighed is the nearest one, not the same."""
    run = make_run(norm)
    export_huggingface(run, tmp_path / "out")
    theirs, _ = load(tmp_path / "out")
    src = pad_sources(run.tokenizers()[0].encode(sentences(40, 5)))
    ours = our_translations(run.load_model(), src, 4, alpha=0.6)
    with torch.no_grad():
        found = theirs.generate(src, attention_mask=(src != PAD_ID).long(), max_new_tokens=30, max_length=None)
    said = [[i for i in row if i not in (PAD_ID, BOS_ID, EOS_ID)] for row in found.tolist()]
    assert sum(a == b for a, b in zip(ours, said, strict=True)) >= 30


def test_the_card_tells_what_the_model_is_and_how_good(make_run, tmp_path):
    run = make_run()
    run.write_result({"bleu": 31.25, "chrf": 55.5, "signature": "sig", "beam": 4, "scored_on": "test", "steps": 1200})
    export_huggingface(run, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert card.startswith('---\nlanguage:\n- "ko"\n- "en"\n')
    for words in ("from Korean to English", "BLEU 31.2 (`sig`)", "chrF 55.5", "1,200", "`MarianMTModel`", "α = 0.6"):
        assert words in card
    assert "transformers 5" not in card


def test_a_model_that_older_transformers_would_misread_says_so(make_run, tmp_path):
    export_huggingface(make_run("pre", tie_embeddings="two-way"), tmp_path / "out")
    assert "Needs transformers 5" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def test_settings_of_the_search_are_handed_over(make_run, tmp_path):
    run = make_run()
    text = run.config_file.read_text(encoding="utf-8")
    text = text.replace("min_length = 0", "min_length = 3").replace("no_repeat_ngram = 0", "no_repeat_ngram = 2")
    run.config_file.write_text(text.replace("beam = 4", "beam = 6"), encoding="utf-8")
    export_huggingface(run, tmp_path / "out")
    settings = json.loads((tmp_path / "out" / "generation_config.json").read_text(encoding="utf-8"))
    assert (settings["num_beams"], settings["length_penalty"]) == (6, pytest.approx(0.45))
    assert (settings["min_length"], settings["no_repeat_ngram_size"]) == (4, 2)
    theirs, tokenizer = load(tmp_path / "out")
    output = theirs.generate(**tokenizer(sentences(1, 9), return_tensors="pt"), max_new_tokens=20, max_length=None)
    said = output[0].tolist()[1:]
    assert len(said) >= 4
    assert len(set(itertools.pairwise(said))) == len(said) - 1
    import_huggingface(str(tmp_path / "out"), tmp_path / "back")
    assert RunDirectory(tmp_path / "back").config().decoding == run.config().decoding


def test_a_folder_that_is_there_is_not_written_over(make_run, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("x")
    with pytest.raises(UsageError, match="out: exists already and is not empty; choose another place"):
        export_huggingface(make_run(), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_a_transformer_that_is_not_the_usual_one_is_refused(make_run, tmp_path):
    message = "a Transformer with position = counts cannot be written as a Hugging Face model; use the run itself"
    with pytest.raises(UsageError, match=message):
        export_huggingface(make_run(position="counts"), tmp_path / "exported")
    assert not (tmp_path / "exported").exists()
