"""The pictures of a session: stored in its folder under their SHA-256, and read only from there.

So a session can be shown again, and its stimuli checked, when the stimulus set is gone. Painted
birds are also stored in a cache: they are painted once on a machine, not once in every session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from labapp.base import durable, leftovers, resources
from labapp.base.errors import StimuliError
from labapp.base.reading import files as reading
from labapp.models import datasets
from labapp.models.stimuli import masked_pictures, pictures
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.masked_pictures import MaskedRef
from labapp.models.stimuli.pictures import UInt8
from labapp.record.events.lifecycle import StimuliStored

FOLDER = "stimuli"
"""Name of the folder of pictures in a session's folder."""


def warm(refs: Iterable[str], progress: Callable[[int, int], None] | None = None) -> None:
    """Paint the birds among the pictures into the cache, those that are not there yet.

    progress: is told how many are there, of how many. A bird takes about 40 ms.
    """
    birds = [ref for ref in refs if pictures.is_bird(ref)]
    if birds:
        leftovers.clear(_bird_folder(), leftovers.DRAFT)
    for done, ref in enumerate(birds, start=1):
        _bird_bytes(ref)
        if progress is not None:
            progress(done, len(birds))


def keep(
    stimulus_sets: Sequence[StimulusSet], refs: Iterable[str], folder: Path
) -> tuple[StimuliStored, ...]:
    """Store pictures in `folder` under their SHA-256; files that are there already stay. Raises
    StimuliError: a picture is missing, or is another one in another of the sets.

    stimulus_sets : all that the plan shows, in which the refs are looked up; birds need none.

    Returns what `stimuli.kept` says, one per set; painted birds stand with the first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    leftovers.clear(folder, leftovers.DRAFT)
    files: list[dict[str, str]] = [{} for _ in stimulus_sets]
    for ref in refs:
        place, content = _content(stimulus_sets, ref)
        name = hashlib.sha256(content).hexdigest() + _ending(ref)
        if not (folder / name).exists():
            durable.replace(folder / name, content)
        files[place][ref] = name
    return tuple(
        StimuliStored(stimuli=stimulus_set.id, manifest_sha256=stimulus_set.sha256, files=names)
        for stimulus_set, names in zip(stimulus_sets, files, strict=True)
    )


def _ending(ref: str) -> str:
    """Ending of the file that a picture is stored in."""
    if masked_pictures.is_masked(ref):
        return ".png"
    return ".jpg" if pictures.is_bird(ref) else Path(ref).suffix.lower()


def _content(stimulus_sets: Sequence[StimulusSet], ref: str) -> tuple[int, bytes]:
    """Number of the set that has a picture, and its bytes."""
    if pictures.is_bird(ref):
        return 0, _bird_bytes(ref)
    if masked_pictures.is_masked(ref):
        try:
            wanted = MaskedRef.of(ref)
        except ValueError as error:
            raise StimuliError(
                f"{error}.", todo="Write masked:SET:PHOTO:METHOD:FILL:SIGN:PERCENT."
            ) from error
        for place, stimulus_set in enumerate(stimulus_sets):
            if stimulus_set.id == wanted.stimuli:
                return place, masked_pictures.png(stimulus_set, wanted)
        ids = ", ".join(stimulus_set.id for stimulus_set in stimulus_sets) or "none"
        raise StimuliError(
            f"{ref!r} is made from the stimulus set {wanted.stimuli!r}, which is not available.",
            todo=f"Choose a picture from one of these: {ids}.",
        )
    there = [n for n, s in enumerate(stimulus_sets) if pictures.path_of(s.folder, ref).exists()]
    contents = {n: pictures.content_of(stimulus_sets[n].folder, ref) for n in there or [0]}
    if len(set(contents.values())) > 1:
        names = " and ".join(stimulus_sets[n].id for n in there)
        raise StimuliError(
            f"{ref!r} refers to different pictures in {names}.",
            safe="No session was opened.",
            todo="Rename it in one of them, and import that set again.",
        )
    return next(iter(contents.items()))


def _bird_bytes(ref: str) -> bytes:
    """A painted bird as a JPEG file, from the cache if it is there."""
    path = _bird_folder() / f"{ref.replace(':', '-')}.jpg"
    try:
        return reading.content(path)
    except OSError:
        content = pictures.jpeg(pictures.paint_bird(ref))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        durable.replace(path, content)
    except OSError:
        pass  # A full or read-only cache costs time and nothing else.
    return content


def _bird_folder() -> Path:
    return resources.cache_root() / "birds" / _painter()


@lru_cache(maxsize=1)
def _painter() -> str:
    """A hash of the code that paints birds: when the code changes, the cache begins anew."""
    root = Path(next(iter(datasets.__path__)))
    sources = [*sorted((root / "birds").glob("*.py")), root / "painter.py"]
    digest = hashlib.sha256()
    for path in sources:
        digest.update(path.read_bytes())
    digest.update(f"{pictures.PHOTO_PX} {pictures.PROTOTYPE_PX}".encode())
    return digest.hexdigest()[:16]


class Gallery:
    """The stored pictures of a session, read when they are needed. folder: where they are stored;
    files: name of a picture in the plan -> name of its file in the folder."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self._folder = folder
        self._files = dict(files)

    @classmethod
    def of(cls, folder: Path, stored: Iterable[StimuliStored]) -> Gallery:
        """The gallery of the pictures that events say were stored."""
        return cls(folder, {ref: name for stimuli in stored for ref, name in stimuli.files.items()})

    def rgb(self, ref: str) -> UInt8:
        """A picture: uint8, shape (height, width, 3), not to be written to. Raises StimuliError:
        the picture was not stored, or its file has changed."""
        name = self._files.get(ref)
        if name is None:
            return self._unstored(ref)
        content = pictures.content_of(self._folder, name)
        if hashlib.sha256(content).hexdigest() != Path(name).stem:
            raise StimuliError(
                f"The file {name} of this session is not the picture that was stored.",
                safe="Everything recorded is safe.",
                todo="Restore the file, or start a new session.",
            )
        pixels = pictures.decode_picture(content, name)
        pixels.flags.writeable = False
        return pixels

    def _unstored(self, ref: str) -> UInt8:
        raise StimuliError(
            f"The picture {ref!r} was not stored with this session.",
            safe="Everything recorded is safe.",
            todo="Begin a new session.",
        )


class RecordedGallery(Gallery):
    """The pictures of a recorded session: those it stored, else those of the stimulus sets here.

    Simulated sessions store none, for nobody saw them.

    Parameters
    ----------
    folder, files
        As of a gallery.
    sets : as they were when the session was planned.
    missing : ids of those that are not here as they were.
    """

    def __init__(
        self,
        folder: Path,
        files: Mapping[str, str],
        sets: Sequence[StimulusSet],
        missing: Sequence[str],
    ) -> None:
        super().__init__(folder, files)
        self._sets, self._missing = sets, missing

    def _unstored(self, ref: str) -> UInt8:
        if not self._sets or (self._missing and not pictures.is_bird(ref)):
            raise StimuliError(
                f"The picture {ref!r} was not stored with this session, and the stimulus set "
                f"{', '.join(map(repr, self._missing))} is missing or was changed.",
                safe="Everything recorded is safe.",
                todo="Restore the original stimulus set.",
            )
        content = _content(self._sets, ref)[1]
        pixels = pictures.decode_picture(content, f"picture{_ending(ref)}")
        pixels.flags.writeable = False
        return pixels
