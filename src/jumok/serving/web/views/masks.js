// What is hidden from whom, and why −∞ and not 0.

import { unpack } from "jumok/api.js";
import { choice, toggle } from "jumok/controls.js";
import { h, replace } from "jumok/dom.js";
import { weightColor } from "jumok/draw/colors.js";
import { heatmap } from "jumok/draw/heatmap.js";
import { chance, number, table } from "jumok/draw/table.js";
import { place } from "jumok/state.js";

const FILLS = ["minus_infinity", "zero_before", "zero_after"];

const strings = {
  en: {
    title: "Masks",
    question: "What is hidden from whom, and why −∞ and not 0?",
    padding: "Padding: a shorter sentence of the batch is filled up; nobody looks at the filling", causal: "Causal: a target piece sees itself and what came before", cross: "Cross: every target piece sees every source piece",
    shown: "Blue may be seen, grey is hidden.", sentence: "sentence {0}", also: "What is hidden gets here what is chosen above.",
    fill: "What is hidden gets", minus_infinity: "the score −∞ before the softmax (the paper)", zero_before: "the score 0 before the softmax", zero_after: "the weight 0 after the softmax",
    "minus_infinity.why": "e^−∞ = 0: the weight is exactly 0, and the others still sum to 1.", "zero_before.why": "e^0 = 1: a hidden piece gets more than one whose score is negative. The mask does not hide.", "zero_after.why": "Hidden pieces get 0, but the others no longer sum to 1: the output shrinks with the number of hidden ones.",
    softmax: "One row of scores of this model, softened three ways", score: "score", hidden: "hidden", sum: "sum",
    experiment: "Change a later piece: do earlier predictions move?",
    is_causal: "causal mask on", at: "Target piece to change", by: "into", moved: "{0} earlier predictions moved: the model had seen the answer.", still: "No earlier prediction moved, not by a hair: what comes later is out of sight.", small: "No earlier prediction changed its piece, but {0} moved by more than 0.001.",
    before: "before", after: "after the change", piece_at: "Position", change: "largest change of a probability",
  },
  ko: {
    title: "마스크",
    question: "무엇을 누구에게 가리고, 왜 0이 아니라 −∞로 가릴까요?",
    padding: "패딩 마스크: 배치의 짧은 문장은 빈자리를 채우고, 채운 자리는 아무도 보지 않습니다", causal: "인과 마스크(causal mask): 번역문 조각은 자기 자신과 앞의 조각만 봅니다", cross: "교차 어텐션: 모든 번역문 조각이 모든 원문 조각을 봅니다",
    shown: "파란 칸은 볼 수 있고 회색 칸은 가려져 있습니다.", sentence: "{0}번 문장", also: "여기서도 가린 자리에는 위에서 고른 값을 넣습니다.",
    fill: "가린 자리에 넣는 값", minus_infinity: "소프트맥스 전에 점수 −∞ (논문)", zero_before: "소프트맥스 전에 점수 0", zero_after: "소프트맥스 뒤에 가중치 0",
    "minus_infinity.why": "e^−∞ = 0이므로 가중치가 정확히 0이고, 나머지의 합은 여전히 1입니다.", "zero_before.why": "e^0 = 1이므로, 가린 조각이 점수가 음수인 조각보다 더 큰 가중치를 받습니다. 마스크를 씌워도 가려지지 않습니다.", "zero_after.why": "가린 조각은 0이 되지만 나머지의 합이 1이 되지 않습니다. 가린 것이 많을수록 출력이 작아집니다.",
    softmax: "이 모델의 점수 한 행에 세 가지 방법으로 소프트맥스를 적용한 결과", score: "점수", hidden: "가려짐", sum: "합",
    experiment: "뒤쪽 조각을 바꾸면 앞쪽 예측이 달라질까요?",
    is_causal: "인과 마스크 켜기", at: "바꿀 번역문 조각", by: "새 조각", moved: "앞쪽 예측 {0}개가 바뀌었습니다. 모델이 정답을 미리 본 것입니다.", still: "앞쪽 예측은 조금도 달라지지 않았습니다. 뒤에 오는 조각이 보이지 않기 때문입니다.", small: "앞쪽 예측 가운데 조각이 바뀐 것은 없지만, {0}개는 확률이 0.001 넘게 달라졌습니다.",
    before: "바꾸기 전", after: "바꾼 뒤", piece_at: "위치", change: "확률의 최대 변화",
  },
};

function mount(root, context) {
  const { t } = context;
  const fill = choice(context, "fill", { label: t("fill"), options: FILLS.map((one) => [one, t(one)]), initial: "minus_infinity" });
  const causal = toggle(context, "causal", { label: t("is_causal"), initial: true });
  const at = h("div"), by = h("input", { type: "text", id: "mask-by", "data-key": "by", size: 12, maxlength: 100, lang: context.model.target.code, onchange: () => context.set({ by: by.value }) });
  const maps = h("div", { class: "columns" }, h("div"), h("div"), h("div")), why = h("p"), softmax = h("div"), verdict = h("p", { role: "status", "data-part": "verdict" }), effect = h("div");
  replace(root, h("p", { class: "note" }, t("shown")), maps, h("h2", {}, t("softmax")), h("div", { class: "controls" }, fill), why, softmax,
    h("h2", {}, t("experiment")), h("p", { class: "note" }, t("also")), h("div", { class: "controls" }, causal, at, h("div", { class: "control" }, h("label", { for: "mask-by" }, t("by")), by)), verdict, effect);
  return async (state) => {
    const how = fill.follow(state), isCausal = causal.follow(state);
    const forward = await context.ask("forward", context.sentence);
    const last = forward.tgt_in_labels.length - 1, position = place(state.change, last, last, 1);
    const options = forward.tgt_in_labels.map((label, i) => [i, `${i}. ${label}`]).slice(1);
    const select = choice(context, "change", { label: t("at"), options, initial: String(last) });
    if (!at.contains(document.activeElement)) replace(at, select);
    select.follow({ change: position });
    const piece = state.by || forward.default_change;
    if (document.activeElement !== by) by.value = piece;
    const answer = await context.ask("masks", { ...context.sentence, is_causal: isCausal, fill: how, change: { position, piece } });
    const map = (name, mask, rows, columns) => [h("h3", {}, t(name)), heatmap({ rows, columns, values: unpack(mask), label: t(name), tableLabel: t("table"), digits: 0, color: (value) => (value ? weightColor(0.6) : "var(--hidden)") })];
    replace(maps.children[0], map("padding", answer.masks.padding, answer.batch_labels.map((label) => t("sentence", label)), answer.batch_columns));
    replace(maps.children[1], map("causal", answer.masks.causal, forward.tgt_in_labels, forward.tgt_in_labels));
    replace(maps.children[2], map("cross", answer.masks.cross, forward.tgt_in_labels, forward.src_labels));
    why.textContent = t(`${how}.why`);
    const row = answer.softmax;
    replace(softmax, table([t("piece"), t("score"), ...FILLS.map((one) => (one === how ? h("mark", {}, t(one)) : t(one)))], [
      ...row.labels.map((label, i) => [row.visible[i] ? label : `${label} (${t("hidden")})`, number(row.scores[i], 2), ...FILLS.map((one) => number(row.weights[one][i]))]),
      [t("sum"), "", ...FILLS.map((one) => number(row.weights[one].reduce((a, b) => a + b, 0)))],
    ], t("softmax")));
    const moved = answer.predictions.filter((one, i) => i < position && one.before !== one.after).length;
    const stirred = answer.predictions.filter((one, i) => i < position && one.change > 0.001).length;
    verdict.textContent = moved ? t("moved", moved) : stirred ? t("small", stirred) : t("still");
    replace(effect, table([t("piece_at"), t("before"), t("after"), t("change")], answer.predictions.map((one, i) =>
      [`${i}. ${forward.tgt_in_labels[i]}${i === position ? ` → ${answer.changed_label}` : ""}`, one.before, one.before === one.after ? one.after : h("mark", {}, one.after), chance(one.change)]), t("experiment")));
  };
}

export default { id: "masks", needs: "transformer", strings, mount };
