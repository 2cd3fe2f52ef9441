"""A plan as a folder: plan.html, its figures as SVG and PNG, and every number as CSV.

Every number of a plan as rows of tables: what is written as CSV and told as JSON.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from labapp.analysis.columns import table_columns
from labapp.base import access
from labapp.base.errors import DataFolderError, ExportExists
from labapp.base.reading.tables import write_csv
from labapp.base.report.drawing import ReportFigure
from labapp.base.report.labels import labelling
from labapp.session.planning.declared_contrasts import ContrastPower
from labapp.session.planning.plan import Plan, quantile
from labapp.session.planning.power import GOALS, SIZES, normal_power
from labapp.session.planning.slopes import REPLICATIONS
from labapp.session.planning.thresholds import BEST, TRIES, UNDERSTANDS
from labapp.study.design import Declared
from labapp.study.loading import LoadedStudy

PAGE = "plan.html"
FIGURES = "figures"
SESSIONS = "sessions"


@contextmanager
def create_folder(
    out: Path | None, option: str = "--out", kept: Collection[str] = ()
) -> Iterator[None]:
    """Make the folder before anything is computed for it, and remove it again if nothing came of
    it. None asks for no folder; option: by which the user names it; kept: what may be in it, of one
    that was stopped. Raises ExportExists, DataFolderError."""
    if out is None:
        yield
        return
    try:
        # What was killed leaves its folder, and nothing in it.
        begun = out.is_dir() and all(path.name in kept for path in out.iterdir())
        access.own_folder(out, exist_ok=begun)
    except FileExistsError as error:
        raise ExportExists(
            f"{out} exists already.",
            safe="Nothing in it was changed.",
            todo=f"Choose a new folder with {option}.",
        ) from error
    except OSError as error:
        raise DataFolderError.unwritten("The plan", out, error, UNTOUCHED) from error
    try:
        yield
    except BaseException:
        with suppress(OSError):  # only an empty folder can be removed so
            out.rmdir()
        raise


def write(plan: Plan, out: Path) -> Path:
    """Write a plan into a folder made by `create_folder`; returns the page's path. Nothing is
    written over. Raises DataFolderError."""
    from labapp.session.planning.figures import plates
    from labapp.session.planning.page import page

    drawn = plates(plan)
    try:
        for name, rows in tables(plan).items():
            if rows:
                _write_rows(out / f"{name}.csv", rows)
        (out / FIGURES).mkdir()
        for plate in drawn:
            plate.save(out / FIGURES)
        text, path = page(plan, drawn), out / PAGE
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise DataFolderError.unwritten("The plan", out, error, UNTOUCHED) from error
    return path


def write_contrasts(loaded: LoadedStudy, powers: Sequence[ContrastPower], out: Path) -> Path:
    """Write the plan of contrasts into a folder made by `create_folder`; returns the page's path.
    Raises DataFolderError."""
    from labapp.session.planning import declared_contrasts

    declared = Declared.model_validate(loaded.study.declared)
    with labelling(declared.labels_in(loaded.study.own_language)):
        figure = declared_contrasts.plate(powers)
        return _write_contrasts(loaded, powers, figure, out)


def _write_contrasts(
    loaded: LoadedStudy, powers: Sequence[ContrastPower], figure: ReportFigure, out: Path
) -> Path:
    from labapp.session.planning import declared_contrasts

    try:
        _write_rows(out / "contrasts.csv", declared_contrasts.summary(powers))
        _write_rows(out / "power.csv", declared_contrasts.rows(powers))
        (out / FIGURES).mkdir()
        figure.save(out / FIGURES)
        path = out / PAGE
        with path.open("x", encoding="utf-8") as file:
            file.write(declared_contrasts.page(loaded, powers, figure))
    except OSError as error:
        raise DataFolderError.unwritten("The plan", out, error, UNTOUCHED) from error
    return path


def _write_rows(path: Path, rows: list[dict[str, object]]) -> None:
    columns = dict.fromkeys(name for row in rows for name in row)
    with path.open("x", encoding="utf-8", newline="") as file:
        write_csv(file, list(columns), ([row.get(name) for name in columns] for row in rows))


UNTOUCHED = "No session was recorded, and existing files are untouched."
MIXTURE = "mixture"
Row = dict[str, Any]
RAW = ("alignments", "questions", "stages")
"""Tables with a row an observation: files only."""


def tables(plan: Plan) -> dict[str, list[Row]]:
    """Rows by table: the recommendations, then what they rest on.

    Alignments and shares are 0-1, times in seconds; strategy `mixture`: each strategy by its share;
    n_participants: of those whom the column `counts` names: all, or of each model or group.
    """
    columns = ["participant", "strategy", "model", "trial", "outcome", "duration_s", "active_s"]
    measured = ["slide_distance", "error_auc_sum", "alignment_start", BEST, "included"]
    return {
        "thresholds": _thresholds(plan),
        "waiting": _waiting(plan),
        "lengths": [
            {
                "strategy": length.strategy or MIXTURE,
                "sessions": length.n,
                "median_s": length.median_s,
                "ninety_percent_s": length.ninety_s,
            }
            for length in plan.lengths
        ],
        "completion": [
            {
                "model": completion.model,
                "strategy": completion.strategy or MIXTURE,
                "participants": completion.n,
                "mean": completion.mean,
                "sd": completion.sd,
            }
            for completion in plan.completions
        ],
        "needs": _needs(plan),
        "power": _power(plan),
        "slopes": _slopes(plan),
        "declared_tests": [
            {"table": tests.title, **row} for tests in plan.declared_tests for row in tests.rows
        ],
        "mixtures": _mixtures(plan),
        "alignments": _alignments(plan),
        "questions": _plain(plan.people.questions[[*columns, *measured]]),
        "stages": _stages(plan),
    }


def to_json(plan: Plan) -> dict[str, Any]:
    """The plan without its raw observations."""
    summed = {name: rows for name, rows in tables(plan).items() if name not in RAW}
    return {
        "study": plan.loaded.study.id,
        "study_sha256": plan.loaded.sha256,
        "seed": plan.seed,
        "participants_per_strategy": plan.participants,
        "shares": dict(plan.shares),
        **summed,
    }


def _thresholds(plan: Plan) -> list[Row]:
    return [
        {
            "dataset": threshold.dataset,
            "model": threshold.model or "",
            "target_alignment": threshold.target,
            "epsilon": threshold.epsilon,
            "rests_on": threshold.source,
            "present_target": threshold.present,
            "chance_floor": threshold.floor,
            "separated_at": told and told.target,
            "separated_low": told and told.low,
            "separated_high": told and told.high,
            "balanced_accuracy": told and told.balanced_accuracy,
            "understood": threshold.share(UNDERSTANDS),
            "stumbled_upon": threshold.share(TRIES),
            "by_chance": threshold.by_chance(),
            "understood_at_present": threshold.share(UNDERSTANDS, threshold.present),
            "stumbled_upon_at_present": threshold.share(TRIES, threshold.present),
            "by_chance_at_present": threshold.by_chance(threshold.present),
            "pairs": len(threshold.pairs),
        }
        for threshold in plan.thresholds
        for told in (threshold.separated,)
    ]


def _waiting(plan: Plan) -> list[Row]:
    rows = []
    for waiting in plan.waiting:
        rows.append(
            {
                "dataset": waiting.dataset,
                "strategy": MIXTURE,
                "solved": waiting.solved,
                "median_active_s": waiting.median_s,
                "skip_after_s": waiting.skip_after_s,
                "rests_on": waiting.source,
                "present_skip_after_s": waiting.present_s,
            }
        )
        rows += [
            {
                "dataset": waiting.dataset,
                "strategy": strategy,
                "solved": len(seconds),
                "median_active_s": quantile(seconds, [1.0] * len(seconds), 0.5),
            }
            for strategy, seconds in waiting.active_s.items()
        ]
    return rows


def _needs(plan: Plan) -> list[Row]:
    return [
        {
            "group": powers.group.name,
            "counts": powers.group.each,
            "metric": test.metric,
            "test": test.test,
            "effect": test.effect.name,
            "effect_size": test.effect.value,
            "level": level,
            "power": goal,
            "n_participants": need.n,
            "low": need.low,
            "high": need.high,
            "more_than": SIZES[-1] if need.n is None else None,
        }
        for powers in plan.powers
        for test in powers.tests
        for (level, goal), need in test.needs.items()
    ]


def _power(plan: Plan) -> list[Row]:
    return [
        {
            "group": powers.group.name,
            "metric": test.metric,
            "test": test.test,
            "level": level,
            "n_participants": n,
            "power": float(test.power[at, place]),
            "power_by_normal_theory": normal_power(test.planned, test.pool, n, level),
        }
        for powers in plan.powers
        for test in powers.tests
        for place, level in enumerate(powers.group.levels)
        if place == 0 or test.planned.corrected
        for at, n in enumerate(SIZES)
    ]


def _slopes(plan: Plan) -> list[Row]:
    return [
        {
            "test": power.test.name,
            "models_in_study": power.n_models or None,
            "sd_participants": None if power.fitted is None else power.fitted.spreads[0],
            "sd_pictures": None if power.fitted is None else power.fitted.spreads[1],
            "sd_models": None if power.fitted is None else power.fitted.spreads[2],
            "sd_models_drawn": power.spread if power.shares else None,
            "effect": studies and studies.effect,
            "slope_log_odds": studies and studies.slope,
            "n_participants": studies and studies.n_people,
            "n_models": studies and studies.n_models,
            "studies": studies and REPLICATIONS,
            "power": studies and studies.power,
            "power_corrected": studies and studies.corrected,
            "not_fitted": studies and studies.failed,
            "why": power.why,
        }
        for power in plan.slopes
        for studies in power.shares or (None,)
    ]


def _mixtures(plan: Plan) -> list[Row]:
    rows = []
    for scenario in plan.scenarios:
        shares = {f"share_{name}": share for name, share in scenario.shares.items()}
        rows += [
            {
                "mixture": scenario.name,
                **shares,
                "what": "completion rate",
                "of": model,
                "test": "",
                "value": rate,
            }
            for model, rate in scenario.completion.items()
        ]
        rows += [
            {
                "mixture": scenario.name,
                **shares,
                "what": f"participants for a power of {GOALS[0]:.0%}",
                "of": metric,
                "test": test,
                "value": n,
            }
            for (metric, test), n in scenario.needs.items()
        ]
    return rows


def _alignments(plan: Plan) -> list[Row]:
    rows: list[Row] = []
    for pairs in plan.pairs:
        rows += [
            {"what": "pair", "model": pairs.model, "strategy": "", "alignment": float(value)}
            for value in pairs.alignments
        ]
    questions = plan.open.questions.dropna(subset=[BEST])
    rows += [
        {"what": "best reached", "model": model, "strategy": strategy, "alignment": float(best)}
        for model, strategy, best in zip(
            questions["model"], questions["strategy"], questions[BEST], strict=True
        )
    ]
    return rows if plan.pairs else []


def _stages(plan: Plan) -> list[Row]:
    own = plan.people.tables.stages
    own = own.assign(strategy=own["participant"].map(plan.people.strategies.get))
    columns = ["participant", "strategy", "stage_number", "task", "model"]
    measured = [
        column.name
        for column in table_columns()["stages"]
        if column.kind == "number" and own[column.name].notna().any()
    ]
    return _plain(own[[*columns, *measured, "included"]])


def _plain(frame: Any) -> list[Row]:
    from labapp.base.report.listing import records

    return records(frame)
