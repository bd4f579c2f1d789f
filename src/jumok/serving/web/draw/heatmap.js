// A map of numbers: rows look, columns are looked at. Arrow keys walk over it, the line below reads the cell out.

import { h, svg } from "jumok/dom.js";
import { weightColor } from "jumok/draw/colors.js";
import { behind, number, table } from "jumok/draw/table.js";

const LARGEST_CELL = 34, SMALLEST_CELL = 12, WIDEST = 620, LABEL = 12;

// values: Numbers of shape [rows, columns].
export function heatmap({ rows, columns, values, label, tableLabel, color = weightColor, digits = 3, size }) {
  const cell = size ?? Math.max(SMALLEST_CELL, Math.min(LARGEST_CELL, WIDEST / Math.max(rows.length, columns.length)));
  const letters = Math.min(LABEL, cell);
  const left = 10 + 0.62 * letters * Math.max(...rows.map(width), 2), top = 12 + 0.62 * letters * Math.max(...columns.map(width), 2);
  const wide = left + columns.length * cell + 4, high = top + rows.length * cell + 4;
  const mark = svg("rect", { width: cell, height: cell, class: "mark", visibility: "hidden" });
  const readout = h("p", { class: "readout", "aria-live": "polite" });
  let at = null;

  const point = (row, column) => {
    at = [row, column];
    mark.setAttribute("x", left + column * cell);
    mark.setAttribute("y", top + row * cell);
    mark.setAttribute("visibility", "visible");
    readout.textContent = `${rows[row]} → ${columns[column]}: ${number(values.at(row, column), digits)}`;
  };
  const place = (event) => {
    const box = drawing.getBoundingClientRect(), scale = wide / box.width;
    const column = Math.floor(((event.clientX - box.left) * scale - left) / cell);
    const row = Math.floor(((event.clientY - box.top) * scale - top) / cell);
    if (row >= 0 && row < rows.length && column >= 0 && column < columns.length) point(row, column);
  };
  const walk = (event) => {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const [row, column] = at ?? [0, 0];
    point(clamp(row + step[0], rows.length), clamp(column + step[1], columns.length));
  };
  const cells = [];
  for (let row = 0; row < rows.length; row++) {
    for (let column = 0; column < columns.length; column++) {
      cells.push(svg("rect", {
        x: left + column * cell, y: top + row * cell, width: cell + 0.3, height: cell + 0.3, fill: color(values.at(row, column)),
      }));
    }
  }
  const drawing = svg("svg", {
    class: "map", viewBox: `0 0 ${wide} ${high}`, role: "application", "aria-label": label, tabindex: 0,
    // It shrinks a little where there is no room; beyond that it is scrolled, so that it can still be read.
    style: { "max-width": `${wide}px`, "min-width": `${0.8 * wide}px` },
    onpointermove: place, onpointerdown: place, onkeydown: walk, onfocus: () => { if (at === null) point(0, 0); },
  }, cells,
  thinned(rows, cell).map(([text, row]) => svg("text", { x: left - 5, y: top + (row + 0.5) * cell, class: "row", style: { "font-size": `${letters}px` } }, text)),
  thinned(columns, cell).map(([text, column]) => svg("text", {
    class: "column", transform: `translate(${left + (column + 0.5) * cell},${top - 5}) rotate(-90)`, style: { "font-size": `${letters}px` },
  }, text)), mark);
  const numbers = () => table(["", ...columns], rows.map((text, row) => [text, ...columns.map((_, column) => number(values.at(row, column), digits))]), label);
  return h("div", { class: "heatmap" }, h("div", { class: "scroll" }, drawing), readout, behind(tableLabel, numbers));
}

// A small picture of a map, without labels: one of many in a grid.
export function thumbnail(values, color = weightColor) {
  const [rows, columns] = values.shape;
  const canvas = h("canvas", { width: columns, height: rows, "aria-hidden": "true" });
  const pen = canvas.getContext("2d");
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      pen.fillStyle = color(values.at(row, column));
      pen.fillRect(column, row, 1, 1);
    }
  }
  return canvas;
}

// [label, place]; of mere numbers in small cells every fourth is enough.
function thinned(labels, cell) {
  const every = cell < 18 && labels.length > 8 && labels.every((text, i) => text === String(i)) ? 4 : 1;
  return labels.map((text, i) => [text, i]).filter(([, i]) => i % every === 0);
}

const clamp = (i, length) => Math.max(0, Math.min(length - 1, i));

// Hangul, Kana and Han are twice as wide as Latin letters.
export function width(text) {
  return [...text].reduce((sum, character) => sum + (character.codePointAt(0) > 0x2e80 ? 1.7 : 1), 0);
}
