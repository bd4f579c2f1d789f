"""Single constructions: both languages side by side."""

import random

import pytest

from jumok.data.phrasebook.actions import ability
from jumok.data.phrasebook.adjectives import ADJECTIVES
from jumok.data.phrasebook.asking import ask_who
from jumok.data.phrasebook.clauses import Clause, Form, Means, Phrase
from jumok.data.phrasebook.nouns import NOUN
from jumok.data.phrasebook.occasions import suits_time
from jumok.data.phrasebook.people import ME, NAMES, PERSON
from jumok.data.phrasebook.places import PLACE
from jumok.data.phrasebook.sampling import CONSTRUCTIONS, generate_sentence
from jumok.data.phrasebook.times import FREQUENCIES, MANNERS, PAST_TIMES, SMALL_TIMES, WEEKDAYS
from jumok.data.phrasebook.verbs import verb_frames

TIME = {time.korean: time for time in PAST_TIMES}
ADJECTIVE = {adjective.lemma: adjective for adjective in ADJECTIVES}


def both(clause: Clause, form: Form) -> tuple[str, str]:
    return clause.korean(form), clause.english(form)


def test_pronouns_follow_the_level() -> None:
    clause = Clause(verb_frames("가다")[0], ME, place=PLACE["학교"], time=TIME["어제"])
    assert both(clause, Form("casual", "past")) == ("나는 어제 학교에 갔어.", "I went to school yesterday.")
    assert both(clause, Form("polite", "past"))[0] == "저는 어제 학교에 갔어요."
    assert both(clause, Form("formal", "past"))[0] == "저는 어제 학교에 갔습니다."


def test_unsaid_subjects_are_i_and_you() -> None:
    clause = Clause(verb_frames("마시다")[0], object=Phrase(NOUN["커피"]), place=PLACE["카페"])
    assert both(clause, Form("polite", "past")) == ("카페에서 커피를 마셨어요.", "I drank coffee at the cafe.")
    assert both(clause, Form("formal", "past", question=True)) == (
        "카페에서 커피를 마셨습니까?",
        "Did you drink coffee at the cafe?",
    )


def test_names_follow_the_level() -> None:
    jiyeong = next(name for name in NAMES if name.lemma == "지영")
    clause = Clause(verb_frames("자다")[0], jiyeong)
    assert clause.korean(Form("casual", "past")) == "지영이는 잤어."
    assert clause.korean(Form("polite", "past")) == "지영 씨는 잤어요."


def test_the_honoured_are_honoured() -> None:
    grandmother = PERSON["할머니"]
    eat = Clause(verb_frames("먹다")[0], grandmother, Phrase(NOUN["사과"]))
    assert both(eat, Form("polite", "past")) == ("할머니는 사과를 드셨어요.", "My grandmother ate an apple.")
    assert eat.korean(Form("formal", "present", "want")) == "할머니는 사과를 드시고 싶어 하십니다."
    talk = Clause(verb_frames("이야기하다")[0], grandmother, person=PERSON["친구"])
    assert talk.korean(Form("polite", "past", negation="않다")) == "할머니는 친구와 이야기하지 않으셨어요."
    give = Clause(verb_frames("주다")[0], None, Phrase(NOUN["꽃"]), grandmother)
    assert both(give, Form("polite", "past")) == ("할머니께 꽃을 드렸어요.", "I gave a flower to my grandmother.")


def test_numbers_take_native_numerals_and_counters() -> None:
    drink, buy = verb_frames("마시다")[0], verb_frames("사다")[0]
    two_cups = Clause(drink, ME, Phrase(NOUN["커피"], number=2))
    assert both(two_cups, Form("polite", "past")) == ("저는 커피 두 잔을 마셨어요.", "I drank two cups of coffee.")
    red = Phrase(NOUN["사과"], ADJECTIVE["빨갛다"], 3)
    assert both(Clause(buy, None, red), Form("casual", "future")) == (
        "빨간 사과 세 개를 살 거야.",
        "I will buy three red apples.",
    )


@pytest.mark.parametrize(
    ("form", "korean", "english"),
    [
        (Form("polite", "past", negation="안"), "운동을 안 했어요.", "I didn't exercise."),
        (Form("polite", "past", negation="않다"), "운동하지 않았어요.", "I didn't exercise."),
        (Form("polite", "past", negation="못"), "운동을 못 했어요.", "I couldn't exercise."),
        (Form("polite", "present", "can", "안"), "운동할 수 없어요.", "I can't exercise."),
        (Form("casual", "present", "must"), "운동해야 해.", "I have to exercise."),
        (Form("formal", "present", "progressive"), "운동하고 있습니다.", "I am exercising."),
        (Form("casual", "past", remote=True), "운동했었어.", "I exercised."),
    ],
)
def test_negation_and_modes(form: Form, korean: str, english: str) -> None:
    assert both(Clause(verb_frames("운동하다")[0]), form) == (korean, english)


def test_a_verb_with_an_object_keeps_its_noun() -> None:
    clause = Clause(verb_frames("공부하다")[0], object=Phrase(NOUN["한국어"]))
    assert both(clause, Form("polite", negation="안")) == ("한국어를 공부하지 않아요.", "I don't study Korean.")


def test_the_wishes_of_others() -> None:
    read = Clause(verb_frames("읽다")[0], PERSON["친구"], Phrase(NOUN["책"]))
    assert both(read, Form("polite", mode="want")) == ("친구는 책을 읽고 싶어 해요.", "My friend wants to read a book.")
    assert both(read, Form("polite", mode="want", question=True))[1] == "Does your friend want to read a book?"


def test_habits_are_general_and_amounts_belong_to_the_object() -> None:
    eat = verb_frames("먹다")[0]
    often = Clause(eat, ME, Phrase(NOUN["사과"]), frequency=FREQUENCIES[0])
    assert both(often, Form()) == ("저는 자주 사과를 먹어요.", "I often eat apples.")
    much = Clause(eat, ME, Phrase(NOUN["사과"]), manner=MANNERS["많이"])
    assert both(much, Form("polite", "past")) == ("저는 사과를 많이 먹었어요.", "I ate a lot of apples.")


@pytest.mark.parametrize(
    ("clause", "korean", "english"),
    [
        (
            Clause(verb_frames("가다")[0], ME, place=PLACE["학교"], means=Means("지하철", "by subway")),
            "저는 지하철로 학교에 갔어요.",
            "I went to school by subway.",
        ),
        (
            Clause(verb_frames("쓰다")[0], None, Phrase(NOUN["편지"]), means=Means("볼펜", "with a pen")),
            "볼펜으로 편지를 썼어요.",
            "I wrote a letter with a pen.",
        ),
        (
            Clause(verb_frames("이야기하다")[0], ME, person=PERSON["친구"], means=Means("한국어", "in Korean")),
            "저는 친구와 한국어로 이야기했어요.",
            "I talked with my friend in Korean.",
        ),
    ],
)
def test_means_take_으로_or_로(clause: Clause, korean: str, english: str) -> None:
    assert both(clause, Form("polite", "past")) == (korean, english)


def test_who_sleeps_early_goes_to_bed_and_who_never_did_has_never() -> None:
    sleep = Clause(verb_frames("자다")[0], ME, manner=MANNERS["일찍"])
    assert both(sleep, Form("polite", "past")) == ("저는 일찍 잤어요.", "I went to bed early.")
    ride = Clause(verb_frames("타다", "ride")[1], None, Phrase(NOUN["말"]))
    assert both(ride, Form("polite", mode="experience", negation="안")) == (
        "말을 탄 적이 없어요.",
        "I have never ridden a horse.",
    )
    assert both(ride, Form("polite", mode="experience", question=True))[1] == "Have you ever ridden a horse?"


@pytest.mark.parametrize("draw", [draw for draw, _ in CONSTRUCTIONS], ids=lambda draw: draw.__name__)
def test_every_construction_makes_whole_sentences(draw) -> None:  # type: ignore[no-untyped-def]
    rng = random.Random(draw.__name__)
    for _ in range(100):
        sentence = draw(rng)
        for text in (sentence.korean, sentence.english):
            assert text == text.strip() and text[-1] in ".?" and "  " not in text
            assert " ." not in text and ".." not in text and "_" not in text
        assert sentence.english[0].isupper()
        assert len(sentence.korean.split()) <= 13 and len(sentence.english.split()) <= 20
        for first, second in sentence.combinations:
            assert first in sentence.words and second in sentence.words


def test_a_cake_is_bought_and_baked_whole_but_eaten_by_the_piece() -> None:
    cake, melon = NOUN["케이크"], NOUN["수박"]
    past = Form("polite", "past")
    said = {
        lemma: Clause(next(v for v in verb_frames(lemma) if cake in v.objects), ME, Phrase(cake)).english(past)
        for lemma in ("먹다", "사다", "굽다")
    }
    assert said == {"먹다": "I ate cake.", "사다": "I bought a cake.", "굽다": "I baked a cake."}
    buy = next(verb for verb in verb_frames("사다") if melon in verb.objects)
    assert Clause(buy, ME, Phrase(melon)).english(past) == "I bought a watermelon."


def test_the_honoured_are_helped_with_드리다() -> None:
    help_ = verb_frames("도와주다")[0]
    assert both(Clause(help_, ME, person=PERSON["할머니"]), Form("polite", "past")) == (
        "저는 할머니를 도와드렸어요.",
        "I helped my grandmother.",
    )
    assert Clause(help_, ME, person=PERSON["친구"]).korean(Form("casual", "past")) == "나는 친구를 도와줬어."


def test_times_fit_the_deed() -> None:
    wear, shower, order = verb_frames("쓰다", "wear")[0], verb_frames("샤워하다")[0], verb_frames("주문하다")[0]
    times = {time.korean: time for tense in ("past", "future") for time in SMALL_TIMES[tense]}
    assert not suits_time(times["오늘 밤에"], wear, NOUN["선글라스"])
    assert not suits_time(times["다음 주에"], shower)
    assert not suits_time(WEEKDAYS[0], order, NOUN["주스"])
    assert suits_time(times["어제"], order, NOUN["주스"])


def test_one_is_not_unable_to_do_it_later_nor_asks_who_will_switch_it_on() -> None:
    rng = random.Random(11)
    drawn = [draw(rng).korean for draw in (ability, ask_who) for _ in range(1_000)]
    assert not any("이따가" in korean and "수 없" in korean for korean in drawn)
    assert not any(korean.startswith("누가") and ("켤 거" in korean or "끌 거" in korean) for korean in drawn)


def test_casual_speech_never_says_저_and_other_speech_never_나() -> None:
    rng = random.Random(3)
    for _ in range(3_000):
        sentence = generate_sentence(rng)
        words = set(sentence.korean.split())
        if sentence.level == "casual":
            assert not words & {"저는", "제가"}
        else:
            assert not words & {"나는", "내가", "너는", "네가"}
