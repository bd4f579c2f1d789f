// Why sinusoids: four ways to tell positions, and what a shift by k does to a sinusoid.

import { Numbers, unpack } from "jumok/api.js";
import { slider } from "jumok/controls.js";
import { h, replace, svg } from "jumok/dom.js";
import { signedColor, weightColor } from "jumok/draw/colors.js";
import { heatmap, thumbnail } from "jumok/draw/heatmap.js";
import { lines } from "jumok/draw/lines.js";
import { number } from "jumok/draw/table.js";

const WAYS = ["counts", "scaled_counts", "bits", "sinusoidal"];
const CLOCKS = 6;

const strings = {
  en: {
    title: "Positions",
    question: "Why sine and cosine, and how do they tell relative positions?",
    counts: "Plain counts", scaled_counts: "Counts scaled to 0…1", bits: "Bits", sinusoidal: "Sinusoids (the paper's)",
    "counts.why": "They grow without bound and drown the words: position 40 is forty times as large as position 1.",
    "scaled_counts.why": "The step from one word to the next depends on the length of the sentence: in a sentence of {0} words it is {1}, in one of twice as many half of that.",
    "bits.why": "Bounded and the same for every length, but neighbours can be far apart: from 7 to 8 four digits change at once.",
    "sinusoidal.why": "Bounded, the same for every length, and neighbours are always equally far apart: {0}.",
    way: "Ways to tell positions: vectors, and distances between positions", steps: "neighbours are {0} to {1} apart", length: "Positions", shift: "Shift k",
    vectors: "{0}: the vectors, a row a position (first {1} of {2} dimensions)", distances: "Distance between any two positions",
    clocks: "Blue is PE({0}), orange PE({1}). Each pair of sine and cosine is a clock hand. A shift by k turns every hand by k times its own speed, wherever it stood: that is the rotation M_k, and PE(t + k) = M_k · PE(t).",
    clock: "pair {0}: {1} of a turn a position", before: "PE({0})", after: "M_k · PE({0}) = PE({1})", error: "Largest difference between M_k · PE(t) and PE(t + k) over all t: {0} (the numbers come with three digits)",
    similar: "Similarity PE(t) · PE(t + k) falls with the distance, the same to both sides", distance: "distance k", unlike: "This model does not add sinusoids but {0}; the tables are what sinusoids of its width would be.", learned: "learned positions",
  },
  ko: {
    title: "위치",
    question: "왜 사인과 코사인을 쓰고, 상대 위치는 어떻게 알 수 있을까요?",
    counts: "순번 그대로", scaled_counts: "0…1로 줄인 순번", bits: "이진수 비트", sinusoidal: "사인·코사인 (논문의 방식)",
    "counts.why": "끝없이 커져서 단어가 묻혀 버립니다. 40번째 위치는 1번째 위치의 40배입니다.",
    "scaled_counts.why": "한 단어에서 다음 단어까지의 간격이 문장 길이에 따라 달라집니다. 단어가 {0}개인 문장에서는 {1}이고, 두 배로 긴 문장에서는 그 절반입니다.",
    "bits.why": "범위가 정해져 있고 길이와 상관없지만, 이웃이 멀리 떨어질 수 있습니다. 7에서 8로 갈 때 네 자리가 한꺼번에 바뀝니다.",
    "sinusoidal.why": "범위가 정해져 있고, 길이와 상관없으며, 이웃 사이의 거리가 언제나 같습니다({0}).",
    way: "위치를 나타내는 방법: 벡터와 위치 사이의 거리", steps: "이웃 사이의 거리 {0}~{1}", length: "위치 수", shift: "이동 k",
    vectors: "{0}: 벡터, 행 하나가 위치 하나 ({2}차원 가운데 처음 {1}차원)", distances: "두 위치 사이의 거리",
    clocks: "파란 바늘은 PE({0}), 주황 바늘은 PE({1})입니다. 사인과 코사인 한 쌍은 시곗바늘 하나와 같습니다. k만큼 옮기면 어디에 있던 바늘이든 자기 속도의 k배만큼 돕니다. 이것이 회전 M_k이고, PE(t + k) = M_k · PE(t)입니다.",
    clock: "{0}번째 쌍: 한 칸에 {1}바퀴", before: "PE({0})", after: "M_k · PE({0}) = PE({1})", error: "모든 t에서 M_k · PE(t)와 PE(t + k)의 가장 큰 차이: {0} (숫자를 유효 숫자 세 자리 정도로만 받아 옵니다)",
    similar: "유사도 PE(t) · PE(t + k)는 거리가 멀수록 작아지고, 앞뒤로 같습니다", distance: "거리 k", unlike: "이 모델은 사인·코사인이 아닌 다른 방법({0})으로 위치를 나타냅니다. 여기 보이는 값은 너비가 같은 사인·코사인을 계산한 것입니다.", learned: "학습형 위치 임베딩",
  },
};

function mount(root, context) {
  const { t, model } = context;
  const ways = h("div", { class: "ways", role: "group", "aria-label": t("way") });
  const length = slider(context, "length", { label: t("length"), min: 4, max: 64, initial: 24 });
  const shift = slider(context, "k", { label: t("shift"), min: -16, max: 16, initial: 3 });
  const why = h("p"), turn = h("p", { class: "note" }), vectors = h("div"), distances = h("div"), clocks = h("div"), similar = h("div");
  replace(root, model.position !== "sinusoidal" && h("p", { class: "note" }, t("unlike", model.position === "learned" ? t("learned") : model.position)),
    h("div", { class: "controls" }, length), ways, why, h("div", { class: "columns wide" }, vectors, distances),
    h("h2", {}, "PE(t + k) = M_k · PE(t)"), h("div", { class: "controls" }, shift), turn, clocks, similar);
  return async (state) => {
    const chosen = WAYS.includes(state.way) ? state.way : "sinusoidal", num = length.follow(state), k = shift.follow(state);
    const answer = await context.ask(`positions?length=${num}`);
    replace(ways, WAYS.map((one) => card(one, answer.tables[one], one === chosen, context)));
    const table = unpack(answer.tables[chosen].vectors), apart = unpack(answer.tables[chosen].distances);
    const names = Array.from({ length: num }, (_, i) => String(i));
    why.textContent = t(`${chosen}.why`, chosen === "sinusoidal" ? number(apart.at(0, 1)) : num, number(1 / (num - 1)));
    const shown = Math.min(table.shape[1], 48);
    const first = new Numbers([num, shown], Float32Array.from({ length: num * shown }, (_, i) => table.at(Math.floor(i / shown), i % shown)));
    const title = t("vectors", t(chosen), shown, table.shape[1]);
    replace(vectors, h("h2", {}, title), heatmap({
      rows: names, columns: Array.from({ length: shown }, (_, i) => String(i)), values: first, label: title, tableLabel: t("table"),
      color: signedBy(table), size: 12,
    }));
    replace(distances, h("h2", {}, t("distances")), heatmap({
      rows: names, columns: names, values: apart, label: `${t(chosen)}: ${t("distances")}`, tableLabel: t("table"),
      color: weightBy(apart), size: 12,
    }));
    const pe = unpack(answer.tables.sinusoidal.vectors), start = Math.max(0, -k), speeds = answer.frequencies;
    turn.textContent = t("clocks", start, start + k);
    replace(clocks, drawClocks(pe, start, k, speeds, t), h("p", { class: "note", "data-part": "rotation-error" }, t("error", largestError(pe, k, speeds).toExponential(1))));
    const similarities = answer.similarities;
    replace(similar, lines({
      series: [{ name: "PE·PE", points: [...similarities].reverse().map((y, i) => [i - similarities.length + 1, y]).concat(similarities.slice(1).map((y, i) => [i + 1, y])) }],
      label: t("similar"), xLabel: t("distance"), tableLabel: t("table"),
    }));
  };
}

// One way as a small picture: vectors, distances, and how far neighbours are apart.
function card(name, { vectors, distances }, isChosen, { t, set }) {
  const table = unpack(vectors), apart = unpack(distances), [num] = apart.shape;
  const steps = Array.from({ length: num - 1 }, (_, i) => apart.at(i, i + 1));
  return h("button", { type: "button", "aria-pressed": String(isChosen), "data-way": name, onclick: () => set({ way: name }) },
    h("b", {}, t(name)), h("span", { class: "pair" }, thumbnail(table, signedBy(table)), thumbnail(apart, weightBy(apart))),
    h("small", {}, t("steps", number(Math.min(...steps), 2), number(Math.max(...steps), 2))));
}

function signedBy(values) {
  const largest = Math.max(...values.data.map(Math.abs)) || 1;
  return (value) => signedColor(value / largest);
}

function weightBy(values) {
  const farthest = Math.max(...values.data) || 1;
  return (value) => weightColor(value / farthest);
}

function drawClocks(pe, start, k, speeds, t) {
  const pairs = Array.from({ length: CLOCKS }, (_, i) => Math.round((i * (speeds.length - 1)) / (CLOCKS - 1) / 2));
  return h("div", { class: "clocks" }, [...new Set(pairs)].map((pair) => {
    const sine = pe.at(start, 2 * pair), cosine = pe.at(start, 2 * pair + 1), angle = k * speeds[pair];
    const turned = [Math.cos(angle) * sine + Math.sin(angle) * cosine, Math.cos(angle) * cosine - Math.sin(angle) * sine];
    const hand = (s, c, kind) => svg("line", { x1: 50, y1: 50, x2: 50 + 38 * s, y2: 50 - 38 * c, class: kind });
    return h("figure", { class: "clock" }, svg("svg", { viewBox: "0 0 100 100", role: "img", "aria-label": `${t("before", start)}: ${number(sine)}, ${number(cosine)}; ${t("after", start, start + k)}: ${number(turned[0])}, ${number(turned[1])}` },
      svg("circle", { cx: 50, cy: 50, r: 42, class: "dial" }), hand(sine, cosine, "hand before"), hand(...turned, "hand after")),
    h("figcaption", {}, t("clock", pair + 1, number(speeds[pair] / (2 * Math.PI), 4))));
  }));
}

function largestError(pe, k, speeds) {
  let worst = 0;
  const [num] = pe.shape;
  for (let t = Math.max(0, -k); t < Math.min(num, num - k); t++) {
    speeds.forEach((speed, pair) => {
      const sine = pe.at(t, 2 * pair), cosine = pe.at(t, 2 * pair + 1), angle = k * speed;
      const turned = [Math.cos(angle) * sine + Math.sin(angle) * cosine, Math.cos(angle) * cosine - Math.sin(angle) * sine];
      worst = Math.max(worst, Math.abs(turned[0] - pe.at(t + k, 2 * pair)), Math.abs(turned[1] - pe.at(t + k, 2 * pair + 1)));
    });
  }
  return worst;
}

export default { id: "positions", strings, mount };
