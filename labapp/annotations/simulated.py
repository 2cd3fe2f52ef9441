"""What simulated participants that think aloud said, as units with texts and marks.

The program that speaks knows the codes of its words, so the marks are true by themselves. They come
from the journal, and stand beside what people make of the same session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from labapp import durable, resources
from labapp.annotations.model import Mark, RaterMarks, Text, Unit
from labapp.annotations.places import SIMULATED as SIMULATED
from labapp.events import Event, Payload
from labapp.events.speech import SpeechSimulated
from labapp.reading import files

CODEBOOK = "codebook.yaml"
"""What a codebook is called in a study's folder."""
WITHHELD = "[withheld]"
"""What stands for the words in a de-identified copy."""


def codebook_path() -> Path:
    """The shipped codebook that has the codes."""
    return resources.assets() / "codebooks" / "think-aloud.yaml"


@cache
def codebook_sha256() -> str:
    """Hash of the shipped codebook's file."""
    return hashlib.sha256(files.content(codebook_path())).hexdigest()


def leave_codebook(study: Path) -> None:
    """Put the codebook into a study's folder, where it has none, so that its sessions can be coded
    on. Raises OSError."""
    path = study / CODEBOOK
    if not path.exists():
        durable.write(path, files.content(codebook_path()))
        durable.sync_folder(study)


@dataclass(frozen=True, slots=True)
class SimulatedSpeech:
    """What a simulated participant said in a session.

    Attributes
    ----------
    units : tuple of Unit
        In order of time; none overlaps another one.
    texts : tuple of Text
        Of these units; none of one whose words are withheld.
    marks : tuple of Mark
        The codes of the words, in order of time.
    """

    units: tuple[Unit, ...] = ()
    texts: tuple[Text, ...] = ()
    marks: tuple[Mark, ...] = ()

    @property
    def rater(self) -> RaterMarks:
        """The marks as those of the rater `SIMULATED`."""
        return RaterMarks(SIMULATED, self.marks, status="locked", machine=True)


def simulated_speech(events: Iterable[tuple[Event, Payload]]) -> SimulatedSpeech:
    """The speech in the journal of a session; empty where nobody thought aloud by a program.

    Parameters
    ----------
    events : iterable of (Event, Payload)
        Of the whole session, in the journal's order. What was still being said at the last event
        ends with it.
    """
    spoken: list[tuple[Event, SpeechSimulated]] = []
    last_ns = 0
    for event, payload in events:
        last_ns = event.t_ns
        if isinstance(payload, SpeechSimulated):
            spoken.append((event, payload))
    units: list[Unit] = []
    texts: list[Text] = []
    marks: list[Mark] = []
    for event, payload in spoken:
        t0_ns, t1_ns = payload.t0_ns, min(payload.t1_ns, last_ns)
        if t0_ns >= t1_ns:
            continue  # it was not said any more
        unit = f"s{event.seq}"
        units.append(Unit(unit, t0_ns, t1_ns, origin=SIMULATED))
        if payload.text != WITHHELD:
            texts.append(
                Text(unit, payload.text, origin=SIMULATED, by=SIMULATED, reviewed=True),
            )
        marks += [
            Mark(
                f"{unit}-{tier}",
                SIMULATED,
                tier,
                code,
                t0_ns,
                t1_ns,
                unit,
                codebook=codebook_sha256(),
                blind=(),
                utc=event.utc,
            )
            for tier, code in payload.codes.items()
        ]
    return SimulatedSpeech(tuple(units), tuple(texts), tuple(marks))
