// Controls that belong to a key of the state: a change goes into the address, and a change of the address into them.

import { h, newId } from "jumok/dom.js";

export function slider(context, key, { label, min, max, step = 1, initial = min, show = String }) {
  const id = newId(key);
  const output = h("output", { for: id });
  const input = h("input", {
    id, type: "range", min, max, step, "data-key": key,
    oninput: () => context.set({ [key]: input.value }),
  });
  const element = h("div", { class: "control" }, h("label", { for: id }, label), input, output);
  // The largest value can depend on the answer.
  element.limit = (most) => input.setAttribute("max", most);
  element.follow = (state) => {
    const asked = Number(state[key] ?? initial);
    const value = Number.isFinite(asked) ? Math.max(min, Math.min(Number(input.max), asked)) : initial;
    input.value = value;
    output.textContent = show(value);
    input.setAttribute("aria-valuetext", show(value));
    return value;
  };
  return element;
}

export function choice(context, key, { label, options, initial }) {
  const id = newId(key);
  const select = h("select", { id, "data-key": key, onchange: () => context.set({ [key]: select.value }) },
    options.map(([value, text]) => h("option", { value }, text)));
  const element = h("div", { class: "control" }, h("label", { for: id }, label), select);
  element.follow = (state) => {
    const known = options.map(([value]) => String(value));
    select.value = known.includes(String(state[key])) ? state[key] : String(initial ?? known[0]);
    return select.value;
  };
  return element;
}

export function toggle(context, key, { label, initial = false }) {
  const id = newId(key);
  const input = h("input", { id, type: "checkbox", "data-key": key, onchange: () => context.set({ [key]: input.checked ? 1 : 0 }) });
  const element = h("div", { class: "control check" }, input, h("label", { for: id }, label));
  element.follow = (state) => (input.checked = state[key] === undefined ? initial : state[key] === "1" || state[key] === 1);
  return element;
}

export function button(label, onclick, attributes = {}) {
  return h("button", { type: "button", onclick, ...attributes }, label);
}

// A text that is never taken in the middle of a syllable: Korean, Japanese and Chinese are composed of several keys.
export function textBox({ label, value, onsettle, attributes = {}, delay = 350 }) {
  const id = newId("text");
  let waiting = null, isComposing = false, taken = value;
  const settle = () => {
    clearTimeout(waiting);
    waiting = null;
    if (isComposing || input.value === taken) return;
    taken = input.value;
    onsettle(taken);
  };
  const input = h("textarea", {
    id, rows: 2, value, ...attributes,
    oncompositionstart: () => { isComposing = true; clearTimeout(waiting); },
    oncompositionend: () => { isComposing = false; clearTimeout(waiting); waiting = setTimeout(settle, delay); },
    onblur: settle,
    oninput: (event) => {
      clearTimeout(waiting);
      if (!event.isComposing && !isComposing) waiting = setTimeout(settle, delay);
    },
    onkeydown: (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); settle(); }
    },
  });
  const element = h("div", { class: "text" }, h("label", { for: id }, label), input);
  // What is being typed is not overwritten.
  element.follow = (now) => {
    if (isComposing || waiting !== null || input.value === now) return;
    input.value = taken = now;
  };
  return element;
}
