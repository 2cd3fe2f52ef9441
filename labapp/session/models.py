"""The decoders of a session, loaded and warmed up before the participant sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from labapp.base.reading import files
from labapp.models.representations.card import CARD
from labapp.models.representations.decoders import LoadedDecoder
from labapp.models.representations.decoding import Decoder
from labapp.models.representations.effects import warm_up
from labapp.models.representations.package import files_sha256, find, load_package, tasks_of
from labapp.models.representations.recipe import InTasks, in_tasks
from labapp.record.events.lifecycle import DecoderWarmed


@dataclass(frozen=True)
class WarmDecoders:
    """Decoders by model id, and what the warm-up of each measured.

    files: by model id the hash of the files that its decoder was read from; of a decoder that was
    read from no files there is none.
    """

    decoders: dict[str, LoadedDecoder]
    warmed: list[DecoderWarmed]
    files: dict[str, str] = field(default_factory=dict)

    def unchanged(self) -> WarmDecoders:
        """Those whose files are still what they were read from."""
        return self._of(
            {
                model
                for model in self.decoders
                if model not in self.files or files_sha256(model) == self.files[model]
            }
        )

    def with_others(self, others: WarmDecoders) -> WarmDecoders:
        """These and others, which stand in the place of those of the same models."""
        rest = self._of(self.decoders.keys() - others.decoders.keys())
        return WarmDecoders(
            rest.decoders | others.decoders, rest.warmed + others.warmed, rest.files | others.files
        )

    def _of(self, models: Set[str]) -> WarmDecoders:
        return WarmDecoders(
            {model: decoder for model, decoder in self.decoders.items() if model in models},
            [times for times in self.warmed if times.model in models],
            {model: sha256 for model, sha256 in self.files.items() if model in models},
        )


def load_warm(
    models: Iterable[str],
    device: str | None = None,
    progress: Callable[[str], None] = lambda model: None,
) -> WarmDecoders:
    """Load and warm up models by id, one CPU thread each. Raises ModelError."""
    decoders: dict[str, LoadedDecoder] = {}
    warmed = []
    hashes = {}
    for model in models:
        progress(model)
        hashes[model] = files_sha256(model)  # before it is read: what is written now is news
        decoder = load_package(model, device, threads=1)
        times = warm_up(decoder, 50)
        decoders[model] = decoder
        warmed.append(
            DecoderWarmed(
                model,
                times.device,
                times.threads,
                times.n,
                times.median_ms,
                times.p99_ms,
                sha256(files.content(card_path(model))).hexdigest(),
                *decoder.backend,
            )
        )
    return WarmDecoders(decoders, warmed, hashes)


def card_path(model: str) -> Path:
    """The card of a model given by id. Raises ModelError when there is no such model."""
    return find(model) / CARD


def tasks_of_loaded(model: str, decoder: Decoder) -> InTasks:
    """What tasks follow of a model: of the one that is loaded, where it has a card."""
    card = getattr(decoder, "card", None)
    return tasks_of(model) if card is None else in_tasks(card)
