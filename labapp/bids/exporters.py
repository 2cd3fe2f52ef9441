"""The formats that sessions can be exported to: `Exporter`, and which ones there are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from labapp.annotations.bundling import leaving_annotations
from labapp.annotations.model import SessionAnnotations
from labapp.annotations.video_files import PlacedVideo
from labapp.bids.folder import BundleFolder
from labapp.discovery import Catalogue, load
from labapp.errors import UsageError
from labapp.journal.record import Record
from labapp.study.instruments import Instrument

BIDS = "bids"


@dataclass(frozen=True)
class ExportedSession:
    """A session that may be exported.

    It is not running, its journal is as it was written, its study folder is the one it was planned
    with, and its participant did not withdraw.

    Attributes
    ----------
    record : the session. A de-identified one (`record.redacted`) has nothing in its rows any more
        that was withheld; its folder still has it. Its sound is read from `record.tree`, where
        redacted stretches are silent.
    instruments : its questionnaires by id, in the session's language.
    sound : whether it has sound that belongs into the export.
    unshared : whether it has sound that was asked for and that the participant does not let out.
    videos : its videos that belong into the export; their files are in
        `labapp.annotations.video_files.video_tree`.
    """

    record: Record
    instruments: Mapping[str, Instrument]
    sound: bool
    unshared: bool
    videos: tuple[PlacedVideo, ...] = ()

    def annotations(self) -> SessionAnnotations:
        """The units, texts and marks of the session as they may leave the lab: no redacted word,
        and of a de-identified session nothing that is withheld.

        Raises
        ------
        AnnotationError : a file of them is damaged.
        """
        return leaving_annotations(self.record)


class Exporter(ABC):
    """A format. A package brings one by an entry point of the group `labapp.exporters` that names
    an instance; `labapp export --format NAME` writes it.

    What surrounds it is the same for all: sessions are checked and, where that is asked, reduced
    before it sees them; the folder is written beside its place and put there whole, or not at all.
    """

    name: ClassVar[str]
    """What it is called on the command line."""

    @abstractmethod
    def write(
        self, sessions: Iterable[ExportedSession], folder: BundleFolder, *, audio: bool
    ) -> None:
        """Write the files of an export.

        Parameters
        ----------
        sessions : iterable of ExportedSession
            All of one study, each once; read as they are asked for, so that one is in memory.
        folder : takes the files, by their names in the export.
        audio : whether sound was asked for.

        Raises
        ------
        BundleError : something cannot be written in this format.
        """


def _shipped() -> tuple[Exporter, ...]:
    return (load("labapp.bids.dataset:BIDS_DATASET"),)


EXPORTERS: Catalogue[Exporter] = Catalogue("labapp.exporters", "an exporter", Exporter, _shipped)


def exporter(name: str) -> Exporter:
    """The exporter of a name. Raises UsageError, which lists them."""
    if name not in EXPORTERS:
        raise UsageError(
            f"There is no format {name!r} to export to.",
            safe="No bundle was made.",
            todo=f"Use one of: {', '.join(EXPORTERS)}; or install the package that brings it "
            "(labapp plugins list shows what is installed).",
        )
    return EXPORTERS[name]
