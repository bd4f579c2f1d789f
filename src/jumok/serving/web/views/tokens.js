// Why these pieces: text, pieces, ids, bytes.

import { h, replace } from "jumok/dom.js";
import { table, behind } from "jumok/draw/table.js";

const strings = {
  en: {
    title: "Tokens",
    question: "Why these pieces, and not words or letters?",
    see: "Frequent words are one piece, rare ones several; a character that was never seen is spelled in bytes, so that nothing is unknown. ▁ marks where a word begins.",
    count: "{0} characters become {1} pieces of a vocabulary of {2}.",
    source: "Source", target: "Translation", id: "id", bytes: "bytes (UTF-8)", kind: "kind",
    word: "begins a word", inside: "goes on with a word", byte: "one byte of a character",
  },
  ko: {
    title: "토큰",
    question: "왜 단어나 글자가 아니라 이런 조각일까요?",
    see: "자주 나오는 단어는 조각 하나가 되고, 드문 단어는 여러 조각이 됩니다. 한 번도 보지 못한 글자는 바이트로 적으므로 모르는 글자가 없습니다. ▁는 단어가 시작되는 자리를 나타냅니다.",
    count: "글자 {0}개가 조각 {1}개로 나뉩니다. 어휘에는 조각이 {2}개 있습니다.",
    source: "원문", target: "번역문", id: "번호", bytes: "바이트 (UTF-8)", kind: "종류",
    word: "단어의 시작", inside: "단어의 뒷부분", byte: "글자를 이루는 한 바이트",
  },
};

function mount(root, context) {
  const { t } = context;
  const places = { source: h("div"), target: h("div") };
  replace(root, h("p", { class: "note" }, t("see")), h("div", { class: "columns" },
    h("section", {}, h("h2", {}, t("source")), places.source),
    h("section", {}, h("h2", {}, t("target")), places.target)));
  return async () => {
    const { text, target } = context.sentence;
    const translation = target ?? (await context.ask("translate", { text })).text;
    const sides = { source: text, target: translation };
    for (const [side, own] of Object.entries(sides)) {
      const answer = await context.ask("tokens", { text: own, side });
      replace(places[side], draw(answer, side, context));
    }
  };
}

function draw(answer, side, { t, model }) {
  const language = model[side].code;
  const kind = (piece) => t(piece.is_byte ? "byte" : piece.starts_word ? "word" : "inside");
  const rows = answer.pieces.map((piece) => [piece.label, piece.piece, piece.id, piece.bytes, kind(piece)]);
  return [
    h("p", { class: "note" }, t("count", [...answer.normalized].length, answer.pieces.length, answer.vocab_size.toLocaleString())),
    h("ul", { class: "pieces", lang: language }, answer.pieces.map((piece) =>
      h("li", { class: piece.is_byte ? "piece byte" : "piece", title: `${piece.piece} · ${piece.id} · ${piece.bytes}` }, piece.label, h("small", {}, ` ${piece.id}`)))),
    behind(t("table"), () => table([t("piece"), "SentencePiece", t("id"), t("bytes"), t("kind")], rows, t("title"))),
  ];
}

export default { id: "tokens", strings, mount };
