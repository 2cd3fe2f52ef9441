"""What the report has of counterfactual choice: the answers by model and dial."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import pandas as pd

from labapp.analysis.task_report import ReportedStudy, TaskReport
from labapp.base.report.listing import NONE
from labapp.base.report.page import Html, decimal, heading, table, two_lines


class CounterfactualReport(TaskReport[None]):
    """Everything is worked out for the page alone."""

    activities: ClassVar = {
        "counterfactual-choice": "found the candidate that differs from a picture in one dial"
    }
    tasks = ("counterfactual-choice",)
    definitions: ClassVar = {
        "Counterfactual choice": (
            "Correct: answers that name the candidate which differs in the dial asked about / "
            "answers handed in. Confidence: mean rating from 1 (not at all sure) to 5."
        )
    }

    def sections(self, study: ReportedStudy, findings: None) -> Iterator[Html]:
        choices = study.counted.small()["counterfactual_choices"]
        choices = choices[~choices["excluded"]]
        if choices.empty:
            return
        yield heading(3, "Counterfactual choice")
        dials = choices.groupby(["model", "dimension", "dimension_name"], sort=True)
        yield table(
            (
                "Model",
                "Dial",
                "Name",
                two_lines("Questions", "n"),
                two_lines("Correct", "%"),
                two_lines("Confidence", "1–5, mean"),
                two_lines("Response time", "s, median"),
            ),
            [(*dial, *_answers(answers)) for dial, answers in dials],
            numeric=(1, 3, 4, 5, 6),
            caption="Questions of the sessions that count, by model and dial.",
        )


def _answers(choices: pd.DataFrame) -> tuple[object, ...]:
    """How many questions, and what was answered; a dash without an answer."""
    correct, confidence = choices["correct"].dropna(), choices["confidence"].dropna()
    times = choices["response_s"].dropna()
    return (
        len(choices),
        decimal(100 * float(correct.astype(float).mean()), 0) if len(correct) else NONE,
        decimal(float(confidence.astype(float).mean()), 1) if len(confidence) else NONE,
        decimal(float(times.median()), 1) if len(times) else NONE,
    )


REPORT = CounterfactualReport()
