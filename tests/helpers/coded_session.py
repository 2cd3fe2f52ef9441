"""A recorded session with units, words and a codebook, to be coded."""

from __future__ import annotations

from pathlib import Path

from labapp.coding.annotations.ledger import new_id
from labapp.coding.annotations.model import Text, Unit, Word
from labapp.coding.annotations.store import open_texts, open_units

SECOND = 1_000_000_000
CODEBOOK = """\
# What is said while dials are turned.
codebook: think-aloud
version: 3
tiers:
  strategy: {exclusive: true}
  affect: {"on": spans, optional: true}
  surety: {exclusive: true, optional: true, values: [1, 2, 3, 4, 5]}
codes:
  - {id: explore, tier: strategy, key: e, colour: "#3366AA", name: Exploring,
     when: "Turns a dial to see what it does.", not: "Has a goal in mind.",
     examples: ["let me just try this one"]}
  - {id: goal, tier: strategy, key: g, colour: "#1B7F5C", name: Has a goal,
     when: "Says what to reach, then moves."}
  - {id: random, tier: strategy, key: r, colour: "#7B4FB5", name: Tries at random}
  - {id: names, tier: strategy, key: d, colour: "#8A6D00", name: Names a dial}
  # Feelings
  - {id: uncertain, tier: affect, key: u, colour: "#B35900", name: Uncertain}
  - {id: insight, tier: affect, key: i, kind: point, colour: "#B0236F", name: Insight}
  - {id: sure, tier: surety, key: s, colour: "#0072B2", name: Sure}
"""
SENTENCES = (
    "okay so this one makes it taller",
    "and the next one does nothing?",
    "no wait, it does, it goes sideways, so first the fourth one and then I come back to this",
    "there, nearly",
    "a bit of dial two again",
    "Please keep talking",
    "I am just trying things now to be honest",
)


def add_codebook(study: Path, text: str = CODEBOOK) -> Path:
    """Write the codebook of a study."""
    path = study / "codebook.yaml"
    path.write_text(text)
    return path


def add_units(session: Path, count: int = 7, *, every_s: float = 6.0, frozen: bool = True) -> None:
    """Give a session units with words, from its beginning on."""
    units = []
    for number in range(count):
        t0 = round((2 + number * every_s) * SECOND)
        speaker = "moderator" if number % 7 == 5 else "participant"
        units.append(Unit(new_id(), t0, t0 + round(0.75 * every_s * SECOND), speaker, "detector"))
    with open_units(session, "owner") as file:
        file.put_all(units)
        if frozen:
            file.freeze()
    with open_texts(session, "owner") as texts:
        texts.allowed = True  # words that were there before the participant was asked
        texts.put_all(_text(unit, number) for number, unit in enumerate(units))


def _text(unit: Unit, number: int) -> Text:
    sentence = SENTENCES[number % len(SENTENCES)]
    length = (unit.t1_ns - unit.t0_ns) // max(1, len(sentence.split()))
    words = tuple(
        Word(
            unit.t0_ns + place * length, unit.t0_ns + (place + 1) * length, word, 0.3 + 0.1 * place
        )
        for place, word in enumerate(sentence.split())
    )
    return Text(unit.id, sentence, words, "recogniser", "owner")
