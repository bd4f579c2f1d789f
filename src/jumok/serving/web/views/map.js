// What flows where, in which shapes: the paper's figure 1 drawn for this model; a block leads to its view.

import { h, replace, svg } from "jumok/dom.js";
import { table } from "jumok/draw/table.js";

const strings = {
  en: {
    title: "Map",
    question: "What flows where, in which shapes?",
    see: "The paper's figure 1 for this model: {0} encoder and {1} decoder layers, {2} parameters. Choose a block to see inside it.",
    post: "It normalises after every addition, as the paper draws it (post-norm).", pre: "Unlike the paper's drawing it normalises before every sub-layer (pre-norm), and once more at the end.",
    sizes: "For this sentence S = {0} source pieces and T = {1} target pieces, end marks included.",
    block: "Block", shape: "Shape", params: "Parameters", goes: "Goes to: {0}",
    src_embedding: "Source embedding", tgt_embedding: "Target embedding", src_position: "Positions", tgt_position: "Positions", encoder_self: "Self-attention", encoder_ff: "Feed-forward", decoder_self: "Masked self-attention",
    decoder_cross: "Cross-attention", decoder_ff: "Feed-forward", norm: "Norm", output: "Linear", softmax: "Softmax", other: "This model is not a Transformer but {0}; its parts:",
    source: "source", target: "target, shifted right", shared: "shared",
  },
  ko: {
    title: "지도",
    question: "무엇이 어디로, 어떤 모양으로 흐를까요?",
    see: "이 모델로 그린 논문의 그림 1입니다. 인코더 {0}층, 디코더 {1}층, 파라미터 {2}개입니다. 블록을 고르면 그 안을 볼 수 있습니다.",
    post: "논문의 그림처럼 더할 때마다 그 뒤에서 정규화합니다(post-norm).", pre: "논문의 그림과 달리 하위 층마다 그 앞에서 정규화하고(pre-norm), 맨 끝에서 한 번 더 정규화합니다.",
    sizes: "이 문장에서 원문 조각은 S = {0}개, 번역문 조각은 T = {1}개입니다(끝 표시 포함).",
    block: "블록", shape: "모양", params: "파라미터", goes: "{0} 화면으로 이동",
    src_embedding: "원문 임베딩", tgt_embedding: "번역문 임베딩", src_position: "위치", tgt_position: "위치", encoder_self: "셀프 어텐션", encoder_ff: "피드포워드", decoder_self: "마스크 셀프 어텐션",
    decoder_cross: "교차 어텐션", decoder_ff: "피드포워드", norm: "정규화", output: "선형 변환", softmax: "소프트맥스", other: "이 모델은 트랜스포머가 아니라 다른 구조({0})입니다. 구성은 다음과 같습니다.",
    source: "원문", target: "번역문 (한 칸 밀림)", shared: "함께 씀",
  },
};

// block, the view it leads to (with what)
const LEADS_TO = {
  src_embedding: ["tokens"], tgt_embedding: ["tokens"], src_position: ["positions"], tgt_position: ["positions"], norm: ["stream"],
  encoder_self: ["heads", { kind: "encoder" }], decoder_self: ["masks"], decoder_cross: ["heads", { kind: "cross" }],
  encoder_ff: ["stream"], decoder_ff: ["stream"], output: ["loss"], softmax: ["translate"],
};
const SUBLAYERS = [["encoder_self", "encoder_ff"], ["decoder_self", "decoder_cross", "decoder_ff"]];
const WIDE = 190, HIGH = 38, LEFT = [70, 400], BOTTOM = 700, SIDE = 22;

function mount(root, context) {
  const { t, model } = context;
  const rows = model.blocks.map((block) => [block.id in LEADS_TO ? t(block.id) : block.title, block.shape, block.params === null ? t("shared") : block.params.toLocaleString()]);
  const parts = table([t("block"), t("shape"), t("params")], rows, t("title"));
  if (model.architecture !== "transformer") {
    replace(root, h("p", {}, t("other", model.architecture)), parts);
    return async () => {};
  }
  const { encoder_layers, decoder_layers, norm } = model.numbers;
  const sizes = h("p", { role: "status", "data-part": "sizes" });
  replace(root, h("p", { class: "note" }, t("see", encoder_layers, decoder_layers, model.params.toLocaleString()), " ", t(norm)), sizes,
    h("div", { class: "columns wide" }, h("div", { class: "scroll" }, draw(context)), parts));
  return async () => {
    const answer = await context.ask("forward", context.sentence);
    sizes.textContent = t("sizes", answer.src_labels.length, answer.tgt_out_labels.length);
  };
}

// Blocks are stacked from below, y falling; each sub-layer with its norm, and the way around it.
function draw(context) {
  const { t, model } = context;
  const drawn = [], tops = [];
  SUBLAYERS.forEach((sublayers, column) => {
    const x = LEFT[column], middle = x + WIDE / 2;
    const put = (id, y) => { drawn.push(block(context, id, x, y - HIGH)); return y - HIGH; };
    const rise = (y, by) => { drawn.push(arrow([middle, y], [middle, y - by])); return y - by; };
    let y = rise(BOTTOM, 18);
    drawn.push(label(middle, BOTTOM + 14, `${t(column ? "target" : "source")} (${column ? "T" : "S"})`));
    y = rise(put(column ? "tgt_embedding" : "src_embedding", y), 12);
    y = put(column ? "tgt_position" : "src_position", y);
    const foot = y - 14;
    for (const id of sublayers) {
      y = rise(y, 34);
      const fork = y + 12;
      if (model.numbers.norm === "pre") y = rise(put("norm", y), 10);
      if (id === "decoder_cross") drawn.push(arrow([LEFT[0] + WIDE / 2, tops[0]], [LEFT[0] + WIDE / 2, tops[0] - 30], [x - 60, tops[0] - 30], [x - 60, y - HIGH / 2], [x, y - HIGH / 2]));
      y = rise(put(id, y), 22);
      const outer = x + WIDE + SIDE;
      if (model.numbers.use_residual) drawn.push(arrow([middle, fork], [outer, fork], [outer, y - 9], [middle + 9, y - 9]));
      drawn.push(svg("circle", { cx: middle, cy: y - 9, r: 9, class: "plus" }), label(middle, y - 9, "+"));
      y -= 18;
      if (model.numbers.norm === "post") y = put("norm", rise(y, 10));
    }
    drawn.unshift(svg("rect", { x: x - 14, y: y - 12, width: WIDE + SIDE + 26, height: foot - y + 12, rx: 12, class: "frame" }));
    drawn.push(label(column ? x + WIDE + SIDE + 34 : x - 34, (y + foot) / 2, `${column ? model.numbers.decoder_layers : model.numbers.encoder_layers}×`));
    if (model.numbers.norm === "pre") y = put("norm", rise(y, 30));
    tops.push(y);
  });
  const middle = LEFT[1] + WIDE / 2;
  let y = tops[1];
  for (const id of ["output", "softmax"]) {
    drawn.push(arrow([middle, y], [middle, y - 28]));
    drawn.push(block(context, id, LEFT[1], y - 28 - HIGH));
    y -= 28 + HIGH;
  }
  drawn.push(arrow([middle, y], [middle, y - 24]));
  const total = LEFT[1] + WIDE + SIDE + 70, top = y - 34;
  return svg("svg", { class: "figure1", viewBox: `10 ${top} ${total - 10} ${BOTTOM + 30 - top}`, role: "group", "aria-label": t("title"), style: { "max-width": `${total}px` } },
    svg("defs", {}, svg("marker", { id: "arrowhead", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { d: "M0,0 L8,4 L0,8 z", class: "head" }))), drawn);
}

function block({ t, model, go, titleOf }, id, x, y) {
  const [view, changes] = LEADS_TO[id], shape = model.blocks.find((one) => one.id === id)?.shape, act = () => go(view, changes);
  return svg("g", {
    class: `block ${id}`, tabindex: 0, role: "link", "aria-label": `${t(id)}, ${shape}. ${t("goes", titleOf(view))}`, "data-block": id, onclick: act,
    onkeydown: (event) => { if (event.key === "Enter") act(); },
  }, svg("title", {}, t("goes", titleOf(view))), svg("rect", { x, y, width: WIDE, height: HIGH, rx: 8 }), label(x + WIDE / 2, y + 13, t(id)), label(x + WIDE / 2, y + 28, shape, "shape"));
}

const label = (x, y, text, kind) => svg("text", { x, y, class: kind, "text-anchor": "middle" }, text);
const arrow = (...points) => svg("polyline", { points: points.map((point) => point.join(",")).join(" "), class: "flow", "marker-end": "url(#arrowhead)" });

export default { id: "map", strings, mount };
