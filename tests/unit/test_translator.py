"""Text in, text out: nothing lost, nothing cut, in order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

import jumok
from jumok.config import Config, parse_config
from jumok.data.prepared import prepare
from jumok.errors import RunError, UsageError
from jumok.models import build_model
from jumok.storage.checkpoints import model_tensors
from jumok.storage.run_directory import RunDirectory
from jumok.text.glossary import Entry
from jumok.text.tokenizer import PAD_ID, Tokenizer, train_tokenizer
from jumok.translation import Options, Translation
from jumok.translator import Translator

KOREAN = [f"{a} {b} {c}." for a in ("나는", "너는") for b in ("집에", "산에", "강에") for c in ("간다", "온다", "산다")]
ENGLISH = [f"{a} {c} {b}." for a in ("I", "you") for b in ("home", "uphill", "away") for c in ("go", "come", "live")]


@pytest.fixture(scope="module")
def config() -> Config:
    return parse_config(
        {
            "name": "untrained",
            "data": {"source": "ko", "target": "en", "train": "t.tsv", "valid": "t.tsv", "max_length": 20},
            "tokenizer": {"vocab_size": 310},
            "model": {"preset": "tiny", "d_model": 16, "d_ff": 16, "encoder_layers": 1, "decoder_layers": 1},
            "decoding": {"max_extra_length": 3},
        }
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, config: Config) -> Path:
    """A run directory with random weights."""
    folder = tmp_path_factory.mktemp("untrained")
    (folder / "t.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in zip(KOREAN, ENGLISH, strict=True)))
    placed = config.model_copy(update={"data": config.data.model_copy(update={"folder": str(folder)})})
    corpus = prepare(placed, folder / "prepared")
    directory = RunDirectory(folder / "run")
    directory.create(placed, corpus.folder)
    torch.manual_seed(1)
    size = corpus.src_tokenizer.vocab_size
    directory.save_model(model_tensors(build_model(config.model, size, size, PAD_ID)))
    return directory.path


@pytest.fixture(scope="module")
def translator(run: Path) -> Translator:
    return jumok.load(run)


def test_text_in_text_out_and_list_in_list_out(translator: Translator) -> None:
    one = translator.translate(KOREAN[0])
    assert isinstance(one, str)
    assert translator.translate([KOREAN[0]]) == [one]
    assert translator.translate([]) == []


def test_order_is_kept_and_batched_equals_single(translator: Translator) -> None:
    texts = [KOREAN[0], " ".join(KOREAN[:4]), "", "산", KOREAN[5]]
    assert translator.translate(texts) == [translator.translate(text) for text in texts]


def test_empty_text_is_empty_in_its_place(translator: Translator) -> None:
    found = translator.translate(["", KOREAN[0], "  \t", "\u3000"])
    assert [not text for text in found] == [True, False, True, True]


def test_long_text_is_split_and_every_part_reaches_the_model(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[int]] = []
    real = translator.engines.ctranslate2

    class Watching:
        def begin(self, sentences, *rest):  # type: ignore[no-untyped-def]
            seen.extend(list(sentence.ids) for sentence in sentences)
            return real.begin(sentences, *rest)

    monkeypatch.setattr(translator.engines, "choose", lambda *request: Watching())
    text = " ".join(KOREAN * 10)
    translation = translator.translate(text)
    assert len(seen) > 10 and max(map(len, seen)) <= 20
    read = "".join(translator.src_tokenizer.decode(seen))
    assert re.sub(r"\s", "", read) == re.sub(r"\s", "", text)
    assert "\n" not in translation


def test_text_of_100_000_characters_is_read_whole(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[int]] = []

    class Echo:
        def begin(self, sentences, *rest):  # type: ignore[no-untyped-def]
            from jumok.decoding.hypothesis import Hypothesis

            seen.extend(list(sentence.ids) for sentence in sentences)
            return lambda: [[Hypothesis(list(sentence.ids), -1.0, -1.0)] for sentence in sentences]

    monkeypatch.setattr(translator.engines, "choose", lambda *request: Echo())
    for text in ("가" * 100_000, ("나는 집에 간다. " * 10_000).strip()):
        seen.clear()
        assert translator.translate(text).replace(" ", "") == text.replace(" ", "")
        assert max(map(len, seen)) <= 20


def test_n_best_gives_so_many_best_first(translator: Translator) -> None:
    translation = translator.translate(KOREAN[0], n_best=3)
    assert isinstance(translation, Translation)
    scores = [hypothesis.score for hypothesis in translation.hypotheses]
    assert len(scores) == 3 and scores == sorted(scores, reverse=True)
    assert translation.text == translator.translate(KOREAN[0])
    assert translation.source == KOREAN[0]


def test_n_best_of_an_empty_text_has_as_many(translator: Translator) -> None:
    [translation] = translator.translate([""], n_best=3)
    assert [hypothesis.text for hypothesis in translation.hypotheses] == ["", "", ""]


def test_n_best_above_the_usual_beam_widens_it(translator: Translator) -> None:
    assert len(translator.translate(KOREAN[0], n_best=6).hypotheses) == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_best": 3, "beam": 2}, "n_best = 3 needs a beam of at least 3, but beam = 2"),
        ({"n_best": 0}, "n_best = 0 must be at least 1"),
        ({"beam": 0}, "beam = 0 must be at least 1"),
        ({"beam": -1}, "beam = -1 must be at least 1"),
    ],
)
def test_impossible_search_is_refused(translator: Translator, options: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        translator.translate(KOREAN[0], **options)  # type: ignore[call-overload]


def test_sampling_is_repeated_by_its_seed(translator: Translator) -> None:
    draws = [translator.translate(KOREAN, sampling=jumok.Sampling(seed=seed)) for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


def test_stream_is_lazy_and_the_same(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jumok.translator._FIRST_CHUNK", 2)
    monkeypatch.setattr("jumok.translator._LARGEST_CHUNK", 3)
    taken = []

    def lines():  # type: ignore[no-untyped-def]
        for text in KOREAN[:12]:
            taken.append(text)
            yield text

    stream = translator.translate_stream(lines())
    first = next(stream)
    assert len(taken) == 2
    next(stream), next(stream)
    assert len(taken) == 8  # two more chunks: the one after is read while one is translated
    texts = translator.translate(KOREAN[:12])
    assert first.text == texts[0] and [t.text for t in stream] == texts[3:]


def test_details_on_request(translator: Translator) -> None:
    text = " ".join(KOREAN * 2)
    translation = translator.translate(text, n_best=1, with_alignment=True, with_token_scores=True)
    [hypothesis] = translation.hypotheses
    num_words = len(text.split()), len(hypothesis.text.split())
    assert hypothesis.alignment and hypothesis.pieces and hypothesis.token_scores
    assert all(src < num_words[0] and tgt < num_words[1] for src, tgt in hypothesis.alignment)
    assert max(src for src, _ in hypothesis.alignment) > 20  # the parts are counted through
    assert all(score <= 0 for score in hypothesis.token_scores)
    assert translator.translate([""], n_best=1, with_alignment=True)[0].hypotheses[0].alignment == ()


def test_prefix_glossary_and_draws(translator: Translator) -> None:
    glossary = jumok.Glossary([Entry("집에", "uphill")], "ko")
    assert translator.translate(KOREAN[0], prefix="you come").startswith("you come")
    assert "uphill" in translator.translate("나는 집에 산다.", glossary=glossary)
    drawn = translator.translate(KOREAN[0], n_best=3, sampling=jumok.Sampling(seed=1), bayes_risk=8)
    assert 1 <= len(drawn.hypotheses) <= 3


def test_unknown_option_is_named(translator: Translator) -> None:
    with pytest.raises(UsageError, match="translate knows no option beams; known: beam, n_best"):
        translator.translate("a", beams=3)
    with pytest.raises(UsageError, match="bayes_risk chooses among draws: give sampling"):
        translator.translate("a", bayes_risk=3)


def test_any_text_is_one_line_out(translator: Translator) -> None:
    texts = ["a\nb", "a\u2028b", "\0", "😀" * 40, "<s> </s>", "▁", "\ufeff", "a\tb", "." * 50]
    assert all(len(text.splitlines()) <= 1 for text in translator.translate(texts))


def test_missing_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"nope: no such run directory; `jumok train CONFIG` makes one under runs/$"):
        jumok.load(tmp_path / "nope")


def test_missing_device_is_named(run: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device here")
    with pytest.raises(UsageError, match='^device = "cuda", but torch finds no CUDA device here; use "cpu"'):
        jumok.load(run, device="cuda")


def test_long_text_goes_sentence_by_sentence_where_training_texts_were_short(run: Path) -> None:
    translator = jumok.load(run)
    translator.usual_length = 8
    text = " ".join(KOREAN[:3])
    assert translator.translate(text) == " ".join(translator.translate(one) for one in KOREAN[:3])
    translator.usual_length = None
    _, [parts] = translator._parts([text], Options())
    assert len(parts) < 3


def test_every_line_has_as_many_hypotheses_and_details_as_asked_for(translator: Translator) -> None:
    drawn = translator.translate(
        [KOREAN[0], "", "▁"], n_best=5, sampling=jumok.Sampling(seed=1, top_k=1), bayes_risk=5, with_token_scores=True
    )
    assert [len(translation.hypotheses) for translation in drawn] == [5, 5, 5]
    for translation in drawn:
        for hypothesis in translation.hypotheses:
            assert hypothesis.pieces is not None and hypothesis.token_scores is not None
            assert len(hypothesis.pieces) == len(hypothesis.token_scores)
    [long] = translator.translate([" ".join(KOREAN * 2)], n_best=1, with_token_scores=True)
    assert len(long.hypotheses[0].pieces or ()) == len(long.hypotheses[0].token_scores or ()) > 0


def test_first_lines_of_a_stream_are_answered_before_more_are_read(translator: Translator) -> None:
    taken = []

    def lines():  # type: ignore[no-untyped-def]
        for text in KOREAN * 10:
            taken.append(text)
            yield text

    next(translator.translate_stream(lines()))
    assert len(taken) == 32


def test_trace_is_of_the_translation_that_is_given_or_of_its_own(translator: Translator) -> None:
    own, given = translator.trace(KOREAN[0]), translator.trace(KOREAN[0], "I go home.")
    assert own.src_pieces == given.src_pieces == [*translator.src_tokenizer.pieces(KOREAN[0]), "</s>"]
    assert (
        translator.translate(KOREAN[0], beam=4)
        == translator.tgt_tokenizer.decode(
            [[translator.tgt_tokenizer.piece_to_id(piece) or 0 for piece in own.tgt_out_pieces]]
        )[0]
    )
    assert given.tgt_out_pieces == [*translator.tgt_tokenizer.pieces("I go home."), "</s>"]
    [cross] = given.cross
    assert cross.weights.shape[1:] == (len(given.tgt_out_pieces), len(given.src_pieces))


def test_trace_refuses_what_cannot_be_looked_at(translator: Translator, run: Path) -> None:
    with pytest.raises(UsageError, match="the sentence is empty; write one"):
        translator.trace(" ")
    with pytest.raises(UsageError, match="the translation is empty; write one, or leave it to the model"):
        translator.trace(KOREAN[0], "")
    with pytest.raises(UsageError, match="Ensemble has no attention to look at; take one run"):
        jumok.load(run, run).trace(KOREAN[0])


def test_trace_refuses_a_translation_of_unknown_words(translator: Translator, tmp_path: Path) -> None:
    train_tokenizer(ENGLISH, tmp_path / "words.model", "word", vocab_size=13, character_coverage=1.0)
    of_words = Translator(
        translator.config, translator.engines, translator.src_tokenizer, Tokenizer(tmp_path / "words.model")
    )
    with pytest.raises(UsageError, match="translation 'I go abroad.': the model's vocabulary cannot spell it"):
        of_words.trace(KOREAN[0], "I go abroad.")
