// Answers of the model. One question is asked at a time, and an answer is remembered; in an exported page the answers
// are inside.

const remembered = new Map();
const MOST_REMEMBERED = 60;
const PATIENCE = 120_000; // milliseconds
const inside = document.getElementById("answers");
const answers = inside ? JSON.parse(inside.textContent) : null;
let lastInLine = Promise.resolve();

export const isExported = answers !== null;

// What the reader has to know; the message is a key of strings.js or the server's own line.
export class Problem extends Error {}

export async function ask(path, body, signal) {
  const key = body === undefined ? path : `${path} ${JSON.stringify(inOrder(body))}`;
  if (answers) {
    if (!(key in answers)) throw new Problem("exported");
    if (answers[key].error) throw new Problem(answers[key].error);
    return answers[key];
  }
  if (remembered.has(key)) return remembered.get(key);
  // The model answers one question after the other: who is no longer waited for when its turn comes, is never asked.
  const turn = lastInLine;
  let leave;
  lastInLine = new Promise((resolve) => { leave = resolve; });
  await turn;
  try {
    signal?.throwIfAborted();
    const answer = remembered.get(key) ?? await fetchAnswer(path, body);
    remembered.set(key, answer);
    if (remembered.size > MOST_REMEMBERED) remembered.delete(remembered.keys().next().value);
    return answer;
  } finally {
    leave();
  }
}

// The same question has the same key, in whatever order its fields stand; serving/export.py writes keys alike.
function inOrder(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, inOrder(value[name])]));
}

async function fetchAnswer(path, body) {
  const signal = AbortSignal.timeout(PATIENCE);
  const request = body === undefined ? { signal } : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal,
  };
  let response;
  try {
    response = await fetch(`api/${path}`, request);
  } catch {
    throw new Problem("unreachable");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Problem(answer.error ?? `HTTP ${response.status}`);
  return answer;
}

// {shape, f16} -> an array with at(i, j, …) and part(i, …).
export function unpack({ shape, f16 }) {
  const bytes = Uint8Array.from(atob(f16), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const data = new Float32Array(bytes.length / 2);
  for (let i = 0; i < data.length; i++) data[i] = half(view.getUint16(2 * i, true));
  return new Numbers(shape, data);
}

export class Numbers {
  constructor(shape, data) {
    this.shape = shape;
    this.data = data;
  }

  at(...place) {
    return this.data[place.reduce((offset, i, axis) => offset * this.shape[axis] + i, 0)];
  }

  // The part under the first indices, such as one head of one layer: numbers.part(layer, head).at(row, column)
  part(...place) {
    const rest = this.shape.slice(place.length);
    const size = rest.reduce((a, b) => a * b, 1);
    const start = place.reduce((offset, i, axis) => offset * this.shape[axis] + i, 0) * size;
    return new Numbers(rest, this.data.subarray(start, start + size));
  }
}

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 0) return sign * 2 ** -14 * (fraction / 1024);
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * 2 ** (exponent - 15) * (1 + fraction / 1024);
}
