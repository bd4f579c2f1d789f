"""A lexicon out of sentence pairs: the one target word that clearly goes with a source word.

Paper: Brown et al. 1993, "The Mathematics of Statistical Machine Translation", section 4.1 (Model 1), as Luong et al.
2015, "Addressing the Rare Word Problem", section 3, learn theirs from word alignments.
Differs: a word counts once a sentence, and the models of both directions have to agree, instead of alignments counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jumok.data.shards import whole_file
from jumok.errors import DataError
from jumok.text.words import is_word, split_words

LEXICON_FILE = "lexicon.tsv"
_MAX_LINKS = 8_000_000  # words of a source with words of its target, all with all: so many take 400 MB
_NUM_ROUNDS = 6
_CLEARLY = 0.03  # probability of the target word given the source word, times that of the source word given it

_Ints = NDArray[np.int64]


def learn_lexicon(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The translation of each source word that has a clear one, itself left out where it is the same word.

    Pairs that would not fit into memory are left out, from the end on.
    """
    src_ids: dict[str, int] = {}
    tgt_ids: dict[str, int] = {}
    links_src, links_tgt, num_links = [], [], 0
    groups_src, groups_tgt, num_src, num_tgt = [], [], 0, 0  # which word of which sentence a link belongs to
    for src_text, tgt_text in pairs:
        src, tgt = _ids(src_text, src_ids), _ids(tgt_text, tgt_ids)
        num_links += len(src) * len(tgt)
        if num_links > _MAX_LINKS:
            break
        links_src.append(np.repeat(src, len(tgt)))
        links_tgt.append(np.tile(tgt, len(src)))
        groups_src.append(np.repeat(np.arange(num_src, num_src + len(src), dtype=np.int32), len(tgt)))
        groups_tgt.append(np.tile(np.arange(num_tgt, num_tgt + len(tgt), dtype=np.int32), len(src)))
        num_src, num_tgt = num_src + len(src), num_tgt + len(tgt)
    if not links_src:
        return {}
    keys = np.concatenate(links_src).astype(np.int64) * len(tgt_ids) + np.concatenate(links_tgt)
    del links_src, links_tgt
    keys, entries = np.unique(keys, return_inverse=True)  # an entry of the table is a pair of words that ever met
    src_of, tgt_of = np.divmod(keys, len(tgt_ids))
    association = _translation_table(entries, np.concatenate(groups_tgt), src_of)
    association *= _translation_table(entries, np.concatenate(groups_src), tgt_of)

    order = np.lexsort((keys, -association, src_of))
    _, firsts = np.unique(src_of[order], return_index=True)
    best = order[firsts]
    best = best[association[best] >= _CLEARLY]
    src_words, tgt_words = list(src_ids), list(tgt_ids)
    found = ((src_words[s], tgt_words[t]) for s, t in zip(src_of[best], tgt_of[best], strict=True))
    return {src: tgt for src, tgt in found if src != tgt}


def _ids(text: str, known: dict[str, int]) -> NDArray[np.int32]:
    """The different words of a text as numbers."""
    words = dict.fromkeys(piece.removeprefix("▁") for piece in split_words(text) if is_word(piece))
    return np.fromiter((known.setdefault(word, len(known)) for word in words), dtype=np.int32, count=len(words))


def _translation_table(entries: _Ints, explained: NDArray[np.int32], given: _Ints) -> NDArray[np.float64]:
    """The probability of each entry's other word given its word `given`, by expectation maximisation.

    `entries` is the entry that each link is of, `explained` the occurrence of a word that the links of a sentence
    explain together.
    """
    table = np.ones(len(given))
    for _ in range(_NUM_ROUNDS):
        share = table[entries]
        share /= np.bincount(explained, share)[explained]
        counts = np.bincount(entries, share)
        table = counts / np.bincount(given, counts)[given]
    return table


def write_lexicon(lexicon: Mapping[str, str], path: Path) -> None:
    """A line a word: source, tab, target."""
    with whole_file(path) as file:
        file.write("".join(f"{src}\t{tgt}\n" for src, tgt in sorted(lexicon.items())).encode())


def read_lexicon(path: Path) -> dict[str, str]:
    """What `write_lexicon` wrote, or nothing where there is no such file."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}); copy it from the run again, or remove it") from None
    lexicon = {}
    for number, line in enumerate(lines, 1):
        src, tab, tgt = line.partition("\t")
        if line and not (src and tab and tgt):
            raise DataError(
                f"{path}:{number}: expected a source word, a tab and a target word; mend or remove the line"
            )
        if line:
            lexicon[src] = tgt
    return lexicon
