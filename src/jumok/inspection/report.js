"use strict";
(() => {
  const section = document.getElementById("attention");
  if (!section) return;
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = section.querySelector("form").elements;
  const part = (name) => section.querySelector(`[data-part="${name}"]`);
  const MEAN = "mean";
  const SMALLEST = 20, LARGEST = 40; // of a cell, in pixels
  const state = { sentence: 0, kind: "cross", layer: null, head: MEAN, ...data.first };

  // --- what is shown ---------------------------------------------------------------------------------------------

  const current = () => data.sentences[state.sentence].kinds[state.kind];

  function weights() {
    const heads = current().layers[state.layer];
    if (state.head !== MEAN) return heads[state.head];
    return heads[0].map((_, i) => heads.reduce((sum, head) => sum + head[i], 0) / heads.length);
  }

  const alpha = (weight) => Math.pow(weight / 1000, 0.7); // faint weights stay visible

  function element(name, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function piece(attributes, label) {
    const begins = label.startsWith("▁");
    const text = element("text", attributes);
    if (begins) text.append(element("tspan", { class: "begin" }, "▁"));
    text.append(begins ? label.slice(1) : label);
    return text;
  }

  const width = (label) => [...label].reduce((sum, c) => sum + (c.codePointAt(0) >= 0x1100 ? 14 : 8.5), 0);

  function drawMap() {
    const { rows, columns, languages } = current();
    const values = weights();
    const left = Math.max(...rows.map(width)) + 12;
    const top = Math.max(...columns.map(width)) * 0.8 + 16;
    const right = width(columns[columns.length - 1]) * 0.7 + 4;
    const room = part("map").clientWidth - left - right;
    const cell = Math.floor(Math.min(Math.max(room / columns.length, SMALLEST), LARGEST));
    const w = left + columns.length * cell + right;
    const h = top + rows.length * cell + 2;
    const svg = element("svg", {
      width: w, height: h, viewBox: `0 0 ${w} ${h}`, tabindex: 0, role: "img",
      "aria-label": "Heat map of attention weights. The arrow keys move from cell to cell.",
    });
    columns.forEach((label, c) => {
      const x = left + (c + 0.5) * cell;
      svg.append(piece({ x, y: top - 7, transform: `rotate(-52 ${x} ${top - 7})`, "data-column": c, lang: languages[1] }, label));
    });
    rows.forEach((label, r) => {
      const y = top + (r + 0.5) * cell;
      svg.append(piece({ x: left - 8, y: y + 5, "text-anchor": "end", "data-row": r, lang: languages[0] }, label));
      columns.forEach((_, c) => {
        const box = { x: left + c * cell, y: y - cell / 2, width: cell - 2, height: cell - 2, rx: 3 };
        svg.append(element("rect", { ...box, class: "back" }));
        const weight = values[r * columns.length + c];
        svg.append(element("rect", { ...box, class: "cell", "fill-opacity": alpha(weight).toFixed(3), "data-at": `${r} ${c}` }));
      });
    });
    const frame = element("rect", { class: "chosen", width: cell - 2, height: cell - 2, rx: 3, visibility: "hidden", "pointer-events": "none" });
    svg.append(frame);

    let at = null;
    function point(r, c) {
      at = [r, c];
      for (const text of svg.querySelectorAll("text")) {
        text.classList.toggle("on", text.dataset.row === String(r) || text.dataset.column === String(c));
      }
      frame.setAttribute("x", left + c * cell);
      frame.setAttribute("y", top + r * cell);
      frame.setAttribute("visibility", "visible");
      const strong = document.createElement("strong");
      strong.textContent = (values[r * columns.length + c] / 1000).toFixed(3);
      part("readout").replaceChildren(`${rows[r]}  looks at  ${columns[c]}  `, strong);
    }
    const follow = (event) => {
      const place = event.target.dataset && event.target.dataset.at;
      if (place) point(...place.split(" ").map(Number));
    };
    svg.addEventListener("pointerover", follow);
    svg.addEventListener("pointerdown", follow);
    svg.addEventListener("keydown", (event) => {
      const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!move) return;
      event.preventDefault();
      const [r, c] = at || [0, -move[1]];
      point(Math.min(Math.max(r + move[0], 0), rows.length - 1), Math.min(Math.max(c + move[1], 0), columns.length - 1));
    });
    part("map").replaceChildren(svg);
    part("readout").textContent = "Point at a cell.";
  }

  function drawHeads() {
    const { rows, columns, layers } = current();
    const numHeads = layers[0].length;
    const across = layers.length < 4 && numHeads > 4 ? Math.ceil(numHeads / 2) : Math.min(numHeads, 8);
    const color = getComputedStyle(document.documentElement).getPropertyValue("--accent");
    const lines = layers.map((heads, layer) => {
      const line = document.createElement("div");
      line.className = "heads";
      line.style.gridTemplateColumns = `3.4rem repeat(${across}, minmax(0, 1fr))`;
      const name = document.createElement("span");
      name.textContent = `Layer ${layer + 1}`;
      line.append(name);
      heads.forEach((values, head) => {
        if (head && head % across === 0) line.append(document.createElement("span"));
        const canvas = document.createElement("canvas");
        canvas.width = columns.length;
        canvas.height = rows.length;
        const context = canvas.getContext("2d");
        context.fillStyle = color;
        values.forEach((weight, i) => {
          context.globalAlpha = alpha(weight);
          context.fillRect(i % columns.length, Math.floor(i / columns.length), 1, 1);
        });
        const button = document.createElement("button");
        button.type = "button";
        button.title = `Layer ${layer + 1}, head ${head + 1}`;
        button.setAttribute("aria-label", button.title);
        button.setAttribute("aria-pressed", String(layer === state.layer && head === state.head));
        button.append(canvas);
        button.addEventListener("click", () => {
          Object.assign(state, { layer, head });
          show();
          part("heads").querySelector('[aria-pressed="true"]').focus();
        });
        line.append(button);
      });
      return line;
    });
    part("heads").replaceChildren(...lines);
  }

  function listLinks() {
    const { rows, columns } = current();
    const values = weights();
    const table = document.createElement("table");
    table.className = "figures links";
    const add = (row, tag, text) => { row.append(Object.assign(document.createElement(tag), { textContent: text })); };
    const head = table.createTHead().insertRow();
    for (const name of ["Piece", "looks most at", "Weight"]) add(head, "th", name);
    const body = table.createTBody();
    rows.forEach((label, r) => {
      const ofRow = values.slice(r * columns.length, (r + 1) * columns.length);
      const best = ofRow.indexOf(Math.max(...ofRow));
      const row = body.insertRow();
      add(row, "th", label);
      add(row, "td", columns[best]);
      add(row, "td", (ofRow[best] / 1000).toFixed(3));
    });
    part("links").replaceChildren(table);
  }

  // --- choosing --------------------------------------------------------------------------------------------------

  function fill(select, names, chosen) {
    select.replaceChildren(...names.map(([value, text]) => new Option(text, value, false, String(value) === String(chosen))));
  }

  function show() {
    const { layers } = current();
    state.layer = Math.min(state.layer, layers.length - 1);
    if (state.head !== MEAN) state.head = Math.min(state.head, layers[state.layer].length - 1);
    fill(form.layer, layers.map((_, i) => [i, i + 1]), state.layer);
    fill(form.head, [[MEAN, "mean of all"], ...layers[state.layer].map((_, i) => [i, i + 1])], state.head);
    part("translation").textContent = "→ " + data.sentences[state.sentence].translation;
    part("caption").textContent = data.captions[state.kind];
    drawMap();
    drawHeads();
    listLinks();
  }

  section.querySelector("form").addEventListener("change", () => {
    state.sentence = Number(form.sentence.value);
    state.kind = form.kind.value;
    state.layer = Number(form.layer.value);
    state.head = form.head.value === MEAN ? MEAN : Number(form.head.value);
    show();
  });
  section.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawHeads);
  if (state.layer === null) state.layer = current().layers.length - 1;
  show();
})();
