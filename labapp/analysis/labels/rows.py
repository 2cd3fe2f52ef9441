"""Rows of the table of dials: a fold over the plan and the decoders of one session."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from labapp.analysis.parts import StagePart
from labapp.events import Body, Event
from labapp.events.lifecycle import DecoderWarmed
from labapp.representations.space import Continuous

SHA256_PATTERN = r"[0-9a-f]{64}"


def fold_cards(events: Iterable[tuple[Event, Body]]) -> dict[str, str]:
    """The hash of the model card of each decoder that ran, by model; the last one of several.

    De-identified copies of older versions hold a word in its place, and count as without one.
    """
    return {
        body.model: body.card_sha256
        for _, body in events
        if isinstance(body, DecoderWarmed) and re.fullmatch(SHA256_PATTERN, body.card_sha256)
    }


def dial_rows(
    plan: Sequence[Mapping[str, Any]],
    stages: Mapping[str, StagePart],
    cards: Mapping[str, str],
) -> Iterator[dict[str, Any]]:
    """A row for each dial of each stage of reconstruction, in the order of the screen.

    plan: rows of `session.planned`; cards: see `fold_cards`.
    """
    for row in plan:
        part = stages.get(str(row["id"]))
        if part is None or part.role != "stage":
            continue
        for number, dial in enumerate(part.space.dimensions, start=1):
            slider = isinstance(dial, Continuous)
            yield {
                "model": part.model,
                "card_sha256": cards.get(part.model),
                "dimension": number,
                "dimension_name": dial.name,
                "dial": "continuous" if slider else "discrete",
                "low": dial.low if isinstance(dial, Continuous) else None,
                "high": dial.high if isinstance(dial, Continuous) else None,
                "values": None if isinstance(dial, Continuous) else dial.k,
                "distance": row.get("distance"),
                "labels_editable": bool(row.get("labels_editable", False)),
            }
