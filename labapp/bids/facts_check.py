"""Whether what a bundle says of itself is so: its manifest, each session.json, the models' cards;
and whether a session folder holds the files of a session.

The manifest's hashes find changed files; this finds contradictions between files whose hashes are
right.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from labapp.bids.model_cards import ABSENT, classifiers_of, decoders_of, stated_hashes
from labapp.explanations import card as classifier_card
from labapp.journal.layout import (
    ANNOTATIONS,
    AUDIO,
    BUNDLE_VERSION,
    CLOCK_FIT,
    ENVIRONMENT,
    JOURNAL,
    JOURNAL_PARQUET,
    LOCK,
    SESSION,
    SOURCEDATA,
    STIMULI,
    STUDY,
)
from labapp.journal.record import Record
from labapp.journal.tree import FolderTree, Tree
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
    """Files in the session's folder that no export puts there, and annotations that are missing."""
    own = {SESSION, JOURNAL_PARQUET, ENVIRONMENT}
    annotations = facts.get("annotations")
    stated = {f"{ANNOTATIONS}/{name}" for name in annotations or ()}
    own |= stated
    if facts.get("sound"):
        own |= {CLOCK_FIT, *(sound.file for sound in record.audio)}
    lost = [f"{name}: missing" for name in sorted(stated - set(record.tree.names()))]
    return lost + [
        f"{name}: the journal does not name it" if name.startswith(f"{AUDIO}/") else
        f"{name}: not part of a session"
        for name in record.tree.names()
        if name not in own and not name.startswith((f"{STUDY}/", f"{STIMULI}/"))
    ]  # fmt: skip


@dataclass(frozen=True)
class SessionCards:
    """What a session of a bundle says of its models. prefix: its folder; facts: its session.json;
    hashes, decoders, weights: of its models, by their ids."""

    name: str
    prefix: str
    facts: Mapping[str, Any]
    hashes: Mapping[str, str]
    decoders: Collection[str]
    weights: Mapping[str, str | None]

    @classmethod
    def of(cls, record: Record, prefix: str, facts: Mapping[str, Any]) -> SessionCards:
        """Of a session that is in memory."""
        hashes, decoders = stated_hashes(record), decoders_of(record)
        return cls(str(record.name), prefix, facts, hashes, decoders, classifiers_of(record))


def check_cards(tree: Tree, sessions: Sequence[SessionCards]) -> tuple[int, list[str]]:
    """How many cards of models the bundle has, and what is wrong with them.

    A decoder's card must have the hash that the journal noted when it was warmed up, a classifier's
    the hash of the weights that were planned with; a card must be one that a session includes.
    """
    problems: list[str] = []
    named: set[str] = set()
    for session in sessions:
        cards = session.facts.get("model_cards")
        cards = cards if isinstance(cards, Mapping) else {}
        hashes, decoders, weights = session.hashes, session.decoders, session.weights
        for model in sorted({*decoders, *weights} | cards.keys()):
            if model not in decoders and model not in weights:
                problems.append(f"{session.name}: its plan does not name the model {model}")
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
                problems.append(f"{name}: not the card of the model that {session.name} used")
    there = {name for name in tree.names() if name.startswith(f"{MODELS}/")}
    problems += [f"{name}: no session's plan names it" for name in sorted(there - named)]
    return len(there & named), problems


def _weights(content: bytes) -> str:
    """The hash of the weights that a classifier's card states; empty where it states none."""
    stated = re.search(rb"^weights_sha256: ['\"]?([0-9a-f]{64})", content, re.MULTILINE)
    return stated[1].decode() if stated else ""


_OWN = frozenset({JOURNAL, f"{JOURNAL}-wal", f"{JOURNAL}-shm", LOCK, ENVIRONMENT})
_UNFINISHED = re.compile(
    rf"(environment|journal)\.partial(-wal|-shm|-journal)?|{STIMULI}/\..+-[0-9a-f]{{32}}"
)
"""Files that a run was writing when it was killed; another run writes its own."""
_SOUND = re.compile(rf"{AUDIO}/segment-[0-9]{{2,}}(-[0-9]+)?\.wav")
_NO_SOUND = 44
"""Bytes of a sound file that was just made: a header alone. A run that is killed then has not told
the journal of it."""
_DAMAGED = f"{STIMULI}/.damaged-"
_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)


def check_folder(record: Record) -> tuple[list[str], list[str]]:
    """Problems and notes about the files of a session folder, each by its name.

    The folder holds the files of a session and nothing besides. Here only the places of pictures
    and of the study's files count; other checks read them one by one. Links, pipes and devices are
    no part of a session: its files are its own.
    """
    problems, notes = [], []
    sounds = {sound.file for sound in record.audio}
    for name, mode, size in _below(Path(record.source)):
        odd = next((what for is_kind, what in _KINDS if is_kind(mode)), "")
        if odd:
            problems.append(f"{name}: {odd}, and a session holds its own files")
        elif name in _OWN or name in sounds:
            continue
        elif _UNFINISHED.fullmatch(name) or (_SOUND.fullmatch(name) and size <= _NO_SOUND):
            if not record.running:
                notes.append(f"{name}: left by a run that was killed while it wrote it")
        elif name.startswith(_DAMAGED):
            notes.append(f"{name}: a damaged picture, put aside when the session was resumed")
        elif name.startswith(f"{STIMULI}/."):
            problems.append(f"{name}: the journal does not name it")
        elif not name.startswith((f"{STUDY}/", f"{STIMULI}/")):
            problems.append(f"{name}: not part of the session")
    return problems, notes


def _below(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Name, mode and size of all that is no folder, hidden files too; links are not followed."""
    for name in FolderTree(folder).names():
        status = (folder / name).lstat()
        yield name, status.st_mode, status.st_size
