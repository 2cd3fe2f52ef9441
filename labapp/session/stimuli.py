"""The stimulus sets of a session: read once, their manifests copied, their pictures kept."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from labapp.base import durable
from labapp.base.errors import LabappError, StimuliError
from labapp.base.reading import files
from labapp.models.stimuli import gallery, library, pictures
from labapp.models.stimuli.gallery import Gallery
from labapp.models.stimuli.library import StimulusSet
from labapp.record.events import Event, payload_of
from labapp.record.events.lifecycle import StimuliStored
from labapp.session import folder
from labapp.session.folder import SessionFolder
from labapp.study.flow import items_of
from labapp.study.plan import pictures_of
from labapp.study.plugins.part import PlannedPart
from labapp.study.schema import Study

StimuliOf = Callable[[str], StimulusSet]


def stimuli_of(reference: str) -> StimulusSet:
    """A stimulus set by id or folder, read again only when its manifest was written since. Raises
    StimuliError."""
    manifest = library.find(reference) / library.MANIFEST
    written = manifest.stat()
    return _read(reference, str(manifest), written.st_mtime_ns, written.st_size)


@lru_cache(maxsize=8)
def _read(reference: str, manifest: str, mtime_ns: int, size: int) -> StimulusSet:
    return library.load(reference)


def copy_manifests(home: SessionFolder, sets: Iterable[StimulusSet]) -> None:
    """Copy the manifests beside the study as it was used: `study/stimuli/ID/manifest.json`.

    Files of scores stay in the set: every masked picture is kept as it was shown, and the whole
    image with it, so that the session says by itself which pixels were seen.

    Raises StimuliError if one is no longer what the plan was made of, or two have one id,
    DataFolderError when the disk takes none.
    """
    sets_by_id: dict[str, StimulusSet] = {}
    for stimulus_set in sets:
        if (other := sets_by_id.setdefault(stimulus_set.id, stimulus_set)) is not stimulus_set:
            raise StimuliError(
                f"The stimulus sets {other.folder} and {stimulus_set.folder} both have the id "
                f"{stimulus_set.id!r}.",
                safe="No session was opened.",
                todo="Give one of them another id, because records use it to distinguish sets.",
            )
        content = library.read_bytes(stimulus_set.folder / library.MANIFEST)
        if hashlib.sha256(content).hexdigest() != stimulus_set.sha256:
            raise StimuliError(
                f"The stimulus set {stimulus_set.id!r} was changed while the session was being "
                "opened.",
                safe="No session was opened.",
                todo="Start again.",
            )
        target = home.study / "stimuli" / stimulus_set.id / library.MANIFEST
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            durable.write(target, content)
        except OSError as error:
            raise folder.data_error(home.path, error) from error


def keep(
    home: SessionFolder, parts: Sequence[PlannedPart], sets: Sequence[StimulusSet]
) -> tuple[StimuliStored, ...]:
    """Put every picture that the plan shows into the session's folder. Returns what to write down
    of them.

    Raises StimuliError when one is missing, DataFolderError when the disk takes none.
    """
    return _keep(home, sets, pictures_of(parts)) if sets else ()


def _keep(
    home: SessionFolder, sets: Sequence[StimulusSet], refs: Iterable[str]
) -> tuple[StimuliStored, ...]:
    try:
        return gallery.keep(sets, refs, folder_of(home))
    except OSError as error:
        raise folder.data_error(home.path, error) from error


def folder_of(home: SessionFolder) -> Path:
    """The folder of a session's pictures."""
    return home.path / gallery.FOLDER


def gallery_of(home: SessionFolder, stored: Sequence[StimuliStored]) -> Gallery | None:
    """The pictures of a session; None if none were kept."""
    return Gallery.of(folder_of(home), stored) if stored else None


def find_stored_payloads(past: Iterable[Event]) -> tuple[StimuliStored, ...]:
    """What a session wrote down of its pictures so far."""
    payloads = (payload_of(event) for event in past if event.kind == StimuliStored.kind)
    return tuple(payload for payload in payloads if isinstance(payload, StimuliStored))


def store_missing(
    home: SessionFolder,
    parts: Sequence[PlannedPart],
    study: Study,
    past: Iterable[Event],
    load: StimuliOf,
) -> tuple[StimuliStored, ...]:
    """Store the pictures that a resumed session lacks, or whose file no longer has its hash.
    Returns what to write down of them. A damaged file is put aside, not deleted.

    Raises StimuliError when they cannot be got any more as they were.
    """
    names = {
        ref: name for stimuli in find_stored_payloads(past) for ref, name in stimuli.files.items()
    }
    refs = pictures_of(parts)
    lost = [ref for ref in refs if ref in names and not _intact(folder_of(home) / names[ref])]
    wanted = [*(ref for ref in refs if ref not in names), *lost]
    if not wanted:
        return ()
    sets = _sets(home, parts, study, load, len(wanted))
    for damaged in {folder_of(home) / names[ref] for ref in lost}:
        if damaged.exists():
            aside = (f".damaged-{n}-{damaged.name}" for n in itertools.count(1))
            damaged.rename(next(p for p in map(damaged.with_name, aside) if not p.exists()))
    stored = _keep(home, sets, wanted)
    now = {ref: name for stimuli in stored for ref, name in stimuli.files.items()}
    if changed := [ref for ref in lost if now[ref] != names[ref]]:
        raise StimuliError(
            f"The picture {changed[0]!r} of {home.path.name} is missing or damaged, and the "
            "stimulus set now has a different one in its place.",
            safe="What was recorded is untouched.",
            todo=f"Restore the file {names[changed[0]]} in the session's folder "
            f"{gallery.FOLDER}, or export the session as it is.",
        )
    return stored


def _intact(path: Path) -> bool:
    try:
        with files.open_file(path, largest=pictures.LARGEST_BYTES) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == path.stem
    except OSError:
        return False


def _sets(
    home: SessionFolder, parts: Sequence[PlannedPart], study: Study, load: StimuliOf, lacking: int
) -> tuple[StimulusSet, ...]:
    """The stimulus sets of a plan, as they were when it was made. Raises StimuliError."""
    sets, missing = sets_of(parts, study, load)
    if missing:
        raise StimuliError(
            f"{lacking} pictures of {home.path.name} are missing or damaged, and the stimulus "
            f"set {missing[0]!r} from which they came is missing or was changed.",
            safe="What was recorded is untouched.",
            todo=f"Restore the session's folder {gallery.FOLDER} or the stimulus set, and resume "
            "it again.",
        )
    return sets


def sets_of(
    parts: Sequence[PlannedPart], study: Study, load: StimuliOf = stimuli_of
) -> tuple[tuple[StimulusSet, ...], list[str]]:
    """The stimulus sets of a plan that are here as they were when it was made, looked up by their
    ids and as the study names them; and the ids of those that are not."""
    wanted = {ref.sha256: ref.name for part in parts for ref in part.stimulus_sets()}
    named = [name for item in items_of(study.flow) for name in item.stimulus_sets()]
    sets: dict[str, StimulusSet] = {}
    for reference in dict.fromkeys([*wanted.values(), *named]):
        try:
            stimulus_set = load(reference)
        except LabappError:
            continue  # another name may lead to it; what is not found is told
        if stimulus_set.sha256 in wanted:
            sets[stimulus_set.sha256] = stimulus_set
    missing = [name for sha256, name in wanted.items() if sha256 not in sets]
    return tuple(sets.values()), missing
