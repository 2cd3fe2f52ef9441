"""How many participants said what: counts of the final coding, with intervals over participants.

Nothing here takes marks for independent: a participant counts once, however often a code was given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labapp.analysis.column import Column, number, text, whole
from labapp.analysis.declared import PREFIX
from labapp.analysis.speech_columns import REDACTED
from labapp.analysis.tables import Tables, typed

CODE_COUNTS_TABLE = "code_counts"
PERSON = ["study", "participant"]
OVERALL = "study"
"""What a count is by that is of all participants."""
LEAST = 10
"""No interval of a mean is drawn from fewer participants: a bootstrap of so few is too narrow."""
DRAWS, SEED = 2000, 20200401
NORMAL = 1.959963984540054

CODE_COUNTS: tuple[Column, ...] = (
    text("study", "id of the study"),
    text("tier", "tier of the codebook"),
    text("code", "id of the code"),
    text(
        "code_name", "what the codebook calls it; the name of the last mark where versions differ"
    ),
    text("by", "study (all participants), model, conditions, or the column of a factor"),
    text("level", "which of them; empty for the whole study"),
    whole("n_participants", "participants whose sessions are coded and who met that level"),
    whole("n_mentioned", "of these, participants with the code there at least once"),
    number("share_mentioned", "n_mentioned / n_participants", "0-1"),
    number(
        "share_mentioned_low", "lower end of its 95 % interval (Wilson's score interval)", "0-1"
    ),
    number("share_mentioned_high", "upper end", "0-1"),
    whole("n_marks", "marks with the code there"),
    number(
        "mean_share",
        "mean over participants of the share of their marks of the tier that have the code",
        "0-1",
    ),
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
class Interval:
    """The ends of an interval; None where there is none."""

    low: float | None
    high: float | None


def wilson(successes: int, of: int) -> Interval:
    """95 % score interval of a share (Wilson 1927): it holds for few people too.

    Parameters
    ----------
    successes, of : how many of how many.
    """
    if of == 0:
        return Interval(None, None)
    share, z = successes / of, NORMAL
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * np.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return Interval(max(0.0, float(middle - half)), min(1.0, float(middle + half)))


def mean_interval(values: NDArray[np.float64]) -> Interval:
    """95 % interval of a mean over participants, by drawing participants anew (percentiles).

    Parameters
    ----------
    values : ndarray of float64, shape (participants,)
        One of each.
    """
    if values.size < LEAST:
        return Interval(None, None)
    drawn = np.random.default_rng(SEED).integers(values.size, size=(DRAWS, values.size))
    low, high = np.percentile(values[drawn].mean(axis=1), (2.5, 97.5))
    return Interval(float(low), float(high))


def counted_marks(coded: pd.DataFrame) -> pd.DataFrame:
    """The marks that counts are of: those on what the participant said, and those on no unit."""
    return coded[coded["speaker"].isna() | (coded["speaker"] == "participant")]


def compared_by(tables: Tables) -> list[str]:
    """The columns by which a study is counted: the model, and its factors or else its conditions,
    each where it has several levels."""
    frames = (tables.coded, tables.stages, tables.participants)
    factors = list(
        dict.fromkeys(
            str(name) for frame in frames for name in frame.columns if str(name).startswith(PREFIX)
        )
    )
    names = ["model", *(factors or ["conditions"])]
    return [name for name in names if len(_met(tables, name)[name].dropna().unique()) > 1]


def _met(tables: Tables, column: str) -> pd.DataFrame:
    """Which participant met which level of a column."""
    frame = tables.stages if column in tables.stages else tables.participants
    if column not in frame:
        return pd.DataFrame(columns=[*PERSON, column])
    return frame[[*PERSON, column]].dropna().drop_duplicates()


def code_counts(tables: Tables) -> pd.DataFrame:
    """The table `code_counts`: a row a code, overall and by level. tables: of sessions that
    count."""
    studies = sorted(tables.coded["study"].unique())
    rows = [row for study in studies for row in _rows(tables.of_study(study), study)]
    return typed(rows, CODE_COUNTS)


def _rows(own: Tables, study: str) -> Iterator[dict[str, object]]:
    """own: of the study."""
    marks = counted_marks(own.coded)
    people = marks[PERSON].drop_duplicates()
    codes = sorted(set(zip(marks["tier"], marks["code"], strict=True)))
    groups: list[tuple[str, str | None, pd.DataFrame, pd.DataFrame]] = [
        (OVERALL, None, people, marks)
    ]
    for column in compared_by(own):
        met = _met(own, column).merge(people, on=PERSON)
        person = _met(own, column)
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
                **_counted(who, some[some["tier"] == tier], code),
            }


def code_names(rows: pd.DataFrame) -> dict[tuple[str, str], str]:
    """What codes are called, by tier and id: where several of a tier are called the same, with the
    id; the id alone where the name is not known.

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


def _counted(people: pd.DataFrame, of_tier: pd.DataFrame, code: str) -> dict[str, object]:
    """people: who could have said it; of_tier: their marks of the code's tier there."""
    own = of_tier[of_tier["code"] == code]
    mentioned = len(own[PERSON].drop_duplicates())
    n = len(people)
    interval = wilson(mentioned, n)
    shares = _shares(of_tier, code)
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


def _shares(of_tier: pd.DataFrame, code: str) -> NDArray[np.float64]:
    """Of each participant with a mark of the tier, the share that has the code."""
    if of_tier.empty:
        return np.empty(0, dtype=np.float64)
    by_person = (of_tier["code"] == code).astype(float).groupby([of_tier[c] for c in PERSON]).mean()
    return np.asarray(by_person, dtype=np.float64)


def uncoded(tables: Tables) -> int:
    """How many participants spoke, as far as units tell, and have no mark that counts."""
    spoke = tables.utterances[tables.utterances["speaker"] == "participant"]
    marked = set(map(tuple, counted_marks(tables.coded)[PERSON].to_numpy().tolist()))
    return len(set(map(tuple, spoke[PERSON].to_numpy().tolist())) - marked)


def quotable(tables: Tables) -> pd.DataFrame:
    """The marks whose words may be quoted: words that a person has read against the sound, of
    somebody who did not refuse it."""
    marks = with_agreed_words(tables)
    return marks[marks["reviewed"].fillna(value=False).astype(bool)]


def with_agreed_words(tables: Tables) -> pd.DataFrame:
    """The marks with words of somebody who did not refuse to be quoted, read by a person or not."""
    marks = counted_marks(tables.coded)
    people = tables.participants[[*PERSON, "session", "consent_quote"]]
    joined = marks.merge(people, on=[*PERSON, "session"], how="left")
    agreed = joined["consent_quote"].fillna(value=True).astype(bool)
    return joined[
        agreed & joined["text"].notna() & (joined["text_withheld"].fillna("") != REDACTED)
    ]


def levels(counts: pd.DataFrame, by: str) -> Sequence[str]:
    """The levels of a column that counts are by."""
    return [str(level) for level in counts[counts["by"] == by]["level"].dropna().unique()]
