"""The report is made of what tasks and published studies say of themselves."""

from __future__ import annotations

import ast
from pathlib import Path

import labapp
from labapp.analysis.task_report import has_report, reports
from labapp.study.plugins import registry

PACKAGE = Path(labapp.__file__).parent


def test_no_task_is_named_by_what_makes_the_report() -> None:
    names = {task for report in reports() for task in report.tasks}
    names |= {known.name for known in registry.task_types() if has_report(known)}
    assert len(names) > 8
    for path in (
        *(PACKAGE / "analysis").rglob("*.py"),
        *(PACKAGE / "base" / "report").rglob("*.py"),
    ):
        source = path.read_text("utf-8")
        if not any(name in source for name in names):
            continue
        texts = {
            node.value
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        assert not texts & names, path


def test_what_reports_bring_has_names_of_its_own() -> None:
    for brought in ("tables", "definitions", "files", "activities"):
        names = [name for report in reports() for name in getattr(report, brought)]
        assert len(names) == len(set(names)), brought


def test_every_task_of_the_tables_with_sections_says_what_participants_did() -> None:
    known = {task for report in reports() for task in report.activities}
    told = {task for report in reports() for task in report.tasks}
    assert told - known <= {"warm-up"}, "a warm-up is no stage"
