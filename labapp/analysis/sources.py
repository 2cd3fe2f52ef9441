"""Finding and reading sessions: folders, bundles, zips, and folders of these; each session once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from labapp.analysis.answered import know_bundled_cards
from labapp.analysis.folding.folded import (
    Folded,
    WithdrawnSession,
    continues,
    fold_all,
    pieces,
    snapshots_piece,
)
from labapp.analysis.merged import origins
from labapp.analysis.participation import TableSession
from labapp.analysis.rows import SessionRecords
from labapp.analysis.snapshots import SnapshotFile, SnapshotGroup, Who
from labapp.base.errors import RecordError
from labapp.base.naming import NO_PHASE, SIMULATED, natural
from labapp.base.report.page import count
from labapp.models.representations.card import hash_installed_card
from labapp.record.journal.decisions import Choice
from labapp.record.journal.merged import Merged
from labapp.record.journal.opening import (
    SessionPlace,
    count_withdrawn,
    find_withdrawn,
    places,
    session_places,
)

Progress = Callable[[float, str], None]
"""Called with the share that is done (0..1) and what is being done."""

ALL = Choice()
"""Every session."""
PILOTS = "All of these sessions are pilots: trial runs, which are not part of the study."


def read_sessions(
    paths: Sequence[Path],
    progress: Progress | None = None,
    *,
    withdrawn: bool = False,
    pilot: bool = False,
    choice: Choice = ALL,
    workers: int | None = 1,
    dask: str | None = None,
) -> tuple[list[Read], SnapshotFile, list[str], list[TableSession]]:
    """Every session at the paths, folded, their snapshots, notes on what the reader should know,
    and the sessions of people who withdrew, which are left out.

    A path may be a session folder, a bundle (folder or zip), a folder of sessions (a study under
    the data root, the data root itself), or else a folder of bundles. withdrawn: read sessions too
    whose participants withdrew and let the data be kept; they do not count. pilot: read trial runs
    only; False leaves them out. choice: by tags and phases. workers, dask: who reads them (see
    `fold_all`). Raises RecordError when a path holds no session,
    none is chosen, one cannot be read or should be deleted, or two different sessions have the same
    labels.
    """
    sessions_found = [
        place for path in paths for item in places(path) for place in session_places(item)
    ]
    know_bundled_cards(sessions_found)
    chosen: dict[Who, Folded] = {}
    read: dict[Who, Read] = {}
    file = SnapshotFile()
    notes: list[str] = []
    others: list[str] = []
    not_chosen: list[Folded] = []
    left: list[WithdrawnSession] = []
    studies: dict[Path, str] = {}
    # Closed, so that workers end here whatever happens.
    with closing(
        fold_all(sessions_found, withdrawn=withdrawn, workers=workers, dask=dask)
    ) as sessions:
        for done, place in enumerate(sessions_found):
            if progress is not None:
                progress(done / len(sessions_found), f"reading {place.name}")
            folded = next(sessions)
            if isinstance(folded, WithdrawnSession):
                taken = folded.pilot == pilot and choice.takes(folded.phase, folded.tags, False)
                left += [folded] if taken else []
                continue
            if folded.pilot != pilot:
                others.append(Path(folded.source).name)
                continue
            who = folded.who
            if not choice.takes(folded.phase, folded.tags, folded.simulated):
                not_chosen.append(folded)
                continue
            if not place.prefix:
                studies[place.path.resolve().parent] = who[0]
            if who in chosen and _better(chosen[who], folded, notes) is not folded:
                continue
            read[who] = Read(
                who, folded.tables, file.add(folded.snapshots), folded.cards, folded.merged
            )
            chosen[who] = replace(folded, tables={}, snapshots=b"")
    names = ", ".join(each.name for each in left)
    if left and not read:
        raise RecordError(
            f"Everybody in this selection withdrew, but their data were kept: {names}.",
            safe="No analysis was made.",
            todo="If your consent form covers it, use --withdrawn: the sessions are then in the "
            "tables, but count in no metric.",
        )
    _tell_left_out(others, bool(read or not_chosen), pilot, notes)
    _tell_choice(choice, chosen.values(), not_chosen, notes)
    gone = _list_withdrawn(sessions_found, chosen.values(), left, studies)
    if gone:
        people = count(len({(each.study, each.participant) for each in gone}), "participant")
        kept = f" Their data were kept: {names}. Use --withdrawn to include them." if left else ""
        notes.append(f"Withdrew (counted, but not in any table): {people}.{kept}")
    if pilot:
        notes.insert(0, PILOTS)
    notes += [
        f"{Path(session.source).name} is still running. What was recorded so far is shown."
        for session in chosen.values()
        if session.running
    ]
    notes += [remark for session in chosen.values() for remark in session.remarks]
    notes += origins(each for session in chosen.values() for each in session.merged)
    notes += _other_cards(chosen.values())
    return list(read.values()), file, notes, gone


def _list_withdrawn(
    places: Sequence[SessionPlace],
    chosen: Collection[Folded],
    left: Sequence[WithdrawnSession],
    studies: Mapping[Path, str],
) -> list[TableSession]:
    """The sessions of people who withdrew that are in no table: those left out, and those that were
    deleted, of each study of which everything else that it holds was given. studies: by folder
    which study's sessions were read from it."""
    known = {each.who for each in chosen}
    gone = {each.who: each.cells for each in left}
    withdrew = find_withdrawn(place.path for place in places if not place.prefix)
    for folder, study in studies.items():
        for each in withdrew.get(folder, ()):
            gone[study, each.participant, each.session] = each.cells
    named = [
        TableSession(participant, session, "withdrawn", None, study, cells)
        for (study, participant, session), cells in sorted(
            gone.items(), key=lambda item: tuple(map(natural, item[0]))
        )
        if (study, participant, session) not in known
    ]
    bundled: dict[str, list[Path]] = {}
    for folded in chosen:
        if folded.place.prefix:
            bundled.setdefault(folded.who[0], []).append(folded.place.path)
    for study, bundles in bundled.items():
        if study not in studies.values():  # else its folder says who they are
            named += [
                TableSession(f"withdrew {number + 1}", "1", "withdrawn", None, study)
                for number in range(count_withdrawn(bundles))
            ]
    return named


def _other_cards(sessions: Iterable[Folded]) -> Iterator[str]:
    """A note on each model whose card was another one at sessions than it is here."""
    cards = Counter((model, card) for session in sessions for model, card in session.cards.items())
    for model in sorted({model for model, _ in cards}):
        here = hash_installed_card(model)
        n = sum(cards[each] for each in cards if each[0] == model and each[1] != here)
        if here and n:
            yield (
                f"The model {model} that is installed here has a different card (model.yaml) "
                f"than at {count(n, 'session')}. Recorded data are unchanged. What only a card "
                "says (data set, published model, errors), and pictures that are drawn again, "
                "come from the installed model."
            )


def _tell_left_out(others: list[str], any_read: bool, pilot: bool, notes: list[str]) -> None:
    """A note on sessions that are left out because they are pilots, or are none; RecordError if
    nothing else is there."""
    if not others:
        return
    are = "no pilots" if pilot else "pilots"
    if not any_read:
        raise RecordError(
            f"All of these sessions are {are}: {', '.join(others)}.",
            safe="No analysis was made.",
            todo="Leave --pilot out." if pilot else "Use --pilot to analyse pilots separately.",
        )
    notes.append(f"Left out, because they are {are}: {', '.join(others)}.")


def _tell_choice(
    choice: Choice, chosen: Collection[Folded], left: Sequence[Folded], notes: list[str]
) -> None:
    """A note on the sessions that were not chosen, and on phases that are together; RecordError
    if none was chosen."""
    if not chosen and left:
        words = sorted({word for each in left for word in _name_words(each)})
        raise RecordError(
            f"No session is chosen by {choice}.",
            safe="No analysis was made.",
            todo=f"These sessions have the phases and tags: {', '.join(words)}.",
        )
    if choice != ALL:
        names = ", ".join(Path(each.source).name for each in left) or "none"
        notes.append(f"Sessions were chosen by {choice}. Left out: {names}.")
    for study, phases in count_phases((each.who[0], each.phase) for each in chosen).items():
        if len(phases) > 1:
            notes.append(f"Analysed together: phases of {study}: {describe_phases(phases)}.")


def _name_words(session: Folded) -> Iterator[str]:
    """The words by which a session can be chosen."""
    yield from (session.phase or NO_PHASE, *session.tags, *[SIMULATED] * session.simulated)


def count_phases(sessions: Iterable[tuple[str, str]]) -> dict[str, Counter[str]]:
    """By study how many sessions each phase has. sessions: study and phase of each."""
    result: dict[str, Counter[str]] = {}
    for study, phase in sessions:
        result.setdefault(study, Counter())[phase or NO_PHASE] += 1
    return result


def describe_phases(phases: Mapping[str, int]) -> str:
    """Phases with their numbers of sessions, in words."""
    return ", ".join(f"{phase} ({n})" for phase, n in sorted(phases.items()))


@dataclass(frozen=True, slots=True)
class Read:
    """A session that was read: its pieces by table, the part of the file with its snapshots, and by
    model the hash of its card; merged: answers of other tools."""

    who: Who
    tables: Mapping[str, bytes]
    snapshots: SnapshotGroup
    cards: Mapping[str, str] = field(default_factory=dict)
    merged: tuple[Merged, ...] = ()

    @classmethod
    def of(cls, session: SessionRecords, file: SnapshotFile) -> Read:
        study, participant, label = session.who.values()
        snapshots = file.add(snapshots_piece(session.who, session.traced))
        return cls((study, participant, label), pieces(session), snapshots, merged=session.merged)


def _better(known: Folded, other: Folded, notes: list[str]) -> Folded:
    """The fuller of two records of one session, with a note; RecordError when they are not one."""
    study, participant, session = known.who
    if not continues(known, other):
        raise RecordError(
            f"{known.source} and {other.source} are different sessions, but both call "
            f"themselves participant {participant}, session {session} of {study}.",
            todo="Analyse them separately, or leave one of them out. Two data folders whose "
            "participants have the same labels cannot be merged, even by renaming folders.",
        )
    worse, better = sorted((known, other), key=lambda read: read.fullness)
    missing = better.events - worse.events
    left, chosen = distinguish_paths(worse.source, better.source)
    why = f", because {left} stops {missing} events earlier" if missing else ""
    notes.append(
        f"Participant {participant}, session {session} was given twice "
        f"({left} and {chosen}); {chosen} was read{why}."
    )
    return better


def distinguish_paths(*sources: str) -> list[str]:
    """The shortest ends of paths that tell them apart: a report is passed on, and is not to say in
    whose folders it was made."""
    parts = [Path(source).parts for source in sources]
    for length in range(1, max(map(len, parts))):
        ends = ["/".join(of_one[-length:]) for of_one in parts]
        if len(set(ends)) == len(ends):
            return ends
    return list(sources)
