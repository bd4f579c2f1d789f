// The paper's figure 3: one piece above, what it looks at below, a line a head in the head's colour.

import { h, replace, svg } from "jumok/dom.js";
import { width } from "jumok/draw/heatmap.js";
import { behind, number, table } from "jumok/draw/table.js";
import { place } from "jumok/state.js";

// weights: Numbers [heads, rows, columns]. The chosen piece is in the state as `from`.
export function arcs({ context, rows, columns, weights, colors, label, tableLabel }) {
  const [numHeads] = weights.shape;
  const picture = h("div");
  const chosen = () => place(context.state.from, 0, rows.length - 1);
  const draw = (row) => {
    const above = layOut(rows), below = layOut(columns), total = Math.max(above.total, below.total, 200);
    const start = above.at[row], aside = (head) => 3 * (head - (numHeads - 1) / 2); // lest one head hides another
    const paths = [];
    for (let head = 0; head < numHeads; head++) {
      for (let column = 0; column < columns.length; column++) {
        const weight = weights.at(head, row, column);
        if (weight < 0.02) continue;
        paths.push(svg("path", {
          d: `M${start},30 C${start + aside(head)},90 ${below.at[column] + aside(head)},80 ${below.at[column] + aside(head)},140`, fill: "none",
          stroke: colors[head % colors.length], "stroke-opacity": Math.min(1, 0.15 + weight), "stroke-width": 1 + 5 * weight,
        }, svg("title", {}, `${context.t("head")} ${head + 1}: ${rows[row]} → ${columns[column]} ${number(weight)}`)));
      }
    }
    const strongest = columns.map((text, column) => [text, ...range(numHeads).map((head) => number(weights.at(head, row, column)))]);
    replace(picture,
      h("div", { class: "scroll" }, svg("svg", { class: "map arcs", viewBox: `0 0 ${total} 170`, role: "img", "aria-label": `${label}: ${rows[row]}`, style: { "max-width": `${total}px`, "min-width": `${0.8 * total}px` } },
        paths,
        rows.map((text, i) => svg("text", { x: above.at[i], y: 18, "text-anchor": "middle", class: i === row ? "chosen" : "other" }, text)),
        columns.map((text, i) => svg("text", { x: below.at[i], y: 154, "text-anchor": "middle" }, text)))),
      legend,
      behind(tableLabel, () => table(["", ...range(numHeads).map((head) => `${context.t("head")} ${head + 1}`)], strongest, `${label}: ${rows[row]}`)));
  };
  const buttons = rows.map((text, i) => h("button", {
    type: "button", class: "piece", "aria-pressed": String(i === chosen()), onclick: () => context.set({ from: i }),
    onpointerenter: () => draw(i), onfocus: () => draw(i),
  }, text));
  const legend = h("ul", { class: "legend" }, range(numHeads).map((head) =>
    h("li", {}, h("span", { class: "swatch", style: { background: colors[head % colors.length] } }), `${context.t("head")} ${head + 1}`)));
  draw(chosen());
  return h("div", {}, h("div", { class: "pieces" }, buttons), picture);
}

const range = (length) => Array.from({ length }, (_, i) => i);

function layOut(texts) {
  const at = [];
  let x = 10;
  for (const text of texts) {
    const wide = 14 + 7.5 * width(text);
    at.push(x + wide / 2);
    x += wide;
  }
  return { at, total: x + 10 };
}
