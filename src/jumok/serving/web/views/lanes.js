// Training against prediction: the gold prefix beside the model's own, and how an error spreads.

import { choice } from "jumok/controls.js";
import { h, replace } from "jumok/dom.js";
import { chance, number, table } from "jumok/draw/table.js";
import { place } from "jumok/state.js";

const strings = {
  en: {
    title: "Two lanes",
    question: "How does training differ from prediction?",
    see: "In training every position is asked at once, and each sees the right words before it (teacher forcing). In prediction the model sees its own. Overwrite a word in the second lane and watch what it says after it: one error becomes a part of all that follows (marked).",
    gold: "Training: the gold prefix", free: "Prediction: its own prefix", overwritten: "Prediction with one word overwritten",
    reads: "reads", says: "says", p: "p", right: "right", wrong: "expected {0}", at: "Word to overwrite", by: "by",
    hint: "Write a translation above to see a gold prefix that is not the model's own.", forced: "overwritten", accuracy: "{0} of {1} pieces right under the gold prefix; loss {2} a piece.",
  },
  ko: {
    title: "두 갈래",
    question: "학습과 예측은 어떻게 다를까요?",
    see: "학습할 때는 모든 위치를 한꺼번에 예측하고, 위치마다 그 앞의 정답을 읽습니다. 이것이 교사 강요(teacher forcing)입니다. 예측할 때는 모델이 자기가 쓴 것을 읽습니다. 두 번째 갈래에서 단어 하나를 바꾸고 그 뒤가 어떻게 달라지는지 보십시오. 실수 하나가 그 뒤에 이어지는 모든 예측의 입력이 됩니다(달라진 조각은 표시해 두었습니다).",
    gold: "학습: 정답을 읽습니다", free: "예측: 자기가 쓴 것을 읽습니다", overwritten: "단어 하나를 바꾼 예측",
    reads: "읽은 조각", says: "예측한 조각", p: "확률", right: "맞음", wrong: "정답은 {0}", at: "바꿀 단어", by: "새 단어",
    hint: "위에 번역문을 적으면 모델의 번역 대신 그 문장을 정답으로 씁니다.", forced: "바꾼 단어", accuracy: "정답을 읽으면 조각 {1}개 가운데 {0}개를 맞힙니다. 조각당 손실은 {2}입니다.",
  },
};

function mount(root, context) {
  const { t, model } = context;
  const at = h("div"), by = h("input", { type: "text", id: "lane-by", "data-key": "by", size: 12, maxlength: 100, lang: context.model.target.code, onchange: () => context.set({ by: by.value }) });
  const gold = h("section"), free = h("section"), third = h("section");
  replace(root, h("p", { class: "note" }, t("see")), h("p", { class: "note", hidden: true, "data-part": "hint" }, t("hint")),
    h("div", { class: "controls" }, at, h("div", { class: "control" }, h("label", { for: "lane-by" }, t("by")), by)), h("div", { class: "columns" }, gold, free, third));

  const lane = (place, title, rows, text) => replace(place, h("h2", {}, title), h("p", { class: "big", lang: model.target.code }, text),
    table([t("reads"), t("says"), t("p"), ...(rows[0].length > 3 ? [""] : [])], rows, title));
  return async (state) => {
    root.querySelector('[data-part="hint"]').hidden = Boolean(context.sentence.target);
    const plain = await context.ask("lanes", context.sentence);
    const count = plain.free.pieces.length - 1, position = place(state.change, Math.max(0, Math.min(1, count - 1)), Math.max(0, count - 1));
    const select = choice(context, "change", { label: t("at"), options: plain.free.pieces.slice(0, Math.max(1, count)).map((one, i) => [i, `${i + 1}. ${one.says}`]), initial: String(position) });
    if (!at.contains(document.activeElement)) replace(at, select);
    select.follow({ change: position });
    const piece = state.by || plain.default_change;
    if (document.activeElement !== by) by.value = piece;
    const goldText = context.sentence.target ?? (await context.ask("translate", { text: context.sentence.text })).text;
    const right = plain.gold.pieces.filter((one) => one.is_right).length;
    lane(gold, t("gold"), plain.gold.pieces.map((one) => [one.reads, one.says, chance(one.p), one.is_right ? t("right") : h("mark", {}, t("wrong", one.gold))]), goldText);
    gold.append(h("p", {}, t("accuracy", right, plain.gold.pieces.length, number(plain.gold.loss))));
    lane(free, t("free"), plain.free.pieces.map((one) => [one.reads, one.says, chance(one.p)]), plain.free.text);
    if (count < 1) {
      replace(third);
      return;
    }
    const answer = await context.ask("lanes", { ...context.sentence, overwrite: { position, piece } });
    lane(third, t("overwritten"), answer.overwritten.pieces.map((one, i) => [one.reads, one.says === plain.free.pieces[i]?.says ? one.says : h("mark", {}, one.says), chance(one.p), one.is_forced ? t("forced") : ""]), answer.overwritten.text);
    context.announce(answer.overwritten.text);
  };
}

export default { id: "lanes", strings, mount };
