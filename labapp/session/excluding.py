"""Which of a study's own rules of exclusion a session fails, asked as it ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from labapp.analysis.rows import SessionRecords
from labapp.events.registry import frequent_kinds, registered
from labapp.journal.read import read_rows
from labapp.journal.rows import payloads
from labapp.study.schema import Study


def failed_in(session: Path) -> tuple[str, ...]:
    """The names of the rules that a session fails by what its journal holds; session: its folder.

    The moves of dials are not read: no rule asks for them, and they are most of a journal. Raises
    RecordError where it cannot be read.
    """
    kinds = sorted(registered().keys() - frequent_kinds())
    return SessionRecords.of(list(payloads(read_rows(session, kinds))), "").failed_rules()


def asked(study: Study, session: Path) -> Callable[[], Sequence[str]]:
    """What a session asks as it ends; a study without such rules reads nothing then."""
    return partial(failed_in, session) if study.exclude else tuple
