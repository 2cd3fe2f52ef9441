"""Whether what a bundle says of itself is so: its manifest, each session.json, the models' cards.

The manifest's hashes find what was changed; this finds what does not fit although all hashes do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from labapp.bids.model_cards import ABSENT, classifiers_of, decoders_of, stated_hashes
from labapp.explanations import card as classifier_card
from labapp.journal.layout import (
    AUDIO,
    BUNDLE_VERSION,
    CLOCK_FIT,
    ENVIRONMENT,
    JOURNAL_PARQUET,
    SESSION,
    SOURCEDATA,
    STIMULI,
    STUDY,
)
from labapp.journal.record import Record
from labapp.journal.tree import Tree
from labapp.representations import card

MODELS = f"{SOURCEDATA}/models"


def check_manifest_facts(
    facts: Mapping[str, Any], sessions: Sequence[Mapping[str, Any]]
) -> list[str]:
    """The manifest's facts against each session.json; no session, no comparison."""
    wanted: dict[str, Any] = {"bundle_version": BUNDLE_VERSION}
    if sessions:
        wanted["study"] = sessions[0].get("study")
        wanted["deidentified"] = any(session.get("deidentified") for session in sessions)
        if any(session.get("sound") for session in sessions):
            wanted["sound"] = True
    return [
        f"says {name} {facts.get(name)!r}, and the sessions say {value!r}"
        for name, value in wanted.items()
        if facts.get(name) != value
    ]


def check_session_facts(facts: Mapping[str, Any], record: Record) -> list[str]:
    """session.json against the journal it describes."""
    wanted = {
        "study": record.study,
        "state": record.outline.state,
        "deidentified": record.redacted,
        "events": len(record.rows),
        "head": record.rows[-1].hash,
        "chain": "made at export" if record.redacted else "of the recording",
    }
    problems = [
        f"{SESSION}: it says {name} {facts.get(name)!r}, and the journal says {value!r}"
        for name, value in wanted.items()
        if name not in ("events", "head") and facts.get(name) != value
    ]
    if (facts.get("events"), facts.get("head")) != (wanted["events"], wanted["head"]):
        problems.append(f"{JOURNAL_PARQUET}: it does not end where the session ended")
    return problems


def check_session_files(facts: Mapping[str, Any], record: Record) -> list[str]:
    """Files in the session's folder that no export puts there."""
    own = {SESSION, JOURNAL_PARQUET, ENVIRONMENT}
    if facts.get("sound"):
        own |= {CLOCK_FIT, *(sound.file for sound in record.audio)}
    return [
        f"{name}: the journal does not name it" if name.startswith(f"{AUDIO}/") else
        f"{name}: not part of a session"
        for name in record.tree.names()
        if name not in own and not name.startswith((f"{STUDY}/", f"{STIMULI}/"))
    ]  # fmt: skip


def check_cards(
    tree: Tree, sessions: Sequence[tuple[Record, Mapping[str, Any]]]
) -> tuple[int, list[str]]:
    """How many cards of models the bundle has, and what is wrong with them.

    A decoder's card must have the hash that the journal noted when it was warmed up, a classifier's
    the hash of the weights that were planned with; a card must be one that a session includes.
    """
    problems: list[str] = []
    named: set[str] = set()
    for record, facts in sessions:
        cards = facts.get("model_cards")
        cards = cards if isinstance(cards, Mapping) else {}
        hashes = stated_hashes(record)
        decoders, weights = decoders_of(record), classifiers_of(record)
        for model in sorted({*decoders, *weights} | cards.keys()):
            if model not in decoders and model not in weights:
                problems.append(f"{record.name}: its plan does not name the model {model}")
                continue
            file = card.CARD if model in decoders else classifier_card.CARD
            name = f"{MODELS}/{model}/{file}"
            if cards.get(model, ABSENT) != "included":
                continue
            named.add(name)
            if not tree.has(name):
                problems.append(f"{name}: missing")
                continue
            content = tree.read(name)
            if model in decoders:
                right = not hashes.get(model) or sha256(content).hexdigest() == hashes[model]
            else:
                right = _weights(content) == weights[model]
            if not right:
                problems.append(f"{name}: not the card of the model that {record.name} used")
    there = {name for name in tree.names() if name.startswith(f"{MODELS}/")}
    problems += [f"{name}: no session's plan names it" for name in sorted(there - named)]
    return len(there & named), problems


def _weights(content: bytes) -> str:
    """The hash of the weights that a classifier's card states; empty where it states none."""
    stated = re.search(rb"^weights_sha256: ['\"]?([0-9a-f]{64})", content, re.MULTILINE)
    return stated[1].decode() if stated else ""
