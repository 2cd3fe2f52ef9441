"""The plan of declared contrasts in words, as rows, as a figure and as plan.html."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from labapp import __version__
from labapp.base.report.drawing import ReportFigure
from labapp.base.report.listing import NONE
from labapp.base.report.page import (
    Html,
    count,
    decimal,
    heading,
    joined,
    paragraph,
    table,
    two_lines,
)
from labapp.base.report.page import page as whole_page
from labapp.session.planning.declared_contrasts import (
    GOALS,
    LEVEL,
    MOST,
    UPPER,
    ContrastPower,
    Pilot,
    left_out,
)
from labapp.study.loading import LoadedStudy

RULE = (
    "Power is that of the t test of the contrast, with as many participants in each group. The "
    "effect is the smallest one that the study declares, never what a pilot study found: what a "
    "small study finds is most often too large. Equivalence: two one-sided tests at .05, where "
    "there is no difference at all."
)
WITHOUT_PILOT = (
    "Without a pilot study nothing is known of how many drop out, are excluded or lack a cell: "
    "these numbers are of participants who count and have every cell. Recruit more."
)


def percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def words(powers: Sequence[ContrastPower]) -> Iterator[str]:
    """A paragraph a contrast."""
    for each in powers:
        yield (
            f"{each.outcome}, “{each.contrast}” ({each.direction}): the smallest effect is "
            f"{_effect(each)}; level {each.level:.4g}."
        )
        if each.pilot is not None:
            yield f"  {pilot_words(each)}"
        for goal, need in each.needs.items():
            careful = (
                f"; {_n(need.careful)} if people vary as much as they may" if _varies(each) else ""
            )
            recruit = each.recruit(need.difference)
            of_these = "" if recruit is None else f" (recruit {recruit})"
            yield (
                f"  For a power of {percent(goal)}: {_n(need.difference)}{of_these}{careful}; "
                f"{_n(need.equivalence)} to show that a difference is smaller."
            )
    if any(each.pilot is None for each in powers):
        yield WITHOUT_PILOT


def _varies(each: ContrastPower) -> bool:
    """Whether the numbers depend on how much the people of the pilot study varied."""
    return each.pilot is not None and each.smallest.raw is not None


def _effect(each: ContrastPower) -> str:
    standardised = f"{each.effect:.2f} standard deviations"
    return standardised if each.smallest.raw is None else f"{each.smallest.raw:g}, {standardised}"


def pilot_words(each: ContrastPower) -> str:
    """What the pilot study says, with how sure it is; empty without one."""
    pilot = each.pilot
    if pilot is None:
        return ""
    left = pilot.recruited - pilot.counted
    lack = pilot.counted - pilot.n
    told = (
        f"Pilot study: {_took_part(pilot)}, {left} of them left out "
        f"(dropped out, excluded or withdrawn), {lack} more without a value in some cell, "
        f"{pilot.n} usable ({percent(pilot.usable)}; at least {percent(pilot.usable_low)} with "
        f"{percent(UPPER)} confidence)."
    )
    if not _varies(each):
        return told
    return (
        f"{told} Standard deviation of what the contrast compares: {pilot.sd:.3g}, 95 % interval "
        f"{pilot.sd_at(0.025):.3g} to {pilot.sd_at(0.975):.3g}, at most {pilot.sd_at(UPPER):.3g} "
        f"with {percent(UPPER)} confidence; trials that were missing are part of it."
    )


def _took_part(pilot: Pilot) -> str:
    people = count(pilot.recruited, "participant")
    if not pilot.simulated:
        return f"{people} recruited"
    if pilot.simulated == pilot.recruited:
        return f"{people}, all of them simulated"
    return f"{people}, {pilot.simulated} of them simulated"


def basis_words(powers: Sequence[ContrastPower]) -> str:
    """What the numbers are made of."""
    pilots = [each.pilot for each in powers if each.pilot is not None]
    if not pilots:
        return "The numbers follow from the study file alone: there is no pilot study."
    told = f"The pilot study has {_took_part(pilots[0])}."
    if not pilots[0].simulated:
        return told
    return f"{told} How much programs vary, and how many are left out, says nothing about people."


def _n(n: int | None) -> str:
    return f"more than {MOST:,} participants" if n is None else f"{n} participants"


def rows(powers: Sequence[ContrastPower]) -> list[dict[str, object]]:
    """A row a contrast and number of participants, up to where all powers are 1."""
    made: list[dict[str, object]] = []
    for each in powers:
        for n, difference, careful, equal in zip(
            each.sizes, each.power, each.careful, each.equivalence, strict=True
        ):
            made.append(
                {
                    "outcome": each.outcome,
                    "contrast": each.contrast,
                    "participants": n,
                    "power": difference,
                    "power_if_people_vary_more": careful if _varies(each) else None,
                    "power_of_equivalence": equal,
                }
            )
            if min(difference, careful, equal) > 0.999:
                break
    return made


def summary(powers: Sequence[ContrastPower]) -> list[dict[str, object]]:
    """A row a contrast and goal, for programs."""
    return [
        {
            "outcome": each.outcome,
            "contrast": each.contrast,
            "direction": each.direction,
            "effect": each.effect,
            "sd": each.pilot.sd if each.pilot else None,
            "sd_low": each.pilot.sd_at(0.025) if each.pilot else None,
            "sd_high": each.pilot.sd_at(0.975) if each.pilot else None,
            "sd_upper": each.pilot.sd_at(UPPER) if each.pilot else None,
            "n_pilot": each.pilot.n if each.pilot else None,
            "n_pilot_recruited": each.pilot.recruited if each.pilot else None,
            "n_pilot_counted": each.pilot.counted if each.pilot else None,
            "n_pilot_simulated": each.pilot.simulated if each.pilot else None,
            "usable": each.pilot.usable if each.pilot else None,
            "usable_low": each.pilot.usable_low if each.pilot else None,
            "level": each.level,
            "goal": goal,
            "participants": need.difference,
            "recruit": each.recruit(need.difference),
            "participants_upper": need.careful if _varies(each) else None,
            "recruit_upper": each.recruit(need.careful, careful=True) if _varies(each) else None,
            "participants_equivalence": need.equivalence,
            "recruit_equivalence": each.recruit(need.equivalence),
        }
        for each in powers
        for goal, need in each.needs.items()
    ]


def plate(powers: Sequence[ContrastPower]) -> ReportFigure:
    """The curves."""
    import matplotlib as mpl

    from labapp.base.figure_style import ACCENT, INK, SECONDARY, STYLE
    from labapp.base.report import kit

    with mpl.rc_context(STYLE):
        figure, axes = kit.panels(len(powers), min(3, len(powers)), 2.6, more_in=0.7)
        for ax, each in zip(axes, powers, strict=False):
            whole = [n for n, p in zip(each.sizes, each.careful, strict=True) if p < 0.999]
            end = min(len(each.sizes), max(len(whole) + 2, 8))
            sizes = each.sizes[:end]
            ax.plot(sizes, each.power[:end], color=ACCENT, label="difference")
            if _varies(each):
                ax.plot(
                    sizes, each.careful[:end], color=ACCENT, linestyle=kit.SHORT_DASHED,
                    label="difference, if people vary more",
                )  # fmt: skip
            ax.plot(sizes, each.equivalence[:end], color=INK, linestyle=":", label="equivalence")
            for goal in GOALS:
                ax.axhline(goal, color=SECONDARY, linewidth=0.6, linestyle=(0, (4, 3)))
            ax.set_ylim(0, 1.02)
            ax.set_title(f"{each.outcome}\n{each.contrast}", fontsize=9)
            ax.set_xlabel("Participants")
            ax.set_ylabel("Power")
            kit.grid(ax, "both")
        handles, labels = max(
            (ax.get_legend_handles_labels() for ax in axes), key=lambda both: len(both[1])
        )
        figure.legend(handles, labels, loc="outside upper left", ncols=3, frameon=False, fontsize=8)
    label = "Power of the declared contrasts by the number of participants"
    return ReportFigure(
        "power",
        figure,
        label,
        f"{label}, all of whom count and have every cell. Dashed: if people vary as much as they "
        f"do at most with {percent(UPPER)} confidence.",
    )


def page(loaded: LoadedStudy, powers: Sequence[ContrastPower], figure: ReportFigure) -> str:
    """The whole page."""
    study = loaded.study
    title = f"Plan of the contrasts: {study.title}"
    about = f"Study {study.id}, version {study.version}. {basis_words(powers)}"
    parts = [heading(2, "Participants"), paragraph(RULE, "quiet"), _needs(powers)]
    if any(each.pilot is None for each in powers):
        parts.append(paragraph(WITHOUT_PILOT, "note"))
    parts += [paragraph(line, "note") for line in left_out(loaded)]
    parts.append(figure.html("plan"))
    if any(each.pilot is not None for each in powers):
        parts += [heading(2, "The pilot study"), _pilots(powers)]
        parts += [
            paragraph(f"{each.outcome}, “{each.contrast}”. {pilot_words(each)}")
            for each in powers
            if each.pilot is not None
        ]
        parts.append(paragraph(_spread_words(powers), "quiet"))
    footer = paragraph(
        f"labapp {__version__}; study file {loaded.sha256[:12]}. Every number of this page is in "
        "the CSV files beside it.",
        "quiet",
    )
    head = joined([heading(1, title), paragraph(about, "quiet")])
    return whole_page(title, head, joined(parts), footer)


def _needs(powers: Sequence[ContrastPower]) -> Html:
    heads = ["Outcome, contrast", two_lines("Smallest effect", "level")]
    made = []
    for goal in GOALS:
        heads += [
            two_lines(f"{percent(goal)} power", "difference"),
            two_lines(f"{percent(goal)} power", "if people vary more"),
            two_lines(f"{percent(goal)} power", "equivalence"),
        ]
    for each in powers:
        cells: list[object] = [
            two_lines(each.outcome, f"{each.contrast} ({each.direction})"),
            two_lines(_effect(each), f"p < {each.level:.3g}"),
        ]
        for need in each.needs.values():
            cells += [
                _cell(each, need.difference),
                _cell(each, need.careful, careful=True) if _varies(each) else NONE,
                _cell(each, need.equivalence),
            ]
        made.append(cells)
    caption = (
        "Participants who count and have every cell; in the second line how many to recruit for "
        f"that, by the pilot study. More than {MOST:,} were not looked at. The level is "
        f"{LEVEL:g}, over the contrasts of the family where p is corrected by Holm or Bonferroni."
    )
    return table(heads, made, numeric=range(2, len(heads)), caption=caption)


def _cell(each: ContrastPower, n: int | None, *, careful: bool = False) -> object:
    if n is None:
        return f"> {MOST:,}"
    recruit = each.recruit(n, careful=careful)
    return n if recruit is None else two_lines(n, f"recruit {recruit}")


def _pilots(powers: Sequence[ContrastPower]) -> Html:
    made = [
        (
            two_lines(each.outcome, each.contrast),
            pilot.recruited, pilot.counted, pilot.n,
            two_lines(f"{percent(pilot.usable)}", f"at least {percent(pilot.usable_low)}"),
            two_lines(
                decimal(pilot.sd, 3),
                f"{decimal(pilot.sd_at(0.025), 3)} to {decimal(pilot.sd_at(0.975), 3)}",
            ),
        )
        for each in powers
        if (pilot := each.pilot) is not None
    ]  # fmt: skip
    heads = (
        "Outcome, contrast", "Recruited", "Count", "Have every cell",
        two_lines("Usable", "80 % confidence"), two_lines("sd", "95 % interval"),
    )  # fmt: skip
    return table(heads, made, numeric=range(1, 6))


def _spread_words(powers: Sequence[ContrastPower]) -> str:
    smallest = min(each.pilot.n for each in powers if each.pilot is not None)
    return (
        f"A standard deviation of {smallest} participants is known only roughly: with normal "
        "values its interval is that of chi-square. The column “if people vary more” takes its "
        f"upper {percent(UPPER)} limit (Browne, 1995) and the lower one of the usable share, so "
        "that the study is large enough in four of five cases. Values are means over the trials "
        "that a participant had: with more trials a cell people vary less."
    )
