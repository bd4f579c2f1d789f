"""A trained run as a translator: text in, text out.

translator = jumok.load("runs/demo")
translator.translate("어제 카페에 갔어요.")           a text in, a text out; a list in, a list out
translator.translate(texts, n_best=3)               a list of Translation, with scores
translator.trace("어제 카페에 갔어요.")               what every head looked at
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, overload

from jumok.config import Config, DecodingConfig
from jumok.data.lexicon import read_lexicon
from jumok.decoding.alignment import align_words, word_of_piece
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.look_back import look_back
from jumok.decoding.sentence import Sentence
from jumok.decoding.unknown import replacement, sources_of_unknowns
from jumok.engines.loading import Engines, is_export
from jumok.errors import UsageError
from jumok.evaluation.bayes_risk import least_risk
from jumok.inspection.subject import Subject
from jumok.inspection.trace import AttentionTrace, trace_batch
from jumok.models import TranslationModel
from jumok.storage.run_directory import RunDirectory
from jumok.text.glossary import Term
from jumok.text.languages import language
from jumok.text.normalization import normalize
from jumok.text.sentences import join_parts, pack_sentences, split_long
from jumok.text.tokenizer import EOS_ID, UNK_ID, Tokenizer
from jumok.translation import Options, ScoredText, Translation

# A stream's first answer comes soon, and its later chunks are large enough for good batches.
_FIRST_CHUNK, _LARGEST_CHUNK = 32, 2048


@dataclass(frozen=True)
class Part:
    """A text, or a part of a long one, and what was found for it, best first."""

    sentence: Sentence
    hypotheses: list[Hypothesis]
    texts: list[str]


class Translator:
    """Translates with a trained run, or with several together."""

    def __init__(
        self,
        config: Config,
        engines: Engines,
        src_tokenizer: Tokenizer,
        tgt_tokenizer: Tokenizer,
        usual_length: int | None = None,  # pieces that nearly all training sources have at most, where it is known
        lexicon: Mapping[str, str] | None = None,  # translations of single words, for those that are unknown
    ) -> None:
        self.config = config
        self.usual_length = usual_length
        self.lexicon = lexicon or {}
        self.engines = engines
        self.src_tokenizer = src_tokenizer
        self.tgt_tokenizer = tgt_tokenizer

    @classmethod
    def load(
        cls,
        *paths: str | Path,
        device: str = "auto",
        engine: str = "auto",
        compute: str = "auto",
        threads: int | None = None,
    ) -> Translator:
        """Open a run directory, or several of one vocabulary, whose probabilities are averaged."""
        runs = [RunDirectory(path) for path in paths]
        for run in runs:
            run.require() if is_export(run.path) else run.require_model()
        engines = Engines(runs, engine, compute, device, threads)
        usual_length = (runs[0].result() or {}).get("usual_length")
        return cls(runs[0].config(), engines, *runs[0].tokenizers(), usual_length, read_lexicon(runs[0].lexicon_file))

    @property
    def model(self) -> TranslationModel:
        """The model itself, to look into."""
        return self.engines.torch.model

    @overload
    def translate(self, texts: str, *, n_best: None = None, **options: Any) -> str: ...
    @overload
    def translate(self, texts: list[str], *, n_best: None = None, **options: Any) -> list[str]: ...
    @overload
    def translate(self, texts: str, *, n_best: int, **options: Any) -> Translation: ...
    @overload
    def translate(self, texts: list[str], *, n_best: int, **options: Any) -> list[Translation]: ...
    def translate(
        self, texts: str | list[str], *, n_best: int | None = None, **options: Any
    ) -> str | list[str] | Translation | list[Translation]:
        """Translate a text or a list of texts; with `n_best`, return that many hypotheses with their scores.

        The options are those of `jumok.translation.Options`: beam, sampling, prefix, glossary …
        """
        is_single = isinstance(texts, str)
        sources = [texts] if isinstance(texts, str) else list(texts)
        translations = self.translate_scored(sources, n_best=1 if n_best is None else n_best, **options)
        if n_best is None:
            plain = [translation.text for translation in translations]
            return plain[0] if is_single else plain
        return translations[0] if is_single else translations

    def translate_scored(self, sources: Sequence[str], **options: Any) -> list[Translation]:
        """Translations with scores. An empty text is empty; one that is too long is split and joined again."""
        return self._begin(sources, _options(options))()

    def translate_stream(self, lines: Iterable[str], **options: Any) -> Iterator[Translation]:
        """Translate line by line without holding all of them: a line in, a translation out, in order.

        The first lines are answered at once; then, while one chunk is translated, the next is read and cut into pieces.
        """
        wanted, iterator, size = _options(options), iter(lines), _FIRST_CHUNK
        begun: deque[Callable[[], list[Translation]]] = deque()
        while chunk := list(islice(iterator, size)):
            begun.append(self._begin(chunk, wanted))
            if wanted.sampling is not None and wanted.sampling.seed is not None:  # other draws for other lines
                wanted = replace(wanted, sampling=replace(wanted.sampling, seed=wanted.sampling.seed + len(chunk)))
            if len(begun) > 1 or size == _FIRST_CHUNK:
                yield from begun.popleft()()
            size = min(2 * size, _LARGEST_CHUNK)
        for finish in begun:
            yield from finish()

    def trace(self, text: str, target: str | None = None) -> AttentionTrace:
        """What every head looks at in a sentence and its translation, the model's own where none is given."""
        if not self.model.has_attention:
            raise UsageError(
                f"{type(self.model).__name__} has no attention to look at; take one run whose architecture has it, "
                "such as transformer or bahdanau"
            )
        if target is not None and not normalize(target):
            raise UsageError("the translation is empty; write one, or leave it to the model")
        if target is not None and UNK_ID in self.tgt_tokenizer.encode([target])[0]:
            raise UsageError(f"translation {target!r}: the model's vocabulary cannot spell it")
        pair = Subject(self.model, self.src_tokenizer, self.tgt_tokenizer, self.config).pair(text, target)
        return trace_batch(self.model, self.src_tokenizer, self.tgt_tokenizer, pair.batch)

    # --- from texts to hypotheses and back ----------------------------------------------------------------------

    def _begin(self, sources: Sequence[str], options: Options) -> Callable[[], list[Translation]]:
        """Hand texts to an engine; what is returned waits for it and puts the texts together."""
        decoding = self._decoding(options)
        texts_of, parts_of = self._parts([normalize(source) for source in sources], options)
        sentences = [sentence for parts in parts_of for sentence in parts]
        finish = self.engines.choose(sentences, decoding, options.sampling).begin(sentences, decoding, options.sampling)

        def translations() -> list[Translation]:
            found = [self._chosen(hypotheses, options) for hypotheses in finish()]
            if options.with_alignment or options.with_token_scores:
                found = look_back(self.model, sentences, found, decoding, use_attention=options.with_alignment)
            texts = iter(self._texts(texts_of, sentences, found, decoding))
            parts = (Part(*part, [next(texts) for _ in part[1]]) for part in zip(sentences, found, strict=True))
            return [
                Translation(source, self._join([next(parts) for _ in of_source], options))
                for source, of_source in zip(sources, parts_of, strict=True)
            ]

        return translations

    def _texts(
        self,
        sources: Sequence[str],
        sentences: Sequence[Sentence],
        found: Sequence[Sequence[Hypothesis]],
        decoding: DecodingConfig,
    ) -> list[str]:
        """The text of every hypothesis, one after the other: one call is faster than one a sentence."""
        all_ids = [one.ids for hypotheses in found for one in hypotheses]
        if not decoding.replace_unknown:
            return self.tgt_tokenizer.decode(all_ids)
        places_of = sources_of_unknowns(self.model, sentences, found, decoding)
        unknowns: list[list[str]] = []
        for source, places in zip(sources, places_of, strict=True):
            pieces = self.src_tokenizer.known_pieces(source) if any(places) else []
            unknowns += [[replacement(pieces[place], self.lexicon) for place in of_one] for of_one in places]
        return self.tgt_tokenizer.decode(all_ids, unknowns)

    def _chosen(self, hypotheses: list[Hypothesis], options: Options) -> list[Hypothesis]:
        if options.bayes_risk:
            texts = self.tgt_tokenizer.decode([hypothesis.ids for hypothesis in hypotheses])
            hypotheses = [hypotheses[i] for i in least_risk(texts)]
        return hypotheses[: options.n_best]

    def _decoding(self, options: Options) -> DecodingConfig:
        """The run's own settings with what was asked for over them."""
        own, n_best = self.config.decoding, options.n_best
        width = options.beam if options.beam is not None else max(own.beam, n_best)
        if options.sampling is not None:
            width = max(options.bayes_risk, n_best)
        if n_best > width:
            raise UsageError(f"n_best = {n_best} needs a beam of at least {n_best}, but beam = {width}")
        changes = {
            field.name: getattr(options, field.name)
            for field in fields(options)
            if field.name in DecodingConfig.model_fields and getattr(options, field.name) is not None
        }
        asked = own.model_copy(update={**changes, "beam": width})
        has_unknowns = asked.replace_unknown and self.tgt_tokenizer.has_unknowns
        return asked.model_copy(update={"replace_unknown": has_unknowns})

    def _parts(self, texts: list[str], options: Options) -> tuple[list[str], list[list[Sentence]]]:
        """Each text in parts that are as long as what the model was trained on, at most; none for an empty text.

        Returns the texts of all parts, and the sentences of each text.
        """
        prefix = self._prefix(options)
        kept: list[str] = []
        parts_of = []
        for text, ids in zip(texts, self.src_tokenizer.encode(texts, is_normalized=True), strict=True):
            parts, ids_of = [text], [ids]
            if len(ids) > self._usual_length:
                sentences = pack_sentences(text, self._usual_length, self._num_pieces)
                parts = [part for each in sentences for part in split_long(each, self._max_length, self._num_pieces)]
                ids_of = self.src_tokenizer.encode(parts)
            kept += [part for part, own_ids in zip(parts, ids_of, strict=True) if own_ids]
            parts_of.append(
                [
                    Sentence(own_ids, () if number else prefix, self._terms(part, options))
                    for number, (part, own_ids) in enumerate(zip(parts, ids_of, strict=True))
                    if own_ids
                ]
            )
        return kept, parts_of

    @cached_property
    def _max_length(self) -> int:
        """Pieces that a source may have."""
        own, of_engine = self.config.data.max_length, self.engines.max_length
        return own if of_engine is None else min(own, of_engine - 1)

    @property
    def _usual_length(self) -> int:
        """Pieces above which a text is translated sentence by sentence."""
        return min(self.usual_length or self._max_length, self._max_length)

    def _prefix(self, options: Options) -> Sequence[int]:
        if not options.prefix:
            return ()
        ids = self.tgt_tokenizer.encode([options.prefix])[0]
        if UNK_ID in ids:
            raise UsageError(f"prefix {options.prefix!r}: the model's vocabulary cannot spell it")
        return ids

    def _num_pieces(self, text: str) -> int:
        return len(self.src_tokenizer.encode([text])[0])

    def _terms(self, text: str, options: Options) -> tuple[Term, ...]:
        if options.glossary is None:
            return ()
        return options.glossary.terms(text, self.src_tokenizer, self.tgt_tokenizer, self.config.data.target)

    def _join(self, parts: list[Part], options: Options) -> list[ScoredText]:
        """The n-th best of the whole is made of the n-th best of each part."""
        if not parts:
            return [ScoredText("", 0.0, **self._details([], options))] * options.n_best
        joined = []
        for rank in range(max(len(part.hypotheses) for part in parts)):
            ranks = [min(rank, len(part.hypotheses) - 1) for part in parts]
            texts = [part.texts[own] for part, own in zip(parts, ranks, strict=True)]
            chosen = [(part.sentence, part.hypotheses[own]) for part, own in zip(parts, ranks, strict=True)]
            joined.append(
                ScoredText(
                    join_parts(texts, self.config.data.target),
                    sum(hypothesis.score for _, hypothesis in chosen) / len(chosen),
                    all(hypothesis.is_complete for _, hypothesis in chosen),
                    **self._details(chosen, options),
                )
            )
        return joined + joined[-1:] * (options.n_best - len(joined))  # so that every line has equally many

    def _details(self, parts: list[tuple[Sentence, Hypothesis]], options: Options) -> dict[str, Any]:
        """What was asked for beside the text."""
        details: dict[str, Any] = {}
        if options.with_token_scores:
            ids = [i for _, one in parts for i in (*one.ids, *([EOS_ID] if one.is_complete else []))]
            details["pieces"] = tuple(self.tgt_tokenizer.id_to_piece(ids))
            details["token_scores"] = tuple(p for _, hypothesis in parts for p in hypothesis.piece_log_probs or ())
        if options.with_alignment:
            details["alignment"] = tuple(self._alignment(parts))
        return details

    def _alignment(self, parts: list[tuple[Sentence, Hypothesis]]) -> Iterator[tuple[int, int]]:
        """Words that belong together, counted over the whole text."""
        data = self.config.data
        has_spaces = [language(code).has_spaces for code in (data.source, data.target)]
        src_start = tgt_start = 0
        for sentence, hypothesis in parts:
            src_pieces = self.src_tokenizer.written_pieces(sentence.ids)
            tgt_pieces = self.tgt_tokenizer.written_pieces(hypothesis.ids)
            assert hypothesis.attention is not None
            for src, tgt in align_words(src_pieces, tgt_pieces, hypothesis.attention, *has_spaces):
                yield src_start + src, tgt_start + tgt
            src_start += max(word_of_piece(src_pieces, has_spaces[0]), default=-1) + 1
            tgt_start += max(word_of_piece(tgt_pieces, has_spaces[1]), default=-1) + 1


load = Translator.load


def _options(values: dict[str, Any]) -> Options:
    known = [field.name for field in fields(Options)]
    for name in values:
        if name not in known:
            raise UsageError(f"translate knows no option {name}; known: {', '.join(known)}")
    return Options(**values)
