// The words of the shell; each view has its own beside its code.

export const words = {
  en: {
    skip: "Skip to the view", views: "Views", "theme.auto": "Colours: system", "theme.light": "Colours: light", "theme.dark": "Colours: dark", loading: "The model is being loaded …",
    source: "Sentence ({0})", target: "Translation ({0}), if you want another than the model's own", own: "the model's own",
    table: "The numbers as a table", layer: "Layer", head: "Head", kind: "Attention",
    encoder: "encoder: source looks at source", decoder: "decoder: target looks back at target", cross: "cross: target looks at source",
    unreachable: "The server does not answer. Is `jumok serve` still running?",
    exported: "This page is a copy made for one sentence; `jumok serve` answers for others and for other settings.",
    empty: "The sentence is empty: write one above.", long: "The sentence has {0} pieces, and {1} can be looked at together: take a shorter one.",
    transformer: "This can be seen in a Transformer only; this model is another ({0}).", attention: "This model ({0}) has no attention to look at.",
    piece: "Piece", probability: "Probability", position: "Position",
  },
  ko: {
    skip: "본문으로 건너뛰기", views: "화면 목록", "theme.auto": "색: 시스템", "theme.light": "색: 밝게", "theme.dark": "색: 어둡게", loading: "모델을 불러오는 중입니다…",
    source: "문장 ({0})", target: "번역문 ({0}): 모델의 번역이 아닌 다른 문장으로 볼 때만 적습니다", own: "모델의 번역 그대로",
    table: "숫자를 표로 보기", layer: "층", head: "헤드", kind: "어텐션",
    encoder: "인코더: 원문이 원문을 봅니다", decoder: "디코더: 번역문이 앞의 번역문을 봅니다", cross: "교차: 번역문이 원문을 봅니다",
    unreachable: "서버가 응답하지 않습니다. `jumok serve`가 실행 중인지 확인하십시오.",
    exported: "이 페이지는 한 문장만 담아 저장한 사본입니다. 다른 문장이나 설정은 `jumok serve`에서 볼 수 있습니다.",
    empty: "문장이 비어 있습니다. 위에 문장을 적어 주십시오.", long: "이 문장은 조각이 {0}개입니다. 한 번에 {1}개까지 볼 수 있으니 더 짧은 문장을 적어 주십시오.",
    transformer: "트랜스포머에서만 볼 수 있습니다. 이 모델은 다른 구조({0})입니다.", attention: "이 모델({0})에는 볼 수 있는 어텐션이 없습니다.",
    piece: "조각", probability: "확률", position: "위치",
  },
};
