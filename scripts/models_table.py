"""The tables of models/README.md, made from their cards: prints them.

    python scripts/models_table.py

A test holds them to the cards.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from labapp.base import resources
from labapp.models.concepts import card as concept_cards
from labapp.models.concepts import package as concept_models
from labapp.models.explanations import package as classifier_cards
from labapp.models.explanations import package as classifiers
from labapp.models.explanations.package import BirdTest, ClassifierCard, ClassTest, CnnChecks
from labapp.models.metrics.registry import METRICS
from labapp.models.representations import card as cards
from labapp.models.representations import package
from labapp.models.representations.card import ModelCard

HEAD = (
    "| model | trained for | error | Table 2 | MIG | Table 2 | DCI as published | Table 2 | DCI |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
)
CLASSIFIERS_HEAD = (
    "| classifier | trained for | accuracy | worst species | usable errors | clear | checked |",
    "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
)

CONCEPTS_HEAD = (
    (
        "| concept model | trained for | classes right | concepts right | all concepts set right "
        "| OIS | standardised | NIS |"
    ),
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
)
FACES_HEAD = (
    "| class | precision | recall | F1 | test faces |",
    "| --- | ---: | ---: | ---: | ---: |",
)


def table() -> str:
    """Markdown, a row a model with dials that was trained or measured."""
    root = resources.models()
    rows = []
    for name in package.list_packages(root):
        card = cards.read(package.find(name, root))
        if card.held_out_error is not None or card.code_agreement is not None:
            rows.append(_row(card))
    return "\n".join([*HEAD, *rows])


def metrics_table() -> str:
    """Markdown, a row a metric, a column a model whose data have true factors."""
    root = resources.models()
    stored = json.loads((root / "metrics.json").read_text(encoding="utf-8"))
    scores = {name: entry["scores"] for name, entry in stored.items()}
    cards_of = [cards.read(package.find(name, root)) for name in scores]
    rows = [
        f"| metric | {' | '.join(f'`{name}`' for name in scores)} |",
        f"| --- |{' ---: |' * len(scores)}",
    ]
    # The models' data have no task.
    for metric in (metric for metric in METRICS.values() if not metric.labels):
        values = [scores[name].get(metric.name, {}).get("score") for name in scores]
        lower = ", lower is better" if metric.better == "lower" else ""
        rows.append(_cells(f"{metric.label}{lower}", values))
        measured = [card.disentanglement for card in cards_of]
        if metric.name == "mig":
            rows.append(
                _cells("MIG in Table 2", [entry and entry.mig_published for entry in measured])
            )
        elif metric.name == "dci":
            exchanged = [entry and entry.dci_exchanged.disentanglement for entry in measured]
            rows.append(_cells("DCI as published", exchanged))
            rows.append(
                _cells("DCI in Table 2", [entry and entry.dci_published for entry in measured])
            )
            for part in ("completeness", "informativeness"):
                parts = [entry and float(getattr(entry.dci, part)) for entry in measured]
                rows.append(_cells(f"DCI, {part}", parts))
    return "\n".join(rows)


def _cells(name: str, values: Sequence[float | None]) -> str:
    return f"| {name} | {' | '.join(_number(value) for value in values)} |"


def classifiers_table() -> str:
    """Markdown, a row a classifier of birds."""
    rows = [_classifier(card, card.test) for card in _cards() if isinstance(card.test, BirdTest)]
    return "\n".join([*CLASSIFIERS_HEAD, *rows])


def faces_table() -> str:
    """Markdown, a row a class that a classifier of faces tells, and their weighted average."""
    rows = []
    for card in _cards():
        if isinstance(card.test, ClassTest):
            for name, rates in [*card.test.classes.items(), ("average", card.test.average)]:
                shares = " | ".join(
                    f"{share:.2f}" for share in (rates.precision, rates.recall, rates.f1)
                )
                rows.append(f"| {name} | {shares} | {rates.support} |")
    return "\n".join([*FACES_HEAD, *rows])


def faces_told() -> str:
    """What cues of the training faces alone do to the test faces, in a sentence."""
    sentences = []
    for card in _cards():
        if isinstance(card.checks, CnnChecks):
            cues = "; ".join(
                f"{name}, {_percent(cue.agreeing)} where it agrees and {_percent(cue.misleading)} "
                "where it misleads"
                for name, cue in (card.checks.cues or {}).items()
            )
            sentences.append(
                f"`{card.recipe.id}` is right in {_percent(card.test.accuracy)}; by cue: {cues}."
            )
    return " ".join(sentences)


def concepts_table() -> str:
    """Markdown, a row a concept model."""
    root = resources.models()
    rows = []
    for name in concept_models.list_packages(root):
        folder = concept_models.find(name, root)
        card = concept_cards.read(folder)
        curves = concept_models.curves(folder, card)
        seconds = card.training.seconds
        cells = [
            f"`{name}`",
            f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.0f} min",
            "–" if card.test.task is None else _percent(card.test.task),
            "–" if card.test.concepts is None else _percent(card.test.concepts),
            _percent(float(curves["fixed"][-1])) if curves else "–",
            *(_number(card.scores[score]) for score in ("ois", "ois_standardised", "nis")),
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([*CONCEPTS_HEAD, *rows])


def _cards() -> list[ClassifierCard]:
    root = resources.models()
    return [
        classifier_cards.read(classifiers.find(name, root))
        for name in classifiers.list_packages(root)
    ]


def _row(card: ModelCard) -> str:
    error, measured = card.held_out_error, card.disentanglement
    if error is None:
        assert card.code_agreement is not None
        shown = f"codes and digits agree: {100 * card.code_agreement.agreement:.0f} %"
    elif error.sampled is None:
        shown = _number(error.mean)
    else:
        shown = f"{_number(error.sampled)} ({_number(error.mean)} at the mean)"
    cells = [
        f"`{card.id}`",
        "closed form" if card.training is None else f"{card.training.iterations:,} iterations",
        shown,
        _number(error and error.published),
        _number(measured and measured.mig),
        _number(measured and measured.mig_published),
        _number(measured and measured.dci_exchanged.disentanglement),
        _number(measured and measured.dci_published),
        _number(measured and measured.dci.disentanglement),
    ]
    return f"| {' | '.join(cells)} |"


def _classifier(card: ClassifierCard, test: BirdTest) -> str:
    cells = [
        f"`{card.recipe.id}`",
        f"{card.training.seconds / 60:.0f} min",
        _percent(test.accuracy),
        f"{100 * min(test.recall):.0f} %",
        f"{test.usable:,}",
        f"{100 * test.decidable:.0f} %",
        _held(card),
    ]
    return f"| {' | '.join(cells)} |"


def _held(card: ClassifierCard) -> str:
    """What was checked of how it explains itself."""
    checks = card.checks
    match checks.method:
        case "resnet":
            there = f"{100 * checks.pointing.on_mark:.0f} %"
            return f"GradCAM peaks at a deciding mark in {there} of the pictures"
        case "bagnet":
            wide, high = checks.field
            return (
                f"sees {wide} × {high} pixels at once; scores differ from the mean of their maps "
                f"by {checks.map_error:.5f} at most"
            )
        case "protopnet":
            accuracy = checks.accuracy
            return (
                f"{_percent(accuracy['before'])} before the last push, "
                f"{_percent(accuracy['pushed'])} after; {checks.kept} of {checks.prototypes} "
                "prototypes kept"
            )
        case "prototree":
            last = checks.accuracy["projected"]
            return (
                f"{_percent(last.soft)} over all ways, {_percent(last.greedy)} along one; "
                f"{checks.questions} questions"
            )
        case _:
            raise ValueError(f"{card.recipe.id} does not tell birds")


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def _number(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else "–"


if __name__ == "__main__":
    print(table())
    print()
    print(metrics_table())
    print()
    print(concepts_table())
    print()
    print(classifiers_table())
    print()
    print(faces_table())
    print()
    print(faces_told())
