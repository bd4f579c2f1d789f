// What it says: the translation, how sure it is of each word, what else it could have said, and where it looked.

import { unpack } from "jumok/api.js";
import { slider } from "jumok/controls.js";
import { h, replace } from "jumok/dom.js";
import { inkOn, weightColor } from "jumok/draw/colors.js";
import { bars } from "jumok/draw/lines.js";
import { behind, number, table } from "jumok/draw/table.js";
import { place } from "jumok/state.js";

const strings = {
  en: {
    title: "Translate",
    question: "What does the model say, and how sure is it?",
    see: "Under each piece stands how sure the model was when it said it. Point at a piece, or walk to it with Tab: the source pieces it looked at light up, and below stands what else it could have said there.",
    beam: "Beam", alpha: "Length penalty α", others: "Translations, best first", score: "score",
    instead: "What it could have said in the place of “{0}”", sure: "{0}% sure",
    looked: "Where it looked", source: "Source", target: "Translation",
  },
  ko: {
    title: "번역",
    question: "모델은 어떻게 번역하고, 얼마나 확신할까요?",
    see: "조각 아래에는 모델이 그 조각을 고를 때 얼마나 확신했는지 적혀 있습니다. 조각을 가리키거나 Tab 키로 옮겨 가면 모델이 본 원문 조각이 진해지고, 아래에 그 자리에 올 수 있었던 다른 조각이 나옵니다.",
    beam: "빔 너비", alpha: "길이 페널티 α", others: "번역 후보 (점수가 높은 순)", score: "점수",
    instead: "“{0}” 자리에 올 수 있었던 조각", sure: "확신 {0}%",
    looked: "모델이 본 곳", source: "원문", target: "번역문",
  },
};

function mount(root, context) {
  const { t, model } = context;
  const beam = slider(context, "beam", { label: t("beam"), min: 1, max: 10, initial: model.decoding.beam });
  const alpha = slider(context, "alpha", { label: t("alpha"), min: 0, max: 3, step: 0.1, initial: model.decoding.length_penalty });
  const source = h("ul", { class: "pieces", "aria-label": t("source"), lang: model.source.code }), target = h("ul", { class: "pieces said", "aria-label": t("target"), lang: model.target.code });
  const text = h("p", { class: "big", lang: model.target.code, "data-part": "translation", role: "status" });
  const instead = h("div"), others = h("div");
  replace(root, h("div", { class: "controls" }, beam, alpha), text, source, target, h("p", { class: "note" }, t("see")), instead, others);
  return async (state) => {
    const wanted = { beam: beam.follow(state), length_penalty: alpha.follow(state) };
    const sentence = context.sentence.text;
    const isDefault = wanted.beam === model.decoding.beam && wanted.length_penalty === model.decoding.length_penalty;
    const answer = await context.ask("translate", isDefault ? { text: sentence } : { text: sentence, ...wanted });
    replace(text, answer.text);
    const looks = answer.attention ? unpack(answer.attention) : null;
    const sources = answer.src_labels.map((label) => h("li", { class: "piece" }, label));
    replace(source, sources);
    const light = (i) => {
      sources.forEach((piece, s) => {
        const weight = looks ? looks.at(i, s) : 0;
        piece.style.background = weight > 0.02 ? weightColor(weight) : "";
        piece.style.color = weight > 0.02 ? inkOn(weight) : "";
      });
      const found = answer.alternatives[i];
      replace(instead, h("h2", {}, t("instead", answer.tgt_labels[i])), bars({
        items: found.map(({ label, p, is_said }) => ({ name: label, value: p, kind: is_said ? "gold" : "" })), label: t("probability"),
        tableLabel: t("table"),
      }));
    };
    const chosen = place(state.at, 0, answer.tgt_labels.length - 1);
    replace(target, answer.tgt_labels.map((label, i) => {
      const p = Math.exp(answer.log_probs[i]), percent = (100 * p).toFixed(0);
      return h("li", {}, h("button", {
        type: "button", class: "piece", "aria-pressed": String(i === chosen), "aria-label": `${label}, ${t("sure", percent)}`,
        // The less sure, the more of the marker's colour.
        style: { background: `color-mix(in srgb, var(--mark) ${(100 * (1 - p)).toFixed(0)}%, var(--cell))` }, onpointerenter: () => light(i), onfocus: () => light(i), onclick: () => context.set({ at: i }),
      }, label, h("small", {}, `${percent}%`)));
    }));
    light(chosen);
    replace(others, h("h2", {}, t("others")), h("ol", { lang: model.target.code }, answer.hypotheses.map((one) =>
      h("li", {}, one.text, h("span", { class: "note" }, ` (${t("score")} ${number(one.score)})`)))),
    looks && behind(`${t("looked")} · ${t("table")}`, () => table(["", ...answer.src_labels],
      answer.tgt_labels.map((label, i) => [label, ...answer.src_labels.map((_, s) => number(looks.at(i, s)))]), t("looked"))));
    context.announce(answer.text);
  };
}

export default { id: "translate", strings, mount };
