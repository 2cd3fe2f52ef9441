"""The questionnaires that are known by their id: the shipped ones, and those of other packages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from labapp.base import resources
from labapp.base.discovery import Catalogue


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """A questionnaire. A package brings one by an entry point of the group `labapp.instruments`
    that names such an object; studies then ask it like a shipped one.

    Attributes
    ----------
    name : its id, which its file says too.
    file : its YAML file, called like it; see `labapp.study.instruments.instrument.Instrument`.
    """

    name: str
    file: Path


def _shipped() -> Iterator[Questionnaire]:
    files = sorted((resources.assets() / "instruments").glob("*.yaml"))
    return (Questionnaire(file.stem, file) for file in files)


def _problem(questionnaire: Questionnaire, others: Sequence[Questionnaire]) -> str:
    """Why a questionnaire cannot be used; empty where it can."""
    file = questionnaire.file
    if file.name != f"{questionnaire.name}.yaml":
        return f"its file is called {file.name}, and not {questionnaire.name}.yaml"
    return "" if file.is_file() else f"its file {file} is not there"


QUESTIONNAIRES: Catalogue[Questionnaire] = Catalogue(
    "labapp.instruments", "a questionnaire", Questionnaire, _shipped, _problem
)
