"""`labapp plan`: what a study needs, from simulated participants."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from labapp.base.console import say, say_json
from labapp.base.errors import UsageError
from labapp.base.parallel.processes import stoppable
from labapp.cli import completion
from labapp.cli.options import one_place, progress_bar, session_path


def plan(
    study: completion.Study,
    participants: int | None = None,
    strategies: str | None = None,
    calibration: list[str] | None = None,
    seed: int | None = None,
    workers: int | None = None,
    dask: str | None = None,
    out: Path | None = None,
    keep: bool = False,
    contrasts: bool = False,
    pilot: list[str] | None = None,
    preregister: Path | None = None,
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Plan a study by simulation: threshold, time before a skip, sample size and session length.

    Example: labapp plan quickstart --out plan

    --participants (from 2): The number of simulated participants per strategy. Default: depends on
        the study's conditions.
    --strategies NAME,… or NAME=SHARE,…: The strategies of simulated participants, with or without
        shares, such as careful=0.5,learner=0.5.
    --calibration PATH: A session or bundle of the study `calibration`, which then gives the
        threshold and T. Can be repeated.
    --out DIR: The folder to write, with plan.html, figures, and every number as CSV.
    --keep: Keep the simulated sessions in the folder.
    --contrasts: Compute the sample size for the declared contrasts and smallest effects instead.
        Nothing is simulated.
    --pilot PATH: With --contrasts: sessions or bundles of a pilot study, which show how much
        participants vary. Can be repeated.
    --preregister DIR: Write a preregistration into this folder instead: the study's declarations
        as answers to AsPredicted's and OSF's questions, with a frozen copy of the study. Nothing
        is simulated.
    """
    if preregister is not None:
        if out is not None:
            raise UsageError(
                "--preregister and --out cannot be combined.",
                todo="Run the command once with each of them.",
            )
        _preregister(study, preregister, data, json_=json_)
        return
    if pilot and not contrasts:
        raise UsageError("--pilot works only with --contrasts.", todo="Add --contrasts.")
    if contrasts:
        _contrasts(study, [session_path(path, data) for path in pilot or ()], out, json_=json_)
        return
    if keep and out is None:
        raise UsageError("--keep needs a folder.", todo="Name one with --out.")
    one_place(workers, dask)
    from labapp.session.planning import files
    from labapp.session.planning.plan import plan as make

    kept = (files.SESSIONS,) if keep else ()
    with stoppable(), files.create_folder(out, kept=kept), progress_bar() as progress:
        study_plan = make(
            study,
            shares=_shares(strategies, study),
            participants=participants,
            calibration=[session_path(session, data) for session in calibration or ()],
            seed=seed,
            number=workers,
            dask=dask,
            sessions_folder=out / files.SESSIONS if keep and out is not None else None,
            progress=progress,
        )
        path = None if out is None else files.write(study_plan, out)
    if json_:
        from labapp.session.planning.files import to_json

        say_json(to_json(study_plan))
        return
    from rich.console import Console

    from labapp.session.planning.page import show

    show(study_plan, Console())
    say("More, with figures: --out DIR" if path is None else f"plan: {path}")


def _contrasts(study: str, pilot: list[Path], out: Path | None, *, json_: bool) -> None:
    from labapp.session.gate import gate
    from labapp.session.planning import declared_contrasts, files

    loaded = gate(study)
    path = None
    with files.create_folder(out):
        powers = declared_contrasts.plan_contrasts(loaded, pilot)
        if out is not None:
            path = files.write_contrasts(loaded, powers, out)
    left_out = declared_contrasts.left_out(loaded)
    if json_:
        say_json(declared_contrasts.summary(powers))
        for line in left_out:
            say(line, err=True)
        return
    for line in (*declared_contrasts.words(powers), *left_out):
        say(line)
    say("A page with curves: --out DIR" if path is None else f"plan: {path}")


def _preregister(study: str, out: Path, data: Path | None, *, json_: bool) -> None:
    from labapp.base import resources
    from labapp.session.gate import gate
    from labapp.session.planning.preregistration import preregister

    made = preregister(gate(study), out, resources.data_root(data))
    if json_:
        say_json({"folder": str(made.folder), "sha256": made.sha256, "open": made.open})
        return
    say(f"registration: {made.folder}\nSHA-256 of its record: {made.sha256}")
    if made.open:
        say(
            f"{made.open} places are marked [To be written by you: …]. Fill them in on both "
            "forms, and do not change registration.json and study/: `labapp analyze … "
            "--registration` compares a report with them."
        )


def _shares(text: str | None, study: str) -> Mapping[str, float] | None:
    """Shares by strategy, as in `--strategies`; None for the usual ones. Raises UsageError."""
    if text is None:
        return None
    from labapp.session.simulation.fitting import usual_shares
    from labapp.session.simulation.strategies import parse
    from labapp.study import loading

    usual = usual_shares(loading.load(study).study)
    if "=" in text:
        return parse(text, tuple(usual))
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in usual]
    if unknown or len(set(names)) < len(names):
        what = f"{unknown[0]!r} is not a strategy" if unknown else "one of them is listed twice"
        raise UsageError(
            f"{text!r} is not a list of strategies for the mixture: {what}.",
            safe="No session was begun.",
            todo=f"Use some of {', '.join(usual)}, or give their shares too: "
            f"{next(iter(usual))}=0.6,{tuple(usual)[-1]}=0.4.",
        )
    return {name: usual[name] for name in names}
