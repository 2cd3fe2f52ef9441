"""The sentences of labapp by their ids, in every language: gettext catalogues in `assets/words`.

`home.start` says where a sentence is shown, and what it says; `en.po` has it in English. The `.mo`
files that are read here come from the wheel's build or `make setup`. In a checkout one that is
older than its `.po` is compiled before it is read.
"""

from __future__ import annotations

import subprocess
from functools import cache
from gettext import GNUTranslations
from pathlib import Path

from labapp.base import resources
from labapp.base.installation import script_command

ENGLISH = "en"


def _folder() -> Path:
    return resources.assets() / "words"


def available() -> list[str]:
    """The languages there are, English first."""
    others = {path.stem for path in _folder().glob("*.po")} - {ENGLISH}
    return [ENGLISH, *sorted(others)]


class Catalogue(GNUTranslations):
    """The sentences of a language by id."""

    _catalog: dict[str | tuple[str, int], str]

    def texts(self) -> dict[str | tuple[str, int], str]:
        """Every sentence by its id; each form of a plural by its id and number."""
        return {key: text for key, text in self._catalog.items() if key}


@cache
def catalogue(language: str) -> Catalogue:
    """The sentences of a language, with English for those it lacks."""
    compiled = _compiled(_folder() / f"{language}.po")
    with compiled.open("rb") as file:
        sentences = Catalogue(file)
    if language != ENGLISH:
        sentences.add_fallback(catalogue(ENGLISH))
    return sentences


def sentence(key: str, n: int | None = None, *, language: str = ENGLISH) -> str:
    """A sentence with {fields}; of a plural the form for `n`. Raises KeyError for an unknown id."""
    sentences = catalogue(language)
    text = key if n is None else sentences.ngettext(key, key, n)
    if text == key:
        text = sentences.gettext(key)
    if not key or text == key:  # of an empty id gettext gives the head of the file
        raise KeyError(key)
    return text


def _compiled(path: Path) -> Path:
    """The path of the compiled catalogue. Exits if it is out of date and cannot be compiled."""
    compiled = path.with_suffix(".mo")
    if not resources.in_checkout() or _is_current(compiled, path):
        return compiled
    script = path.parents[2] / "scripts" / "words.py"
    done = subprocess.run(
        script_command(script, packages=True), capture_output=True, text=True, check=False
    )
    if not _is_current(compiled, path):
        raise SystemExit(
            f"The words in {path} could not be compiled. Nothing was changed. Run `make setup`, or "
            f"correct the file:\n{done.stderr.strip()[-2000:]}"
        )
    return compiled


def _is_current(compiled: Path, path: Path) -> bool:
    return compiled.exists() and compiled.stat().st_mtime_ns >= path.stat().st_mtime_ns
