"""The crowd studies of paper 000 with simulated participants, beside what people did.

    .venv/bin/python -m benchmarks.simulated_studies --work FOLDER [PART …]

Each part simulates into FOLDER/PART, which must not be there, and keeps its table beside it, as
FOLDER/PART.csv; a part that has one is not made again. Without parts all are made, one after
another; several may run side by side. Last, `simulated_studies.md` beside this file is written from
all tables. `--so-far` takes also the finished sessions of parts that are not over; `--write` and
that simulate nothing.

* synthetic-crowd: the shipped study with the usual mixture of strategies, until each condition has
  its 15 included participants.
* mnist-crowd-MODEL: a condition of the shipped study, in the same way. The same simulated people
  begin in each: who P07 is does not depend on the model.
* DATASET-ascent, DATASET-random: thirty participants (--people) of one strategy at every model of a
  data set: the paper's competing hypothesis (section 7) is that all people do only that.

Seeds are those of the studies: the same on every machine. The constants of the simulation were
fixed before any of this was run (see `labapp.session.simulation.person`, `percept`, `mixtures`).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from labapp.analysis.tables import load
from labapp.base import resources
from labapp.models.representations.card import dataset_of
from labapp.models.representations.package import find
from labapp.papers.interactive_reconstruction import results
from labapp.papers.interactive_reconstruction.results import published_name
from labapp.record.journal.read import read_rows
from labapp.session.simulation.names import MIXTURE
from labapp.session.simulation.simulation_job import simulate_study
from labapp.session.simulation.strategies import SHARES
from tests.helpers.beside import put_beside

WRITTEN = Path(__file__).with_name("simulated_studies.md")
PEOPLE = 30
DIGITS = "mnist-crowd"
DIGIT_MODELS = ("ae5", "tc5", "ss5", "vae5", "ig5", "ae10", "ss10")
SYNTHETIC = "synthetic-crowd"
CROWDS = (SYNTHETIC, *(f"{DIGITS}-{name}" for name in DIGIT_MODELS))
MODELS = {
    "dsprites": ("ae", "vae", "gt"),
    "sinelines": ("ae", "vae", "gt"),
    "mnist8k": ("ae5", "tc5", "ss5"),
}
SKIP_AFTER_S = {"dsprites": 30, "sinelines": 30, "mnist8k": 45}
ALONE = tuple(f"{dataset}-{name}" for dataset in MODELS for name in ("ascent", "random"))
METRICS = ("completion_rate", "response_time_s", "slide_distance", "error_auc_sum", "seq")
DECIMALS = {
    **dict.fromkeys(("completion_rate", "correctness_rate", "confidence", "understanding"), 2),
    "seq": 2,
}
"""One where nothing stands here."""


def study_of(part: str, folder: Path) -> str:
    """The study of a part: a shipped one, or a file that is written for it."""
    if part == SYNTHETIC:
        return part
    path = folder / f"{part}.yaml"
    if part in CROWDS:
        whole = yaml.safe_load((resources.assets() / "studies" / f"{DIGITS}.yaml").read_text())
        whole["assignment"]["model"]["cells"] = {part.removeprefix(f"{DIGITS}-"): {}}
        put_beside(folder)
        path.write_text(yaml.safe_dump(whole, sort_keys=False))
        return str(path)
    dataset = part.rsplit("-", 1)[0]
    stages = {
        "task": "reconstruction",
        "models": [f"{dataset}/{name}" for name in MODELS[dataset]],
        "order": "random",
        "trials": 5,
        "skip": "after",
        "skip_after_s": SKIP_AFTER_S[dataset],
        "think_aloud": False,
    }
    study = {
        "id": part,
        "title": part,
        "version": 1,
        "unnamed_texts": "shipped",
        "seed": 20210502,
        "language": "en",
    }
    path.write_text(yaml.safe_dump({**study, "flow": [{"stages": stages}]}, sort_keys=False))
    return str(path)


def make(part: str, folder: Path, people: int = PEOPLE) -> None:
    """Simulate a part, and keep its tables; people: where there is one strategy alone."""
    began = time.monotonic()
    alone = part not in CROWDS
    sessions = simulate_study(
        study_of(part, folder),
        people if alone else None,
        part.rsplit("-", 1)[1] if alone else MIXTURE,
        folder / part,
        progress=lambda label: print(f"{time.monotonic() - began:6.0f} s  {part} {label}"),
    )
    keep(part, folder, sessions, f"{time.monotonic() - began:.0f} s")


def keep(part: str, folder: Path, sessions: Sequence[Path], how: str) -> None:
    """The stages of some sessions as a table, with the strategy of each participant."""
    tables = load(sessions)
    people = tables.participants.set_index("participant")
    stages = tables.stages.copy()
    stages["strategy"] = people["strategy"].reindex(stages["participant"]).to_numpy()
    stages.to_csv(folder / f"{part}.csv", index=False)
    text = f"{len(sessions)} sessions, {int(people['included'].sum())} of them included, {how}\n"
    (folder / f"{part}.txt").write_text(text)


def so_far(part: str, folder: Path) -> None:
    """Keep the finished sessions of a part that is not over."""
    folders = sorted((folder / part).glob("*/sub-*"))
    finished = [path for path in folders if read_rows(path, ("session.completed",))]
    if finished and not (folder / f"{part}.csv").exists():
        keep(part, folder, finished, "not over")


def stages_of(part: str, folder: Path, *, everybody: bool = False) -> pd.DataFrame:
    """The stages of those who count, or of everybody."""
    path = folder / f"{part}.csv"
    if not path.exists():
        return pd.DataFrame()
    stages = pd.read_csv(path)
    return stages if everybody else stages[stages["included"]]


def printed(study: str, task: str, model: str, quantity: str) -> str:
    """What the paper has for a model: `mean ± sd`, or a dash."""
    dataset, name = dataset_of(model), published_name(model)
    for source in results.TABLES:
        for row in results.rows():
            where = (row.source, row.study, row.task, row.dataset, row.model, row.quantity)
            if where == (source, study, task, dataset, name, quantity) and row.measure == "mean":
                return f"{row.printed} ± {row.printed_sd}" if row.printed else "–"
    return "–"


def ours(values: pd.Series[float], quantity: str) -> str:
    """Mean ± sd of the population, as the paper prints them."""
    known = values.dropna() / (1000 if quantity == "error_auc_sum" else 1)
    if not len(known):
        return "–"
    digits = DECIMALS.get(quantity, 1)
    return f"{known.mean():.{digits}f} ± {np.std(known):.{digits}f}"


def error_of(model: str) -> str:
    """Reconstruction error of a shipped model: of the sampled code where that is known, as in
    Table 2."""
    card = yaml.safe_load((find(model) / "model.yaml").read_text())
    errors = card.get("held_out_error") or {}
    value = errors.get("sampled", errors.get("mean"))
    return "–" if value is None else f"{value:.1f}"


def table(rows: list[list[str]], header: list[str]) -> Iterator[str]:
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def reconstruction(folder: Path) -> Iterator[str]:
    yield "## Interactive reconstruction: the usual mixture, beside Table 2 and Table A.3"
    yield ""
    yield (
        "Mean ± sd (n in the denominator, as printed), ours first, then the published number. "
        "Error AUC: sum of squares × s / 1000."
    )
    yield ""
    header = ["model", "n", "completion", "response time, s", "slide distance", "error AUC", "SEQ"]
    rows = []
    for part in CROWDS:
        stages = stages_of(part, folder)
        if stages.empty:
            continue
        study = SYNTHETIC if part == SYNTHETIC else DIGITS
        own = stages[stages["task"] == "reconstruction"]
        for model, of_model in own.groupby("model"):
            cells = [
                f"{ours(of_model[column], column)} "
                f"({printed(study, 'reconstruction', str(model), column)})"
                for column in METRICS
            ]
            rows.append([f"`{model}`", str(len(of_model)), *cells])
    yield from table(rows, header)


def single(folder: Path) -> Iterator[str]:
    stages = stages_of(SYNTHETIC, folder)
    if stages.empty:
        return
    yield "## Single-dimension task: the usual mixture, beside Table A.3"
    yield ""
    rows = []
    for (task, model), own in stages[stages["task"] != "reconstruction"].groupby(["task", "model"]):
        cells = [
            f"{ours(own[column], column)} ({printed(SYNTHETIC, str(task), str(model), column)})"
            for column in (
                "correctness_rate",
                "response_time_s",
                "confidence",
                "understanding",
                "seq",
            )
        ]
        rows.append([str(task).removeprefix("single-dimension-"), f"`{model}`", *cells])
    header = ["shown as", "model", "correct", "response time, s", "confident", "makes sense", "SEQ"]
    yield from table(rows, header)


def competing(folder: Path) -> Iterator[str]:
    yield "## Only ascent, only random: the competing hypothesis"
    yield ""
    yield (
        "Completion of participants of one strategy alone (n of them), 5 questions at each model, "
        "beside the model's reconstruction error on held-out data (sum of squares an instance, of "
        "the sampled code where there is one); then, of the usual mixture, mean completion by the "
        "strategy that a participant had (n). Everybody counts here, also who solved nothing and "
        "is excluded above."
    )
    yield ""
    crowd = pd.concat([stages_of(study, folder, everybody=True) for study in CROWDS])
    rows = []
    for dataset, names in MODELS.items():
        for name in names:
            model = f"{dataset}/{name}"
            alone = []
            for strategy in ("ascent", "random"):
                stages = stages_of(f"{dataset}-{strategy}", folder, everybody=True)
                own = stages if stages.empty else stages[stages["model"] == model]
                rate = "–" if own.empty else ours(own["completion_rate"], "completion_rate")
                alone.append(f"{rate} ({len(own)})")
            mixed = []
            for strategy in SHARES:
                own = crowd
                if not crowd.empty:
                    asked = (crowd["model"] == model) & (crowd["task"] == "reconstruction")
                    own = crowd[asked & (crowd["strategy"] == strategy)]
                mean = "–" if own.empty else f"{own['completion_rate'].mean():.2f}"
                mixed.append(f"{mean} ({len(own)})")
            rows.append([f"`{model}`", error_of(model), *alone, *mixed])
    header = ["model", "error", "ascent alone", "random alone", *SHARES]
    yield from table(rows, header)


def write(folder: Path) -> None:
    shares = ", ".join(f"{name} {share:g}" for name, share in SHARES.items())
    lines = [
        "# The crowd studies of paper 000, simulated",
        "",
        ABOUT.format(shares=shares),
        "",
        *reconstruction(folder),
        *single(folder),
        *competing(folder),
    ]
    ran = sorted(folder.glob("*.txt"))
    lines += ["## Runs", ""]
    lines += [f"* {path.stem}: {path.read_text().strip()}" for path in ran]
    other = WRITTEN.read_text().split(MARK, 1)[1] if WRITTEN.exists() else "\n"
    WRITTEN.write_text("\n".join(lines) + f"\n\n{MARK}{other}")


ABOUT = """\
Written by `benchmarks/simulated_studies.py`. Simulated participants see the pictures, the alignment
and the dials, and nothing that tells one model from another. Their constants were fixed before the
first run, and nothing was changed after it. The mixture, which is ours:
{shares}.
The models are those that come with the program, not the paper's."""
MARK = "<!-- what follows is written by hand and kept -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join((*CROWDS, *ALONE)))
    parser.add_argument("--work", type=Path, required=True, help="folder for the sessions")
    parser.add_argument("--people", type=int, default=PEOPLE, help="of one strategy alone")
    parser.add_argument("--write", action="store_true", help="only write the tables")
    parser.add_argument("--so-far", action="store_true", help="of parts that are not over too")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    for part in chosen.parts or (*CROWDS, *ALONE):
        if part not in (*CROWDS, *ALONE):
            sys.exit(f"{part}: no such part")
        if chosen.so_far:
            so_far(part, chosen.work)
        elif not chosen.write and not (chosen.work / f"{part}.csv").exists():
            make(part, chosen.work, chosen.people)
    write(chosen.work)


if __name__ == "__main__":
    main()
