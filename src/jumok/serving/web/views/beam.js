// Why this sentence: the tree of a beam search, step by step; a branch can be forced.

import { button, slider } from "jumok/controls.js";
import { h, replace, svg } from "jumok/dom.js";
import { width } from "jumok/draw/heatmap.js";
import { behind, number, table } from "jumok/draw/table.js";

const strings = {
  en: {
    title: "Beam",
    question: "Why did the search pick this sentence?",
    see: "At every step each living hypothesis is continued by every piece; the best ones live on (solid), the rest is pruned (dashed; the best few of them are shown), what ends is finished (a dot) and ranked by its log-probability over the length penalty. Choose a piece to force the translation to begin that way.",
    beam: "Beam", alpha: "Length penalty α", step: "Step", tree: "The tree of the search", chosen: "chosen", forced: "Forced beginning: {0}", free: "Let it free",
    kept: "lives on", pruned: "pruned", finished: "finished", finals: "Finished hypotheses, best first", text: "Translation", score: "Score", log_prob: "log-probability", total: "sum so far", status: "what became of it", parent: "after",
    beginning: "beginning",
  },
  ko: {
    title: "빔 서치",
    question: "탐색은 왜 이 문장을 골랐을까요?",
    see: "단계마다 살아 있는 후보 뒤에 모든 조각을 하나씩 이어 봅니다. 그 가운데 가장 좋은 후보들이 살아남고(실선), 나머지는 버려집니다(점선, 그중 좋은 몇 개만 보입니다). 끝난 후보(점)는 로그 확률을 길이 페널티로 나눈 점수로 순위를 매깁니다. 조각을 고르면 번역문이 반드시 거기까지 그대로 시작하게 합니다.",
    beam: "빔 너비", alpha: "길이 페널티 α", step: "단계", tree: "탐색 트리", chosen: "선택됨", forced: "강제한 첫머리: {0}", free: "강제 풀기",
    kept: "살아남음", pruned: "버려짐", finished: "끝남", finals: "끝난 후보 (점수가 높은 순)", text: "번역문", score: "점수", log_prob: "로그 확률", total: "지금까지의 합", status: "결과", parent: "앞부분",
    beginning: "시작",
  },
};

const COLUMN = 116, ROW = 26, HALF = 42; // of a node, in pixels

function mount(root, context) {
  const { t, model } = context;
  const beam = slider(context, "beam", { label: t("beam"), min: 1, max: 8, initial: model.decoding.beam });
  const alpha = slider(context, "alpha", { label: t("alpha"), min: 0, max: 3, step: 0.1, initial: model.decoding.length_penalty });
  let numSteps = 1;
  const until = slider(context, "step", { label: t("step"), min: 1, max: 1, show: (value) => `${value} / ${numSteps}` });
  const best = h("p", { class: "big", lang: model.target.code, role: "status", "data-part": "translation" });
  const forced = h("p"), tree = h("div"), finals = h("div");
  replace(root, h("div", { class: "controls" }, beam, alpha, until), best, forced, h("h2", {}, t("tree")), tree, h("p", { class: "note" }, t("see")), finals);
  return async (state) => {
    const force = state.force ? String(state.force).split(" ") : [];
    const wanted = { text: context.sentence.text, beam: beam.follow(state), length_penalty: alpha.follow(state), force };
    const answer = await context.ask("beam", wanted);
    numSteps = answer.steps.length;
    until.limit(numSteps);
    const last = until.follow({ step: state.step ?? numSteps });
    best.textContent = answer.text;
    replace(forced, force.length > 0 && [t("forced", answer.forced_text), " ", button(t("free"), () => context.set({ force: undefined }), { "data-action": "free" })]);
    replace(tree, draw(answer, last, context));
    replace(finals, h("h2", {}, t("finals")), table([t("text"), t("score"), t("log_prob")],
      answer.finished.map((one) => [one.text, number(one.score), number(one.log_prob)]), t("finals")));
    context.announce(answer.text);
  };
}

function draw(answer, last, context) {
  const { t } = context;
  const place = new Map(), steps = answer.steps.slice(0, last), chosen = new Set(answer.chosen);
  const rows = Math.max(...answer.steps.map((step) => step.length));
  steps.forEach((step, x) => step.forEach((one, y) => place.set(one.id, [x * COLUMN + 104, y * ROW + 24])));
  const marks = [], edges = [];
  for (const one of steps.flat()) {
    const [x, y] = place.get(one.id), [px, py] = place.get(one.parent) ?? [32 - HALF, 24];
    const kind = chosen.has(one.id) ? "chosen" : one.status;
    edges.push(svg("path", { d: `M${px + HALF},${py} C${px + HALF + 16},${py} ${x - HALF - 16},${y} ${x - HALF},${y}`, class: `edge ${kind}` }));
    const label = `${one.label}: ${t("log_prob")} ${number(one.log_prob)}, ${t("total")} ${number(one.total)}, ${t("score")} ${number(one.score)}, ${t(chosen.has(one.id) ? "chosen" : one.status)}`;
    const act = () => context.set({ force: one.path.join(" "), step: undefined });
    marks.push(svg("g", {
      class: `node ${kind}`, tabindex: 0, role: "button", "aria-label": label, "data-node": one.id, onclick: act,
      onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } },
    }, svg("title", {}, label), svg("rect", { x: x - HALF, y: y - 10, width: 2 * HALF, height: 20, rx: 6 }),
    svg("text", { x: x, y, "text-anchor": "middle" }, cut(one.label)), one.status === "finished" && svg("circle", { cx: x + 36, cy: y, r: 4 })));
  }
  const total = [steps.length * COLUMN + 50, rows * ROW + 20];
  const rowsOfTable = steps.flatMap((step, x) => step.map((one) => [x + 1, one.label, one.path.slice(0, -1).join(" ") || t("beginning"), number(one.log_prob), number(one.total), number(one.score), t(chosen.has(one.id) ? "chosen" : one.status)]));
  return [
    h("div", { class: "scroll" }, svg("svg", { class: "tree", viewBox: `0 0 ${total[0]} ${total[1]}`, width: total[0], height: total[1], role: "group", "aria-label": t("tree") },
      edges, svg("text", { x: 28, y: 24, "text-anchor": "end" }, "<s>"), marks)),
    behind(t("table"), () => table([t("step"), t("piece"), t("parent"), t("log_prob"), t("total"), t("score"), t("status")], rowsOfTable, t("tree"))),
  ];
}

function cut(text) {
  let kept = "";
  for (const character of text) {
    if (width(kept + character) > 10) return `${kept}…`;
    kept += character;
  }
  return kept;
}

export default { id: "beam", strings, mount };
