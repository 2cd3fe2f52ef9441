"""Where annotations lie: in the study's folder, beside the folders of its sessions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from labapp.base.errors import AnnotationError
from labapp.base.naming import reserved

ANNOTATIONS = "annotations"
CODEBOOKS = "codebooks"
RATERS = "raters"
UNITS = "units.jsonl"
TRANSCRIPT = "transcript.jsonl"
LINES = ".jsonl"

MODERATOR = "moderator"
"""The rater whose marks are the flags, notes and prompts of the journal."""
SIMULATED = "simulated"
"""The rater whose marks are those of a simulated participant's words; final where no person
coded."""
DETECTOR = "detector"
"""The origin of units that were made from the sound; and who made them, where nobody looked."""
RECOGNISER = "recogniser"
"""The origin of a text that a program wrote from the sound; and who wrote it."""
FINAL = "final"
"""The coding that counts, as commands name it: no rater's own."""
KEPT = {
    DETECTOR: "units that were made from the sound, and that nobody looked through",
    RECOGNISER: "text that a program wrote from the sound",
    MODERATOR: "what the moderator wrote down in the session",
    SIMULATED: "the codes of what simulated participants say",
    FINAL: "the codes that count once raters have settled where they differ",
}
"""Names that no rater can have, and what they stand for."""
RATER = re.compile(r"[A-Za-z0-9_-]{1,40}")


def annotations_folder(session: Path) -> Path:
    """The folder of a session's annotations; it need not exist. session: its own folder."""
    session = session.absolute()
    return session.parent / ANNOTATIONS / session.name


def session_of(path: Path) -> Path:
    """The session's folder that a file in the folder of its annotations is about."""
    folder = path.absolute().parent
    return folder.parent.parent / folder.name


def codebook_versions(study: Path) -> Path:
    """The folder with every version of a codebook that marks of this study were given by."""
    return study / ANNOTATIONS / CODEBOOKS


def rater_file(session: Path, rater: str) -> Path:
    """The file of a rater's marks in a session."""
    return annotations_folder(session) / RATERS / f"{rater}{LINES}"


def rater_names(study: Path) -> dict[str, str]:
    """The raters of a study as their files are called, by their names in small letters."""
    paths = sorted((study / ANNOTATIONS).glob(f"*/{RATERS}/*{LINES}"))
    return {path.stem.casefold(): path.stem for path in paths}


def check_rater(
    name: str, study: Path | None = None, others: Iterable[str] = (), *, nobody: str = ""
) -> str:
    """A name that a rater can have.

    Parameters
    ----------
    study : the study's folder: another rater of it may not have the same name in other letters.
    others : raters of it who need not have a file yet, such as those who are assigned to something.
    nobody : the name of a program that it may be, such as the detector's.

    Raises
    ------
    AnnotationError
        The name is too long, holds other characters, is taken, or no file can have it.
    """
    if not RATER.fullmatch(name):
        raise AnnotationError(
            f"{name!r} is no name for a rater.",
            todo="Take 1 to 40 letters a to z, digits, - and _, such as anna or rater-2.",
        )
    if nobody and name == nobody:
        return name
    if name.casefold() in KEPT:
        raise AnnotationError(
            f"The name {name!r} is kept for {KEPT[name.casefold()]}.",
            todo="Take another name, such as anna or rater-2.",
        )
    if why := reserved(name):
        raise AnnotationError(f"No rater can be called {name!r}: {why}.", todo="Take another name.")
    if study is not None:
        names = {other.casefold(): other for other in others} | rater_names(study)
        known = names.get(name.casefold(), name)
        if known != name:
            raise AnnotationError(
                f"There is a rater {known!r} in this study, and some systems cannot tell "
                f"{name!r} from it.",
                todo=f"Write {known!r}, or take another name.",
            )
    return name
