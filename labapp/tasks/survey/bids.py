"""What a bundle has of a survey of another tool."""

from __future__ import annotations

from labapp.record.events.lifecycle import NoteCorrected
from labapp.study.plugins.bids import CourseRow
from labapp.tasks.survey.events import SurveyOpened, SurveyReturned, SurveyShown

COURSE = (
    CourseRow(
        SurveyShown.kind,
        "The page that leads to the lab's own survey appeared; value says how it is opened "
        "(button, qr-code, both), text is the link, withheld in de-identified copies.",
        lambda payload: {"value": payload.open_with, "text": payload.link},
        behind=NoteCorrected.kind,
    ),
    CourseRow(
        SurveyOpened.kind,
        "The participant opened the lab's survey with the button; value says whether a browser was "
        "started.",
        lambda payload: {"value": payload.opened},
        behind=SurveyShown.kind,
    ),
    CourseRow(
        SurveyReturned.kind,
        "The participant has returned from the lab's survey; value says who reported it.",
        lambda payload: {"value": payload.by},
        behind=SurveyOpened.kind,
    ),
)
