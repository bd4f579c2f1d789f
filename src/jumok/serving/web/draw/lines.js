// Curves over one axis, and bars: small drawings with their table behind them.

import { h, svg } from "jumok/dom.js";
import { behind, chance, number, table } from "jumok/draw/table.js";

const W = 560, H = 250, LEFT = 64, RIGHT = 18, TOP = 12, BOTTOM = 52;

// series: [{ name, points: [[x, y], …] }]; xNames: what stands at x = 0, 1, … where these are no numbers;
// numbers: makes the table where it shows more than the curves.
export function lines({ series, label, xLabel, tableLabel, xNames, numbers, logY = false, digits = 3 }) {
  const points = series.flatMap((one) => one.points).filter(([, y]) => Number.isFinite(y) && (!logY || y > 0));
  if (!points.length) return h("p", { class: "note" }, "–");
  const bend = logY ? Math.log10 : (y) => y;
  const [x0, x1] = range(points.map(([x]) => x)), [y0, y1] = range(points.map(([, y]) => bend(y)));
  const toX = (x) => LEFT + ((x - x0) / (x1 - x0)) * (W - LEFT - RIGHT);
  const toY = (y) => H - BOTTOM - ((bend(y) - y0) / (y1 - y0)) * (H - TOP - BOTTOM);
  const ticks = [0, 0.5, 1].map((part) => y0 + part * (y1 - y0));
  const drawing = svg("svg", { class: "lines", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": label },
    ticks.map((tick) => {
      const y = H - BOTTOM - ((tick - y0) / (y1 - y0)) * (H - TOP - BOTTOM);
      return [svg("line", { x1: LEFT, x2: W - RIGHT, y1: y, y2: y, class: "grid" }),
        svg("text", { x: LEFT - 6, y: y + 4, class: "tick end" }, short(logY ? 10 ** tick : tick))];
    }),
    xNames ? xNames.map((name, x) => svg("text", { x: toX(x), y: H - 30, class: "tick middle" }, name)) : [
      svg("text", { x: LEFT, y: H - 30, class: "tick" }, short(x0)), svg("text", { x: W - RIGHT, y: H - 30, class: "tick end" }, short(x1))],
    svg("text", { x: (LEFT + W) / 2, y: H - 6, class: "tick middle" }, xLabel),
    series.map((one, i) => {
      const known = one.points.filter(([, y]) => Number.isFinite(y) && (!logY || y > 0)).map(([x, y]) => [toX(x).toFixed(1), toY(y).toFixed(1)]);
      return [svg("polyline", { class: "line", style: { stroke: `var(--line-${i + 1})` }, points: known.join(" ") }),
        known.length <= 20 && known.map(([cx, cy]) => svg("circle", { cx, cy, r: 3, style: { fill: `var(--line-${i + 1})` } }))];
    }));
  const legend = series.length > 1 && h("ul", { class: "legend" }, series.map((one, i) =>
    h("li", {}, h("span", { class: "swatch", style: { background: `var(--line-${i + 1})` } }), one.name)));
  const xs = [...new Set(series.flatMap((one) => one.points.map(([x]) => x)))].sort((a, b) => a - b);
  const own = () => table([xLabel, ...series.map((one) => one.name)], xs.map((x) =>
    [xNames?.[x] ?? x, ...series.map((one) => number(one.points.find(([at]) => at === x)?.[1] ?? NaN, digits))]), label);
  return h("figure", {}, h("figcaption", {}, label), drawing, legend, behind(tableLabel, numbers ?? own));
}

// items: [{ name, value, kind }], probabilities or weights from 0 to 1.
export function bars({ items, label, tableLabel }) {
  return h("figure", { class: "bars" },
    h("ul", { "aria-label": label }, items.map((item) => h("li", { class: item.kind },
      h("span", { class: "bar-name" }, item.name),
      h("span", { class: "bar-track", "aria-hidden": "true" }, h("span", { class: "bar", style: { width: `${(100 * item.value).toFixed(2)}%` } })),
      h("span", { class: "bar-value" }, chance(item.value))))),
    behind(tableLabel, () => table(["", label], items.map((item) => [item.name, number(item.value, 6)]), label)));
}

function range(values) {
  const low = Math.min(...values), high = Math.max(...values);
  return high > low ? [low, high] : [low - 0.5, high + 0.5];
}

function short(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.01 || size >= 1e5)) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}
