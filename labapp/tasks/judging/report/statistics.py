"""What one group of sessions says: accuracy, ratings of similarity, belief (paper 003, 5.2, 5.3).

Items are numbered as in the list of analyses of the published studies: 1 accuracy, 2 distinction
against output prediction, 4 steps of a tree, 5 ratings by own decision, 6 ratings against the
model's similarity, 7 belief in predictions, 12 the score that was told, 13 confidence in the own
answers. The unit is a session's mean where the paper takes participants, and the single rating
where it takes ratings.

Sessions of one study, method, task and labels are analysed together. The rows of the table of
statistics are means and tests, each with its n.

Also how long the explanations are that participants met, beside those of the published studies.
Rating ten rows is another task than rating four, and a path of three steps leaves
other decisions open than one of nine: every number that hangs on it says so. What is known of a
group comes from the rows of its photos as they were planned, whichever stimulus set they are of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from labapp.analysis import inference
from labapp.analysis.inference import SIGNIFICANT, SMALLEST, Values, mean, sd, values_of
from labapp.analysis.statistic import Statistic
from labapp.analysis.tables import Tables
from labapp.models.stimuli.manifest import Manifest
from labapp.tasks.judging.plan import TASKS, WARM_UP
from labapp.tasks.judging.report import published as paper
from labapp.tasks.judging.report.published import design_of

PERCENT, RATING = "%", "1-4"
RIGHT = {
    paper.DISTINCTION: "right_distinction",
    paper.OUTPUT: "right_output",
    paper.AGREEMENT: "right_agreement",
}
"""The columns of what was answered rightly."""
SURE = {paper.DISTINCTION: "distinction_confidence", paper.OUTPUT: "output_confidence"}
"""The columns of how confident people are in an answer."""
SURENESS = "1-5"
NEUTRAL = 2.5
"""Between believed incorrect and believed correct."""
FIRST_WRONG = ("path-agreement", "path-first-step")
"""Tasks with a tree in which the model is wrong about some photos."""
PATH = (*FIRST_WRONG, "path-distinction")


def quantity(group: PhotoGroup, item: int, name: str, unit: str, key: str = "") -> Statistic:
    """key: what `published` calls it, where that is not its name."""
    published = paper.find_published(group.design, key or name)
    text = add_remarks(
        "" if published is None else str(published), group, also=other_chance(group, name)
    )
    return of_quantity(group.name, group.design, item, name, unit, text, group.length_sentence)


def add_remarks(text: str, *groups: PhotoGroup, also: str = "") -> str:
    """What the paper found, with a word where its labels were of another sort than a group's, its
    explanations of another length, or what else differs."""
    if not text:
        return text
    labels = any(group.labels and group.invented for group in groups)
    remarks = dict.fromkeys(remark(group.design, group.lengths) for group in groups)
    told = [*([paper.KNOWN_OBJECTS] * labels), *filter(None, (*remarks, also))]
    return f"{text} ({'; '.join(told)})" if told else text


def of_group(group: PhotoGroup) -> list[Statistic]:
    """Every statistic of the photos of a group."""
    return [
        *accuracies(group),
        *distinction_against_output(group),
        *steps(group),
        *by_decision(group),
        *against_model(group),
        *belief(group),
        *summarise_forced_score(group),
        *confidence(group),
    ]


def accuracy(group: PhotoGroup, name: str) -> pd.Series[float]:
    """Right answers of a session in percent; empty if the question was not asked."""
    return per_session(group.photos, RIGHT[name], 100.0)


def chance(group: PhotoGroup, name: str) -> float:
    """What guessing gets right, in percent: half with agreement, one of the four ends of the last
    two steps of a tree, else one of the classes to choose from, mean over the photos."""
    if name == paper.AGREEMENT:
        return 50.0
    if group.task == "path-distinction":
        return 25.0
    options = group.photos["options"].dropna().str.count(";") + 1
    return float(100 * (1 / options.astype(float)).mean())


def other_chance(group: PhotoGroup, name: str) -> str:
    """What stands beside an accuracy of the paper where guessing gets another share right here, as
    with classes of one's own; empty elsewhere."""
    if name not in (paper.DISTINCTION, paper.OUTPUT):
        return ""
    here = chance(group, name)
    if round(here, 1) == paper.CHANCE:
        return ""
    return f"guessing reaches {paper.CHANCE:g} % right there, {here:.3g} % here"


def accuracies(group: PhotoGroup) -> Iterator[Statistic]:
    """Item 1, Table 1: mean and sd, the t test against chance; ours: Wilcoxon, Shapiro and the
    interval that takes sessions with the same set of photos as alike."""
    for name in RIGHT:
        right = accuracy(group, name)
        values = plain(right)
        if not values.size:
            continue
        of = quantity(group, 1, name, PERCENT)
        guessed = chance(group, name)
        yield summary(of, values)
        yield result_of(of, values, inference.one_sample(values, guessed), against=guessed)
        yield result_of(
            of, values, inference.signed_rank(values, guessed), against=guessed, ours=True
        )
        yield result_of(of, values, inference.normality(values), ours=True)
        sets = sets_of(group.photos, right.index)
        yield result_of(of, values, inference.clustered_interval(values, sets), ours=True)


def distinction_against_output(group: PhotoGroup) -> Iterator[Statistic]:
    """Item 2: a two-sample t as in the paper; ours: within sessions, and by ranks."""
    first, other = pair_sessions(accuracy(group, paper.DISTINCTION), accuracy(group, paper.OUTPUT))
    if not first.size:
        return
    both = [paper.find_published(group.design, name) for name in (paper.DISTINCTION, paper.OUTPUT)]
    compared = paper.compare_published(*both, significant=group.design in paper.OUTPUT_DIFFERS)
    of = replace(
        quantity(group, 2, paper.DISTINCTION, PERCENT),
        published=add_remarks(compared, group, also=other_chance(group, paper.DISTINCTION)),
    )
    than = (paper.OUTPUT, other)
    yield result_of(of, first, inference.two_sample(first, other), other=than)
    yield result_of(of, first, inference.paired_t(first, other), other=than, ours=True)
    yield result_of(of, first, inference.signed_rank(first - other), other=than, ours=True)


def steps(group: PhotoGroup) -> Iterator[Statistic]:
    """Item 4: the fruit warm-up, and (ours) the first step disagreed with against the first wrong
    one. Only photos that the model has wrong have a step at which it goes wrong."""
    if group.task not in PATH:
        return
    verdicts = plain(per_session(group.warm_up, "right_verdict", 100.0))
    if verdicts.size:
        published = str(paper.find_published(paper.POOLED, "warm-up"))
        name = "warm-up, prediction rightly judged"
        yield summary(of_quantity(group.name, group.design, 4, name, PERCENT, published), verdicts)
        mistakes = plain(per_session(group.warm_up, "right_mistake", 100.0))
        of = quantity(group, 4, "warm-up, first mistake found", PERCENT)
        yield summary(replace(of, why=""), mistakes, ours=True)  # its tree is another one
    named = group.photos[group.photos["first_step_error"].notna()]
    for kind, some in (
        ("all photos", named),
        ("model wrong", named[~named["model_correct"].astype(bool)]),
        ("model right", named[named["model_correct"].astype(bool)]),
    ):
        for error in ("exact", "too_early", "too_late"):
            hits = some.assign(hit=(some["first_step_error"] == error).astype(float))
            values = plain(per_session(hits, "hit", 100.0))
            # Nothing comes after agreement with all, so that it cannot be too late.
            if values.size and (kind, error) != ("model right", "too_late"):
                name = f"first step disagreed with, {kind}: {error.replace('_', ' ')}"
                yield summary(quantity(group, 4, name, PERCENT), values, ours=True)


def first_wrong_steps(group: PhotoGroup) -> dict[int | None, int]:
    """The position of the first wrong step on a tree's path, counted back from the last (0), for
    the judged photos that the model gets wrong: photos by position, the earliest first and None (no
    step is wrong) last. A photo that several judged counts once."""
    if group.task not in FIRST_WRONG:
        return {}
    photos = group.photos.drop_duplicates(["set", "photo"])
    wrong = photos[~photos["model_correct"].astype(bool)]
    back = wrong["n_steps"].astype("Int64") - wrong["first_wrong"].astype("Int64")
    known = Counter(back.dropna().to_numpy(dtype=np.int64).tolist())
    places: dict[int | None, int] = {place: known[place] for place in sorted(known, reverse=True)}
    if nowhere := int(back.isna().sum()):
        places[None] = nowhere
    return places


def by_decision(group: PhotoGroup) -> Iterator[Statistic]:
    """Item 5: ratings of rows of what was chosen or believed correct, and of the others; the test
    over single ratings as in the paper, ours over sessions."""
    rated = group.ratings[group.ratings["of_chosen"].notna()]
    if rated.empty:
        return
    picked = rated["of_chosen"].astype(bool)
    own, others = rated[picked], rated[~picked]
    ours, other = _ratings(own), _ratings(others)
    of = quantity(group, 5, "similarity, chosen", RATING)
    of_others = quantity(group, 5, "similarity, others", RATING)
    yield summary(of, ours)
    yield summary(of_others, other)
    yield result_of(of, ours, inference.two_sample(ours, other), other=("others, ratings", other))
    of = quantity(group, 5, "similarity, chosen, by session", RATING)
    first, second = pair_sessions(per_session(own, "rating"), per_session(others, "rating"))
    than = ("others, by session", second)
    yield result_of(of, first, inference.paired_t(first, second), other=than, ours=True)
    yield result_of(of, first, inference.signed_rank(first - second), other=than, ours=True)


def _ratings(rows: pd.DataFrame) -> Values:
    return rows["rating"].to_numpy(dtype=np.float64)


def rank_means(group: PhotoGroup) -> pd.Series[float]:
    """Mean rating of the rows of each rank of the model's, 1 the most similar (Figure 4)."""
    ranked = group.ratings[group.ratings["rank"].notna()]
    means = ranked.groupby(ranked["rank"].astype(int))["rating"]
    return means.apply(lambda some: float(some.astype(float).mean())).sort_index()


def against_model(group: PhotoGroup) -> Iterator[Statistic]:
    """Item 6: a tree's similarities against the ratings, pair by pair; for prototypes of classes,
    whose similarities are on no common scale, the mean rating of each rank against the rank
    (negative where people find similar what the model finds similar). Ours: the correlation within
    each session, result_of against none."""
    rated = group.ratings
    if group.task in PATH:
        rated = rated[rated["similarity"].notna()]
        with_what, name = "similarity", "similarity by similarity"
    else:
        rated = rated[rated["rank"].notna()]
        with_what, name = "rank", "similarity by rank"
    if rated.empty:
        return
    if group.task in PATH:
        first, other = _ratings(rated), rated["similarity"].to_numpy(dtype=np.float64)
        pearson = inference.pearson(first, other)
        of = quantity(group, 6, "rating and the model's similarity, pairs", RATING, name)
        than = ("model's similarity", other)
    else:
        means = rank_means(group)
        first, other = plain(means), means.index.to_numpy(dtype=np.float64)
        for rank in means.index:
            some = _ratings(rated[rated["rank"] == rank])
            yield summary(quantity(group, 6, f"rating at rank {rank}", RATING), some)
        pearson = inference.spearman(first, other)
        of = quantity(group, 6, "mean rating and the model's rank", RATING, name)
        than = ("model's rank", other)
    yield result_of(of, first, pearson, other=than)
    own = _own_correlations(rated, with_what)
    if own.size:
        of = quantity(group, 6, f"Spearman's rho of rating and {with_what}, by session", "rho")
        yield result_of(of, own, inference.one_sample(own, 0.0), against=0.0, ours=True)


def _own_correlations(rated: pd.DataFrame, with_what: str) -> Values:
    """Spearman's rho of every session whose ratings vary."""
    rhos = (
        inference.spearman(_ratings(own), own[with_what].to_numpy(dtype=np.float64)).statistic
        for _, own in rated.groupby(WHO, sort=True)
    )
    return np.array([rho for rho in rhos if rho is not None], dtype=np.float64)


def belief(group: PhotoGroup) -> Iterator[Statistic]:
    """Item 7, confirmation bias: mean agreement against the neutral 2.5 over single ratings as in
    the paper; ours over sessions."""
    told = group.photos[group.photos["agreement"].notna()]
    if told.empty:
        return
    right = told["model_correct"].astype(bool)
    for kind, some in (("all", told), ("model right", told[right]), ("model wrong", told[~right])):
        ratings = some["agreement"].to_numpy(dtype=np.float64)
        if not ratings.size:
            continue
        of = quantity(group, 7, f"belief, {kind}", RATING)
        yield result_of(of, ratings, inference.one_sample(ratings, NEUTRAL), against=NEUTRAL)
        own = plain(per_session(some, "agreement"))
        of = quantity(group, 7, f"belief, {kind}, by session", RATING, "-")
        for test in (inference.one_sample, inference.signed_rank):
            yield result_of(of, own, test(own, NEUTRAL), against=NEUTRAL, ours=True)


def summarise_forced_score(group: PhotoGroup) -> Iterator[Statistic]:
    """Item 12: photos assigned as they are when half are taken as believed correct, as told to the
    participant, and without the lot among ties."""
    for column, name in (
        ("hits", "photos rightly assigned, as told"),
        ("expected_hits", "photos rightly assigned, mean over all ways to break the ties"),
        ("n_ties", "photos among which the lot decided"),
    ):
        values = plain(group.stages[column])
        if values.size:
            yield summary(quantity(group, 12, name, "photos"), values, ours=True)


def confidence(group: PhotoGroup) -> Iterator[Statistic]:
    """Item 13, ours: the paper asks how confident people are in each answer (figures A11 to A13 and
    A15) and prints nothing of it. Means over sessions, of all answers, of the right and of the
    wrong ones, and whether people are surer where they are right."""
    for name, asked in SURE.items():
        sure = group.photos[group.photos[asked].notna() & group.photos[RIGHT[name]].notna()]
        if sure.empty:
            continue
        right = sure[RIGHT[name]].astype(bool)
        when_right, when_wrong = (per_session(sure[is_so], asked) for is_so in (right, ~right))
        for which, some in (
            ("", per_session(sure, asked)),
            (", answered rightly", when_right),
            (", answered wrongly", when_wrong),
        ):
            if some.size:
                of = quantity(group, 13, f"confidence, {name}{which}", SURENESS)
                yield summary(of, plain(some), ours=True)
        first, other = pair_sessions(when_right, when_wrong)
        if first.size:
            of = quantity(group, 13, f"confidence, {name}, answered rightly", SURENESS)
            than = ("answered wrongly, same sessions", other)
            yield result_of(of, first, inference.paired_t(first, other), other=than, ours=True)
            yield result_of(of, first, inference.signed_rank(first - other), other=than, ours=True)


WHO = ["participant", "session"]
"""What tells sessions of a study apart: the unit of analysis. A participant of several sessions
counts once a session."""


@dataclass(frozen=True)
class PhotoGroup:
    """The photos that were judged in one kind of stage of one study, of sessions that count.

    design: see `published.design_of`; name: the study, and what else tells this group from others
    of it. photos, ratings: rows of the tables of judgements and
    similarities; warm_up: of judgements too. stages: rows of the table of stages.
    """

    study: str
    name: str
    design: str
    method: str
    task: str
    labels: bool
    invented: bool
    photos: pd.DataFrame
    ratings: pd.DataFrame
    warm_up: pd.DataFrame
    stages: pd.DataFrame

    @cached_property
    def lengths(self) -> Mapping[int, int]:
        return lengths(self.task, self.photos, self.ratings)

    @property
    def length_sentence(self) -> str:
        """Of explanations that are longer or shorter than the paper's; empty for others."""
        return sentence(self.design, self.task, self.lengths)

    @property
    def model_accuracy(self) -> float | None:
        """In percent, as the participants were told; None if they were told several."""
        told = self.stages["model_accuracy"].dropna().unique()
        return float(told[0]) if len(told) == 1 else None


def groups_of(counted: Tables) -> list[PhotoGroup]:
    """The groups by study; counted: the tables of the sessions that count."""
    judged = counted.judgements[counted.judgements["judged"] & ~counted.judgements["excluded"]]
    rated = counted.similarities[~counted.similarities["excluded"]]
    stages = counted.stages[counted.stages["task"].isin(TASKS)]
    warm_up = judged[judged["task"] == WARM_UP]
    result = []
    keys = ["study", "method", "task", "labels"]
    for key, photos in judged[judged["task"].isin(TASKS)].groupby(keys, sort=True):
        study, method, task, labels = str(key[0]), str(key[1]), str(key[2]), bool(key[3])
        result.append(
            PhotoGroup(
                study=study,
                name=study,
                design=design_of(method, task, labels=labels),
                method=method,
                task=task,
                labels=labels,
                invented=bool(photos["invented"].any()),
                photos=photos,
                ratings=_same(rated, keys, key),
                warm_up=warm_up[warm_up["study"] == study],
                stages=_same(stages, keys, key),
            )
        )
    several = Counter(group.study for group in result)
    return [
        replace(group, name=f"{group.study}, {group.design}") if several[group.study] > 1 else group
        for group in result
    ]


def _same(frame: pd.DataFrame, keys: Sequence[str], values: Sequence[object]) -> pd.DataFrame:
    chosen = np.ones(len(frame), dtype=bool)
    for name, value in zip(keys, values, strict=True):
        chosen &= (frame[name] == value).fillna(False).to_numpy(dtype=bool)
    return frame[chosen]


def per_session(frame: pd.DataFrame, column: str, factor: float = 1.0) -> pd.Series[float]:
    """The mean of a column by session, of the rows that have a value."""
    known = frame[frame[column].notna()]
    values = known[column].astype(float) * factor
    return values.groupby([known[name] for name in WHO], sort=True).mean()


def plain(values: pd.Series[float]) -> Values:
    """As floats, without those that are missing."""
    return values_of(values.to_numpy(dtype=np.float64, na_value=np.nan))


def pair_sessions(first: pd.Series[float], other: pd.Series[float]) -> tuple[Values, Values]:
    """The values of the sessions that have both, in the same order."""
    both = pd.concat([first, other], axis=1, join="inner").dropna().to_numpy(dtype=np.float64)
    return both[:, 0], both[:, 1]


def sets_of(photos: pd.DataFrame, index: pd.Index[Any]) -> list[object]:
    """The number of the set of photos of each session in the index."""
    return list(photos.groupby(WHO)["set"].first().reindex(index))


PATH_DISTINCTION = "path-distinction"


def lengths(task: str, photos: pd.DataFrame, ratings: pd.DataFrame) -> Mapping[int, int]:
    """How many explanations have so many steps (of a path, as shown decided) or rows (of a class of
    prototypes), the shortest first; empty for other explanations. What several people judged counts
    once. photos, ratings: as in `PhotoGroup`."""
    if task.startswith("path"):
        counts = photos.drop_duplicates(["set", "photo"])["n_steps"].dropna()
    elif task.startswith("prototype"):
        counts = ratings.groupby(["set", "photo", "of"])["prototype"].nunique()
    else:
        return {}
    return dict(sorted(Counter(map(int, counts)).items()))


def remark(design: str, here: Mapping[int, int]) -> str:
    """What stands beside a number of the paper whose explanations are of another length: with 9
    steps, here 3 to 6. Empty if they are alike or nothing is known."""
    there = paper.LENGTHS.get(design)
    if there is None or not here or set(here) == {there.number}:
        return ""
    return f"with {there.about} {there.unit}, here {_range(here)}"


def sentence(design: str, task: str, here: Mapping[int, int]) -> str:
    """The same for the report and the paragraph on methods; empty as `remark` is."""
    there = paper.LENGTHS.get(design)
    if there is None or not remark(design, here):
        return ""
    in_paper = f"in the paper {there.about} ({there.source})"
    if task != PATH_DISTINCTION:
        what = "Paths have" if task.startswith("path") else "A class has"
        return f"{what} {_range(here)} {there.unit}, {in_paper}."
    least = min(here)
    seen = f"{here[least]} of {sum(here.values())} photos"
    return (
        f"Before the two open steps, {_range(here)} {there.unit} of a path are shown "
        f"({least} in {seen}), {in_paper}."
    )


def _range(here: Mapping[int, int]) -> str:
    least, most = min(here), max(here)
    return f"{least}" if least == most else f"{least} to {most}"


def of_set(manifest: Manifest) -> str:
    """How long the explanations of a stimulus set are, in a sentence, beside the paper's for its
    method; empty for other kinds."""
    open_end = any(photo.final is not None for photo in manifest.photos)
    prototype_of = {prototype.id: prototype.of for prototype in manifest.prototypes}
    if manifest.kind == "path":
        counts = Counter(len(photo.rows) for photo in manifest.photos)
        task = PATH_DISTINCTION if open_end else "path-agreement"
    elif manifest.kind == "prototypes":
        rows = (
            Counter(prototype_of[row.prototype] for row in photo.rows) for photo in manifest.photos
        )
        counts = Counter(n for of_one in rows for n in of_one.values())
        task = "prototype-agreement"
    else:
        return ""
    here = dict(sorted(counts.items()))
    beside = sentence(paper.design_of(manifest.method.name, task, labels=False), task, here)
    what = "steps of a path" if manifest.kind == "path" else "rows of a class"
    return beside or f"Shown: {_range(here)} {what}."


MEAN = "mean"


def of_quantity(
    study: str, design: str, item: int, name: str, unit: str, published: str = "", why: str = ""
) -> Statistic:
    """What was measured, where: a row without a number. study: its id, or several with + between
    them; name: for people; item: number in the list of analyses; published: what the paper found;
    why: what else is to be known."""
    return Statistic(
        study=study, design=design, item=str(item), quantity=name, unit=unit, published=published,
        why=why,
    )  # fmt: skip


def summary(of: Statistic, values: Values, *, ours: bool = False) -> Statistic:
    """Mean and sample standard deviation. ours: not in the paper."""
    return replace(of, test=MEAN, ours=ours, n=values.size, mean=mean(values), sd=sd(values))


def result_of(
    of: Statistic,
    values: Values,
    test: Statistic,
    *,
    ours: bool = False,
    against: float | None = None,
    other: tuple[str, Values] | None = None,
) -> Statistic:
    """A test of values, against a number or another group (its name and its values)."""
    sizes = [values.size]
    made = replace(
        test, study=of.study, design=of.design, item=of.item, quantity=of.quantity, unit=of.unit,
        published=of.published, why=of.why, ours=ours, n=values.size, mean=mean(values),
        sd=sd(values), against=against,
    )  # fmt: skip
    if other is not None:
        name, more = other
        sizes.append(more.size)
        made = replace(made, compared_with=name, n_2=more.size, mean_2=mean(more), sd_2=sd(more))
    if test.p is None:
        return made
    # As in the paper; never of fewer values than five in a group.
    return replace(made, significant=test.p < SIGNIFICANT and min(sizes) >= SMALLEST)


def of_item(rows: Sequence[Statistic], *items: int) -> list[Statistic]:
    """The rows of some items of the list of analyses."""
    return [row for row in rows if int(row.item) in items]
