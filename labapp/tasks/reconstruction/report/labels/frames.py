"""Names of dials, their coverage and their raters' agreement as tables.

The columns of the tables of the names that dials were given (paper 000, Tables 1 and A.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from labapp.analysis.column import number, text, whole, yes
from labapp.analysis.tables import typed
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


_DIAL = (
    text("study", "id of the study"),
    text("model", "id of the representation"),
    whole("dimension", "the dial, from 1 as on the screen"),
    text("dimension_title", "the dial as the paper's tables call it, for example Continuous 3"),
    text("dimension_name", "the representation's own name of the dimension"),
)

NAMES = (
    *_DIAL,
    text("label", "id of the name in labels_to_rate.csv"),
    text("participant", "who gave it"),
    text("session", "label of the session"),
    text("text", "the name as it was at the end of the stage"),
    whole("n_others", "names that other participants gave to this dial"),
    whole("n_raters", "raters"),
    whole("n_yes", "raters who call it consistent; empty without raters"),
    yes("consistent", "every rater calls it consistent; empty without raters"),
    text("ratings", "what each rater says, by the name of the file"),
)
"""The names of sessions that count, as they were rated."""

COVERAGE = (
    *_DIAL,
    number("effect_distance", "mean distance d between its low and its high end", "0-1"),
    number("effect_change", "mean sum over pixels of absolute differences between them", "pixels"),
    number("effect_share", "its effect over that of the model's strongest dial", "0-1"),
    yes("little_effect", "that share is below 0.05; ours"),
    text("no_effect_because", "why the effect is not known"),
    whole("n_met", "participants who met the model"),
    whole("n_named", "of these, who named the dial"),
    number("coverage", "the second over the first", "0-1"),
    whole("n_names", "names"),
    whole("n_consistent", "of these, consistent; empty without raters"),
    whole("published_names", "names in the paper's table, of the model that is named alike"),
)
"""What each dial is worth a name."""

MODELS = (
    text("study", "id of the study"),
    text("model", "id of the representation"),
    whole("n_met", "participants who met it"),
    whole("n_named_any", "of these, who named at least one of its dials"),
    number("named_any_share", "the second over the first", "0-1"),
    number("published_named_any_share", "in the paper, both D together (6.2.2)", "0-1"),
    whole("n_dials", "dials"),
    whole("n_covered", "of these, named by at least 80 % of the participants"),
    whole("published_n_covered", "likewise, counted in the paper's tables (5 participants)"),
    whole("n_little_effect", "dials with little effect; empty where effects are not known"),
    whole("n_names", "names"),
    whole("n_consistent", "of these, consistent; empty without raters"),
)

AGREEMENT = (
    whole("n_raters", "raters"),
    whole("n_names", "names that can agree with another participant's"),
    number("percent", "of these, of which all raters say the same", "%"),
    text("statistic", "Cohen's kappa (two raters) or Fleiss's kappa (more)"),
    number("kappa", "its value; empty where it is undefined"),
    number("low", "lower end of its 95 % interval, a percentile bootstrap over names"),
    number("high", "upper end"),
    text("no_kappa_because", "why there is none"),
)

LABEL_TABLES = {
    "label_names": NAMES,
    "label_dials": COVERAGE,
    "label_models": MODELS,
    "label_agreement": AGREEMENT,
}
"""Tables that are computed from the others and from what raters say."""
