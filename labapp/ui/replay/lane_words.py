"""What the lanes of a timeline are called, and what their items say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from labapp.plugins.part import PlannedPart
from labapp.replay.lanes import Lane, LaneItem
from labapp.ui.language import N_, tr, veiled
from labapp.ui.moderator import wording
from labapp.ui.moderator.part_words import PartWords, every_mark, words_of

TITLES: Mapping[str, str] = {
    "sound": N_("Voice"),
    "screen": N_("Screen"),
    "dials": N_("Dial moves"),
    "alignment": N_("Alignment"),
    "notes": N_("Notes"),
}
HELD: Mapping[str, str] = {
    "break": N_("Break"),
    "gap": N_("Gap: the program was not running"),
    "skip": N_("A skip could be taken back"),
    "leave": N_("The participant was asked whether to leave"),
    "end": N_("The session had ended"),
}
HEARD: Mapping[str, str] = {
    "silent": N_("silence"),
    "zeros": N_("no signal at all"),
    "clipping": N_("too loud"),
}
ABSENT: Mapping[str, str] = {
    "missing": N_("its file is missing"),
    "unreadable": N_("its file cannot be read"),
    "other_file": N_("its file is another than was recorded"),
    "cut_off": N_("its file ends too early"),
}
"""Why there is no sound, besides what happened while it was recorded."""

Parts = Mapping[str, PlannedPart]
"""The parts of a session's plan by their ids."""


def title(lane: str) -> str:
    """What a row is called."""
    return tr(TITLES[lane])


def item_label(item: LaneItem, parts: Parts, *, outcomes: bool = True) -> str:
    """What stands in or beside an item; outcomes: whether it says how something ended."""
    return veiled(_label(item, parts, outcomes=outcomes))


def _label(item: LaneItem, parts: Parts, *, outcomes: bool) -> str:
    match item.kind:
        case "trial" | "part":
            ended = wording.OUTCOMES.get(item.outcome) if outcomes else None
            label = screen_label(item, parts)
            return f"{label} · {tr(ended)}" if ended else label
        case "lost":
            return tr("sound lost")
        case "unrecorded":
            return tr("not recorded")
        case "flag.added":
            return tr("Flag {number} {meaning}", number=item.payload["number"], meaning=item.text)
        case "deviation.noted":
            return tr("Deviation: {said}", said=item.text)
        case "pause":
            return wording.paused(str(item.payload.get("reason", "")))
        case "stall":
            return wording.stalled(item.payload)
        case "skip.taken_back":
            return tr("A skip was taken back")
        case "audio.gap":
            return tr("Sound was lost: {cause}", cause=wording.gap(str(item.payload["cause"])))
        case kind if item.payload and (text := wording.alarm_text(kind, item.payload)):
            return text
        case kind if kind in HELD:
            return tr(HELD[kind])
        case kind if kind in HEARD:
            return tr(HEARD[kind])
        case kind if (words := every_mark().get(kind)) is not None and item.payload:
            part = parts.get(item.part_id or "")
            return item.text if part is None else words.mark(part, item.payload)
    return item.text


def moved_label(dials: Sequence[int], part: PlannedPart | None) -> str:
    """What was moved in a part, by the numbers of its dials, from 0."""
    return veiled((PartWords[Any]() if part is None else words_of(part)).moved(part, dials))


def item_tip(item: LaneItem, parts: Parts) -> str:
    """The same in full, where a pointer rests on it."""
    if item.kind == "lost":
        cause = tr(ABSENT[item.text]) if item.text in ABSENT else wording.gap(item.text)
        return tr("Sound was lost: {cause}", cause=cause)
    return item_label(item, parts)


def screen_label(item: LaneItem, parts: Parts) -> str:
    """A part or a trial as the console's timeline calls it."""
    part = parts.get(item.part_id or "")
    if part is None:
        return item.part_id or ""
    if item.kind == "part":
        return wording.part_title(part.title)
    return words_of(part).trial(part, item.trial or 1)


def shorter_labels(item: LaneItem, parts: Parts) -> tuple[str, ...]:
    """What a part or a trial is called where there is less room; of a trial also its number."""
    label = veiled(screen_label(item, parts))
    number = re.search(r"\d+", label) if item.kind == "trial" else None
    return (label,) if number is None else (label, number[0])


def joined_screen(lane: Lane, parts: Parts) -> Sequence[LaneItem]:
    """The items of the lane of the screen; trials that are many and short are one item where their
    task joins them."""
    items: list[LaneItem] = []
    for item in lane.items:
        part = parts.get(item.part_id or "")
        last = items[-1] if items else None
        if (
            item.kind == "trial"
            and part is not None
            and words_of(part).joins
            and last is not None
            and last.kind == "trial"
            and (last.part_id, screen_label(last, parts))
            == (item.part_id, screen_label(item, parts))
        ):
            items[-1] = replace(last, t1_ns=item.t1_ns, outcome=item.outcome)
        else:
            items.append(item)
    return items
