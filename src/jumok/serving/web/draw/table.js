// The table behind every picture: the same numbers for who cannot see colours, or wants to copy them.

import { h } from "jumok/dom.js";

// Cells are texts, numbers or elements; columns of words are set left, columns of numbers right.
export function table(columns, rows, caption) {
  const areWords = columns.map((_, i) => rows.some((row) => !looksLikeNumber(row[i])));
  const kind = (i) => (areWords[i] ? "words" : undefined);
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h("table", {}, caption && h("caption", {}, caption),
      h("thead", {}, h("tr", {}, columns.map((column, i) => h("th", { scope: "col", class: kind(i) }, column)))),
      h("tbody", {}, rows.map(([first, ...rest]) =>
        h("tr", {}, h("th", { scope: "row" }, first), rest.map((cell, i) => h("td", { class: kind(i + 1) }, cell instanceof Node ? cell : String(cell))))))));
}

export function behind(summary, makeTable) {
  const body = h("div");
  return h("details", {
    ontoggle: (event) => { if (event.target.open && !body.hasChildNodes()) body.append(makeTable()); },
  }, h("summary", {}, summary), body);
}

export const number = (value, digits = 3) => Number.isFinite(value) ? value.toFixed(digits) : value > 0 ? "∞" : value < 0 ? "−∞" : "–";

// A probability: a small one is not rounded to nothing.
export const chance = (p) => (p >= 0.0005 || p === 0 ? p.toFixed(3) : p.toPrecision(1));

const looksLikeNumber = (cell) => !(cell instanceof Node) && /^([-−+]?(\d[\d.,]*(e[-+]?\d+)?|∞)|–|)$/.test(String(cell));
