from __future__ import annotations

import pytest

from jumok.decoding.terms import Terms
from jumok.text.glossary import Term

NEW, YORK, CITY, A = 4, 5, 6, 7


def _terms(*rows: list[int]) -> Terms:
    return Terms(tuple(Term((tuple(row),)) for row in rows))


def _missing_after(terms: Terms, *pieces: int) -> int:
    readings = terms.start
    for piece in pieces:
        readings = terms.advance(readings, piece)
    return terms.num_missing(readings)


def test_a_term_of_one_piece():
    terms = _terms([A])
    assert (_missing_after(terms), _missing_after(terms, NEW), _missing_after(terms, NEW, A, NEW)) == (1, 1, 0)


def test_a_term_that_is_broken_off_is_missing_again():
    terms = _terms([NEW, YORK, CITY])
    assert _missing_after(terms, NEW, YORK) == 1
    assert _missing_after(terms, NEW, YORK, A) == 3
    assert _missing_after(terms, NEW, YORK, NEW) == 2
    assert _missing_after(terms, NEW, NEW, YORK, CITY, A) == 0


def test_a_term_given_twice_is_said_twice():
    terms = _terms([NEW, YORK], [NEW, YORK])
    assert _missing_after(terms, NEW, YORK, A) == 2
    assert _missing_after(terms, NEW, YORK, NEW, YORK) == 0


@pytest.mark.parametrize("order", [1, -1])
def test_terms_that_hold_each_other(order):
    terms = _terms(*([NEW, YORK], [NEW, YORK, CITY])[::order])
    assert terms.num_pieces == 5
    assert not terms.are_in([NEW, YORK, CITY])  # the pieces of one term are not those of another
    assert terms.are_in([NEW, YORK, CITY, A, NEW, YORK])
    assert terms.are_in([NEW, YORK, A, NEW, YORK, CITY])
    assert terms.are_in([NEW, YORK, NEW, YORK, CITY])


def test_terms_that_overlap_share_no_piece():
    terms = _terms([A, NEW], [NEW, YORK])
    assert not terms.are_in([A, NEW, YORK])
    assert terms.are_in([A, NEW, NEW, YORK])


def test_any_spelling_will_do_and_the_shortest_counts():
    terms = Terms((Term(((NEW, YORK, CITY), (A,))),))
    assert terms.num_pieces == 1
    assert terms.are_in([A]) and terms.are_in([NEW, YORK, CITY])
    assert not terms.are_in([NEW, YORK])


def test_the_next_pieces_begin_a_term_or_go_on_with_it():
    terms = Terms((Term(((NEW, YORK),)), Term(((A,), (CITY, A)))))
    assert terms.next_pieces(terms.start) == {NEW, A, CITY}
    begun = terms.advance(terms.start, NEW)
    assert terms.next_pieces(begun) == {YORK}
    said = terms.advance(begun, YORK)
    assert terms.next_pieces(said) == {A, CITY}
    assert terms.next_pieces(terms.advance(said, A)) == set()


def test_readings_stay_few_however_long_the_text():
    terms = _terms(*([NEW] * n for n in (1, 2, 3, 1)))
    readings = terms.start
    for _ in range(50):
        readings = terms.advance(readings, NEW)
        assert len(readings) < 40
    assert terms.num_missing(readings) == 0


def test_a_longer_word_that_begins_like_a_term_is_not_the_term():
    lad, ders, dot = 4, 5, 6
    terms = Terms((Term(((lad,),), not_before=frozenset([ders])),))
    assert terms.are_in([lad]) and terms.are_in([lad, dot, ders])
    assert not terms.are_in([lad, ders]) and not terms.are_in([lad, ders, dot])
    assert terms.are_in([lad, ders, lad, dot])
    assert _missing_after(terms, lad, ders) == 1
    assert terms.not_next(terms.start) == frozenset()
    assert terms.not_next(terms.advance(terms.start, lad)) == {ders}
    assert terms.not_next(terms.advance(terms.advance(terms.start, lad), dot)) == frozenset()
