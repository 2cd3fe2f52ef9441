"""What a study's items, conditions, quotas and rules of exclusion are called where people read.

A label of the study is taken as it is. Without one, a rule or quota is described in a few words,
made from its keys, with the words of its items and options. Table files keep the names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import pandas as pd

from labapp.analysis.declared import DECLARED, read_declared
from labapp.analysis.inclusion import BY_HAND, RULES, SESSIONS, WITHDRAWN
from labapp.base import resources
from labapp.base.errors import ModelError
from labapp.base.report.labels import Labels, Worded, current_labels, labelled
from labapp.base.report.listing import quoted, sentence
from labapp.base.report.page import Verbatim, say
from labapp.models.representations.card import find_card, title_of
from labapp.study.design import MODEL, Declared, ExcludeRule
from labapp.study.quotas import Quota
from labapp.study.when import ALL, ANY, NOT, as_tuple

OF_EVERY_STUDY = {
    WITHDRAWN: "Withdrew",
    "completed": "Did not finish",
    BY_HAND: "Excluded by hand",
    "practice_correct": "A practice question answered incorrectly",
    "min_solved": "Too few questions solved",
    SESSIONS: "Too few sessions completed",
}
"""What the rules are called that every study has."""


def words_of_items(items: pd.DataFrame) -> dict[str, Worded]:
    """By questionnaire and item how it is worded, and the titles of questionnaires. items: the
    table, in one language."""
    titles = items.dropna(subset=["title"]).drop_duplicates("instrument", keep="last")
    made = {
        str(instrument): Worded(str(title))
        for instrument, title in zip(titles["instrument"], titles["title"], strict=True)
    }
    columns = (items[name] for name in ("instrument", "item", "text", "answers"))
    for instrument, item, text, answers in zip(*columns, strict=True):
        options = json.loads(answers) if isinstance(answers, str) and answers else {}
        named = {str(key): str(words) for key, words in options.items()}
        made[f"{instrument}.{item}"] = Worded(str(text) if isinstance(text, str) else "", named)
    return made


def titles_of_models(participants: pd.DataFrame) -> dict[str, str]:
    """By id the titles of the models of sessions, each as far as it takes to tell it from the
    others; what follows a comma is in brackets. participants: that table."""
    models = {model for some in participants["models"].dropna() for model in str(some).split(", ")}
    parts = {model: title.split(", ") for model in models if (title := _find_title(model))}
    for n in range(1, max(map(len, parts.values()), default=0) + 1):
        short = {
            model: f"{name} ({', '.join(more[: n - 1])})" if more[: n - 1] else name
            for model, (name, *more) in parts.items()
        }
        if len({*short.values()}) == len(short):
            return short
    return {}


def _find_title(model: str) -> str:
    """The title of a model of any kind; "" of one that is neither installed nor in a bundle."""
    from labapp.models.concepts import card as concepts
    from labapp.models.explanations import package as classifiers

    if (known := find_card(model)) is not None:
        return known.title
    for folder in (root / model for root in resources.model_roots()):
        with suppress(ModelError):
            if (folder / classifiers.CARD).is_file():
                return title_of(folder) or classifiers.read(folder).recipe.title
            if (folder / concepts.CARD).is_file():
                return title_of(folder) or concepts.read(folder).title
    return ""


def rule_names(declared: Iterable[str]) -> dict[str, str]:
    """What each rule is called for which a session may not count: those of every study, then the
    studies' own. declared: JSON of what studies declare."""
    made: dict[str, str] = {name: say(words) for name, words in OF_EVERY_STUDY.items()}
    for text in dict.fromkeys(filter(None, declared)):
        known = read_declared(text)
        made |= {name: name_of_rule(name, known) for name in known.exclude}
    return made


def rules_in(participants: pd.DataFrame) -> dict[str, str]:
    """What the rules of the studies in a table of participants are called."""
    there = DECLARED.name in participants
    return rule_names(map(str, participants[DECLARED.name].dropna()) if there else ())


def meanings_of_rules(declared: Iterable[str]) -> dict[str, str]:
    """What it means not to meet a rule; of those whose name says it already, "". declared: as of
    `rule_names`."""
    made = dict(RULES)
    for text in dict.fromkeys(filter(None, declared)):
        known = read_declared(text)
        for name, rule in known.exclude.items():
            words = describe_rule(rule)
            made[name] = "" if words == name_of_rule(name, known) else words
    return made


def list_rules(failed: object, names: Mapping[str, str]) -> str:
    """The rules of a cell `excluded_because`, as they are called. names: see `rule_names`."""
    own = (name for name in str(failed or "").split(", ") if name)
    return Verbatim("; ".join(names.get(name, name) for name in own))


def name_of_rule(name: str, declared: Declared) -> Verbatim:
    """A rule of exclusion by its label, else in words."""
    return Verbatim(_labels().label(name) or describe_rule(declared.exclude[name]))


def describe_rule(rule: ExcludeRule) -> Verbatim:
    """Whom a rule excludes, in a few words such as "Tiredness above 80 (only: Without a hint)"."""
    item, options = name_item(rule.item or rule.score or "")
    fields = rule.model_dump()
    for key in ("answer", "answer_not"):
        fields[key] = [_word_answer(options, each) for each in as_tuple(fields[key])]
    for key in ("when", "only_if"):
        fields[key] = describe_condition(getattr(rule, key))
    made = sentence("condition.rule", **fields | {"item": item})
    return Verbatim(made[:1].upper() + made[1:])


def describe_quota(name: str, quota: Quota) -> tuple[str, str]:
    """The label of a quota, or "", and whom it limits in words."""
    return _labels().label(name), describe_condition(quota.when)


def name_factor(factor: str) -> str:
    """A factor by its label; labapp's own, the model, by its word."""
    label = labelled(factor)
    return say(factor) if label == factor == MODEL else label


def describe_condition(condition: Mapping[str, Any]) -> str:
    """A condition in words, such as "Prior use: Often and Age below 40"; "" for none."""
    return f" {say('and')} ".join(_leaf(name, wanted) for name, wanted in condition.items())


def _leaf(name: str, wanted: Any) -> str:
    if name in (ANY, ALL):
        joined = f" {say('or' if name == ANY else 'and')} ".join(map(describe_condition, wanted))
        return f"({joined})" if len(wanted) > 1 else joined
    if name == NOT:
        return sentence("condition.not", condition=describe_condition(wanted))
    labels = _labels()
    item, options = name_item(name)
    if isinstance(wanted, Mapping):
        return sentence("condition.limits", item=item, **{"below": None, "above": None, **wanted})
    answers = [_word_answer(options, each) for each in as_tuple(wanted)]
    # The label of a level says of what it is one.
    if "." not in name and all(labels.label(str(each)) for each in as_tuple(wanted)):
        return f" {say('or')} ".join(answers)
    return sentence("condition.answers", item=item, answers=answers)


def name_item(name: str) -> tuple[str, dict[str, str]]:
    """An item, or another variable, by its label, else by its words; and by id what its options are
    called."""
    labels = _labels()
    label, worded = labels.of_item(name)
    options = {option: labels.label(option) or words for option, words in worded.options.items()}
    return label or (quoted(worded.text) if worded.text else name), options


def cells_of_item(instrument: str, item: str) -> tuple[Verbatim, Verbatim]:
    """Two cells of a table: a questionnaire by its title, and an item by its label or words."""
    labels = _labels()
    label, worded = labels.of_item(f"{instrument}.{item}")
    return Verbatim(labels.of_group(instrument)), Verbatim(label or worded.text or item)


def _word_answer(options: Mapping[str, str], answer: object) -> str:
    return options.get(str(answer)) or _labels().whole(str(answer))


def _labels() -> Labels:
    return current_labels() or Labels({})
