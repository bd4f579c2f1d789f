// How it got here: the curves of the run, and the same sentence at each kept checkpoint.

import { h, replace } from "jumok/dom.js";
import { lines } from "jumok/draw/lines.js";
import { number, table } from "jumok/draw/table.js";

const strings = {
  en: {
    title: "Training",
    question: "How did the model get here?",
    train_loss: "Training loss, a piece", valid_loss: "Validation loss, a piece", valid_bleu: "Validation BLEU (greedy)", learning_rate: "Learning rate",
    result: "BLEU {0} on {1} after {2} steps, {3} minutes.", steps: "steps", same: "The same sentence at each kept checkpoint", checkpoint: "Step", says: "What it said", score: "Score", none: "This run keeps no checkpoints beside its model.", samples: "What it said to one validation sentence while it learned (BLEU: of the whole validation set)", bleu: "BLEU", nothing: "This run has no record of its training.",
  },
  ko: {
    title: "학습 과정",
    question: "모델은 어떻게 여기까지 왔을까요?",
    train_loss: "학습 손실 (조각당)", valid_loss: "검증 손실 (조각당)", valid_bleu: "검증 BLEU (그리디 디코딩)", learning_rate: "학습률",
    result: "{2}스텝, {3}분 동안 학습한 결과 {1} 데이터에서 BLEU {0}입니다.", steps: "스텝", same: "남아 있는 체크포인트마다 같은 문장을 번역한 결과", checkpoint: "스텝", says: "번역", score: "점수", none: "이 학습 결과에는 모델 외에 남아 있는 체크포인트가 없습니다.", samples: "학습하는 동안 검증 문장 하나를 번역한 결과 (BLEU는 검증 데이터 전체의 값)", bleu: "BLEU", nothing: "이 학습 결과에는 학습 기록이 없습니다.",
  },
};

function mount(root, context) {
  const { t, model } = context;
  const curves = h("div", { class: "columns wide" }), same = h("div"), samples = h("div");
  const { bleu, scored_on, steps, train_seconds } = model.result;
  const result = bleu !== undefined && h("p", { class: "big" }, t("result", number(bleu, 1), scored_on, steps.toLocaleString(), Math.round(train_seconds / 60)));
  replace(root, result, curves, h("h2", {}, t("same")), same, samples);
  return async () => {
    const history = await context.ask("training");
    const known = Object.entries(history.curves).filter(([, points]) => points.length > 1);
    replace(curves, known.length ? known.map(([name, points]) =>
      h("div", {}, lines({ series: [{ name: t(name), points }], label: t(name), xLabel: t("steps"), tableLabel: t("table"), digits: name === "learning_rate" ? 6 : 3 }))) : h("p", {}, t("nothing")));
    const answer = await context.ask("checkpoints", { text: context.sentence.text });
    replace(same, answer.checkpoints.length ? table([t("checkpoint"), t("says"), t("score")], answer.checkpoints.map((one) => [one.step.toLocaleString(), one.text, number(one.score)]), t("same")) : h("p", { class: "note" }, t("none")), answer.problems.map((line) => h("p", { class: "problem" }, line)));
    replace(samples, history.samples.length > 0 && [h("h2", {}, t("samples")), h("p", { lang: model.source.code }, history.samples[0].source),
      table([t("steps"), t("says"), t("bleu")], history.samples.map((one) => [one.step.toLocaleString(), one.text, one.bleu === null ? "" : number(one.bleu, 1)]), t("samples"))]);
  };
}

export default { id: "training", strings, mount };
