"""Why this sentence: the tree of one search."""

from __future__ import annotations

from jumok.errors import UsageError
from jumok.inspection.labels import label_pieces
from jumok.inspection.search_trace import SearchTrace, trace_search
from jumok.inspection.subject import Subject
from jumok.serving.answers.look import Answer, Look
from jumok.serving.questions import BeamQuestion
from jumok.text.tokenizer import EOS_ID


def beam(look: Look, question: BeamQuestion) -> Answer:
    """Every continuation of every step, what was finished, and the way to what was chosen."""
    subject = look.subject
    src_ids = subject.source_ids(question.text)
    force = _prefix(subject, question.force)
    changes = {"beam": question.beam, "length_penalty": question.length_penalty}
    decoding = subject.config.decoding.model_copy(update=changes)
    trace = trace_search(subject.model, src_ids, decoding, subject.max_tgt_length(src_ids, len(force)), force)
    return {
        "steps": _steps(subject, trace),
        "chosen": trace.chosen,
        "text": subject.text(trace.hypotheses[0].ids),
        "forced_text": subject.text(force),
        "finished": [
            {
                "text": subject.text(one.ids),
                "score": one.score,
                "log_prob": one.log_prob,
                "is_complete": one.is_complete,
            }
            for one in trace.hypotheses
        ],
    }


def _prefix(subject: Subject, pieces: list[str]) -> list[int]:
    """Ids of the pieces that are forced; a branch that has ended is forced up to its end mark."""
    ids = [subject.tgt_tokenizer.piece_to_id(piece) for piece in pieces]
    known = [i for i in ids if i is not None]
    if len(known) < len(ids):
        raise UsageError(f"{pieces[ids.index(None)]!r}: the target vocabulary does not have this piece")
    return known[: known.index(EOS_ID)] if EOS_ID in known else known


def _steps(subject: Subject, trace: SearchTrace) -> list[list[Answer]]:
    paths: dict[int | None, list[str]] = {None: []}
    steps = []
    for step in trace.steps:
        rows = []
        for one in step:
            piece = subject.tgt_tokenizer.id_to_piece([one.piece])[0]
            paths[one.number] = [*paths[one.parent], piece]
            rows.append(
                {
                    "id": one.number,
                    "parent": one.parent,
                    "label": label_pieces([piece])[0],
                    "path": paths[one.number],
                    "log_prob": one.log_prob,
                    "total": one.total,
                    "score": one.score,
                    "status": one.status,
                }
            )
        steps.append(rows)
    return steps
