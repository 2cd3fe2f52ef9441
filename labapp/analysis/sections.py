"""The sections of the report on one study.

Every sentence of the paragraph on methods, which is to be taken into a paper, is of what the
sessions say of themselves; what they do not say (who was asked, why) is for the authors to add.

Also the sections on the moderator's notes (how often, and session by session) and on a registration
(what was changed since, and what was not registered).
"""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import groupby
from typing import Any

import pandas as pd

from labapp import __version__
from labapp.analysis.coding_section import coding_section
from labapp.analysis.declared import (
    QUOTAS,
    Declaration,
    Registration,
    factor_column,
    models_of,
    read_declaration,
    read_declared,
)
from labapp.analysis.design.analyses import StudyAnalyses
from labapp.analysis.design.anova import CONTRAST
from labapp.analysis.design.summing_up import summary
from labapp.analysis.deviations import MEANINGS, true_date
from labapp.analysis.item_sections import (
    attention,
    item_sections,
    questionnaires,
    reliability_section,
    show_unknown,
)
from labapp.analysis.participation import flow_of, people_of
from labapp.analysis.retention import recruitment, retention
from labapp.analysis.snapshots import Who
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import (
    Findings,
    Profile,
    ReportedStudy,
    TaskReport,
    default_analyses,
    in_order,
    questionnaire_title,
    reports,
    study_title,
    without_sections,
)
from labapp.analysis.wording import describe_quota, list_rules, name_factor, rules_in
from labapp.base.naming import natural
from labapp.base.report.labels import labelled, place_of
from labapp.base.report.listing import (
    NONE,
    SHOWN_ROWS,
    format_first_rows,
    quoted,
    records,
    sentence,
)
from labapp.base.report.page import (
    Html,
    Supplement,
    Verbatim,
    clock,
    count,
    decimal,
    details,
    format_revised_text,
    heading,
    join_parts,
    lines,
    paragraph,
    say,
    supplement,
    table,
    two_lines,
)
from labapp.study.allocation import cell_name
from labapp.study.design import MODEL

NAMED = 6
"""So many models are named in the paragraph on methods; more are counted there, and listed with the
sessions."""
LOST = 0.01
"""A session that lost more than this share of its sound is counted as such."""


def study(
    tables: Tables, name: str, anchor: str, findings: Findings, spoke: set[TaskReport[Any]]
) -> Iterator[Html]:
    """Everything about one study, its supplement last; tables: its rows; anchor: prefix of the
    page's ids; findings: what the sessions of all studies say that count; spoke: gets the reports
    that say something."""
    more: list[Html] = []
    for part in _parts(tables, name, anchor, findings, spoke):
        if isinstance(part, Supplement):
            more.append(part)
        else:
            yield part
    yield heading(3, "Supplement", f"{anchor}-supplement")
    yield from more


def _parts(
    tables: Tables, name: str, anchor: str, findings: Findings, spoke: set[TaskReport[Any]]
) -> Iterator[Html]:
    own = tables.participants
    about = ReportedStudy(name, anchor, tables, tables.included())
    yield heading(2, f"Study {study_title(own, name)}", anchor)
    versions = sorted({str(number) for number in own["study_version"].dropna()})
    files = sorted({str(sha)[:12] for sha in own["study_sha256"]})
    yield paragraph(
        f"{'Version' if len(versions) == 1 else 'Versions'} {', '.join(versions)} of the file of "
        f"{name} (SHA-256 {', '.join(f'{sha}…' for sha in files)}). "
        f"Completed: {int(own['complete'].sum())} of {count(len(own), 'session')}."
    )
    yield from _phases_and_tags(own)
    analyses = findings.of.get(default_analyses())
    results = None if analyses is None else analyses.studies.get(name)
    targets = {
        f"{anchor}-analyses": "Analyses according to the design",
        f"{anchor}-who": "Inclusion",
        f"{anchor}-quality": "Deviations and data quality",
        f"{anchor}-supplement": "Supplement",
    }
    if results is None or not results.analyses:
        del targets[f"{anchor}-analyses"]
    tested = {report: list(report.hypotheses(about, of)) for report, of in findings.of.items()}
    reviewed = None if analyses is None else analyses.reviews.get(name)
    own_tests = [each for some in tested.values() for each in some]
    yield from summary(own, results, targets, own_tests, reviewed)
    yield heading(3, "Methods")
    yield paragraph(methods(about, findings))
    planned = any(_planned(read_declaration(about.tables, about.name)))
    paid = bool(own["payment_total"].notna().any())
    yield paragraph(sentence("methods.missing", paid=paid, planned=planned))
    if about.counted.stages.empty and not tables.stages.empty:
        yield paragraph("No sessions were analysed, so there are no metrics here.")
    # What is asked comes first: the hypotheses that name a task's tests, the analyses by the
    # design, a published study's, then each task's.
    for report, own_findings in sorted(findings.of.items(), key=lambda of: _rank(of[0], tested)):
        for part in report.sections(about, own_findings):
            spoke.add(report)
            yield part
    yield from without_sections(about)
    yield from registration_section(findings.registrations, name, own, results, tables.cards)
    yield from questionnaires(about.counted, anchor)
    scales = () if analyses is None else analyses.scales.get(name, ())
    yield from supplement(item_sections(about.counted, anchor))
    yield from reliability_section(scales, about.counted)
    yield from show_unknown(about.counted.answers)
    yield from coding_section(about.counted, name, anchor)
    yield from notes_section(tables.notes, len(own))
    yield from attention(tables.answers)
    yield from retention(own, name, anchor, tables.withdrawn)
    yield from recruitment(tables)
    yield heading(3, "Deviations and data quality", f"{anchor}-quality")
    yield quality(own)
    yield from deviations(tables.deviations, len(own))
    yield from supplement([heading(4, "Sessions", f"{anchor}-sessions"), sessions(own)])


def _rank(report: TaskReport[Any], tested: Mapping[TaskReport[Any], object]) -> int:
    if tested[report]:
        return -1
    if report is default_analyses():
        return 0
    return 1 if isinstance(report, Profile) else 2


def _began(utc: str) -> str:
    return f"{utc[:10] if true_date(utc) else 'date shifted,'} {utc[11:16]}"


def sessions(participants: pd.DataFrame) -> Html:
    """Who took part, in which order, and what was recorded."""
    names = rules_in(participants)
    rows = [
        (
            row["participant"],
            row["session"],
            _began(row["started_utc"]),
            # A model whose stages follow one another is named once.
            lines(model for model, _ in groupby(row["models"].split(", "))),
            _outcome(row, names),
            clock(row["duration_s"]),
            f"{row['n_pauses']} ({clock(row['paused_s'])})" if row["n_pauses"] else "none",
            f"{row['n_gaps']} ({clock(row['gap_s'])})" if row["n_gaps"] else "none",
            _sound(row),
            row["n_deviations"],
        )
        for row in records(_naturally_sorted(participants))
    ]
    heads = (
        "Participant",
        "Session",
        "Began, UTC",
        "Models in order",
        "Status",
        two_lines("Working time", "min:s"),
        two_lines("Pauses", "number (min:s)"),
        two_lines("Interruptions", "number (min:s)"),
        two_lines("Sound", "min:s"),
        "Deviations",
    )
    listed = format_first_rows(heads, rows, numeric=(5, 6, 7, 9), most=None)
    return details(f"The list of {count(len(rows), 'session')}", listed)


def _phases_and_tags(own: pd.DataFrame) -> Iterator[Html]:
    """How many sessions each phase and each tag has; nothing if there are none."""
    if phases := Counter(own["phase"].dropna()):
        versions = own.groupby("phase")["study_version"].unique()
        told = (
            f"{phase} {n} (v{', v'.join(map(str, sorted(versions[phase])))})"
            for phase, n in sorted(phases.items())
        )
        yield paragraph(f"Sessions by phase and version of the study file: {', '.join(told)}.")
    if tags := Counter(tag for some in own["tags"].dropna() for tag in some.split("; ")):
        told = (f"{tag} {n}" for tag, n in sorted(tags.items()))
        yield paragraph(f"Sessions by tag: {', '.join(told)}.")


def _naturally_sorted(rows: pd.DataFrame) -> pd.DataFrame:
    """By participant and session."""
    keys = [
        (natural(who), natural(session))
        for who, session in zip(rows["participant"], rows["session"], strict=True)
    ]
    return rows.iloc[sorted(range(len(keys)), key=keys.__getitem__)]


def _outcome(row: dict[str, Any], names: Mapping[str, str]) -> object:
    """names: what rules are called."""
    text = row["outcome"].replace("_", " ")
    why = list_rules(row["excluded_because"], names)
    facts = (row["ended_reason"], why and f"not included: {why}", row["simulated"] and "simulated")
    more = "; ".join(fact for fact in facts if fact)
    return two_lines(text, more) if more else text


def _sound(row: dict[str, Any]) -> object:
    if row["sound_s"] <= 0:
        why = row["no_sound_because"]
        return two_lines("none", why) if why else "none"
    lost = row["sound_lost_s"]
    return two_lines(clock(row["sound_s"]), f"{lost:.1f} s lost" if lost else "nothing lost")


def deviations(frame: pd.DataFrame, n_sessions: int) -> Iterator[Html]:
    """How often each kind happened, and every single one."""
    if frame.empty:
        yield paragraph("No deviation was recorded.")
        return
    counted = []
    for kind, some in frame.groupby("kind"):
        seconds = float(some["duration_s"].sum())
        where = some.groupby(["participant", "session"]).ngroups
        name = two_lines(str(kind).replace("_", " "), MEANINGS[str(kind)])
        counted.append((name, len(some), where, decimal(seconds, 1) if seconds else NONE))
    counted.sort(key=lambda row: -row[1])
    yield table(
        ("Kind", "Times", two_lines("Sessions", f"of {n_sessions}"), two_lines("Together", "s")),
        counted,
        numeric=(1, 2, 3),
    )
    listed = format_first_rows(
        (
            "Participant",
            "Session",
            two_lines("At", "min:s of session time"),
            "Part",
            "Question",
            "Kind",
            two_lines("Lasted", "s"),
            "Detail",
        ),
        [
            (
                row["participant"],
                row["session"],
                clock(row["session_s"]),
                row["stage"] or NONE,
                row["trial"] or NONE,
                row["kind"].replace("_", " "),
                NONE if row["duration_s"] is None else decimal(row["duration_s"], 1),
                row["detail"] or "",
            )
            for row in records(_naturally_sorted(frame))
        ],
        numeric=(2, 4, 6),
    )
    yield from supplement([heading(4, "Deviations, one by one"), listed])


def quality(participants: pd.DataFrame) -> Html:
    """How many sessions each thing befell, and how much of them in all."""
    n = len(participants)
    sound = participants[participants["sound_s"] > 0]
    lost = sound[sound["sound_lost_s"] > 0]
    seconds_lost = float(lost["sound_lost_s"].sum())
    much = sound[sound["sound_lost_s"] > LOST * sound["sound_s"]]
    gaps = participants[participants["n_gaps"] > 0]
    pauses = participants[participants["n_pauses"] > 0]
    unfocused = participants[participants["focus_losses"] > 0]
    rows = [
        ("Completed", int(participants["complete"].sum()), ""),
        ("Sound recorded", len(sound), _time(sound["sound_s"])),
        ("Sound lost, filled with silence", len(lost), f"{decimal(seconds_lost, 1)} s"),
        (f"More than {100 * LOST:.0f} % of the sound lost", len(much), ""),
        (
            "Interrupted (the program stopped) and resumed",
            len(gaps),
            f"{count(int(gaps['n_gaps'].sum()), 'time')}, {_time(gaps['gap_s'])}",
        ),
        (
            "Paused by the moderator",
            len(pauses),
            f"{count(int(pauses['n_pauses'].sum()), 'time')}, {_time(pauses['paused_s'])}",
        ),
        (
            "The participant's window lost the focus",
            len(unfocused),
            count(int(unfocused["focus_losses"].sum()), "time"),
        ),
        ("De-identified copies", int(participants["deidentified"].sum()), ""),
    ]
    return table(
        ("Data quality", two_lines("Sessions", f"of {n}"), two_lines("Together", "min:s")),
        [(what, some, together if some else "") for what, some, together in rows],
        numeric=(1, 2),
    )


def _time(seconds: pd.Series[float]) -> str:
    return clock(float(seconds.sum()))


USED = ("numpy", "scipy", "scikit-learn", "pandas", "matplotlib")
"""Packages whose versions a reader may need to get the same numbers."""


def methods(study: ReportedStudy, findings: Findings) -> str:
    """The paragraph on one study; findings: what the sessions that count say."""
    tables = study.tables
    packages = ", ".join(f"{name} {version(name)}" for name in USED)
    sentences = [
        *_sample(tables, study_title(tables.participants, study.name)),
        *_describe_replication(tables),
        *_factors(read_declaration(tables, study.name)),
        *_planned(read_declaration(tables, study.name)),
        *describe_quotas(tables, study.name),
        *_tasks(tables),
        *_questionnaires(tables),
        *_interrupts(read_declaration(tables, study.name), tables),
        *_recording(tables),
        *(
            sentence
            for report, results in findings.of.items()
            for sentence in report.methods(study, results)
        ),
        f"Analysed with labapp {__version__} (Python {platform.python_version()}, {packages}).",
    ]
    return " ".join(sentences)


def _sample(tables: Tables, study: str) -> Iterator[str]:
    sessions = tables.participants
    recruited = sessions[sessions["outcome"] != "declined"]
    versions = sorted({str(version) for version in sessions["study_version"].dropna()})
    word = "version" if len(versions) == 1 else "versions"
    everybody = [
        person
        for person in people_of(records(sessions), tables.withdrawn)
        if person.state != "declined"
    ]
    counting = sum(person.state == "included" for person in everybody)
    yield (
        f"In the study “{study}” ({word} {', '.join(versions)} of its file), "
        f"{count(len(everybody), 'participant')} took part in "
        f"{count(len(recruited) + len(tables.withdrawn), 'session')}; "
        f"{'all' if counting == len(everybody) else counting} "
        f"{'was' if counting == 1 else 'were'} analysed."
    )
    simulated = int(sessions["simulated"].sum())
    if 0 < simulated < len(sessions):  # the head of the page says that all are
        yield (
            f"Simulated, with programs instead of people: {simulated} of "
            f"{count(len(sessions), 'session')}."
        )
    if counting < len(everybody):
        reasons = flow_of(sessions, tables.withdrawn).reasons
        yield from (f"Not analysed: {why}, n = {n}." for why, n in reasons.items())
    times = [str(time) for time in recruited["started_utc"].dropna()]
    days = sorted({time[:10] for time in times if true_date(time)})
    if days:
        when = f"on {days[0]}" if days[0] == days[-1] else f"between {days[0]} and {days[-1]}"
        yield f"Sessions were held {when} (UTC)."
    if moved := sum(not true_date(time) for time in times):
        yield (
            f"The day of {count(moved, 'session')} is not known, because these are de-identified "
            "copies, in which every date is moved."
        )


def _describe_replication(tables: Tables) -> Iterator[str]:
    names = ["replicates_paper", "replicates_study", "replicates_run"]
    for paper, study, run in tables.participants[names].dropna().drop_duplicates().to_numpy():
        yield f"It replicates study {study} of paper {paper}."
        if run == "crowd":
            yield (
                "That was a crowdsourced study: people took part alone, over the internet. Here "
                "they took part in a lab, one at a time, with a moderator."
            )


def _tasks(tables: Tables) -> Iterator[str]:
    stages = tables.stages
    known = {task: report for report in reports() for task in report.activities}
    for task, some in stages.groupby("task", sort=True):
        asked = sorted({int(n) for n in some["n_planned"].dropna()})
        models = in_order(map(str, some["model"]))
        compared = ", ".join(models) if len(models) <= NAMED else count(len(models), "model")
        shown = "–".join(str(n) for n in dict.fromkeys((asked[0], asked[-1]))) if asked else "no"
        questions = "1 question" if shown == "1" else f"{shown} questions"
        report = known.get(str(task), TaskReport())
        activity = report.activities.get(str(task), f"did the task {task}")
        trials = tables.trials[(tables.trials["task"] == task) & (tables.trials["role"] == "stage")]
        yield (
            f"Participants {activity} ({questions} per stage; {compared}){report.asked(trials)}."
        )
    yield from _stages_in_order(tables)


def _stages_in_order(tables: Tables) -> Iterator[str]:
    """How many stages sessions had, of which tasks, and in which orders models were shown."""
    compared = models_of(tables.participants)
    stages = tables.stages.sort_values("stage_number", kind="stable")
    met = stages.groupby(["study", "participant", "session"])
    sequences = {tuple(map(str, of_one)) for _, of_one in met["task"]}
    longest = max(map(len, sequences), default=0)
    if longest < 2:
        return
    blocks = []
    if len(sequences) == 1:
        (only,) = sequences
        blocks = [(say(task), len([*some])) for task, some in groupby(only)]
    yield sentence("methods.stages", n=longest, blocks=blocks)
    orders = Counter(
        tuple(
            model for model in dict.fromkeys(map(str, of_one)) if model in compared or not compared
        )
        for _, of_one in met["model"]
    )
    if len(orders) < 2:
        return
    told = [
        (", ".join(map(labelled, order)), n)
        for order, n in sorted(orders.items(), key=lambda own: [*map(place_of, own[0])])
    ]
    yield sentence("methods.orders", n=len(told), orders=told if len(told) <= NAMED else ())


def _factors(declaration: Declaration) -> Iterator[str]:
    design = declaration.design
    if design is None:
        return
    for where, factors in (("between", design.between), ("within", design.within_levels)):
        if factors:
            named = []
            for factor, levels in factors.items():
                own = levels or (declaration.models if factor == MODEL else ())
                words = ", ".join(labelled(str(level)) for level in own)
                named.append(f"{name_factor(factor)} ({words})" if words else name_factor(factor))
            yield f"Factors {where} participants: {', '.join(named)}."


def _planned(declaration: Declaration) -> Iterator[str]:
    """How many participants the study planned, in each of its cells."""
    design = declaration.design
    sizes = design.sizes if design is not None else None
    if design is not None and sizes is not None:
        cells = (", ".join(map(labelled, map(str, cell.values()))) for cell in design.cells)
        named = list(zip(cells, sizes, strict=True))
        yield sentence("methods.planned", n=sum(sizes), cells=named if len(named) > 1 else [])


def _interrupts(declaration: Declaration, tables: Tables) -> Iterator[str]:
    """What came between the rounds of a part of the flow."""
    for each in declaration.interrupts:
        asked = [questionnaire_title(tables.worded, name) or name for name in each.asked]
        yield sentence(
            "methods.interrupts", each=name_factor(each.each), asked=asked, when=each.when
        )


def describe_quotas(tables: Tables, study: str) -> Iterator[str]:
    """Which quotas there were, and how many of the people who count each has."""
    sessions = tables.participants[tables.participants["included"]]
    for name, quota in read_declaration(tables, study).quotas.items():
        met = sessions[QUOTAS.name].fillna("").str.split(r"[;!]+")
        people = sessions[[name in names for names in met]]["participant"].nunique()
        label, words = describe_quota(name, quota)
        yield sentence(
            "quota", label=label, words=words, people=people, at_most=quota.at_most,
            share=quota.share,
        )  # fmt: skip


def _questionnaires(tables: Tables) -> Iterator[str]:
    """What was asked, and how many items each questionnaire has, and how many checks."""
    items = tables.worded.drop_duplicates(["instrument", "item"])
    asked = []
    for name in dict.fromkeys(tables.answers["instrument"].dropna().map(str)):
        own = items[items["instrument"] == name]
        checks = own["check"].notna()
        title = questionnaire_title(tables.worded, name) or name
        used = tables.answers.loc[tables.answers["instrument"] == name, "check_attempts"]
        attempts = (int(max(each.dropna(), default=0)) for each in (own["attempts"], used))
        asked.append((title, int((~checks).sum()), int(checks.sum()), *attempts))
    if asked:
        yield sentence("methods.questionnaires", asked=asked)


def _in_quartiles(seconds: pd.Series[float]) -> tuple[str, list[str]]:
    """The median and, of several, the quartiles."""
    median, *quartiles = (clock(float(end)) for end in seconds.quantile([0.5, 0.25, 0.75]))
    return median, quartiles if len(seconds) > 1 else []


def _recording(tables: Tables) -> Iterator[str]:
    sessions = tables.participants
    keys = ["study", "participant", "session"]
    whole = sessions[sessions["included"]].set_index(keys)["duration_s"].dropna()
    if not whole.empty:
        stages = tables.stages.pivot_table("duration_s", keys, "task", "sum").reindex(whole.index)
        times = {"": whole} | {str(task): stages[task].dropna() for task in stages}
        if len(times) > 1:
            times["rest"] = whole - stages.sum(axis=1)
        parts = [(name, *_in_quartiles(own)) for name, own in times.items() if len(own)]
        yield sentence("methods.times", whole=parts[0], parts=parts[1:])
    counts = sessions["language"].value_counts().sort_index()
    several = [f"{code} ({n})" for code, n in counts.items()]
    languages = several if len(several) > 1 else list(map(str, counts.index))
    yield from _blinding(sessions)
    published = int((sessions["presentation"] == "as_published").sum())
    if published:
        yield (
            f"The screens were presented as in the published study in {published} of "
            f"{count(len(sessions), 'session')}."
        )
    yield f"Language of the texts: {', '.join(languages)}."
    if sound := int((sessions["sound_s"] > 0).sum()):
        yield (
            f"The voice was recorded in {sound} of {count(len(sessions), 'session')}, synchronised "
            "with all actions."
        )
    else:
        yield "No voice was recorded."
    told = sessions["app_versions"].dropna()
    recorded = sorted({part for some in told for part in str(some).split(", ") if part})
    if recorded:
        yield f"Recorded with labapp {', '.join(recorded)}."


def _blinding(sessions: pd.DataFrame) -> Iterator[str]:
    """Whether moderators knew what was on the screen; nobody moderates a simulated session without
    windows."""
    known = sessions[sessions["blind"].notna()]
    if not known.empty:
        blind = known[known["blind"]]
        lifted = int(blind["unblinded_s"].notna().sum())
        before = f", {lifted} of them until they were unblinded" if lifted else ""
        yield (
            "Moderators were blind to what the study compares in "
            f"{len(blind)} of {count(len(known), 'session')}{before}."
        )
    silent = int((sessions["blind"].isna() & ~sessions["simulated"]).sum())
    if silent:
        told = count(silent, "session")
        yield f"Whether the moderator was blind is not recorded for {told}."


SHOWN_SESSIONS = 100
"""Sessions whose notes are in the page; the table beside it has those of all."""
NAMES = {
    "note": "Notes",
    "flag": "Flags",
    "prompt": "Prompts",
    "deviation": "Deviations written down",
    "question": "Interview questions asked",
}


def notes_section(notes: pd.DataFrame, n_sessions: int) -> Iterator[Html]:
    """Notes, flags, prompts, deviations and interview questions of one study."""
    yield heading(3, "Notes, flags and prompts")
    if notes.empty:
        yield paragraph("The moderator took no notes.")
        return
    first = notes[notes["corrects"].isna()]
    yield _counts(first, n_sessions)
    by_session = {
        (str(participant), str(session)): some
        for (participant, session), some in notes.groupby(["participant", "session"])
    }
    ordered = sorted(by_session, key=lambda who: (natural(who[0]), natural(who[1])))
    for who in ordered[:SHOWN_SESSIONS]:
        yield _session(*who, by_session[who])
    if (left := len(ordered) - SHOWN_SESSIONS) > 0:
        told = count(left, "more session")
        yield paragraph(f"The notes of {told} are in the table notes.", "quiet")


def _counts(first: pd.DataFrame, n_sessions: int) -> Html:
    """How often each kind, and each flag, was noted and stands."""
    rows = []
    for kind, name in NAMES.items():
        some = first[first["kind"] == kind]
        if some.empty:
            continue
        rows.append(_count(name, some))
        if kind == "flag":
            for number, flagged in some.groupby("number", sort=True):
                meanings = ", ".join(dict.fromkeys(str(meaning) for meaning in flagged["text"]))
                rows.append(_count(f"\u2003⚑ {number} {meanings}", flagged))
    columns = (
        "Noted",
        two_lines("Times", "without those taken back"),
        two_lines("Sessions", f"of {n_sessions}"),
        "Corrected",
        "Taken back",
    )
    return table(columns, rows, numeric=(1, 2, 3, 4))


def _count(name: object, some: pd.DataFrame) -> tuple[object, ...]:
    standing = some[~some["taken_back"]]
    reworded = int((standing["text"] != standing["text_now"]).sum())
    sessions = standing.groupby(["participant", "session"]).ngroups
    return (name, len(standing), sessions, reworded, int(some["taken_back"].sum()))


def _session(participant: str, session: str, notes: pd.DataFrame) -> Html:
    """One session, folded: each entry where it began, with its former words."""
    every = records(notes)
    # How each entry read before, oldest first, by its seq: its first words and every correction
    # but the last.
    corrections: dict[int, list[tuple[int, str]]] = {}
    for row in every:
        if row["corrects"] is not None:
            corrections.setdefault(int(row["corrects"]), []).append((row["seq"], row["text"]))
    first = {row["seq"]: str(row["text"]) for row in every}
    before = {
        seq: [first.get(seq, ""), *(text for _, text in sorted(some)[:-1])]
        for seq, some in corrections.items()
    }
    rows = [
        (
            clock(row["working_s"]),
            row["stage"] or NONE,
            row["trial"] or NONE,
            row["kind"],
            _words(row, before.get(row["seq"], [])),
        )
        for row in every
        if row["corrects"] is None
    ]
    names = (two_lines("At", "min:s of working time"), "Part", "Question", "Kind", "Words")
    shown = table(names, rows[:SHOWN_ROWS], numeric=(2,))
    if (left := len(rows) - SHOWN_ROWS) > 0:
        shown = join_parts([shown, paragraph(f"{left} more are in the table notes.", "quiet")])
    what = (
        count(n, kind)
        for kind in NAMES
        if (n := sum(row["corrects"] is None and row["kind"] == kind for row in every))
    )
    return details(f"Participant {participant}, session {session}: {', '.join(what)}", shown)


def _words(row: dict[str, Any], former: Sequence[str]) -> Html:
    """How an entry reads, below it how it read before."""
    number = f"⚑ {row['number']} " if row["kind"] == "flag" else ""
    now = (row["text"] or "") if row["taken_back"] else row["text_now"]
    known = {row["text_now"], now}
    earlier = [words for words in dict.fromkeys(former) if words and words not in known]
    before = Verbatim(" → ".join(map(quoted, earlier)))
    return format_revised_text(Verbatim(f"{number}{now}"), before, taken_back=row["taken_back"])


def registration_section(
    registrations: Sequence[Registration],
    study: str,
    sessions: pd.DataFrame,
    results: StudyAnalyses | None,
    cards: Mapping[Who, Mapping[str, str]] | None = None,
) -> Iterator[Html]:
    """Of one study; nothing if no registration of it was given. sessions: its participants;
    cards: see `Tables`."""
    for registration in registrations:
        if registration.study != study:
            continue
        yield heading(3, "Registration")
        yield paragraph(" ".join(_facts(registration, sessions)))
        rows = [("Changed", text) for text in _files(registration, sessions)]
        rows += [("Changed", text) for text in _changes(registration, sessions)]
        rows += [("Changed", text) for text in _models(registration, sessions, cards or {})]
        rows += [("Sample", text) for text in _sample_as_registered(registration, sessions)]
        rows += [("Not registered", text) for text in _by_hand(sessions)]
        rows += [("Not registered", text) for text in _list_unregistered(registration, results)]
        if rows:
            yield table(("Difference", "What"), rows, caption="Differences from the registration")
        else:
            yield paragraph("Nothing differs from what was registered.")


def _facts(registration: Registration, sessions: pd.DataFrame) -> Iterator[str]:
    yield (
        f"Registered on {registration.registered_utc}, when there were "
        f"{count(registration.sessions_before, 'session')}."
    )
    # A virtual clock and a moved date say nothing of when it was.
    dated = sessions[~sessions["simulated"].fillna(False).astype(bool)]
    started = [utc for utc in dated["started_utc"].dropna().map(str) if true_date(utc)]
    early = sum(utc < registration.registered_utc for utc in started)
    if early:
        yield f"{count(early, 'session')} began before the study was registered."


def _files(registration: Registration, sessions: pd.DataFrame) -> Iterator[str]:
    """That sessions were run with other files of the study than those that were registered."""
    files = sessions["study_sha256"].dropna().map(str)
    if others := int((files != registration.study_sha256).sum()):
        yield (
            f"{count(others, 'session')} of {len(sessions)} ran with study files that differ "
            "from the registered ones"
        )


def _models(
    registration: Registration, sessions: pd.DataFrame, cards: Mapping[Who, Mapping[str, str]]
) -> Iterator[str]:
    """Models of sessions that are others than those that were registered, by the hashes of their
    cards; nothing of a registration that names none."""
    if not registration.models:
        return
    keys = (sessions[key] for key in ("study", "participant", "session"))
    met = [cards.get(who, {}) for who in zip(*keys, strict=True)]
    for model in sorted({model for of_session in met for model in of_session}):
        registered = registration.models.get(model)
        others = sum(model in own and own[model] != registered for own in met)
        if registered is None:
            yield f"{model} was shown but is not a registered model"
        elif others:
            yield (
                f"{count(others, 'session')} of {len(sessions)} had a model {model} that differs "
                "from the registered one (another card)"
            )


def _sample_as_registered(registration: Registration, sessions: pd.DataFrame) -> Iterator[str]:
    """Cells that have more or fewer participants than was registered."""
    design = read_declared(json.dumps(registration.declared)).design
    if design is None or design.per_cell is None:
        return
    analysed = sessions[sessions["included"].fillna(False).astype(bool)]
    for cell in design.cells:
        of_cell = analysed
        for factor, level in cell.items():
            levels = analysed.get(factor_column(factor), pd.Series("", analysed.index))
            of_cell = of_cell[levels.loc[of_cell.index].map(str) == str(level)]
        n = of_cell["participant"].nunique()
        wanted = design.wanted(cell)
        if n != wanted:
            where = f" ({cell_name(cell)})" if cell else ""
            yield f"{n} analysed, but {wanted} were registered{where}"


def _by_hand(sessions: pd.DataFrame) -> Iterator[str]:
    """Who was excluded, or counted, by a decision that no registered rule makes."""
    if "decided_by_hand" not in sessions:
        return
    for row in sessions[sessions["decided_by_hand"].notna()].to_dict("records"):
        who = f"{row['participant']}, session {row['session']}"
        yield f"{who}: {row['decided_by_hand']} by hand"


def _changes(registration: Registration, sessions: pd.DataFrame) -> Iterator[str]:
    """Of every declaration that sessions were run with."""
    texts = sessions["declared"] if "declared" in sessions else [""] * len(sessions)
    by_version: dict[tuple[int, str], None] = {}
    for number, text in zip(sessions["study_version"], texts, strict=True):
        by_version[int(number), text if isinstance(text, str) else ""] = None
    for number, text in by_version:
        for change in registration.changes(json.loads(text or "{}")):
            yield f"version {number}: {change}" if len(by_version) > 1 else change


def _list_unregistered(registration: Registration, results: StudyAnalyses | None) -> Iterator[str]:
    if results is None:
        return
    outcomes = list(dict.fromkeys(analysis.outcome.name for analysis in results.analyses))
    rows = (row for analysis in results.analyses for row in analysis.select(CONTRAST))
    contrasts = list(dict.fromkeys(row.contrast for row in rows))
    named = registration.find_unregistered(outcomes, contrasts)
    yield from (f"outcome {name}" for name in outcomes if name in named)
    yield from (f"contrast {name}" for name in contrasts if name in named)
