"""The BIDS dataset that `labapp export` writes: a bundle that stands on its own."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from labapp import __version__
from labapp.base.clock import utc_text
from labapp.record.journal.guard import readable
from labapp.record.journal.layout import MANIFEST, SOURCEDATA
from labapp.session.bids.contents import add_sourcedata
from labapp.session.bids.derived import README, TABLE_FORMAT, DerivedFiles, packages
from labapp.session.bids.export import BIDS, ExportedSession, Exporter
from labapp.session.bids.folder import BundleFolder, manifest_text


class BidsDataset(Exporter):
    """Sessions as a BIDS dataset, with all that labapp needs to read them again."""

    name = BIDS

    def write(
        self, sessions: Iterable[ExportedSession], folder: BundleFolder, *, audio: bool
    ) -> None:
        derived = DerivedFiles(folder, __version__)
        unshared: list[str] = []
        order: list[str] = []
        for given in sessions:
            record = given.record
            with readable(record.source):
                derived.add(record, given.instruments, audio=given.sound)
                add_sourcedata(folder, record, audio=given.sound, videos=given.videos)
                derived.shown |= bool(given.videos)
                if given.unshared:
                    unshared.append(record.name.bids)
                order.append(record.name.bids)
        derived.finish()
        derived.withdrew = folder.withdrew
        folder.add_text(README, derived.readme(audio=audio, unshared=unshared))
        made_with = packages()
        facts = {
            "labapp": __version__,
            **({} if derived.reduced else {"created": utc_text(datetime.now(UTC))}),
            "study": derived.study,
            "deidentified": derived.reduced,
            "sound": derived.heard,
            "table_format": TABLE_FORMAT,
            **({"packages": made_with} if made_with else {}),
            **({"withdrawn": folder.withdrew} if folder.withdrew else {}),
            "sessions": order,
        }
        folder.add_text(f"{SOURCEDATA}/{MANIFEST}", manifest_text(facts, folder.files))


BIDS_DATASET = BidsDataset()
