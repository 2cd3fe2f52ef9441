"""The cards of a session's models, of this installation: only if they are the session's."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from labapp.bids.folder import BundleFolder
from labapp.errors import ModelError
from labapp.events.lifecycle import DecoderWarmed
from labapp.explanations import card as classifier_card
from labapp.journal.layout import SOURCEDATA
from labapp.journal.record import Record
from labapp.journal.rows import payloads
from labapp.plugins import registry
from labapp.representations import card, package
from labapp.training import files

ABSENT = "not installed here at export"
OTHER = "the model installed at export is another version"


def add_model_cards(bundle: BundleFolder, record: Record) -> dict[str, str]:
    """Add the cards of the plan's models; what is said of each, by its id.

    A session knows the hashes of its decoders' cards; where it has none, equal dials must do. Of
    explained classifiers it knows the hash of the weights.
    """
    hashes = stated_hashes(record)
    states = {
        model: (card.CARD, *_decoder_now(model, dimensions, hashes.get(model)))
        for model, dimensions in decoders_of(record).items()
    }
    for model, weights in classifiers_of(record).items():
        states[model] = (classifier_card.CARD, *_classifier_now(model, weights))
    for model, (file, _, content) in states.items():
        name = f"{SOURCEDATA}/models/{model}/{file}"
        if content is not None and name not in bundle.files:
            bundle.add_bytes(name, content)
    return {model: state for model, (_, state, _) in states.items()}


def _decoder_now(
    model: str, dimensions: list[dict[str, Any]], stated: str | None
) -> tuple[str, bytes | None]:
    """What is said of a decoder's card, and its content if it is the session's; stated: its
    hash."""
    state = ABSENT
    try:
        for folder in package.places(model):
            content = files.read_bytes(folder / card.CARD)
            if _dials(folder, content) != dimensions:
                state = "the model installed at export has other dials"
            elif stated and sha256(content).hexdigest() != stated:
                state = OTHER
            else:
                return "included", content
    except ModelError:
        pass
    return state, None


@lru_cache(maxsize=64)
def _dials(folder: Path, content: bytes) -> list[dict[str, Any]]:
    """Of the card in a folder, read once while its content is this: sessions of a study have the
    same models. Raises ModelError."""
    return card.read(folder).space.to_json()


def _classifier_now(model: str, stated: str | None) -> tuple[str, bytes | None]:
    """The same of a classifier; stated: the hash of its weights."""
    state = ABSENT
    try:
        for folder in package.places(model, card=classifier_card.CARD):
            state = OTHER
            if classifier_card.read(folder).weights_sha256 == stated:
                return "included", files.read_bytes(folder / classifier_card.CARD)
    except ModelError:
        pass
    return state, None


def stated_hashes(record: Record) -> dict[str, str]:
    """The hash of each decoder's card, as the session noted it; empty where there was no card."""
    rows = [row for row in record.rows if row.kind == DecoderWarmed.kind]
    return {
        payload.model: payload.card_sha256
        for _, payload in payloads(rows)
        if isinstance(payload, DecoderWarmed)
    }


def decoders_of(record: Record) -> dict[str, list[dict[str, Any]]]:
    """The dimensions of each decoder of the plan."""
    parts = registry.known_parts(record.planned.plan)
    return {model: list(dials) for part in parts for model, dials in part.dials()}


def classifiers_of(record: Record) -> dict[str, str | None]:
    """The hash of the weights of each classifier that the plan explains."""
    parts = registry.known_parts(record.planned.plan)
    return {model: sha256 for part in parts for model, sha256 in part.classifiers()}
