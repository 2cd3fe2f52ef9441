"""What a bundle has of the consent form."""

from __future__ import annotations

from labapp.study.plugins.bids import CourseRow
from labapp.tasks.consent.events import ConsentDeclined, ConsentGiven

COURSE = (
    CourseRow(ConsentGiven.kind, "The participant agreed.", behind="gap"),
    CourseRow(
        ConsentDeclined.kind,
        "The participant did not agree; the session ends.",
        behind=ConsentGiven.kind,
    ),
)
