"""The vocabulary map: learned links are the right ones, and the library obeys the file."""

from __future__ import annotations

import random
from pathlib import Path

import ctranslate2
import pytest
import torch

from jumok.config import parse_config
from jumok.data.prepared import prepare
from jumok.exchange.ctranslate2 import VOCABULARY_MAP, export_ctranslate2
from jumok.exchange.vocabulary_map import learn_map, write_vocabulary_map
from jumok.models import build_model
from jumok.storage.checkpoints import model_tensors
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import EOS_ID, PAD_ID

NUM_WORDS = 40
FIRST = 4  # ids of words begin behind the special ones
OFFSET = 100  # word n of the one language is word n + OFFSET of the other
ARTICLE = FIRST + OFFSET + NUM_WORDS  # stands before every target word and translates nothing
SIZE = ARTICLE + 1


def made_pairs(num_pairs: int = 300) -> tuple[list[list[int]], list[list[int]]]:
    """Sentences of three to six words, each with its one translation, in another order, each after an article."""
    rng = random.Random(1)
    sources = [rng.sample(range(FIRST, FIRST + NUM_WORDS), rng.randint(3, 6)) for _ in range(num_pairs)]
    targets = [[piece for word in reversed(src) for piece in (ARTICLE, word + OFFSET)] for src in sources]
    return sources, targets


# --- what is learned --------------------------------------------------------------------------------------------


def test_each_word_finds_its_translation_whatever_the_order():
    for_all, for_piece = learn_map(*made_pairs(), SIZE, SIZE, num_for_all=1, num_for_piece=2)
    assert set(for_all) == {EOS_ID, ARTICLE}
    assert set(for_piece) == set(range(FIRST, FIRST + NUM_WORDS))
    assert all(word + OFFSET in found for word, found in for_piece.items())


def test_the_end_is_always_in():
    """Targets hold no end of sentence, and without it no translation would ever end."""
    sources, targets = made_pairs()
    assert all(EOS_ID not in tgt for tgt in targets)
    for num_for_all in (0, 1, 1000):
        for_all, _ = learn_map(sources, targets, SIZE, SIZE, num_for_all=num_for_all)
        assert for_all[0] == EOS_ID
        assert len(for_all) == len(set(for_all))


def test_for_all_are_the_most_frequent_ones_and_none_that_never_occur():
    targets = [[10, 10, 11], [10, 12, 11]]
    assert learn_map([[5], [6]], targets, 20, 20, num_for_all=2)[0] == [EOS_ID, 10, 11]
    assert learn_map([[5], [6]], targets, 20, 20)[0] == [EOS_ID, 10, 11, 12]


def test_a_piece_has_no_more_translations_than_asked_for_and_each_once():
    sources, targets = made_pairs()
    for num_for_piece in (1, 3):
        _, for_piece = learn_map(sources, targets, SIZE, SIZE, num_for_all=0, num_for_piece=num_for_piece)
        assert max(map(len, for_piece.values())) == num_for_piece
        assert all(len(set(found)) == len(found) for found in for_piece.values())


def test_two_translations_of_a_word_are_both_found():
    """Word 5 is 50 in two sentences of three and 51 in the third; what stands beside it is explained by itself."""
    sources = [[5, 6], [5, 7], [5, 8], [6], [7], [8]] * 5
    targets = [[50, 60], [50, 70], [51, 80], [60], [70], [80]] * 5
    _, for_piece = learn_map(sources, targets, 100, 100, num_for_all=0, num_for_piece=2)
    assert set(for_piece[5]) == {50, 51}


def test_the_same_pairs_give_the_same_map():
    assert learn_map(*made_pairs(), SIZE, SIZE) == learn_map(*made_pairs(), SIZE, SIZE)


def test_pairs_with_an_empty_or_an_endless_side_teach_nothing():
    sources, targets = made_pairs()
    expected = learn_map(sources, targets, SIZE, SIZE, num_for_all=0)
    odd_sources, odd_targets = [[], [4], [5] * 1000], [[OFFSET + 7], [], [OFFSET + 8]]
    assert learn_map(sources + odd_sources, targets + odd_targets, SIZE, SIZE, num_for_all=0) == expected


# --- the file ---------------------------------------------------------------------------------------------------


GERMAN = [f"{a} {b} {c}." for a in ("ich", "Anna") for b in ("gehe", "komme", "bleibe") for c in ("heim", "fort", "7")]
ENGLISH = [f"{a} {b} {c}." for a in ("I", "Anna") for b in ("go", "come", "stay") for c in ("home", "away", "7")]


@pytest.fixture(scope="module", params=[True, False], ids=["joint", "separate"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    """A run with random weights on a few sentence pairs."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "t.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in zip(GERMAN, ENGLISH, strict=True)))
    data = {"source": "de", "target": "en", "train": "t.tsv", "valid": "t.tsv", "folder": str(folder)}
    config = parse_config(
        {
            "name": "untrained",
            "data": data,
            "tokenizer": {"vocab_size": 290, "joint": request.param},
            "model": {
                "preset": "tiny",
                "d_model": 16,
                "d_ff": 16,
                "encoder_layers": 1,
                "decoder_layers": 1,
                "tie_embeddings": "three-way" if request.param else "two-way",
            },
        }
    )
    corpus = prepare(config, folder / "prepared")
    directory = RunDirectory(folder / "run")
    directory.create(config, corpus.folder)
    torch.manual_seed(1)
    sizes = [tokenizer.vocab_size for tokenizer in directory.tokenizers()]
    directory.save_model(model_tensors(build_model(config.model, sizes[0], sizes[1], PAD_ID)))
    return directory


def read_map(path: Path) -> dict[str, list[str]]:
    lines = path.read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""  # the last line ends too
    rows = [line.split("\t") for line in lines]
    assert {len(row) for row in rows} == {2}
    assert rows[0][0] == ""  # the first is for all
    assert len({src for src, _ in rows}) == len(rows)
    return {src: found.split(" ") for src, found in rows}


def test_the_file_names_pieces_of_each_side(run, tmp_path):
    write_vocabulary_map(run, tmp_path / "map.txt")
    found = read_map(tmp_path / "map.txt")
    src_pieces, tgt_pieces = (set(tokenizer.all_pieces()) for tokenizer in run.tokenizers())
    assert "</s>" in found[""]
    assert set(found) - {""} <= src_pieces
    assert all(set(row) <= tgt_pieces for row in found.values())
    assert all(len(set(row)) == len(row) for row in found.values())


def test_what_both_sides_have_stands_for_itself(run, tmp_path):
    write_vocabulary_map(run, tmp_path / "map.txt")
    found = read_map(tmp_path / "map.txt")
    src_tokenizer, tgt_tokenizer = run.tokenizers()
    for text in GERMAN:
        for piece in src_tokenizer.pieces(text):
            assert tgt_tokenizer.piece_to_id(piece) is None or piece in found[piece]
    # A character that nobody has seen is spelled in bytes, and can be copied byte by byte.
    assert all(f"<0x{byte:02X}>" in found[f"<0x{byte:02X}>"] for byte in "주".encode())


@pytest.mark.parametrize("compute", ["float32", "int8"])
def test_the_library_says_nothing_that_the_map_does_not_allow(run, tmp_path, compute):
    """With random weights it would say anything, and does without the map."""
    export_ctranslate2(run, tmp_path / "model", compute, use_vocabulary_map=True)
    found = read_map(tmp_path / "model" / VOCABULARY_MAP)
    src_tokenizer, _ = run.tokenizers()
    translator = ctranslate2.Translator(str(tmp_path / "model"), compute_type=compute, intra_threads=1)
    said_without: set[str] = set()
    for text in GERMAN[:4]:
        pieces = src_tokenizer.pieces(text)
        allowed = {*found[""], *(tgt for piece in pieces for tgt in found.get(piece, []))}
        allowed |= {"<unk>", "<s>"}  # the library has them in every list; the engine forbids them by itself
        for use_map in (True, False):
            results = translator.translate_batch(
                [pieces], use_vmap=use_map, beam_size=8, num_hypotheses=8, max_decoding_length=20
            )
            said = {piece for hypothesis in results[0].hypotheses for piece in hypothesis}
            if use_map:
                assert said <= allowed
            else:
                said_without |= said - allowed
    assert said_without


def test_without_the_option_there_is_no_map(run, tmp_path):
    export_ctranslate2(run, tmp_path / "model")
    assert not (tmp_path / "model" / VOCABULARY_MAP).exists()
