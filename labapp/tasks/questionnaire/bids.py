"""What a bundle has of questionnaires besides the answers themselves, which are phenotypes."""

from __future__ import annotations

from labapp.record.events.lifecycle import PageTurned
from labapp.record.events.trials import (
    CheckAnswered,
    QuestionnaireSubmitted,
    ResponseChanged,
    SoundPlayed,
)
from labapp.study.plugins.bids import CourseRow

COURSE = (
    CourseRow(
        ResponseChanged.kind,
        "An answer was given or changed; text is instrument and item.",
        lambda payload: {"value": payload.value, "text": f"{payload.instrument} {payload.item}"},
        behind=PageTurned.kind,
    ),
    CourseRow(
        CheckAnswered.kind,
        "A comprehension check was judged: value is 1 if it was passed; text is instrument, item "
        "and attempt.",
        lambda payload: {
            "value": int(payload.passed),
            "text": f"{payload.instrument} {payload.item} {payload.attempt}",
        },
        behind=ResponseChanged.kind,
    ),
    CourseRow(
        SoundPlayed.kind,
        "The sound or video of an item or option was started, paused or played to its end; value "
        "is where in it, in seconds; text is instrument, item (with _ and option), play or pause "
        "or end, and which play it is.",
        lambda payload: {
            "value": payload.at_s,
            "text": " ".join(
                (
                    payload.instrument,
                    "_".join(filter(None, (payload.item, payload.option))),
                    payload.action,
                    str(payload.play),
                )
            ),
        },
        behind=CheckAnswered.kind,
    ),
    CourseRow(
        QuestionnaireSubmitted.kind,
        "A questionnaire was completed; text is the instrument.",
        lambda payload: {"text": payload.instrument},
        behind=ResponseChanged.kind,
    ),
)
