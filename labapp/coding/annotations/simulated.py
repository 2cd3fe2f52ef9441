"""What simulated participants that think aloud said, as units with texts and marks.

The program that speaks knows the codes of its words, so the marks are true by themselves. They come
from the journal, and stand beside what people make of the same session.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from labapp.base import durable, resources
from labapp.base.reading import files
from labapp.coding.annotations.codebook import Codebook, read
from labapp.coding.annotations.model import SIMULATED as SIMULATED
from labapp.coding.annotations.model import Mark, RaterMarks, Text, Unit
from labapp.record.events import Event, Payload
from labapp.record.events.voice import SpeechSimulated

CODEBOOK = "codebook.yaml"
"""What a codebook is called in a study's folder."""
USUAL = "think-aloud"
"""The codebook that is left in a study if no task names another."""
WITHHELD = "[withheld]"
"""What stands for the words in a de-identified copy."""


def codebook_path(name: str = USUAL) -> Path:
    """A shipped codebook."""
    return resources.assets() / "codebooks" / f"{name}.yaml"


@cache
def read_shipped_codebooks() -> tuple[Codebook, ...]:
    """Those that simulated participants speak by, the usual one first."""
    others = sorted(path for path in codebook_path().parent.glob("*.yaml") if path.stem != USUAL)
    return tuple(map(read, (codebook_path(), *others)))


@cache
def codebook_sha256(tier: str = "", code: str = "") -> str:
    """Hash of the first shipped codebook that has a code in a tier; without them, or if none has
    it, of the usual one."""
    books = read_shipped_codebooks()
    having = (book for book in books if code in book.by_id and book.by_id[code].tier == tier)
    return next(having, books[0]).sha256


def leave_codebooks(study: Path, names: Sequence[str] = (USUAL,)) -> None:
    """Put shipped codebooks into a study's folder, if it has none, so that its sessions can be
    coded on: the first as its codebook, others beside it. Raises OSError."""
    for number, name in enumerate(names):
        path = study / (CODEBOOK if number == 0 else f"codebook-{name}.yaml")
        if not path.exists():
            durable.write(path, files.content(codebook_path(name)))
            durable.sync_folder(study)


@dataclass(frozen=True, slots=True)
class SimulatedSpeech:
    """What a simulated participant said in a session.

    Attributes
    ----------
    units : in order of time; none overlaps another one.
    texts : of these units; none of one whose words are withheld.
    marks : the codes of the words, in order of time.
    """

    units: tuple[Unit, ...] = ()
    texts: tuple[Text, ...] = ()
    marks: tuple[Mark, ...] = ()

    @property
    def rater(self) -> RaterMarks:
        """The marks as those of the rater `SIMULATED`."""
        return RaterMarks(SIMULATED, self.marks, status="locked", machine=True)


def read_simulated_speech(events: Iterable[tuple[Event, Payload]]) -> SimulatedSpeech:
    """The speech in the journal of a session; empty if no simulated participant thought aloud.

    Parameters
    ----------
    events : of the whole session, in the journal's order. What was still being said at the last
        event ends with it.
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
            texts.append(Text(unit, payload.text, origin=SIMULATED, by=SIMULATED, reviewed=True))
        marks += [
            Mark(
                f"{unit}-{tier}",
                SIMULATED,
                tier,
                code,
                t0_ns,
                t1_ns,
                unit,
                codebook=codebook_sha256(tier, code),
                blind=(),
                utc=event.utc,
            )
            for tier, code in payload.codes.items()
        ]
    return SimulatedSpeech(tuple(units), tuple(texts), tuple(marks))
