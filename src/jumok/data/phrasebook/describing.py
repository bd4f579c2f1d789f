"""Constructions of one fact: qualities, weather, what there is, what one has, what one is, comparison."""

import random
from dataclasses import replace

from . import conjugation as ko
from . import english as en
from .adjectives import ADJECTIVES, PEOPLE_ADJECTIVES, WEATHER, Adjective
from .clauses import Form, Negation, Phrase, Sentence
from .comparing import draw_compared
from .conjugation import Predicate, Tense
from .drawing import chance, draw_level
from .facts import AILMENTS, MATTERS, SKY, Fact, ailment, having, quality_of_person, sky, weather
from .hangul import attach
from .nouns import Noun, nouns
from .people import HONOURED, JOB, KIN, ME, NAMES, US, Person
from .places import Place, places
from .tables import words
from .times import DEGREES, NATIVE_NUMERALS, NOW, PAST_TIMES, SEASONS, TODAY, WEEKDAYS, Adverb, Time

_YESTERDAY = next(time for time in PAST_TIMES if time.korean == "어제")
_TOMORROW = Time("내일", "tomorrow")
_THESE_DAYS = Time("요즘", "these days")
DETERMINERS = (("이", "this", "these"), ("그", "that", "those"), ("저", "that", "those"))
_COLOURS = words("하얗다 빨갛다 파랗다 노랗다 까맣다")
_BY_ADJECTIVE = [adjective for adjective in ADJECTIVES if adjective.things]
_BY_PLACE = [adjective for adjective in ADJECTIVES if adjective.places]


def _said(construction: str, fact: Fact, form: Form) -> Sentence:
    return Sentence(fact.korean(form), fact.english(form), construction, form.level, fact.words, fact.combinations)


def _draw_form(rng: random.Random, tense: Tense = "present", *, may_deny: bool = True) -> Form:
    negation: Negation = rng.choice(("안", "않다")) if may_deny and chance(rng, 0.15) else ""
    return Form(draw_level(rng), tense, negation=negation, question=not negation and chance(rng, 0.22))


def _draw_degree(rng: random.Random, form: Form, adjective: Adjective) -> Adverb | None:
    if form.negation or form.question or adjective.lemma in _COLOURS or chance(rng, 0.45):
        return None
    # Nobody praises by halves: "a little" goes with faults and plain qualities.
    is_praise = adjective.sort == "+" or adjective.lemma in ("행복하다", "기쁘다")
    halves = {"조금"} if is_praise else {"조금", "너무"} if adjective.sort == "lasting" else set()
    return rng.choice([degree for degree in DEGREES if degree.korean not in halves])


def pointed_out(noun: Noun, determiner: tuple[str, str, str]) -> tuple[str, str, en.Agreement]:
    """The noun as a subject: 이 사과, this apple; languages and games need no pointing."""
    if noun.kind == "name":
        return noun.korean, noun.english, "it"
    korean, one, many = determiner
    return (
        f"{korean} {noun.korean}",
        f"{many if noun.is_many else one} {noun.english}",
        "they" if noun.is_many else "it",
    )


def quality_of_thing(noun: Noun, adjective: Adjective, determiner: tuple[str, str, str], degree: Adverb | None) -> Fact:
    """이 사과는 아주 달아요."""
    korean, english, agreement = pointed_out(noun, determiner)
    return Fact(
        adjective.predicate,
        f"be {degree.english + ' ' if degree else ''}{adjective.english}",
        english,
        agreement,
        before=attach(korean, "은/는") + " " + (degree.korean + " " if degree else ""),
        words=frozenset({noun.korean, adjective.lemma} | ({degree.korean} if degree else set())),
        combinations=frozenset({(adjective.lemma, noun.korean)}),
    )


def thing_quality(rng: random.Random) -> Sentence:
    """이 사과는 아주 달아요."""
    adjective = rng.choice(_BY_ADJECTIVE)
    form = _draw_form(rng, "past" if adjective.lemma not in _COLOURS and chance(rng, 0.25) else "present")
    if adjective.lemma in _COLOURS and form.negation:
        form = Form(form.level, form.tense, negation="않다")
    fact = quality_of_thing(
        rng.choice(adjective.things), adjective, rng.choice(DETERMINERS), _draw_degree(rng, form, adjective)
    )
    return _said("quality of a thing", fact, form)


def place_name(place: Place, determiner: tuple[str, str, str]) -> tuple[str, str]:
    """The place as a subject: 그 식당, that restaurant; cities need no pointing."""
    if not place.english.startswith("the "):
        return place.korean, place.english
    if place.classes & {"nature", "rural"}:
        return place.korean, place.english
    return f"{determiner[0]} {place.korean}", f"{determiner[1]} {place.english.removeprefix('the ')}"


def place_quality(rng: random.Random) -> Sentence:
    """그 식당은 아주 조용해요."""
    adjective = rng.choice(_BY_PLACE)
    place = rng.choice(adjective.places)
    may_deny = not place.classes & {"nature", "rural", "city"}
    form = _draw_form(rng, "past" if chance(rng, 0.25) else "present", may_deny=may_deny)
    degree = _draw_degree(rng, form, adjective)
    korean, english = place_name(place, rng.choice(DETERMINERS))
    fact = Fact(
        adjective.predicate,
        f"be {degree.english + ' ' if degree else ''}{adjective.english}",
        english,
        before=attach(korean, "은/는") + " " + (degree.korean + " " if degree else ""),
        words=frozenset({place.korean, adjective.lemma} | ({degree.korean} if degree else set())),
        combinations=frozenset({(adjective.lemma, place.korean)}),
    )
    return _said("quality of a place", fact, form)


# What one says of one's elders.
_RESPECTFUL = words("친절하다 건강하다 부지런하다 젊다")


def person_quality(rng: random.Random) -> Sentence:
    """저는 오늘 조금 피곤해요; 민수 씨는 친절해요."""
    adjective = rng.choice(PEOPLE_ADJECTIVES)
    is_lasting = adjective.sort == "lasting"
    tense: Tense = "present" if is_lasting or chance(rng, 0.6) else "past"
    form = _draw_form(rng, tense)
    if form.question and adjective.sort == "inner":
        # Yesterday's hunger is asked after by nobody.
        tense, form = "present", Form(form.level, question=adjective.lemma != "기쁘다")
    degree = _draw_degree(rng, form, adjective)
    if is_lasting:
        person: Person | None = rng.choice((*KIN, *NAMES, *HONOURED))
        assert person
        if adjective.lemma not in ("키가 크다", "게으르다"):
            form = Form(form.level, form.tense, question=form.question)
        if adjective.lemma not in _RESPECTFUL and (person.honoured or person.lemma in ("엄마", "아빠", "삼촌", "이모")):
            person = rng.choice(NAMES)
        return _said("quality of a person", quality_of_person(adjective, person, degree), form)
    if adjective.sort == "inner":
        person = None if form.question or chance(rng, 0.5) else ME
    else:
        speakers = () if form.question else (ME,) if adjective.lemma == "아프다" else (ME, US)
        person = rng.choice((None, *speakers, rng.choice(KIN), rng.choice(NAMES)))
    times = (TODAY, _YESTERDAY) if tense == "past" else (TODAY, NOW, _THESE_DAYS)
    time = rng.choice(times) if adjective.lemma != "기쁘다" and chance(rng, 0.6) else None
    return _said("quality of a person", quality_of_person(adjective, person, degree, time), form)


_WEATHER_TIMES = {
    "past": (_YESTERDAY, Time("그저께", "the day before yesterday"), Time("지난주에", "last week")),
    "present": (TODAY, _THESE_DAYS),
    "future": (_TOMORROW, Time("모레", "the day after tomorrow"), Time("이번 주말에", "this weekend")),
}


def weather_report(rng: random.Random) -> Sentence:
    """오늘은 날씨가 추워요; 내일 서울에 비가 올 거예요."""
    tense: Tense = rng.choice(("past", "present", "future"))
    time = rng.choice(_WEATHER_TIMES[tense])
    form = _draw_form(rng, tense, may_deny=tense != "future")
    if chance(rng, 0.5):
        if tense == "present" and chance(rng, 0.35):
            return _said("weather", _seasonal_weather(rng), Form(form.level, question=form.question))
        adjective = rng.choice(WEATHER)
        return _said("weather", weather(adjective, _draw_degree(rng, form, adjective), time), form)
    if tense == "present":
        time = rng.choice((TODAY, NOW))
    place = rng.choice(places("city")) if chance(rng, 0.5) else None
    what = rng.choice(tuple(SKY))
    where, english = (place.korean + "에 ", " " + place.at) if place else ("", "")
    fact = sky(what, time if chance(rng, 0.85) else None, where, english)
    if what == "바람" and form.negation == "안":
        form = Form(form.level, form.tense, negation="않다")
    return _said("weather", fact, form)


_WEATHER_BY_LEMMA = {adjective.lemma: adjective for adjective in WEATHER}
_SEASON = {season.korean[:-1]: season for season in SEASONS}
_SEASONAL = {"봄": "따뜻하다 좋다", "여름": "덥다", "가을": "시원하다 맑다 좋다", "겨울": "춥다 눈"}


def _seasonal_weather(rng: random.Random) -> Fact:
    """여름에는 날씨가 더워요; 겨울에는 눈이 와요."""
    season = rng.choice(tuple(_SEASONAL))
    what = rng.choice(_SEASONAL[season].split())
    if what == "눈":
        return replace(sky(what, _SEASON[season]), under_way=False, time_is_topic=True)
    return weather(_WEATHER_BY_LEMMA[what], None, _SEASON[season])


def ailing(rng: random.Random) -> Sentence:
    """저는 어제 머리가 아팠어요."""
    tense: Tense = "present" if chance(rng, 0.55) else "past"
    form = Form(draw_level(rng), tense, question=chance(rng, 0.2))
    # -(으)시- on one's own body part is another word again (편찮으시다), so only those spoken of plainly.
    person = None if form.question or chance(rng, 0.4) else rng.choice((ME, ME, rng.choice(KIN), rng.choice(NAMES)))
    times = (_YESTERDAY, Time("어젯밤에", "last night"), Time("오늘 아침에", "this morning"))
    time = rng.choice(times) if tense == "past" else rng.choice((TODAY, NOW, None))
    return _said("ailment", ailment(rng.choice(tuple(AILMENTS)), person, time), form)


# Where things are found: Korean place with its position, English, and the classes of things seen there.
_SPOTS = (
    ("방에", "in the room", "furniture 고양이 강아지 컴퓨터 선풍기 거울", "방"),
    ("거실에", "in the living room", "소파 의자 거울 에어컨 고양이 강아지", "거실"),
    ("부엌에", "in the kitchen", "tableware 냉장고 의자 감자 양파 당근", "부엌"),
    ("교실에", "in the classroom", "책상 의자 컴퓨터 에어컨 선풍기", "교실"),
    ("냉장고 안에", "in the refrigerator", "fruit vegetable drink 맥주 김치 달걀 고기 치즈 생선", "냉장고"),
    ("책상 위에", "on the desk", "book stationery 컴퓨터 노트북 컵 시계 안경 카메라 편지 사진 열쇠", "책상"),
    ("가방 안에", "in the bag", "book stationery 지갑 우산 휴대폰 카메라 여권 열쇠 표 안경", "가방"),
    ("침대 밑에", "under the bed", "고양이 강아지 신발 장난감 양말", "침대"),
    ("소파 위에", "on the sofa", "고양이 강아지 모자 인형 잡지 휴대폰", "소파"),
    ("의자 옆에", "next to the chair", "고양이 강아지 가방 우산 책상", "의자"),
    ("옷장 안에", "in the closet", "clothes 모자 가방", "옷장"),
    ("공원에", "in the park", "나무 꽃 오리 고양이 강아지", "공원"),
    ("동물원에", "at the zoo", "호랑이 원숭이 코끼리 곰 토끼 앵무새 거북이", "동물원"),
)


# What stands or lies about in numbers; nobody keeps five sofas.
_NUMEROUS = words("book stationery tableware fruit vegetable clothes headwear animal")


def there_is(rng: random.Random) -> Sentence:
    """냉장고 안에 우유가 있어요; 책상 위에 책이 세 권 있어요; 방에 의자가 없어요; 공원에 나무가 많아요."""
    spot, english_spot, classes, owner = rng.choice(_SPOTS)
    noun = rng.choice(nouns(classes))
    form = Form(draw_level(rng), "past" if chance(rng, 0.2) else "present", question=chance(rng, 0.2))
    manner = rng.choices(("some", "none", "number", "many"), (40, 15, 0 if form.question else 22, 23))[0]
    if manner == "many" and owner not in ("냉장고", "공원", "동물원", "옷장", "부엌"):
        manner = "none"
    is_numerous = bool(noun.classes & _NUMEROUS) or noun.korean in ("의자", "책상")
    if manner == "number" and not (noun.counter and noun.kind == "count" and is_numerous):
        manner = "some"
    is_outdoors = owner in ("공원", "동물원")
    if manner == "none" and "animal" in noun.classes and not is_outdoors:
        # Nobody misses a puppy next to a chair.
        manner = "some"
    # Where food is kept there is seldom just one.
    are_several = noun.is_many or (noun.kind == "count" and "food" in noun.classes)
    agreement: en.Agreement = "they" if are_several else "it"
    before, lemma, english = f"{spot} {attach(noun.korean, '이/가')} ", "있", Phrase(noun).english(generic=are_several)
    if manner == "none":
        # Of food one misses all there might be, of things the one that should be there.
        lacks_all = noun.kind == "plural" or (noun.kind == "count" and ("food" in noun.classes or is_outdoors))
        lemma, english = "없", "no " + (noun.many if lacks_all else noun.english)
        agreement = "they" if lacks_all else "it"
        form = Form(form.level, form.tense)
    elif manner == "number":
        number = rng.randint(2, 5)
        before += f"{NATIVE_NUMERALS[number]} {noun.counter} "
        english, agreement = f"{en.NUMBERS[number]} {noun.many}", "they"
    elif manner == "many":
        lemma = "많"
        is_mass = noun.kind == "mass"
        english, agreement = ("a lot of " if is_mass else "many ") + noun.many, "it" if is_mass else "they"
    predicate = Predicate(lemma, "existence" if lemma in "있없" else "adjective")
    fact = Fact(
        predicate,
        "be " + english,
        "there",
        agreement,
        before=before,
        after=" " + english_spot,
        words=frozenset({owner, noun.korean, lemma + "다"}),
        combinations=frozenset({(lemma + "다", noun.korean)} if lemma == "많" else ()),
    )
    return _said("there is", fact, form)


_NEIGHBOURS = places("은행 우체국 서점 식당 카페 병원 약국 빵집 꽃집 미용실 공원 호텔 편의점 영화관 경찰서 교회")
_LANDMARKS = places("학교 회사 기차역 공항 백화점 도서관 시장 박물관 호텔 체육관 미술관 기숙사")
_POSITIONS = (("앞에", "in front of"), ("옆에", "next to"), ("뒤에", "behind"), ("근처에", "near"))


def place_stands(rng: random.Random) -> Sentence:
    """학교 앞에 은행이 있어요."""
    here = rng.choice(_NEIGHBOURS)
    there = rng.choice([place for place in _LANDMARKS if place != here])
    position, english = rng.choice(_POSITIONS)
    form = Form(draw_level(rng), question=chance(rng, 0.25))
    lacks = not form.question and chance(rng, 0.2)
    name = here.english.removeprefix("the ")
    fact = Fact(
        Predicate("없" if lacks else "있", "existence"),
        "be " + ("no " + name if lacks else en.article(name)),
        "there",
        before=f"{there.korean} {position} {attach(here.korean, '이/가')} ",
        after=f" {english} {there.english}",
        words=frozenset({here.korean, there.korean, position[:-1], "없다" if lacks else "있다"}),
    )
    return _said("there is", fact, form)


_POSSESSIONS = nouns("carried gadget stationery pet 자동차 열쇠 표 여권 코트 장갑 안경")
_PLURAL_KIN = words("형 누나 오빠 언니 남동생 여동생 아들 딸 사촌")
_RELATIVES = {person.lemma: person.english.removeprefix("my ") for person in KIN if person.lemma in _PLURAL_KIN}


def possession(rng: random.Random) -> Sentence:
    """여동생이 두 명 있어요; 저는 우산이 없어요; 내일 시험이 있어요."""
    form = Form(draw_level(rng), "present", question=chance(rng, 0.25))
    lacks = not form.question and chance(rng, 0.3)
    person = None if form.question or chance(rng, 0.4) else rng.choice((ME, rng.choice(NAMES), rng.choice(KIN[-4:])))
    sort = rng.choices(("matter", "thing", "relative"), (40, 40, 20))[0]
    if sort == "matter":
        noun = rng.choice(tuple(MATTERS))
        # Classes, exams and meetings are on workdays.
        day = rng.choice(WEEKDAYS if noun in ("약속", "계획", "시간") else WEEKDAYS[:5])
        time = rng.choice((TODAY, _TOMORROW, Time("오늘 저녁에", "this evening"), day, day))
        is_dated = noun not in ("돈", "질문", "숙제")
        fact = having(noun, MATTERS[noun], person, lacks=lacks, time=time if is_dated and chance(rng, 0.5) else None)
        return _said("possession", fact, form)
    if sort == "thing":
        thing = rng.choice(_POSSESSIONS)
        counted = thing.kind == "count" and not lacks and not form.question and chance(rng, 0.3)
        number = rng.randint(2, 3) if counted else 0
        english = f"{en.NUMBERS[number]} {thing.many}" if counted else Phrase(thing).english()
        fact = having(thing.korean, english, person, lacks=lacks)
        counter = thing.counter
    else:
        # A man's elders are 형 and 누나, a woman's 오빠 and 언니.
        unfit = {"his": words("오빠 언니"), "her": words("형 누나")}.get(
            person.possessive if person else "", frozenset()
        )
        noun = rng.choice([relative for relative in _RELATIVES if relative not in unfit])
        number = rng.randint(2, 3) if not lacks and not form.question and chance(rng, 0.35) else 0
        relative = _RELATIVES[noun]
        english = f"{en.NUMBERS[number]} {en.plural(relative)}" if number else en.article(relative)
        fact = having(noun, english, ME if person and person.kind == "kin" else person, lacks=lacks)
        counter = "명"
    if number:
        before = f"{fact.before}{NATIVE_NUMERALS[number]} {counter} "
        fact = Fact(fact.predicate, fact.english_verb, person=fact.person, before=before, words=fact.words)
    return _said("possession", fact, form)


_NATIONS = {"한국": "Korean", "미국": "American", "일본": "Japanese", "중국": "Chinese", "프랑스": "French"}
_THIS = (("이것", "this"), ("그것", "that"), ("저것", "that"))


def identity(rng: random.Random) -> Sentence:
    """저는 학생이에요; 민수 씨는 의사가 아니에요; 이것은 사과예요; 의사가 되고 싶어요."""
    form = Form(draw_level(rng), "past" if chance(rng, 0.15) else "present", question=chance(rng, 0.2))
    denies = not form.question and form.tense == "present" and chance(rng, 0.25)
    sort = rng.choices(("job", "nation", "thing", "become"), (38, 12, 30, 20))[0]
    if sort == "become":
        job = rng.choice([job for job in JOB if job != "학생"])
        form = Form(form.level, question=form.question)
        person = (
            None if form.question or chance(rng, 0.4) else rng.choice((ME, rng.choice(NAMES), rng.choice(KIN[6:8])))
        )
        wish = ko.wish(ko.predicate("되다"), of_another=person is not None and person is not ME)
        fact = Fact(
            wish,
            "want to become " + en.article(JOB[job]),
            person=person,
            before=attach(job, "이/가") + " ",
            words=frozenset({job, "되다"} | ({person.lemma} if person else set())),
        )
        return _said("become", fact, form)
    if sort == "thing":
        noun = rng.choice(nouns("fruit vegetable carried stationery gadget furniture gift tableware book writing"))
        (korean, english), person = rng.choice(_THIS), None
        form = Form(form.level, question=form.question)
        name, named = noun.korean, Phrase(noun).english(whole="uncut" in noun.classes)
        before = attach(korean, "은/는") + " "
        if noun.is_many:
            english = {"this": "these", "that": "those"}[english]
        agreement: en.Agreement = "they" if noun.is_many else "it"
    else:
        person = rng.choice((*NAMES, *KIN)) if form.question or chance(rng, 0.6) else ME
        english, before, agreement = "", "", "it"
        if sort == "job":
            name = rng.choice(tuple(JOB))
            if name in ("학생", "대학생") and person.kind == "kin" and person.lemma not in _PLURAL_KIN:
                name = "회사원"
            named = en.article(JOB[name])
        else:
            form = Form(form.level, question=form.question)
            nation = rng.choice(tuple(_NATIONS))
            name, named = nation + " 사람", _NATIONS[nation]
            person = ME if person.kind == "kin" else person
            if form.question:
                person = rng.choice(NAMES)
    words = frozenset(
        {name.removesuffix(" 사람"), "아니다" if denies else "이다"} | ({person.lemma} if person else set())
    )
    predicate = ko.NOT_BE if denies else ko.copula(name)
    before += attach(name, "이/가") + " " if denies else ""
    fact = Fact(predicate, "be " + named, english, agreement, person, before, denied=denies, words=words)
    return _said("identity", fact, form)


def comparison(rng: random.Random) -> Sentence:
    """기차가 버스보다 더 빨라요."""
    adjective, first, second = draw_compared(rng)
    form = Form(draw_level(rng), question=chance(rng, 0.25))
    fact = Fact(
        adjective.predicate,
        f"be {en.comparative(adjective.english)} than {second.many}",
        first.many,
        "it" if first.kind in ("mass", "name") else "they",
        before=f"{attach(first.korean, '이/가')} {second.korean}보다 더 ",
        words=frozenset({first.korean, second.korean, adjective.lemma}),
        combinations=frozenset({(adjective.lemma, first.korean)}),
    )
    return _said("comparison", fact, form)


CONSTRUCTIONS = (
    (thing_quality, 9),
    (place_quality, 3),
    (person_quality, 4),
    (weather_report, 4),
    (ailing, 2),
    (there_is, 6),
    (place_stands, 3),
    (possession, 4),
    (identity, 7),
    (comparison, 3),
)
