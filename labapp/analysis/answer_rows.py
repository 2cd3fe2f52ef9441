"""Rows of the tables of answers and scores: what one session's questionnaires give to them."""

from __future__ import annotations

import json
from typing import Any

from labapp.analysis.questionnaires import AnswerRecord
from labapp.analysis.scores import ScoreRecord
from labapp.analysis.walk import Parts

Row = dict[str, Any]


def _about(part_id: str, parts: Parts) -> Row:
    """The stage that a questionnaire asks about, and its representation."""
    part = parts.questionnaires.get(part_id)
    about = None if part is None else part.about
    stage = parts.with_trials.get(about) if about is not None else None
    return {"about": about, "model": None if stage is None else stage.model}


def score_row(score: ScoreRecord, parts: Parts) -> Row:
    """The columns of the table of scores."""
    limits = score.limits
    return {
        "stage": score.part,
        **_about(score.part, parts),
        "instrument": score.instrument,
        "instrument_version": score.instrument_version,
        "score": score.score,
        "value": score.value,
        "low": None if limits is None else limits.low,
        "high": None if limits is None else limits.high,
        "meaning": "the answer as it is" if limits is None else limits.meaning,
    }


def answer_row(answer: AnswerRecord, parts: Parts) -> Row:
    """The columns of the table of answers."""
    value, value_text = _number_or_text(answer.value)
    first, first_text = _number_or_text(answer.first)
    return {
        "stage": answer.part,
        **_about(answer.part, parts),
        "instrument": answer.instrument,
        "instrument_version": answer.instrument_version,
        "item": answer.item,
        "kind": _kind(answer.value),
        "value": value,
        "value_text": value_text,
        "touched": answer.value["touched"] if _is_slider(answer.value) else None,
        "described": _described(answer.value),
        "first_value": first,
        "first_value_text": first_text,
        "changes": answer.changes,
        "first_s": answer.first_s,
        "last_s": answer.last_s,
        "submitted_s": answer.submitted_s,
        "submitted": answer.submitted_s is not None,
    }


def _kind(value: Any) -> str | None:
    """What kind of answer it is (labapp.study.instruments.items has their forms)."""
    if value is None:
        return None
    if isinstance(value, dict):
        return "slider" if _is_slider(value) else "choice"
    return "written" if isinstance(value, str) else "rating"


def _is_slider(value: Any) -> bool:
    return isinstance(value, dict) and "touched" in value


def _described(value: Any) -> str | None:
    """What was written beside a chosen option (labapp.study.instruments.items has the form)."""
    return value.get("described") or None if isinstance(value, dict) else None


def _number_or_text(value: Any) -> tuple[float | None, str | None]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value), None
    if value is None or isinstance(value, str):
        return None, value or None
    if _is_slider(value):
        return float(value["value"]), None
    if isinstance(value, dict) and isinstance(value.get("chosen"), list | tuple):
        return None, ";".join(value["chosen"]) or None
    return None, json.dumps(value, ensure_ascii=False)
