"""The conjugator against a table checked by hand."""

import pytest

from jumok.data.phrasebook import conjugation as ko
from jumok.data.phrasebook.conjugation import LEVELS, copula, finish, predicate

# dictionary form, casual, polite, formal, casual past, polite future, past 관형사형, -(으)니까
VERBS = """
가다 가 가요 갑니다 갔어 갈_거예요 간 가니까
오다 와 와요 옵니다 왔어 올_거예요 온 오니까
보다 봐 봐요 봅니다 봤어 볼_거예요 본 보니까
마시다 마셔 마셔요 마십니다 마셨어 마실_거예요 마신 마시니까
배우다 배워 배워요 배웁니다 배웠어 배울_거예요 배운 배우니까
주다 줘 줘요 줍니다 줬어 줄_거예요 준 주니까
되다 돼 돼요 됩니다 됐어 될_거예요 된 되니까
쉬다 쉬어 쉬어요 쉽니다 쉬었어 쉴_거예요 쉰 쉬니까
보내다 보내 보내요 보냅니다 보냈어 보낼_거예요 보낸 보내니까
켜다 켜 켜요 켭니다 켰어 켤_거예요 켠 켜니까
쓰다 써 써요 씁니다 썼어 쓸_거예요 쓴 쓰니까
끄다 꺼 꺼요 끕니다 껐어 끌_거예요 끈 끄니까
들르다 들러 들러요 들릅니다 들렀어 들를_거예요 들른 들르니까
먹다 먹어 먹어요 먹습니다 먹었어 먹을_거예요 먹은 먹으니까
앉다 앉아 앉아요 앉습니다 앉았어 앉을_거예요 앉은 앉으니까
입다 입어 입어요 입습니다 입었어 입을_거예요 입은 입으니까
돕다 도와 도와요 돕습니다 도왔어 도울_거예요 도운 도우니까
굽다 구워 구워요 굽습니다 구웠어 구울_거예요 구운 구우니까
눕다 누워 누워요 눕습니다 누웠어 누울_거예요 누운 누우니까
듣다 들어 들어요 듣습니다 들었어 들을_거예요 들은 들으니까
걷다 걸어 걸어요 걷습니다 걸었어 걸을_거예요 걸은 걸으니까
받다 받아 받아요 받습니다 받았어 받을_거예요 받은 받으니까
닫다 닫아 닫아요 닫습니다 닫았어 닫을_거예요 닫은 닫으니까
짓다 지어 지어요 짓습니다 지었어 지을_거예요 지은 지으니까
낫다 나아 나아요 낫습니다 나았어 나을_거예요 나은 나으니까
씻다 씻어 씻어요 씻습니다 씻었어 씻을_거예요 씻은 씻으니까
웃다 웃어 웃어요 웃습니다 웃었어 웃을_거예요 웃은 웃으니까
부르다 불러 불러요 부릅니다 불렀어 부를_거예요 부른 부르니까
모르다 몰라 몰라요 모릅니다 몰랐어 모를_거예요 모른 모르니까
자르다 잘라 잘라요 자릅니다 잘랐어 자를_거예요 자른 자르니까
살다 살아 살아요 삽니다 살았어 살_거예요 산 사니까
만들다 만들어 만들어요 만듭니다 만들었어 만들_거예요 만든 만드니까
놀다 놀아 놀아요 놉니다 놀았어 놀_거예요 논 노니까
열다 열어 열어요 엽니다 열었어 열_거예요 연 여니까
하다 해 해요 합니다 했어 할_거예요 한 하니까
공부하다 공부해 공부해요 공부합니다 공부했어 공부할_거예요 공부한 공부하니까
"""
# dictionary form, casual, polite, formal, polite past, before a noun, -아서
ADJECTIVES = """
바쁘다 바빠 바빠요 바쁩니다 바빴어요 바쁜 바빠서
예쁘다 예뻐 예뻐요 예쁩니다 예뻤어요 예쁜 예뻐서
크다 커 커요 큽니다 컸어요 큰 커서
춥다 추워 추워요 춥습니다 추웠어요 추운 추워서
아름답다 아름다워 아름다워요 아름답습니다 아름다웠어요 아름다운 아름다워서
좁다 좁아 좁아요 좁습니다 좁았어요 좁은 좁아서
빠르다 빨라 빨라요 빠릅니다 빨랐어요 빠른 빨라서
길다 길어 길어요 깁니다 길었어요 긴 길어서
좋다 좋아 좋아요 좋습니다 좋았어요 좋은 좋아서
하얗다 하얘 하얘요 하얗습니다 하얬어요 하얀 하얘서
빨갛다 빨개 빨개요 빨갛습니다 빨갰어요 빨간 빨개서
그렇다 그래 그래요 그렇습니다 그랬어요 그런 그래서
맛있다 맛있어 맛있어요 맛있습니다 맛있었어요 맛있는 맛있어서
없다 없어 없어요 없습니다 없었어요 없는 없어서
피곤하다 피곤해 피곤해요 피곤합니다 피곤했어요 피곤한 피곤해서
"""


def _rows(table: str) -> list[list[str]]:
    return [[cell.replace("_", " ") for cell in row.split()] for row in table.strip().split("\n")]


@pytest.mark.parametrize("row", _rows(VERBS), ids=lambda row: row[0])
def test_verbs(row: list[str]) -> None:
    p = predicate(row[0])
    assert [
        *(finish(p, level) for level in LEVELS),
        finish(p, "casual", "past"),
        finish(p, "polite", "future"),
        ko.adnominal(p, "past"),
        ko.since(p),
    ] == row[1:]


@pytest.mark.parametrize("row", _rows(ADJECTIVES), ids=lambda row: row[0])
def test_adjectives(row: list[str]) -> None:
    p = predicate(row[0], "adjective")
    assert [
        *(finish(p, level) for level in LEVELS),
        finish(p, "polite", "past"),
        ko.adnominal(p, "present"),
        ko.and_so(p),
    ] == row[1:]


def test_the_tables_hold_well_over_120_forms() -> None:
    assert sum(len(row) - 1 for row in _rows(VERBS) + _rows(ADJECTIVES)) >= 300


def test_nouns_as_predicates() -> None:
    student, doctor = copula("학생"), copula("의사")
    assert [finish(student, level) for level in LEVELS] == ["학생이야", "학생이에요", "학생입니다"]
    assert [finish(doctor, level) for level in LEVELS] == ["의사야", "의사예요", "의사입니다"]
    assert finish(student, "polite", "past") == "학생이었어요"
    assert finish(doctor, "polite", "past") == "의사였어요"
    assert [finish(ko.NOT_BE, level) for level in LEVELS] == ["아니야", "아니에요", "아닙니다"]
    assert finish(ko.NOT_BE, "formal", "past") == "아니었습니다"
    assert ko.and_so(doctor) == "의사라서"
    assert finish(ko.honorific(doctor), "polite") == "의사세요"


def test_questions_and_futures() -> None:
    go = predicate("가다")
    assert finish(go, "formal", "past", question=True) == "갔습니까"
    assert finish(go, "casual", "future") == "갈 거야"
    assert finish(go, "formal", "future") == "갈 겁니다"
    assert finish(ko.past(go), "casual", "past") == "갔었어"


@pytest.mark.parametrize(
    ("plain", "polite", "past"),
    [
        ("먹다", "드세요", "드셨어요"),
        ("자다", "주무세요", "주무셨어요"),
        ("가다", "가세요", "가셨어요"),
        ("읽다", "읽으세요", "읽으셨어요"),
        ("만들다", "만드세요", "만드셨어요"),
        ("듣다", "들으세요", "들으셨어요"),
        ("돕다", "도우세요", "도우셨어요"),
    ],
)
def test_honorifics(plain: str, polite: str, past: str) -> None:
    p = ko.honorific(predicate(plain))
    assert (finish(p, "polite"), finish(p, "polite", "past")) == (polite, past)


def test_predicates_made_of_predicates() -> None:
    drink, hear, live = predicate("마시다"), predicate("듣다"), predicate("살다")
    assert finish(ko.wish(drink), "polite") == "마시고 싶어요"
    assert finish(ko.wish(drink, of_another=True), "polite") == "마시고 싶어 해요"
    assert finish(ko.ability(hear), "polite") == "들을 수 있어요"
    assert finish(ko.ability(live, able=False), "formal") == "살 수 없습니다"
    assert finish(ko.obligation(hear), "polite") == "들어야 해요"
    assert finish(ko.progressive(live), "casual") == "살고 있어"
    assert finish(ko.progressive(predicate("먹다"), honoured=True), "polite") == "드시고 계세요"
    assert finish(ko.progressive(predicate("돕다"), honoured=True), "formal") == "돕고 계십니다"
    assert finish(ko.not_short(drink), "polite") == "안 마셔요"
    assert finish(ko.not_short(ko.Predicate("공부를 하"), "못"), "polite", "past") == "공부를 못 했어요"
    assert finish(ko.not_long(drink), "formal", "past") == "마시지 않았습니다"
    assert finish(ko.unable_long(drink), "casual", "past") == "마시지 못했어"
    assert finish(ko.experience(live, had=False), "polite") == "산 적이 없어요"


def test_other_endings() -> None:
    open_, see = predicate("열다"), predicate("보다")
    assert [ko.observed(predicate("많다", "adjective"), level) for level in LEVELS] == [
        "많더라",
        "많더라고요",
        "많더군요",
    ]
    assert [ko.suggest(open_, level) for level in LEVELS] == ["열자", "엽시다", "엽시다"]
    assert [ko.propose(see, level) for level in LEVELS] == ["볼까", "볼까요", "볼까요"]
    assert [ko.promise(open_, level) for level in LEVELS] == ["열게", "열게요", "열겠습니다"]
    assert [ko.command(see, level) for level in LEVELS] == ["봐 줘", "보세요", "보십시오"]
    assert [ko.forbid(see, level) for level in LEVELS] == ["보지 마", "보지 마세요", "보지 마십시오"]
    assert ko.in_order_to(open_) == "열러"
    assert ko.in_order_to(predicate("먹다")) == "먹으러"
    assert ko.provided(open_) == "열면"
    assert ko.provided(predicate("춥다", "adjective")) == "추우면"
    assert ko.although(see) == "보지만"
    assert ko.and_then(predicate("듣다")) == "듣고"
    assert ko.because_of(ko.past(see)) == "봤기 때문에"
    assert ko.doing(open_) == "여는 것"
    assert ko.adnominal(predicate("읽다"), "future") == "읽을"


def test_what_is_no_dictionary_form_is_refused() -> None:
    with pytest.raises(ValueError, match="dictionary form in -다, found '가요'"):
        predicate("가요")
