"""Models of transformers with random weights become runs of ours: the same logits, the same translations."""

from __future__ import annotations

import io
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch

from jumok.decoding.beam import beam_search
from jumok.errors import DataError, UsageError
from jumok.exchange.huggingface_export import export_huggingface
from jumok.exchange.huggingface_import import Languages, import_huggingface
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID, Tokenizer

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")

SOURCE = ["ka", "to", "mi", "re", "su", "lo", "한", "국"]
TARGET = ["ka", "to", "vel", "ish", "orn", "ut", "ße"]
LOST = "s"  # a piece that SentencePiece cuts, but that has no id: it is unknown
# As in OPUS-MT: end first, then unknown, padding last and used to begin with, no bytes.
VARIANTS: dict[str, dict[str, Any]] = {
    "opus-mt": {"activation_function": "swish"},
    "relu": {"activation_function": "relu", "scale_embedding": False},
    "gelu, embeddings of each side": {"activation_function": "gelu", "share_encoder_decoder_embeddings": False},
    "two vocabularies": {"share_encoder_decoder_embeddings": False, "separate": True},
    "nothing tied": {"share_encoder_decoder_embeddings": False, "separate": True, "tie_word_embeddings": False},
    "bpe": {"kind": "bpe"},
    "one spm": {"is_joint_spm": True},
}


def sentences(syllables: list[str], count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(60)]
    return [" ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(count)]


def train_spm(path: Path, syllables: list[str], kind: str) -> list[str]:
    """A SentencePiece model as OPUS-MT has them: ids of its own, and a normalisation; returns its pieces."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences(syllables, 300, 1)), model_writer=model, model_type=kind, vocab_size=70,
        hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    path.write_bytes(model.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [processor.id_to_piece(i) for i in range(3, processor.vocab_size())]


def write_ids(path: Path, pieces: list[str], is_pad_last: bool) -> dict[str, int]:
    pieces = sorted(set(pieces))
    order = ["</s>", "<unk>", *pieces, "<pad>"] if is_pad_last else ["</s>", "<unk>", "<pad>", *pieces]
    ids = {piece: i for i, piece in enumerate(order)}
    path.write_text(json.dumps(ids), encoding="utf-8")
    return ids


@pytest.fixture
def make_marian(tmp_path) -> Callable[..., tuple[Path, Any, Any]]:
    """A folder as OPUS-MT publishes them, and model and tokenizer of transformers for it."""

    def make(separate: bool = False, kind: str = "unigram", is_joint_spm: bool = False, codes=(), **settings):
        from transformers import MarianConfig, MarianMTModel, MarianTokenizer

        folder = tmp_path / "opus-mt-ko-de"
        folder.mkdir()
        src_pieces = train_spm(folder / "source.spm", SOURCE, kind)
        tgt_pieces = train_spm(folder / "target.spm", SOURCE if is_joint_spm else TARGET, kind)
        src_pieces, tgt_pieces = ([p for p in pieces if p != LOST] for pieces in (src_pieces, tgt_pieces))
        if separate:
            src_ids = write_ids(folder / "vocab.json", src_pieces, is_pad_last=False)
            tgt_ids = write_ids(folder / "target_vocab.json", tgt_pieces, is_pad_last=False)
        else:
            src_ids = tgt_ids = write_ids(folder / "vocab.json", [*src_pieces, *tgt_pieces, *codes], is_pad_last=True)
        tokenizer = MarianTokenizer(
            str(folder / "source.spm"), str(folder / "target.spm"), str(folder / "vocab.json"),
            str(folder / "target_vocab.json") if separate else None, "ko", "de", separate_vocabs=separate,
        )  # fmt: skip
        tokenizer.save_pretrained(folder)
        config = MarianConfig(**{
            "vocab_size": len(src_ids), "decoder_vocab_size": len(tgt_ids), "d_model": 16, "encoder_layers": 2,
            "decoder_layers": 3, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "encoder_attention_heads": 2,
            "decoder_attention_heads": 2, "max_position_embeddings": 64, "activation_function": "swish",
            "scale_embedding": True, "eos_token_id": 0, "forced_eos_token_id": None, "init_std": 0.3,
            "pad_token_id": tgt_ids["<pad>"], "decoder_start_token_id": tgt_ids["<pad>"], **settings,
        })  # fmt: skip
        torch.manual_seed(3)
        model = MarianMTModel(config).eval()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if "embed_positions" not in name:
                    parameter.add_(torch.randn_like(parameter) * 0.15)
            model.final_logits_bias.normal_()
            model.final_logits_bias[0, 0] += 3  # so that sentences end
        model.save_pretrained(folder)
        return folder, model, tokenizer

    return make


def imported(folder: Path, run: Path) -> RunDirectory:
    import_huggingface(str(folder), run)
    return RunDirectory(run)


def ids_of(tokenizer: Tokenizer, ids: dict[str, int], wanted: list[int]) -> list[int]:
    """Ids of the other vocabulary in ours, by the text of the pieces."""
    special = {ids["<pad>"]: PAD_ID, ids["<unk>"]: UNK_ID, ids["</s>"]: EOS_ID}
    place = {piece: i for i, piece in enumerate(tokenizer.all_pieces())}
    piece_of = {i: piece for piece, i in ids.items()}
    return [special[i] if i in special else place[piece_of[i]] for i in wanted]


@pytest.mark.parametrize("name", VARIANTS)
def test_the_run_computes_what_transformers_computes(make_marian, tmp_path, name):
    folder, theirs, tokenizer = make_marian(**VARIANTS[name])
    run = imported(folder, tmp_path / "run")
    ours, (src_tokenizer, tgt_tokenizer) = run.load_model(), run.tokenizers()
    src_ids = tokenizer.encoder
    tgt_ids = tokenizer.target_encoder if tokenizer.separate_vocabs else src_ids

    # The same pieces, on each side; those without an id, and characters never seen, are unknown there.
    texts = [*sentences(SOURCE, 6, 2), "x ka漢to", "KA  to", "kas tos"]
    batch = tokenizer(texts, return_tensors="pt", padding=True)
    without_row = [i for i, piece in enumerate(src_tokenizer.all_pieces()) if i > EOS_ID and piece not in src_ids]
    for text, row in zip(src_tokenizer.encode(texts), batch["input_ids"].tolist(), strict=True):
        known = [UNK_ID if i in without_row else i for i in text]
        assert [*known, EOS_ID] == [i for i in ids_of(src_tokenizer, src_ids, row) if i != PAD_ID]
    assert any(i in without_row for i in src_tokenizer.encode(["kas"])[0])
    tgt_texts = sentences(SOURCE if name == "one spm" else TARGET, 5, 3)
    expected = [tokenizer(text_target=text)["input_ids"][:-1] for text in tgt_texts]
    assert tgt_tokenizer.encode(tgt_texts) == [ids_of(tgt_tokenizer, tgt_ids, row) for row in expected]
    assert tgt_tokenizer.decode(tgt_tokenizer.encode(tgt_texts)) == tgt_texts

    # The same logits, teacher-forced, with padding in the batch; the more exact the arithmetic, the more exactly.
    src = torch.tensor([ids_of(src_tokenizer, src_ids, row) for row in batch["input_ids"].tolist()])
    their_tgt = torch.randint(0, len(tgt_ids) - 1, (len(texts), 7))
    their_tgt[:, 0] = tgt_ids["<pad>"]
    tgt = torch.tensor([ids_of(tgt_tokenizer, tgt_ids, row) for row in their_tgt.tolist()])
    tgt[:, 0] = BOS_ID
    columns = ids_of(tgt_tokenizer, tgt_ids, list(range(len(tgt_ids))))
    for dtype, tolerance in ((torch.float64, 1e-9), (torch.float32, 1e-4)):
        with torch.no_grad():
            logits = ours.to(dtype).project(ours(src, tgt))
            expected = theirs.to(dtype)(**batch, decoder_input_ids=their_tgt).logits
        torch.testing.assert_close(logits[..., columns], expected, atol=tolerance, rtol=0)
        probabilities, expected = (x.float().log_softmax(-1) for x in (logits, expected))  # nothing is counted twice
        torch.testing.assert_close(probabilities[..., columns], expected, atol=1e-4, rtol=0)

    # The same translations.
    for beam in (1, 4):
        said = [hypotheses[0].ids for hypotheses in beam_search(ours, src, beam, 0.0, [20] * len(src))]
        output = theirs.generate(
            **batch,
            num_beams=beam,
            length_penalty=0.0,
            early_stopping=True,
            max_new_tokens=20,
            suppress_tokens=[1, tgt_ids["<pad>"]],
        )
        theirs_said = [ids_of(tgt_tokenizer, tgt_ids, row) for row in output.tolist()]
        assert said == [[i for i in row if i not in (PAD_ID, EOS_ID)] for row in theirs_said]
        texts_said = tokenizer.batch_decode(output, skip_special_tokens=True)
        assert [text.split() for text in tgt_tokenizer.decode(said)] == [text.split() for text in texts_said]


def test_the_run_goes_out_again_and_says_the_same(make_marian, tmp_path):
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    folder, theirs, tokenizer = make_marian()
    export_huggingface(imported(folder, tmp_path / "run"), tmp_path / "out")
    again, again_tokenizer = (of.from_pretrained(tmp_path / "out") for of in (AutoModelForSeq2SeqLM, AutoTokenizer))
    texts = sentences(SOURCE, 5, 4)
    options = {"num_beams": 1, "max_new_tokens": 15}
    said = [
        one.batch_decode(
            model.generate(**one(texts, return_tensors="pt", padding=True), **options, **more), skip_special_tokens=True
        )
        for model, one, more in (
            (theirs, tokenizer, {"suppress_tokens": [1, theirs.config.pad_token_id]}),
            (again.eval(), again_tokenizer, {"max_length": None}),
        )
    ]
    assert said[0] == said[1]


def test_a_language_code_stays_one_piece(make_marian, tmp_path):
    folder, _, tokenizer = make_marian(codes=[">>deu<<", ">>fra<<"])
    src_tokenizer, _ = imported(folder, tmp_path / "run").tokenizers()
    text = ">>fra<< ka toka"
    expected = [tokenizer.decoder[i] for i in tokenizer(text)["input_ids"][:-1]]
    assert expected[0] == ">>fra<<"
    assert src_tokenizer.pieces(text) == [f"▁{expected[0]}", *expected[1:]]
    export_huggingface(RunDirectory(tmp_path / "run"), tmp_path / "out")
    assert ">>fra<<" in json.loads((tmp_path / "out" / "vocab.json").read_text(encoding="utf-8"))


def test_the_configuration_says_where_it_comes_from_and_how_it_searches(make_marian, tmp_path):
    folder, _, _ = make_marian(dropout=0.2)
    (folder / "generation_config.json").write_text(
        '{"num_beams": 6, "length_penalty": 0.75, "no_repeat_ngram_size": 3}'
    )
    config = imported(folder, tmp_path / "my run").config()
    assert config.name == "my-run"
    assert (config.data.source, config.data.target) == ("ko", "de")
    assert config.data.train == f"imported from {folder}"
    assert (config.model.norm, config.model.activation, config.model.dropout) == ("post", "swish", 0.2)
    assert (config.model.attention_bias, config.model.output_bias) == (True, True)
    assert config.model.tie_embeddings == "three-way"
    assert (config.decoding.beam, config.decoding.length_penalty, config.decoding.no_repeat_ngram) == (6, 1.0, 3)


def test_languages_come_from_the_settings_the_name_or_the_user(make_marian, tmp_path):
    folder, _, _ = make_marian()
    (folder / "tokenizer_config.json").unlink()
    assert imported(folder, tmp_path / "a").config().data.target == "de"
    folder = folder.rename(tmp_path / "model")
    with pytest.raises(UsageError, match="does not say the languages; give them with --source and --target"):
        imported(folder, tmp_path / "b")
    assert not (tmp_path / "b").exists()
    import_huggingface(str(folder), tmp_path / "b", Languages("fi", "sv"))
    assert RunDirectory(tmp_path / "b").config().data.source == "fi"


def test_a_pickle_is_never_opened(make_marian, tmp_path):
    folder, _, _ = make_marian()
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(
        DataError, match="pickle .* never opened here.*save_pretrained\\(NEW, safe_serialization=True\\)"
    ):
        imported(folder, tmp_path / "run")
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(DataError, match="holds no model.safetensors"):
        imported(folder, tmp_path / "run")


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("config.json", {"model_type": "bart"}, "model_type = 'bart'; only marian .* and pegasus"),
        ("config.json", {"activation_function": "tanh"}, "activation_function = 'tanh'; expected one of relu"),
        ("config.json", {"decoder_ffn_dim": 8}, "encoder_ffn_dim = 24 and decoder_ffn_dim = 8"),
        ("config.json", {"encoder_layers": 5}, "holds no model.encoder.layers.2.self_attn.q_proj.weight"),
        ("vocab.json", {"▁ka": 5000}, "the vocabulary has an id 5000, but .* only .* rows"),
        ("vocab.json", {"▁ka": "one"}, "expected a JSON object of pieces and their ids"),
        ("vocab.json", None, "vocab.json: no such file"),
        ("config.json", None, "config.json: no such file"),
        ("source.spm", None, "source.spm: cannot be read: No such file"),
    ],
)
def test_what_cannot_be_imported_is_refused_in_one_line(make_marian, tmp_path, file, change, message):
    folder, _, _ = make_marian()
    if change is None:
        (folder / file).unlink()
    else:
        values = json.loads((folder / file).read_text(encoding="utf-8"))
        (folder / file).write_text(json.dumps(values | change), encoding="utf-8")
    with pytest.raises(DataError, match=message) as caught:
        imported(folder, tmp_path / "run")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_a_file_that_is_no_sentencepiece_model_is_refused(make_marian, tmp_path):
    folder, _, _ = make_marian()
    (folder / "target.spm").write_bytes(b"\x00\x01 nonsense")
    with pytest.raises(DataError, match="target.spm: is not a SentencePiece model"):
        imported(folder, tmp_path / "run")


def test_a_name_that_cannot_be_downloaded_is_refused(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="neither a directory nor a name on the Hugging Face hub"):
        import_huggingface("/no/such/folder", tmp_path / "run")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(UsageError, match="owner/opus-mt-xx-yy: is no directory, and could not be downloaded"):
        import_huggingface("owner/opus-mt-xx-yy", tmp_path / "run")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(UsageError, match="huggingface_hub is missing; pip install 'jumok\\[huggingface\\]'"):
        import_huggingface("owner/opus-mt-xx-yy", tmp_path / "run")
