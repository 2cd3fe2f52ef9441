"""What a registration says of a study's procedure: who is shown what, which items check attention,
by which rules trials go, and the files of models and stimulus sets that they show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from labapp.plugins import registry
from labapp.plugins.part import PlannedPart
from labapp.representations.card import installed_sha256
from labapp.study.conditions import Value, listed
from labapp.study.flow import placed_items
from labapp.study.loading import LoadedStudy
from labapp.study.plan import Plan

_INTERRUPTED = {
    "resume": "A session that is interrupted goes on where it was.",
    "restart_stage": "A stage that is interrupted begins again with its first question.",
    "block": "A session that is interrupted does not go on.",
}


_STALLS = {
    "leave-out": "Time in which the computer stands still is left out of durations and limits.",
    "keep": "Time in which the computer stands still counts in durations and limits.",
    "repeat-question": "Time in which the computer stands still is left out of durations and "
    "limits, and the question that it fell into is asked again.",
}


@dataclass(frozen=True)
class Frozen:
    """The files that a study shows beside its own, as they are now.

    Attributes
    ----------
    models : by id the hash of the card, which holds the hashes of the weights.
    classifiers : by id the hash of the weights.
    stimulus_sets : by name the hash of the manifest.
    """

    models: Mapping[str, str]
    classifiers: Mapping[str, str]
    stimulus_sets: Mapping[str, str]

    @classmethod
    def of(cls, plans: Sequence[Plan]) -> Frozen:
        """Of all conditions."""
        parts = list(_parts(plans))
        return cls(
            {model: installed_sha256(model) for part in parts for model in sorted(part.models())},
            {name: sha or "" for part in parts for name, sha in part.classifiers()},
            {shown.name: shown.sha256 for part in parts for shown in part.stimulus_sets()},
        )

    def lines(self) -> list[str]:
        """Each with the beginning of its hash."""
        named = {
            "model": self.models,
            "classifier": self.classifiers,
            "stimulus set": self.stimulus_sets,
        }
        return [
            f"* {kind} {name}: {sha[:12]}"
            for kind, hashes in named.items()
            for name, sha in hashes.items()
        ]


def conditions(loaded: LoadedStudy) -> list[str]:
    """What only some participants meet, of the flow and of questionnaires."""
    lines = [
        f"* {_called(item.key, getattr(item, item.key, None))}: only where {_where(item.only_if)}"
        for _, item in placed_items(loaded.study.flow)
        if item.only_if
    ]
    for instrument in loaded.instruments.values():
        lines += [
            f"* item {instrument.id}.{item.id}: asked only where {_where(item.only_if)}"
            for item in instrument.items
            if item.only_if
        ]
    return lines


def _called(key: str, value: object) -> str:
    """An item of the flow, as the study file names it."""
    if isinstance(value, str):
        return f"{key} {value}"
    task = getattr(value, "task", None)
    return key if task is None else f"{key} of {task}"


def _where(only_if: Mapping[str, Value | tuple[Value, ...]]) -> str:
    return " and ".join(
        f"{name} is {' or '.join(map(str, listed(wanted)))}" for name, wanted in only_if.items()
    )


def attention_checks(loaded: LoadedStudy) -> list[str]:
    """The items that check attention, each with its right answer."""
    return [
        f"* {instrument.id}.{item.id}, passed by {' or '.join(map(str, listed(item.right)))}"
        for instrument in loaded.instruments.values()
        for item in instrument.items
        if item.right is not None
    ]


def rules(loaded: LoadedStudy, plans: Sequence[Plan]) -> list[str]:
    """By which rules trials go, with the models for which they do; and what an interruption leads
    to."""
    models: dict[str, dict[str, None]] = {}
    for part in _parts(plans):
        if part.has_trials:
            task = registry.task_type_of(part)
            text = f"{task.name}: {task.rules(part)}"
            models.setdefault(text, {}).update(dict.fromkeys(part.models()))
    lines = [f"* {text}{_of(names)}" for text, names in models.items()]
    study = loaded.study
    return [*lines, f"* {_INTERRUPTED[study.when_interrupted]}", f"* {_STALLS[study.stalls]}"]


def _of(models: Mapping[str, None]) -> str:
    return f" ({', '.join(models)})" if models else ""


def _parts(plans: Sequence[Plan]) -> Iterator[PlannedPart]:
    return (part for plan in plans for part in plan.parts)
