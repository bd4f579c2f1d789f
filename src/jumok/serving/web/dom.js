// Elements in one line: h("p", { class: "note" }, "text", h("b", {}, "more")); svg() for drawings.

const SVG = "http://www.w3.org/2000/svg";

export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, part] of Object.entries(value)) element.style.setProperty(key, part);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...known(children));
  return element;
}

export function replace(root, ...children) {
  root.replaceChildren(...known(children));
  return root;
}

// Children may stand in lists of lists, and be left out by a condition.
const known = (children) => children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);

let count = 0;
export const newId = (name) => `${name}-${++count}`;
