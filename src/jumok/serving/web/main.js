// The shell: which view, which sentence, which language; everything else is the views' own.

import { Problem, ask, isExported } from "jumok/api.js";
import { button, textBox } from "jumok/controls.js";
import { h, replace } from "jumok/dom.js";
import { keepFocus } from "jumok/focus.js";
import { readState, writeState } from "jumok/state.js";
import { words } from "jumok/strings.js";
import { views } from "jumok/views.js";

const part = (name) => document.querySelector(`[data-part="${name}"]`);
const main = document.getElementById("view");
const THEMES = ["auto", "light", "dark"];

let state = readState(), model = null, update = null, shown = "", running = null, boxes = null;

const language = () => [state.lang, recall("lang")].find((lang) => lang in words) ?? (navigator.language.startsWith("ko") ? "ko" : "en");
const view = () => views.find((one) => one.id === state.view) ?? views[0];
const stringsOf = (one) => one.strings[language()] ?? one.strings.en;
const shell = (key, ...values) => fillIn(words[language()][key] ?? key, values);
const fillIn = (text, values) => values.reduce((sum, value, i) => sum.replaceAll(`{${i}}`, value), text);

const context = {
  // An answer that came too late, because the reader has gone on, ends the update that had asked for it.
  ask: async (path, body) => {
    if (body?.text !== undefined && !body.text.trim()) throw new Problem("empty");
    const { signal } = running;
    const answer = await ask(path, body, signal);
    signal.throwIfAborted();
    return answer;
  },
  set: (changes, isNewPlace = false) => {
    state = { ...state, ...changes };
    writeState(state, isNewPlace);
    return show();
  },
  go: async (id, changes = {}) => {
    await context.set({ view: id, ...changes }, true);
    scrollTo(0, 0);
    if (document.activeElement === document.body) main.focus();
  },
  t: (key, ...values) => fillIn(stringsOf(view())[key] ?? words[language()][key] ?? key, values),
  titleOf: (id) => stringsOf(views.find((one) => one.id === id)).title,
  announce: (text) => { part("announcer").textContent = text; },
  get model() { return model; },
  get state() { return state; },
  // The sentence that is looked at, and its translation where the reader gave one.
  get sentence() { return { text: state.text ?? model.example.source, ...(state.target ? { target: state.target } : {}) }; },
};

async function start() {
  applyTheme();
  drawShell();
  replace(main, h("p", { class: "waiting", role: "status" }, shell("loading")));
  try {
    model = await ask("model");
  } catch (error) {
    showProblem(error);
    return;
  }
  addEventListener("popstate", () => { state = readState(); drawShell(); show(); });
  drawShell();
  await show();
}

// A view is mounted when it or the language changes; after that it only follows the state.
async function show() {
  running?.abort();
  running = new AbortController();
  const mine = running;
  for (const link of part("views").querySelectorAll("a")) {
    if (link.dataset.view === view().id) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  boxes?.text.follow(context.sentence.text);
  boxes?.target.follow(state.target ?? "");
  const giveBackFocus = keepFocus(main);
  main.setAttribute("aria-busy", "true");
  try {
    const wanted = `${view().id} ${language()}`;
    if (wanted !== shown) mount(wanted);
    await update(state);
    if (mine === running) hideProblem();
  } catch (error) {
    if (mine === running) showProblem(error);
  } finally {
    if (mine === running) {
      main.removeAttribute("aria-busy");
      giveBackFocus();
    }
  }
}

function mount(wanted) {
  shown = wanted;
  const root = h("div", { class: "view", id: `view-${view().id}` });
  replace(main, h("h1", {}, context.t("title")), h("p", { class: "question" }, context.t("question")), h("p", { class: "problem", role: "alert", hidden: true }), root);
  document.title = `${context.t("title")} · Jumok`;
  const { needs } = view();
  const has = { transformer: model.architecture === "transformer", attention: model.attentions.length > 0 };
  update = needs && !has[needs] ? async () => { throw new Problem(needs); } : view().mount(root, context);
}

function showProblem(error) {
  let place = main.querySelector(".problem");
  if (!place) replace(main, place = h("p", { class: "problem", role: "alert" }));
  place.textContent = error instanceof Problem ? inWords(error.message) : String(error);
  place.hidden = false;
  main.querySelector(".view")?.classList.add("is-stale");
  if (!(error instanceof Problem)) console.error(error);
}

function hideProblem() {
  main.querySelector(".problem").hidden = true;
  main.querySelector(".view").classList.remove("is-stale");
}

// The server's lines are English; those that a reader is likely to meet are known here in both languages.
function inWords(message) {
  const tooLong = message.match(/^the sentence has (\d+) pieces, and (\d+) can be looked at/);
  if (tooLong) return shell("long", tooLong[1], tooLong[2]);
  return shell(message, model?.architecture);
}

function drawShell() {
  const lang = language(), other = lang === "ko" ? "en" : "ko", theme = recall("theme") ?? "auto";
  document.documentElement.lang = lang;
  const skip = part("skip");
  skip.textContent = shell("skip");
  skip.onclick = (event) => { event.preventDefault(); main.focus(); };
  part("model").textContent = model ? `${model.name} · ${nameOf(model.source)} → ${nameOf(model.target)}` : "";
  const giveBackFocus = keepFocus(part("switches"));
  replace(part("switches"),
    button(other === "ko" ? "한국어" : "English", () => { remember("lang", other); state.lang = other; writeState(state); drawShell(); if (model) show(); }, { lang: other, "data-switch": "language" }),
    button(shell(`theme.${theme}`), () => {
      remember("theme", THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]);
      applyTheme();
      drawShell();
      if (model) { shown = ""; show(); }
    }, { "data-switch": "theme" }));
  giveBackFocus();
  part("views").setAttribute("aria-label", shell("views"));
  replace(part("views"), h("ul", {}, views.map((one) => h("li", {}, h("a", {
    href: `#view=${one.id}`, "data-view": one.id,
    onclick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      if (model) context.go(one.id);
    },
  }, stringsOf(one).title)))));
  if (model) drawSentence();
}

function drawSentence() {
  const form = part("sentence");
  if (form.dataset.lang === language()) return;
  form.dataset.lang = language();
  form.onsubmit = (event) => event.preventDefault();
  const attributes = (name) => ({ lang: model[name === "text" ? "source" : "target"].code, dir: "auto", maxlength: model.limits.characters, "data-part": name, readonly: isExported });
  boxes = {
    text: textBox({
      label: shell("source", nameOf(model.source)), value: context.sentence.text, attributes: attributes("text"),
      onsettle: (text) => context.set({ text, target: undefined }),
    }),
    target: textBox({
      label: shell("target", nameOf(model.target)), value: state.target ?? "", attributes: { ...attributes("target"), placeholder: shell("own") },
      onsettle: (target) => context.set({ target }),
    }),
  };
  replace(form, boxes.text, boxes.target);
}

// A language as the reader's language calls it.
function nameOf({ code, name }) {
  const known = new Intl.DisplayNames([language()], { type: "language", fallback: "none" });
  try { return known.of(code) ?? name; } catch { return name; } // a code that no standard knows
}

function applyTheme() {
  document.documentElement.dataset.theme = recall("theme") ?? "auto";
}

function remember(name, value) {
  try { localStorage.setItem(`jumok.${name}`, value); } catch { /* a page opened from a file may not store */ }
}

function recall(name) {
  try { return localStorage.getItem(`jumok.${name}`); } catch { return null; }
}

start();
