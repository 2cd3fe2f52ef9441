"""The report's section on what participants said, as raters coded it.

It has counts of the final coding, with intervals over participants. Nothing here takes marks for
independent: a participant counts once, however often a code was given.

Also how much a participant said at each question: talk time, words a minute, pauses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labapp.analysis.bootstrap import NORMAL
from labapp.analysis.column import TRIAL, WHO, Column, columns_in, number, text, whole
from labapp.analysis.declared import PREFIX
from labapp.analysis.speech_rows import NOT_AGREED, REDACTED
from labapp.analysis.tables import Tables, build_frame
from labapp.base.naming import natural
from labapp.base.report.listing import NONE, quoted, records
from labapp.base.report.page import (
    Html,
    Verbatim,
    clock,
    count,
    decimal,
    details,
    heading,
    join_parts,
    paragraph,
    table,
    two_lines,
)
from labapp.coding.annotations.simulated import SIMULATED

SHOWN_QUOTES = 3
"""Quotes of a code in the page, each of another participant."""


def coding_section(tables: Tables, study: str, anchor: str) -> Iterator[Html]:
    """Counts, figures and quotes of one study; nothing if nothing was said or coded.

    tables: of its sessions that count; anchor: prefix of the page's ids.
    """
    from labapp.analysis.coding_figures import coding_figures, left_out, timelines

    if tables.coded.empty and tables.utterances.empty:
        return
    marks = select_counted_marks(tables.coded)
    yield heading(3, "What participants said")
    yield paragraph(_describe_coding(tables, marks))
    yield from talk_section(tables)
    if marks.empty:
        return
    counts = code_counts(tables)
    yield _overall(counts)
    for by in find_comparison_columns(tables):
        yield _by(counts, by)
    for figure in coding_figures(tables, counts, study):
        yield figure.html(anchor)
    sessions = [figure.html(anchor) for figure in timelines(tables, study)]
    if more := left_out(tables):
        sessions.append(paragraph(more, "quiet"))
    yield details(f"The timelines of {count(len(sessions), 'session')}", join_parts(sessions))
    yield _quotes(tables)


def _describe_coding(tables: Tables, marks: pd.DataFrame) -> str:
    """What was coded, by whom, and what is not."""
    spoken = tables.utterances[tables.utterances["speaker"] == "participant"]
    people = len(marks[PERSON].drop_duplicates())
    sentences = []
    if len(spoken):
        speakers = len(spoken[PERSON].drop_duplicates())
        minutes = float((spoken["offset_s"] - spoken["onset_s"]).sum()) / 60
        sentences.append(
            f"{count(speakers, 'participant')} said {count(len(spoken), 'utterance')}, "
            f"{decimal(minutes, 1)} min of speech in all."
        )
    if marks.empty:
        sentences.append("They have not been coded.")
        return " ".join(sentences)
    raters = sorted(str(rater) for rater in marks["rater"].unique() if rater != SIMULATED)
    sentences.append(
        f"The final coding has {count(len(marks), 'mark')} on {count(people, 'participant')}."
    )
    if raters:
        sentences.append(f"Raters: {', '.join(raters)}.")
    if (marks["rater"] == SIMULATED).any():
        sentences.append(
            "The codes of simulated participants are those from which their words were "
            "generated. No person assigned them."
        )
    if left := count_uncoded(tables):
        has_have = "has" if left == 1 else "have"
        sentences.append(f"{count(left, 'participant')} spoke but {has_have} not been coded.")
    if others := len(tables.coded) - len(marks):
        do = "is" if others == 1 else "are"
        sentences.append(f"{count(others, 'mark')} on other people's speech {do} not counted here.")
    return " ".join(sentences)


def _percent(row: dict[str, Any], name: str) -> tuple[str, str]:
    """A share and its interval, in per cent."""
    values = [row[name], row[f"{name}_low"], row[f"{name}_high"]]
    share, low, high = (v if v is None else decimal(100 * float(v), 0) for v in values)
    if share is None:
        return NONE, ""
    return f"{share} %", "" if low is None or high is None else f"{low} to {high} %"


def _overall(counts: pd.DataFrame) -> Html:
    """Each code: how many said it, and its share of the marks of its tier."""
    own = counts[counts["by"] == OVERALL]
    rows = []
    for row in records(own):
        mean = _percent(row, "mean_share")
        rows.append(
            (
                Verbatim(str(row["tier"])),
                Verbatim(str(row["code_name"])),
                f"{row['n_mentioned']} of {row['n_participants']}",
                two_lines(*_percent(row, "share_mentioned")),
                int(row["n_marks"]),
                two_lines(*mean) if mean[1] else mean[0],
            )
        )
    caption = (
        "Participants with the code at least once, with Wilson's 95 % interval. Share: the "
        "proportion of a participant's marks in this tier that have the code; mean over "
        "participants, with a 95 % interval from resampling participants."
    )
    if int(own["n_mean"].min()) < LEAST:
        caption += f" Means over fewer than {LEAST} participants have no interval."
    return table(
        (
            "Tier",
            "Code",
            "Participants",
            two_lines("Said it", "95 % interval"),
            "Marks",
            two_lines("Share of the tier", "mean, 95 % interval"),
        ),
        rows,
        numeric=(2, 3, 4, 5),
        caption=caption,
    )


def _by(counts: pd.DataFrame, by: str) -> Html:
    """Each code by the levels of a column: how many said it there."""
    names = levels(counts, by)
    rows = []
    own = counts[counts["by"] == by]
    for (tier, _), some in own.groupby(["tier", "code"], sort=True):
        by_level = {row["level"]: row for row in records(some)}
        code = next(iter(by_level.values()))["code_name"]
        cells: list[object] = [Verbatim(str(tier)), Verbatim(str(code))]
        for name in names:
            row = by_level[name]
            share, interval = _percent(row, "mean_share")
            told = f"{row['n_mentioned']} of {row['n_participants']}"
            more = f"{share}, {interval}" if interval else share
            cells.append(two_lines(told, more) if share != NONE else told)
        rows.append(cells)
    return table(
        ["Tier", "Code", *(Verbatim(name) for name in names)],
        rows,
        numeric=range(2, 2 + len(names)),
        caption="Participants who said it, out of those who reached the level; below it, the "
        "code's mean share of their marks in that tier at that level.",
    )


def _quotes(tables: Tables) -> Html:
    """Some quotes a code, each of another participant, if that was agreed; what is left out."""
    marks = select_counted_marks(tables.coded)
    rows = []
    names = code_names(marks)
    agreed, allowed = with_agreed_words(tables), quotable(tables)
    order = sorted(
        records(allowed),
        key=lambda row: (row["tier"], row["code"], natural(row["participant"]), row["onset_s"]),
    )
    taken: dict[tuple[str, str], list[str]] = {}
    for row in order:
        people = taken.setdefault((row["tier"], row["code"]), [])
        if row["participant"] in people or len(people) == SHOWN_QUOTES:
            continue
        people.append(row["participant"])
        rows.append(
            (
                Verbatim(f"{row['tier']}: {names[row['tier'], row['code']]}"),
                quoted(row["text"]),
                Verbatim(str(row["participant"])),
                clock(row["onset_working_s"]),
                NONE if row["model"] is None else Verbatim(str(row["model"])),
            )
        )
    titles = ("Code", "Words", "Participant", two_lines("At", "min:s of working time"), "Model")
    withheld = marks["text_withheld"].fillna("")
    left = {
        "without words, because the participant did not agree to a transcript": int(
            (withheld == NOT_AGREED).sum()
        ),
        "redacted": int((withheld == REDACTED).sum()),
        "not quoted, because the participant did not agree to it": int(
            (marks["text"].notna() & (withheld != REDACTED)).sum()
        )
        - len(agreed),
        "without words, because nobody has transcribed them": int(
            (withheld == "not_written").sum()
        ),
        "on words that nobody has checked against the sound": len(agreed) - len(allowed),
    }
    parts = [table(titles, rows, numeric=(3,))] if rows else []
    if told := [f"{count(n, 'mark')} {why}." for why, n in left.items() if n]:
        parts.append(paragraph(" ".join(told), "quiet"))
    return details(f"Quotes, up to {SHOWN_QUOTES} per code", join_parts(parts))


def talk_section(tables: Tables) -> Iterator[Html]:
    """How much participants said, overall and by what a study compares; nothing if nobody spoke.

    tables: of the sessions of one study that count.
    """
    spoken = tables.utterances[tables.utterances["speaker"] == "participant"]
    if spoken.empty:
        return
    pauses = talk_times(tables)
    rows = [_row("All", spoken, pauses)]
    for by in find_comparison_columns(tables):
        speech, between = (_add_level(frame, tables, by) for frame in (spoken, pauses))
        rows += [
            _row(Verbatim(str(level)), speech[speech[by] == level], between[between[by] == level])
            for level in sorted(speech[by].dropna().unique())
        ]
    if told := _reservations(spoken):
        yield paragraph(told)
    yield table(
        (
            "",
            "Participants",
            two_lines("Talk time", "min, quartiles"),
            two_lines("Words per minute", "quartiles"),
            two_lines("Pauses", "quartiles"),
            two_lines("Length of a pause", "s, quartiles"),
        ),
        rows,
        numeric=range(1, 6),
        caption="Medians over participants, with their quartiles below, in working time. Words "
        "per minute are counted within transcribed units, without the pauses between units. "
        "Pauses are counted between consecutive units of the same question; their length is "
        "averaged for each participant.",
    )


def _reservations(spoken: pd.DataFrame) -> str:
    """What a reader must know of these numbers: who speaks, and who read the words."""
    told = []
    sessions = spoken.drop_duplicates([*PERSON, "session"])
    if unsaid := int((~sessions["speakers_said"].fillna(value=True).astype(bool)).sum()):
        told.append(
            f"In {count(unsaid, 'session')} of {len(sessions)}, the speakers have not been "
            "set, so all units count as the participant's, even what the moderator said."
        )
    written = spoken[spoken["n_words"].notna() & spoken["text_withheld"].isna()]
    if unread := int((~written["reviewed"].fillna(value=False).astype(bool)).sum()):
        utterances = count(unread, "utterance")
        told.append(
            f"The words of {utterances} of {len(written)} have not been checked against the sound "
            "by a person. They are used as they are."
        )
    return " ".join(told)


def _add_level(frame: pd.DataFrame, tables: Tables, column: str) -> pd.DataFrame:
    """Rows with the level of a column, which is of their stage, or else of their participant."""
    if column in frame:
        return frame
    of = tables.stages if column in tables.stages else tables.participants
    keys = [*PERSON, "session", "stage"] if column in tables.stages else [*PERSON, "session"]
    levels = of[[*keys, column]].drop_duplicates(keys)
    return frame.merge(levels, on=keys, how="left")


def _row(name: str, spoken: pd.DataFrame, pauses: pd.DataFrame) -> list[object]:
    """A line of the table. spoken: units; pauses: rows of `talk_times`."""
    people = [spoken[column] for column in PERSON]
    lengths = spoken["offset_working_s"] - spoken["onset_working_s"]
    talk = lengths.groupby(people).sum() / 60
    is_written = spoken["n_words"].notna() & spoken["text_withheld"].isna()
    written = spoken[is_written]
    who = [written[column] for column in PERSON]
    minutes = lengths[is_written].groupby(who).sum() / 60
    words = written["n_words"].astype(float).groupby(who).sum()
    between = pauses.groupby(PERSON)[["n_pauses", "pauses_s"]].sum()
    count = between["n_pauses"].astype(float)
    length = between["pauses_s"].astype(float) / count.where(count > 0)
    return [
        name,
        len(talk),
        _spread(talk, 1),
        _spread(words / minutes.where(minutes > 0), 0),
        _spread(count, 0),
        _spread(length, 1),
    ]


def _spread(values: pd.Series, decimals: int) -> object:
    """The median of values, below it their quartiles if there are several."""
    own: Sequence[float] = [float(value) for value in values.dropna()]
    if not own:
        return NONE
    low, median, high = pd.Series(own).quantile([0.25, 0.5, 0.75])
    middle = decimal(float(median), decimals)
    if len(own) == 1:
        return middle
    return two_lines(middle, f"{decimal(float(low), decimals)} to {decimal(float(high), decimals)}")


CODE_COUNTS_TABLE = "code_counts"
PERSON = ["study", "participant"]
OVERALL = "study"
"""What a count is by that is of all participants."""
LEAST = 10
"""No interval of a mean is drawn from fewer participants: a bootstrap of so few is too narrow."""
DRAWS, SEED = 2000, 20200401

CODE_COUNTS: tuple[Column, ...] = (
    *columns_in("""
        text study: id of the study
        text tier: tier of the codebook
        text code: id of the code
        text code_name: what the codebook calls it; the name of the last mark where versions differ
        text by: study (all participants), model, conditions, or the column of a factor
        text level: which of them; empty for the whole study
        whole n_participants: participants whose sessions are coded and who met that level
        whole n_mentioned: of these, participants with the code there at least once
        number share_mentioned [0-1]: n_mentioned / n_participants
        number share_mentioned_low [0-1]: lower end of its 95 % interval (Wilson's score interval)
        number share_mentioned_high [0-1]: upper end
        whole n_marks: marks with the code there
        number mean_share [0-1]: mean over participants of the share of their marks of the tier that
            have the code
    """),
    number(
        "mean_share_low",
        f"lower end of its 95 % interval, a percentile bootstrap over participants ({DRAWS} "
        f"draws); empty for fewer than {LEAST} participants",
        "0-1",
    ),
    number("mean_share_high", "upper end", "0-1"),
    whole("n_mean", "participants with a mark of the tier there, over whom the mean is"),
)


@dataclass(frozen=True, slots=True)
class IntervalEnds:
    """The ends of an interval; None if there is none."""

    low: float | None
    high: float | None


def wilson(successes: int, of: int) -> IntervalEnds:
    """95 % score interval of a share (Wilson 1927): it holds for few people too."""
    if of == 0:
        return IntervalEnds(None, None)
    share, z = successes / of, NORMAL
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * np.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return IntervalEnds(max(0.0, float(middle - half)), min(1.0, float(middle + half)))


def mean_interval(values: NDArray[np.float64]) -> IntervalEnds:
    """95 % interval of a mean over participants, by drawing participants again (percentiles)."""
    if values.size < LEAST:
        return IntervalEnds(None, None)
    drawn = np.random.default_rng(SEED).integers(values.size, size=(DRAWS, values.size))
    low, high = np.percentile(values[drawn].mean(axis=1), (2.5, 97.5))
    return IntervalEnds(float(low), float(high))


def select_counted_marks(coded: pd.DataFrame) -> pd.DataFrame:
    """The marks that count: those on what the participant said, and those on no unit."""
    return coded[coded["speaker"].isna() | (coded["speaker"] == "participant")]


def find_comparison_columns(tables: Tables) -> list[str]:
    """The columns by which a study is counted: the model, and its factors or else its conditions,
    each if it has several levels."""
    frames = (tables.coded, tables.stages, tables.participants)
    factors = list(
        dict.fromkeys(
            str(name) for frame in frames for name in frame.columns if str(name).startswith(PREFIX)
        )
    )
    names = ["model", *(factors or ["conditions"])]
    return [
        name for name in names if len(_find_met_levels(tables, name)[name].dropna().unique()) > 1
    ]


def _find_met_levels(tables: Tables, column: str) -> pd.DataFrame:
    """Which participant met which level of a column."""
    frame = tables.stages if column in tables.stages else tables.participants
    if column not in frame:
        return pd.DataFrame(columns=[*PERSON, column])
    return frame[[*PERSON, column]].dropna().drop_duplicates()


def code_counts(tables: Tables) -> pd.DataFrame:
    """The table `code_counts`: one row per code, overall and by level. tables: of sessions that
    count."""
    studies = sorted(tables.coded["study"].unique())
    rows = [row for study in studies for row in _rows(tables.of_study(study), study)]
    return build_frame(rows, CODE_COUNTS)


def _rows(own: Tables, study: str) -> Iterator[dict[str, object]]:
    """own: of the study."""
    marks = select_counted_marks(own.coded)
    people = marks[PERSON].drop_duplicates()
    codes = sorted(set(zip(marks["tier"], marks["code"], strict=True)))
    groups: list[tuple[str, str | None, pd.DataFrame, pd.DataFrame]] = [
        (OVERALL, None, people, marks)
    ]
    for column in find_comparison_columns(own):
        met = _find_met_levels(own, column).merge(people, on=PERSON)
        person = _find_met_levels(own, column)
        placed = marks if column in marks else marks.merge(person, on=PERSON, how="left")
        for level in sorted(met[column].unique()):
            there = met[met[column] == level]
            groups.append((column, str(level), there, placed[placed[column] == level]))
    names = code_names(marks)
    for tier, code in codes:
        for by, level, who, some in groups:
            yield {
                "study": study,
                "tier": tier,
                "code": code,
                "code_name": names[tier, code],
                "by": by,
                "level": level,
                **_count_code(who, some[some["tier"] == tier], code),
            }


def code_names(rows: pd.DataFrame) -> dict[tuple[str, str], str]:
    """What codes are called, by tier and id: if several of a tier are called the same, with the
    id; the id alone if the name is not known.

    rows: of a table that has `tier`, `code` and `code_name`; where versions of a codebook differ,
    the last row holds.
    """
    names: dict[tuple[str, str], str] = {}
    for tier, code, name in rows[["tier", "code", "code_name"]].itertuples(index=False):
        known = names.get((tier, code), str(code))
        names[tier, code] = known if pd.isna(name) else str(name)
    often = Counter((tier, name) for (tier, _), name in names.items())
    return {
        (tier, code): name if often[tier, name] == 1 else f"{name} ({code})"
        for (tier, code), name in names.items()
    }


def _count_code(people: pd.DataFrame, of_tier: pd.DataFrame, code: str) -> dict[str, object]:
    """people: who could have said it; of_tier: their marks of the code's tier there."""
    own = of_tier[of_tier["code"] == code]
    mentioned = len(own[PERSON].drop_duplicates())
    n = len(people)
    interval = wilson(mentioned, n)
    shares: NDArray[np.float64] = np.empty(0)
    if len(of_tier):
        has = (of_tier["code"] == code).astype(float)
        by_person = has.groupby([of_tier[column] for column in PERSON]).mean()
        shares = np.asarray(by_person, dtype=np.float64)
    mean = mean_interval(shares)
    return {
        "n_participants": n,
        "n_mentioned": mentioned,
        "share_mentioned": mentioned / n if n else None,
        "share_mentioned_low": interval.low,
        "share_mentioned_high": interval.high,
        "n_marks": len(own),
        "mean_share": float(shares.mean()) if shares.size else None,
        "mean_share_low": mean.low,
        "mean_share_high": mean.high,
        "n_mean": int(shares.size),
    }


def count_uncoded(tables: Tables) -> int:
    """How many participants spoke, as far as units tell, and have no mark that counts."""
    spoke = tables.utterances[tables.utterances["speaker"] == "participant"]
    marked = set(map(tuple, select_counted_marks(tables.coded)[PERSON].to_numpy().tolist()))
    return len(set(map(tuple, spoke[PERSON].to_numpy().tolist())) - marked)


def quotable(tables: Tables) -> pd.DataFrame:
    """The marks whose words may be quoted: words that a person has read against the sound, of
    somebody who did not refuse it."""
    marks = with_agreed_words(tables)
    return marks[marks["reviewed"].fillna(value=False).astype(bool)]


def with_agreed_words(tables: Tables) -> pd.DataFrame:
    """The marks with words of somebody who did not refuse to be quoted, read by a person or not."""
    marks = select_counted_marks(tables.coded)
    people = tables.participants[[*PERSON, "session", "consent_quote"]]
    joined = marks.merge(people, on=[*PERSON, "session"], how="left")
    agreed = joined["consent_quote"].fillna(value=True).astype(bool)
    return joined[
        agreed & joined["text"].notna() & (joined["text_withheld"].fillna("") != REDACTED)
    ]


def levels(counts: pd.DataFrame, by: str) -> Sequence[str]:
    """The levels of a column that counts are by."""
    return [str(level) for level in counts[counts["by"] == by]["level"].dropna().unique()]


TALK_TIMES_TABLE = "talk_times"
TALK_TIMES: tuple[Column, ...] = (
    *WHO,
    text("stage", "part that ran; empty outside of stages"),
    text("model", "what that stage is about"),
    *TRIAL,
    *columns_in("""
        text conditions: the study's variables for this participant, drawn cells in their order
        whole n_utterances: units of speech of the participant that begin there
        seconds talk_s: their total length, in working time
        whole n_words: words in those that have been transcribed; empty if none has
        number words_per_min [1/min]: n_words divided by the talk time of the transcribed units,
            excluding pauses between units
        whole n_unwritten: units without words that may be seen
        whole n_unread: units with words that nobody has checked against the sound
        yes speakers_said: somebody has set who speaks in the session; if not, what others said is
            also counted here
        whole n_pauses: pauses between consecutive units there
        seconds pauses_s: their total length, in working time
        seconds pause_median_s: their median
        seconds pause_longest_s: the longest of them
        seconds sound_lost_s: how much of the sound of these units was lost
    """),
)
_KEYS = [column.name for column in TALK_TIMES[: [c.name for c in TALK_TIMES].index("n_utterances")]]


def talk_times(tables: Tables) -> pd.DataFrame:
    """The table `talk_times`: one row per question at which the participant spoke, and one for what
    was said outside of questions in each stage. tables: of sessions that count."""
    return build_frame(list(_rows_of_talk(tables.utterances)), TALK_TIMES)


def _rows_of_talk(utterances: pd.DataFrame) -> Iterator[dict[str, object]]:
    spoken = utterances[utterances["speaker"] == "participant"]
    if spoken.empty:
        return
    for key, units in spoken.groupby(_KEYS, dropna=False, sort=False):
        there = units.sort_values("onset_working_s")
        talk = there["offset_working_s"] - there["onset_working_s"]
        # Nobody writes down a unit of which words were taken out, as far as counts go.
        written = there["n_words"].notna() & there["text_withheld"].isna()
        minutes = float(talk[written].sum()) / 60
        words = int(there["n_words"][written].sum())
        ended = there["offset_working_s"].cummax().shift()
        pauses = (there["onset_working_s"] - ended).dropna()
        pauses = pauses[pauses > 0]
        yield {
            **dict(zip(_KEYS, key, strict=True)),
            "n_utterances": len(there),
            "talk_s": float(talk.sum()),
            "n_words": words if written.any() else None,
            "words_per_min": words / minutes if minutes else None,
            "n_unwritten": int((~written).sum()),
            "n_unread": int((written & ~there["reviewed"].fillna(value=False).astype(bool)).sum()),
            "speakers_said": bool(there["speakers_said"].fillna(value=True).all()),
            "n_pauses": len(pauses),
            "pauses_s": float(pauses.sum()),
            "pause_median_s": float(pauses.median()) if len(pauses) else None,
            "pause_longest_s": float(pauses.max()) if len(pauses) else None,
            "sound_lost_s": float(there["sound_lost_s"].sum())
            if there["sound_lost_s"].notna().any()
            else None,
        }
