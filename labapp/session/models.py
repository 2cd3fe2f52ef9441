"""The decoders of a session, loaded and warmed up before the participant sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from labapp.events.lifecycle import DecoderWarmed
from labapp.reading import files
from labapp.representations.card import CARD
from labapp.representations.decoders import LoadedDecoder
from labapp.representations.package import find, load_package
from labapp.representations.timing import warm_up

WARM_UP_DECODES = 50


@dataclass(frozen=True)
class WarmDecoders:
    """Decoders by model id, and what the warm-up of each measured."""

    decoders: dict[str, LoadedDecoder]
    warmed: list[DecoderWarmed]


def load_warm(
    models: Iterable[str],
    device: str | None = None,
    progress: Callable[[str], None] = lambda model: None,
) -> WarmDecoders:
    """Load and warm up models by id, one CPU thread each. Raises ModelError."""
    decoders: dict[str, LoadedDecoder] = {}
    warmed = []
    for model in models:
        progress(model)
        decoder = load_package(model, device, threads=1)
        times = warm_up(decoder, WARM_UP_DECODES)
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
    return WarmDecoders(decoders, warmed)


def card_path(model: str) -> Path:
    """The card of a model given by id. Raises ModelError when there is no such model."""
    return find(model) / CARD
