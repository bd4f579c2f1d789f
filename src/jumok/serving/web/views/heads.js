// Who looks where: all heads of all layers, one of them large, its arcs, and what happens without it.

import { unpack } from "jumok/api.js";
import { button, choice } from "jumok/controls.js";
import { h, replace } from "jumok/dom.js";
import { arcs } from "jumok/draw/arcs.js";
import { headColors } from "jumok/draw/colors.js";
import { heatmap, thumbnail } from "jumok/draw/heatmap.js";
import { behind, number, table } from "jumok/draw/table.js";
import { place } from "jumok/state.js";

const strings = {
  en: {
    title: "Heads",
    question: "Why many heads, and who looks where?",
    see: "Each head has its own W^Q, W^K and W^V, so that one can follow the neighbours while another finds the word to translate. Choose a small map to see it large; point at a piece above the arcs to see where it looks.",
    grid: "All heads: a row a layer, a column a head",
    one: "{0}, layer {1}, head {2}",
    arcs: "Where one piece looks, all heads of the layer (as in the paper's figure 3)",
    silence: "Silence this head",
    silenced: "Log-probability of the translation: {0} with the head, {1} without it. Without it the model says:",
    same: "The same sentence.",
    before: "with the head", after: "without it",
  },
  ko: {
    title: "헤드",
    question: "헤드는 왜 여러 개이고, 어느 헤드가 어디를 볼까요?",
    see: "헤드마다 W^Q, W^K, W^V가 따로 있어서, 한 헤드가 이웃을 따라가는 동안 다른 헤드는 번역할 단어를 찾을 수 있습니다. 작은 그림을 고르면 크게 볼 수 있고, 호 위에 있는 조각을 가리키면 그 조각이 보는 곳이 나옵니다.",
    grid: "모든 헤드: 행은 층, 열은 헤드입니다",
    one: "{0}, {1}층, {2}번 헤드",
    arcs: "한 조각이 보는 곳: 그 층의 모든 헤드 (논문의 그림 3과 같은 방식)",
    silence: "이 헤드 끄기",
    silenced: "번역문의 로그 확률: 헤드가 있으면 {0}, 없으면 {1}. 이 헤드가 없으면 모델은 이렇게 번역합니다:",
    same: "헤드가 있을 때와 같은 문장입니다.",
    before: "헤드가 있을 때", after: "헤드가 없을 때",
  },
};

function mount(root, context) {
  const { t, model } = context;
  const kinds = ["cross", "encoder", "decoder"].filter((kind) => model.attentions.includes(kind));
  const kind = choice(context, "kind", { label: t("kind"), options: kinds.map((one) => [one, t(one)]), initial: kinds[0] });
  const grid = h("div"), large = h("div"), figure = h("div"), effect = h("div", { role: "status" });
  replace(root, h("div", { class: "controls" }, kind), h("p", { class: "note" }, t("see")),
    h("h2", {}, t("grid")), grid, h("div", { class: "columns" }, large, figure));
  return async (state) => {
    const which = kind.follow(state);
    const answer = await context.ask("forward", context.sentence);
    const weights = unpack(answer.attention[which]);
    const [numLayers, numHeads] = weights.shape;
    const layer = place(state.layer, 1, numLayers, 1) - 1, head = place(state.head, 1, numHeads, 1) - 1;
    const rows = { cross: answer.tgt_out_labels, encoder: answer.src_labels, decoder: answer.tgt_in_labels }[which];
    const columns = { cross: answer.src_labels, encoder: answer.src_labels, decoder: answer.tgt_in_labels }[which];
    const name = t("one", t(which), layer + 1, head + 1);
    const key = `${which}-${layer + 1}-${head + 1}`, isSilenced = state.silenced === key;
    replace(grid, gridOfHeads(context, weights, layer, head));
    replace(large, h("h2", {}, name), heatmap({
      rows, columns, values: weights.part(layer, head), label: name, tableLabel: t("table"),
    }), model.architecture === "transformer" && button(t("silence"), () => context.set({ silenced: isSilenced ? undefined : key }), { "data-action": "silence", "aria-pressed": String(isSilenced) }), effect);
    replace(figure, h("h2", {}, t("arcs")), arcs({
      context, rows, columns, weights: weights.part(layer), colors: headColors, label: t("arcs"), tableLabel: t("table"),
    }));
    replace(effect);
    if (isSilenced) await silence(effect, context, which, layer, head);
  };
}

function gridOfHeads({ t, set }, weights, layer, head) {
  const [numLayers, numHeads] = weights.shape;
  const cells = [];
  for (let l = 0; l < numLayers; l++) {
    for (let i = 0; i < numHeads; i++) {
      cells.push(h("button", {
        type: "button", "aria-pressed": String(l === layer && i === head), "aria-label": `${t("layer")} ${l + 1}, ${t("head")} ${i + 1}`,
        title: `${t("layer")} ${l + 1}, ${t("head")} ${i + 1}`, onclick: () => set({ layer: l + 1, head: i + 1, silenced: undefined }), "data-head": `${l + 1}-${i + 1}`,
      }, thumbnail(weights.part(l, i))));
    }
  }
  return h("div", { class: "grid-of-heads", style: { "grid-template-columns": `repeat(${numHeads}, minmax(0, 5.5rem))` } }, cells);
}

async function silence(picture, context, kind, layer, head) {
  const { t } = context;
  const answer = await context.ask("silence", { ...context.sentence, kind, layer: layer + 1, head: head + 1 });
  const rows = answer.pieces.map((piece, i) => [piece, number(answer.before.by_position[i]), number(answer.after.by_position[i])]);
  replace(picture, h("p", {}, t("silenced", number(answer.before.total, 2), number(answer.after.total, 2))),
    h("p", { class: "big", lang: context.model.target.code }, answer.translation_after === answer.translation_before ? t("same") : answer.translation_after),
    behind(t("table"), () => table([t("piece"), t("before"), t("after")], rows, t("silence"))));
}

export default { id: "heads", needs: "attention", strings, mount };
