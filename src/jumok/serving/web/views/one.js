// Why ÷√d_k: one head step by step, from q·k to the weighted values.

import { Numbers, unpack } from "jumok/api.js";
import { choice, slider, toggle } from "jumok/controls.js";
import { h, replace } from "jumok/dom.js";
import { signedColor, weightColor } from "jumok/draw/colors.js";
import { heatmap } from "jumok/draw/heatmap.js";
import { bars } from "jumok/draw/lines.js";
import { number } from "jumok/draw/table.js";
import { place } from "jumok/state.js";

const strings = {
  en: {
    title: "One attention",
    question: "What are Q, K and V really, and why divide by √d_k?",
    see: "A query asks, keys answer how well they fit, values are what is fetched. Without the division the scores of {0} products spread √{0} times as wide, the softmax saturates on one position, and its gradient dies.",
    scale: "divide by √d_k", row: "Piece that looks",
    scores: "1. q·k", scaled: "2. ÷ √{0} = {1}", unscaled: "2. not divided", masked: "3. mask: what is hidden becomes −∞ (grey)", weights: "4. softmax", context: "5. weighted sum of v",
    entropy: "Entropy of the row “{0}”: {1} bits (with the division {2}, without {3}; spread over all {4} it would be {5})",
    vectors: "q of “{0}”, and k and v of every piece it may look at", q: "q", k: "k", v: "v", sum: "Σ weight · v", dimension: "dimension",
  },
  ko: {
    title: "어텐션 하나",
    question: "Q, K, V는 정말 무엇이고, 왜 √d_k로 나눌까요?",
    see: "쿼리(query)는 묻고, 키(key)는 얼마나 맞는지 답하고, 밸류(value)는 가져올 내용입니다. 나누지 않으면 곱 {0}개를 더한 점수가 √{0}배 넓게 퍼지고, 소프트맥스가 한 위치에 몰려 그래디언트가 사라집니다.",
    scale: "√d_k로 나누기", row: "보는 조각",
    scores: "1. q·k", scaled: "2. ÷ √{0} = {1}", unscaled: "2. 나누지 않음", masked: "3. 마스크: 가린 곳은 −∞가 됩니다 (회색)", weights: "4. 소프트맥스", context: "5. v의 가중합",
    entropy: "“{0}” 행의 엔트로피: {1}비트 (나누면 {2}, 나누지 않으면 {3}, 볼 수 있는 {4}곳에 고르게 퍼지면 {5})",
    vectors: "“{0}”의 q, 그리고 볼 수 있는 모든 조각의 k와 v", q: "q", k: "k", v: "v", sum: "Σ 가중치 · v", dimension: "차원",
  },
};

function mount(root, context) {
  const { t, model } = context;
  const kinds = ["cross", "encoder", "decoder"].filter((kind) => model.attentions.includes(kind));
  const kind = choice(context, "kind", { label: t("kind"), options: kinds.map((one) => [one, t(one)]), initial: kinds[0] });
  const layer = slider(context, "layer", { label: t("layer"), min: 1, max: Math.max(model.numbers.encoder_layers, model.numbers.decoder_layers), initial: 1 });
  const head = slider(context, "head", { label: t("head"), min: 1, max: model.numbers.num_heads, initial: 1 });
  const scale = toggle(context, "scale", { label: t("scale"), initial: true });
  const row = h("select", { id: "one-row", "data-key": "from", onchange: () => context.set({ from: row.selectedIndex }) });
  const steps = h("div", { class: "columns wide" }, h("div"), h("div"), h("div"), h("div")), entropy = h("p", { "data-part": "entropy", role: "status" }), vectors = h("div");
  replace(root, h("div", { class: "controls" }, kind, layer, head, scale), h("p", { class: "note" }, t("see", model.numbers.d_k)), steps,
    h("div", { class: "controls" }, h("div", { class: "control" }, h("label", { for: "one-row" }, t("row")), row)), entropy, vectors);
  return async (state) => {
    const which = kind.follow(state), layers = which === "encoder" ? model.numbers.encoder_layers : model.numbers.decoder_layers;
    const wanted = { ...context.sentence, kind: which, layer: Math.min(layer.follow(state), layers), head: head.follow(state) };
    const isScaled = scale.follow(state);
    const answer = await context.ask("attention", wanted);
    const part = Object.fromEntries(["q", "k", "v", "scores", "scaled", "visible", "weights", "weights_unscaled", "context"].map((name) => [name, unpack(answer[name])]));
    const { rows, columns } = answer, weights = isScaled ? part.weights : part.weights_unscaled;
    const before = isScaled ? part.scaled : part.scores;
    const masked = new Numbers(before.shape, before.data.map((value, i) => (part.visible.data[i] ? value : -Infinity)));
    const widest = Math.max(...part.scores.data.map(Math.abs), 1e-6);
    const map = (values, label, color, digits) => [h("h2", {}, label), heatmap({ rows, columns, values, label, tableLabel: t("table"), color, digits })];
    const signed = (value) => (value === -Infinity ? "var(--hidden)" : signedColor(value / widest));
    replace(steps.children[0], map(part.scores, t("scores"), signed, 2));
    replace(steps.children[1], map(before, isScaled ? t("scaled", model.numbers.d_k, number(Math.sqrt(model.numbers.d_k), 2)) : t("unscaled"), signed, 2));
    replace(steps.children[2], map(masked, t("masked"), signed, 2));
    replace(steps.children[3], map(weights, t("weights"), weightColor, 3));
    const chosen = place(state.from, which === "decoder" ? rows.length - 1 : 0, rows.length - 1); // the first of the decoder sees itself only
    replace(row, rows.map((text, i) => h("option", { value: i, selected: i === chosen }, text)));
    const seen = columns.filter((_, column) => part.visible.at(chosen, column)).length;
    entropy.textContent = t("entropy", rows[chosen], number(isScaled ? answer.entropy[chosen] : answer.entropy_unscaled[chosen], 2), number(answer.entropy[chosen], 2),
      number(answer.entropy_unscaled[chosen], 2), seen, number(Math.log2(seen), 2));
    replace(vectors, h("h2", {}, t("vectors", rows[chosen])), h("div", { class: "columns wide" },
      h("div", {}, h("h3", {}, t("q")), strip(part.q, [chosen], [rows[chosen]], context, t("q"))),
      h("div", {}, h("h3", {}, t("k")), strip(part.k, columns.map((_, i) => i), columns, context, t("k"))),
      h("div", {}, h("h3", {}, t("v")), strip(part.v, columns.map((_, i) => i), columns, context, t("v"))),
      h("div", {}, h("h3", {}, t("context")), bars({
        items: columns.map((text, column) => ({ name: text, value: weights.at(chosen, column) })), label: t("weights"), tableLabel: t("table"),
      }), strip(isScaled ? part.context : product(weights, part.v), [chosen], [t("sum")], context, t("context")))));
  };
}

// Σ weight · v of every row: what comes out where the scores were not divided.
function product(weights, v) {
  const [num, seen] = weights.shape, [, width] = v.shape;
  const out = new Float32Array(num * width);
  for (let row = 0; row < num; row++) {
    for (let column = 0; column < seen; column++) {
      for (let i = 0; i < width; i++) out[row * width + i] += weights.at(row, column) * v.at(column, i);
    }
  }
  return new Numbers([num, width], out);
}

function strip(values, places, names, { t }, label) {
  const width = values.shape[1], largest = Math.max(...values.data.map(Math.abs), 1e-6);
  const chosen = new Numbers([places.length, width], Float32Array.from({ length: places.length * width }, (_, i) => values.at(places[Math.floor(i / width)], i % width)));
  return heatmap({
    rows: names, columns: Array.from({ length: width }, (_, i) => String(i)), values: chosen, label, tableLabel: t("table"), color: (value) => signedColor(value / largest), size: 14, digits: 2,
  });
}

export default { id: "one", needs: "transformer", strings, mount };
