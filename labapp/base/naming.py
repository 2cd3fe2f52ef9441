"""Names that nothing may have that becomes a file or folder.

Studies, participants, sessions, models, stimulus sets and questionnaires name files on any of the
systems that data travel to. Windows keeps some names for devices, whatever their case and ending;
others are folders of labapp's own that may lie beside them.

What participants and sessions may be called.
"""

from __future__ import annotations

import re

from pydantic import AfterValidator

WINDOWS = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"}
)
OWN = frozenset({"private", "sessions", "models", "stimuli", "cache"})


def find_name_problem(name: str) -> str:
    """Why a name, or a part of one between slashes, cannot be given; empty if it can."""
    for part in name.split("/"):
        stem = part.split(".")[0].strip().casefold()
        if stem in WINDOWS:
            return f"Windows reserves the name {part!r} for a device"
        if stem in OWN:
            return f"labapp reserves the name {part!r} for one of its own folders"
    return ""


Natural = tuple[tuple[int, int, str], ...]
_DIGITS = re.compile(r"(\d+)")


def natural(text: object) -> Natural:
    """A key that sorts as people count: P2 before P10, whatever the case."""
    pieces = _DIGITS.split(str(text).casefold())
    return tuple(
        (0, int(piece), "") if piece.isdecimal() else (1, 0, piece) for piece in pieces if piece
    )


def _free(name: str) -> str:
    if why := find_name_problem(name):
        raise ValueError(f"another name: {why}")
    return name


NotReserved = AfterValidator(_free)
"""For the fields of documents that hold such a name."""


NO_PHASE, SIMULATED = "none", "simulated"
"""What a session without a phase, and one of a program, is called where sessions are chosen: no
phase and no tag has such a name."""

LABEL = re.compile(r"[A-Za-z0-9]{1,40}")
"""BIDS labels (participants, sessions) are letters and digits only. They are part of file names,
which have 255 bytes at most."""
