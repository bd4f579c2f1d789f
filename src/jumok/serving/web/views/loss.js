// What ε does: the target as one-hot and smoothed beside what the model thinks.

import { choice, slider } from "jumok/controls.js";
import { h, replace } from "jumok/dom.js";
import { behind, number, table } from "jumok/draw/table.js";
import { place } from "jumok/state.js";

const strings = {
  en: {
    title: "Loss",
    question: "What does label smoothing change?",
    see: "With ε = 0 all the weight is on the right piece, and the model is pushed to be ever more certain. With ε = {0} a little is spread over all {1} pieces: being surer than {2} costs. The paper's finding: perplexity gets worse, accuracy and BLEU better.",
    epsilon: "ε", at: "Position", gold: "the right piece", rest: "all others together",
    one_hot: "one-hot", smoothed: "smoothed", model: "the model",
    losses: "Loss at this position: {0} without smoothing, {1} with ε = {2}. The smallest possible with it is {3}.",
  },
  ko: {
    title: "손실",
    question: "레이블 스무딩은 무엇을 바꿀까요?",
    see: "ε = 0이면 정답 조각 하나가 확률을 모두 가지므로, 모델은 끝없이 더 확신하는 쪽으로 학습됩니다. ε = {0}이면 조각 {1}개 모두에 확률을 조금씩 나누어 주므로, {2}보다 더 확신하면 오히려 손실이 커집니다. 논문에 따르면 퍼플렉서티(perplexity)는 나빠지고 정확도와 BLEU는 좋아집니다.",
    epsilon: "ε", at: "위치", gold: "정답 조각", rest: "나머지 조각 전체",
    one_hot: "원-핫", smoothed: "스무딩", model: "모델",
    losses: "이 위치의 손실: 스무딩이 없으면 {0}, ε = {2}이면 {1}입니다. 이때 손실의 최솟값은 {3}입니다.",
  },
};

function mount(root, context) {
  const { t } = context;
  const epsilon = slider(context, "epsilon", { label: t("epsilon"), min: 0, max: 0.5, step: 0.01, initial: 0.1, show: (value) => value.toFixed(2) });
  const at = h("div"), picture = h("div"), losses = h("p", { role: "status", "data-part": "losses" }), see = h("p", { class: "note" });
  replace(root, h("div", { class: "controls" }, epsilon, at), losses, picture, see);
  return async (state) => {
    const e = epsilon.follow(state);
    const forward = await context.ask("forward", context.sentence);
    const position = place(state.position, 0, forward.tgt_out_labels.length - 1);
    const select = choice(context, "position", { label: t("at"), options: forward.tgt_out_labels.map((label, i) => [i, `${i + 1}. ${label}`]), initial: "0" });
    if (!at.contains(document.activeElement)) replace(at, select);
    select.follow({ position });
    const answer = await context.ask("loss", { ...context.sentence, position, epsilon: e });
    losses.textContent = t("losses", number(answer.loss), number(answer.loss_smoothed), e.toFixed(2), number(answer.least));
    see.textContent = t("see", e.toFixed(2), answer.vocab_size.toLocaleString(), number(answer.best_probability));
    const rows = answer.pieces.map((piece) => ({ ...piece, name: piece.is_rest ? t("rest") : piece.label }));
    const bar = (value, kind) => h("span", { class: "bar-track", "aria-hidden": "true" }, h("span", { class: `bar ${kind}`, style: { width: `${(100 * value).toFixed(2)}%` } }));
    replace(picture, h("div", { class: "three", role: "img", "aria-label": `${t("one_hot")}, ${t("smoothed")}, ${t("model")}` },
      h("span"), h("b", {}, t("one_hot")), h("b", {}, t("smoothed")), h("b", {}, t("model")),
      rows.map((row) => [h("span", { class: row.is_gold ? "is-gold" : "" }, row.name), bar(row.one_hot, "one"), bar(row.smoothed, "two"), bar(row.model, "three-bar")])),
    behind(t("table"), () => table([t("piece"), t("one_hot"), t("smoothed"), t("model")],
      rows.map((row) => [row.is_gold ? `${row.name} (${t("gold")})` : row.name, number(row.one_hot, 4), number(row.smoothed, 6), number(row.model, 4)]), t("title"))));
  };
}

export default { id: "loss", strings, mount };
