// What norm and residual hold together: the size of the stream after every sub-layer, and the gradient without residuals.

import { toggle } from "jumok/controls.js";
import { h, replace } from "jumok/dom.js";
import { lines } from "jumok/draw/lines.js";
import { number, table } from "jumok/draw/table.js";

const strings = {
  en: {
    title: "Norm and residual",
    question: "What do layer norm and the residual connections hold together?",
    see: "The stream is the vector of a position on its way through the layers: every sub-layer adds to it.",
    pre: "This model normalises what a sub-layer reads (pre-norm): the stream itself may grow, in the decoder from {0} to {1}, and a last norm brings it back.",
    post: "This model normalises after every addition (post-norm, as in the paper): the stream keeps its size, in the decoder {0} at first and {1} at the end.",
    stream: "The stream", residuals: "The gradient", rms: "Size of the stream after each sub-layer (root mean square)", mean: "mean", variance: "variance", sublayer: "Sub-layer",
    gradients: "Gradient of the loss at each layer's input (its norm)", with: "with residuals", without: "without residuals", off: "residuals off",
    "gradients.why": "The same weights, one backward pass. With the residual connections the gradient has much the same size everywhere: the largest is {0} times the smallest. Without them it is {1} times, and at {2} only {3} arrives.",
    norms: "Layer norm beside batch norm, for the same batch", layer_norm: "layer norm", batch_norm: "batch norm",
    "norms.why": "Layer norm looks at one position's own numbers: the same sentence gets the same values whatever it is batched with. Batch norm takes means over the batch: with the sentence alone they are {0}, with other sentences beside it {1}, and padding changes them again.",
    largest: "largest difference to the sentence alone", embedding: "embedding", "self-attention": "self-attention", "cross-attention": "cross-attention", "feed-forward": "feed-forward", encoder: "encoder", decoder: "decoder", in_order: "encoder layers (E), then decoder layers (D)",
  },
  ko: {
    title: "정규화와 잔차",
    question: "층 정규화와 잔차 연결은 무엇을 지켜 줄까요?",
    see: "스트림은 한 위치의 벡터가 층을 지나가는 흐름입니다. 하위 층은 저마다 여기에 값을 더합니다.",
    pre: "이 모델은 하위 층이 읽는 것을 정규화합니다(pre-norm). 스트림 자체는 커질 수 있어서, 디코더에서는 크기가 {0}에서 {1}까지 커지고 마지막 정규화가 이를 되돌립니다.",
    post: "이 모델은 더할 때마다 그 뒤에서 정규화합니다(post-norm, 논문의 방식). 그래서 스트림의 크기가 유지됩니다. 디코더에서 처음에는 {0}, 끝에는 {1}입니다.",
    stream: "스트림", residuals: "그래디언트", rms: "하위 층을 지날 때마다 잰 스트림의 크기 (제곱평균제곱근)", mean: "평균", variance: "분산", sublayer: "하위 층",
    gradients: "각 층의 입력에서 잰 손실의 그래디언트 (크기)", with: "잔차 연결 있음", without: "잔차 연결 없음", off: "잔차 연결 끄기",
    "gradients.why": "같은 가중치로 역전파를 한 번 했습니다. 잔차 연결이 있으면 그래디언트의 크기가 어디서나 비슷해서, 가장 큰 값이 가장 작은 값의 {0}배입니다. 없으면 {1}배가 되고, {2}에는 {3}만 도착합니다.",
    norms: "같은 배치에서 층 정규화와 배치 정규화", layer_norm: "층 정규화", batch_norm: "배치 정규화",
    "norms.why": "층 정규화는 한 위치의 숫자만 봅니다. 같은 문장이면 어떤 문장과 한 배치에 있든 값이 같습니다. 배치 정규화는 배치 전체의 평균을 씁니다. 그 평균은 이 문장만 있을 때 {0}, 다른 문장과 함께 있을 때 {1}이고, 패딩이 있으면 또 달라집니다.",
    largest: "이 문장만 있을 때와의 최대 차이", embedding: "임베딩", "self-attention": "셀프 어텐션", "cross-attention": "교차 어텐션", "feed-forward": "피드포워드", encoder: "인코더", decoder: "디코더", in_order: "인코더 층(E), 이어서 디코더 층(D)",
  },
};

function mount(root, context) {
  const { t, model } = context;
  const off = toggle(context, "off", { label: t("off") });
  const sizes = h("div"), kept = h("p"), gradients = h("div"), why = h("p", { role: "status", "data-part": "gradient" }), norms = h("div");
  replace(root, h("p", { class: "note" }, t("see")), h("div", { class: "columns wide" },
    h("section", {}, h("h2", {}, t("stream")), sizes, kept),
    h("section", {}, h("h2", {}, t("residuals")), h("div", { class: "controls" }, off), gradients, why)), h("h2", {}, t("norms")), norms);
  return async (state) => {
    const isOff = off.follow(state);
    const answer = await context.ask("stream", context.sentence);
    drawSizes(sizes, answer.stream, context);
    const decoder = answer.stream.decoder;
    kept.textContent = t(model.numbers.norm, number(decoder[0].rms, 2), number(decoder.at(-1).rms, 2));
    const names = layerNames(answer.stream), { with: along, without } = answer.gradients;
    drawGradients(gradients, answer.gradients, names, isOff, context);
    const spread = (sizes) => Number((Math.max(...sizes) / Math.min(...sizes)).toPrecision(2)).toLocaleString(), least = Math.min(...without);
    why.textContent = isOff ? t("gradients.why", spread(along), spread(without), names[without.indexOf(least)], least.toPrecision(2)) : "";
    const n = answer.norms;
    replace(norms, h("p", {}, t("norms.why", number(n.batch_mean_alone), number(n.batch_mean_beside))),
      table(["", t("largest")], [[t("layer_norm"), n.layer_norm_change.toPrecision(2)], [t("batch_norm"), n.batch_norm_change.toPrecision(2)]], t("norms")));
  };
}

function drawSizes(root, stream, { t }) {
  const named = (name) => name.replace(/[a-z-]+$/, t);
  const rows = Object.entries(stream).flatMap(([side, ones]) => ones.map((one) => [`${t(side)}: ${named(one.name)}`, number(one.mean), number(one.variance), number(one.rms)]));
  replace(root, lines({
    series: Object.entries(stream).map(([side, ones]) => ({ name: t(side), points: ones.map((one, i) => [i, one.rms]) })), label: t("rms"), xLabel: t("sublayer"),
    tableLabel: t("table"), numbers: () => table([t("sublayer"), t("mean"), t("variance"), "RMS"], rows, t("rms")),
  }));
}

// E1, E2, …, D1, D2, …: a sub-layer's name begins with the number of its layer.
function layerNames(stream) {
  const count = (side) => Math.max(...stream[side].map((one) => parseInt(one.name, 10) || 0));
  return ["encoder", "decoder"].flatMap((side) => Array.from({ length: count(side) }, (_, i) => `${side[0].toUpperCase()}${i + 1}`));
}

function drawGradients(root, gradients, names, isOff, { t }) {
  const curve = (name) => ({ name: t(name), points: gradients[name].map((value, i) => [i, value]) });
  replace(root, lines({
    series: isOff ? [curve("with"), curve("without")] : [curve("with")], label: t("gradients"), xLabel: t("in_order"), xNames: names, tableLabel: t("table"), logY: true, digits: 6,
  }));
}

export default { id: "stream", needs: "transformer", strings, mount };
