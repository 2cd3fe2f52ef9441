"""Names of dials, their coverage and their raters' agreement as tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from labapp.analysis.tables import typed
from labapp.tasks.reconstruction.report.labels.columns import LABEL_TABLES
from labapp.tasks.reconstruction.report.labels.names import Dial, Model, Name
from labapp.tasks.reconstruction.report.labels.results import Found, coverage, covered

Row = dict[str, Any]


def frames(result: Found) -> dict[str, pd.DataFrame]:
    """By name, in the order they are written; without names they have no rows."""
    rows: dict[str, list[Row]] = {
        "label_names": [
            _name(result, model, dial, name)
            for model in result.models
            for dial in model.dials
            for name in dial.names
        ],
        "label_dials": list(_dials(result)),
        "label_models": list(_models(result)),
        "label_agreement": list(_agreement(result)),
    }
    return {name: typed(rows[name], columns) for name, columns in LABEL_TABLES.items()}


def _dial(model: Model, dial: Dial) -> Row:
    return {
        "study": model.study,
        "model": model.model,
        "dimension": dial.number,
        "dimension_title": dial.title,
        "dimension_name": dial.own_name,
    }


def _name(result: Found, model: Model, dial: Dial, name: Name) -> Row:
    votes = [rating.says[name.id] for rating in result.ratings]
    texts = (f"{r.rater}: {'yes' if r.says[name.id] else 'no'}" for r in result.ratings)
    return _dial(model, dial) | {
        "label": name.id,
        "participant": name.participant,
        "session": name.session,
        "text": name.text,
        "n_others": len(dial.others(name)),
        "n_raters": len(votes),
        "n_yes": sum(votes) if votes else None,
        "consistent": result.consistent(name),
        "ratings": "; ".join(texts) or None,
    }


def _dials(result: Found) -> Iterator[Row]:
    for model, effects in zip(result.models, result.effects, strict=True):
        theirs = model.published
        for at, dial in enumerate(model.dials):
            effect = effects.of[at] if effects.of else None
            known = theirs is not None and len(theirs.names) == len(model.dials)
            yield _dial(model, dial) | {
                "effect_distance": effect and effect.distance,
                "effect_change": effect and effect.change,
                "effect_share": effect and effect.share,
                "little_effect": effect and effect.little,
                "no_effect_because": effects.why_not or None,
                "n_met": len(model.met),
                "n_named": len(dial.people),
                "coverage": coverage(model, dial),
                "n_names": len(dial.names),
                "n_consistent": result.n_consistent(dial),
                "published_names": theirs.names[at] if theirs and known else None,
            }


def _models(result: Found) -> Iterator[Row]:
    for model, effects in zip(result.models, result.effects, strict=True):
        theirs = model.published
        agreed = [result.n_consistent(dial) for dial in model.dials]
        yield {
            "study": model.study,
            "model": model.model,
            "n_met": len(model.met),
            "n_named_any": len(model.people),
            "named_any_share": len(model.people) / len(model.met) if model.met else None,
            "published_named_any_share": theirs.named_any / 100 if theirs else None,
            "n_dials": len(model.dials),
            "n_covered": covered(model),
            "published_n_covered": theirs.covered if theirs else None,
            "n_little_effect": sum(effect.little for effect in effects.of) if effects.of else None,
            "n_names": sum(len(dial.names) for dial in model.dials),
            "n_consistent": sum(n or 0 for n in agreed) if result.ratings else None,
        }


def _agreement(result: Found) -> Iterator[Row]:
    if (both := result.agreement) is not None:
        yield {
            "n_raters": both.raters,
            "n_names": both.n,
            "percent": both.percent,
            "statistic": both.name,
            "kappa": both.kappa,
            "low": both.low,
            "high": both.high,
            "no_kappa_because": both.why_not or None,
        }
