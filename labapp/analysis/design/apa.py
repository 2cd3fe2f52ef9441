"""The default analyses as tables for a paper: LaTeX with booktabs, and a word processor.

Words and numbers are in the report's language; the study's own words stay as they are.
Numbers are written as APA's seventh edition has it: no zero before the point of what cannot exceed
1, p to three decimals and not below .001, rules above and below the heads and below the body.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from labapp.analysis.declared import CORRECTIONS
from labapp.analysis.design.analyses import TEST, Analysis, StudyAnalyses
from labapp.analysis.design.contrasts import CONTRAST, EQUIVALENCE
from labapp.analysis.design.layout import plain_name
from labapp.analysis.design.sections import (
    BACK_MEAN,
    beside,
    cell_rows,
    term_tests,
)
from labapp.analysis.inference import HEDGES, TWO_SIDED
from labapp.analysis.statistic import Statistic
from labapp.base.report.listing import NONE
from labapp.base.report.page import Verbatim, say
from labapp.base.report.sentences import df_words, p_cell

TEX, DOCX = "tables.tex", "tables.docx"


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper. heads, rows: text, where *x* is set in italics; the first `texts` columns
    are words, the others numbers."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str
    texts: int = 1


def paper_tables(results: StudyAnalyses) -> Iterator[PaperTable]:
    """Of one study, in the report's language: values of every outcome, then tests, then contrasts
    and equivalence."""
    for made in _english(results):
        yield PaperTable(
            say(made.title),
            tuple(map(say, made.heads)),
            tuple(tuple(map(say, row)) for row in made.rows),
            say(made.note),
            made.texts,
        )


def _english(results: StudyAnalyses) -> Iterator[PaperTable]:
    for analysis in results.analyses:
        yield _values(analysis)
    if results.analyses:
        yield _tests(results.analyses)
    if any(analysis.select(CONTRAST) for analysis in results.analyses):
        yield _contrasts(results)
    if any(analysis.select(EQUIVALENCE) for analysis in results.analyses):
        yield _equivalence(results)


def _values(analysis: Analysis) -> PaperTable:
    names = [factor.name for factor in analysis.outcome.layout.factors]
    rows = tuple(cell_rows(analysis, _number))
    unit = f" Values are in {analysis.unit}." if analysis.unit else ""
    if analysis.transform:
        unit = f" Means and standard deviations are in {analysis.unit}."
    more = [BACK_MEAN] if analysis.transform else []
    heads = (*(Verbatim(plain_name(name)) for name in names), "*n*", "*M*", "*SD*", *more)
    factors = f" {say('and')} ".join(map(plain_name, names)) or say("participant")
    title = Verbatim(f"{analysis.outcome.name} {say('by')} {factors}")
    return PaperTable(title, heads, rows, f"One value a participant and cell.{unit}", len(names))


def _tests(analyses: Sequence[Analysis]) -> PaperTable:
    rows = []
    for analysis in analyses:
        tests = analysis.select(TEST)
        for test in term_tests(analysis):
            corrected, general = beside(test, tests)
            use = corrected or test
            rows.append(
                (
                    analysis.outcome.name, Verbatim(test.factors), f"{test.statistic:.2f}",
                    df_words(use.df), df_words(use.df_2), p_cell(use.p),
                    NONE if test.effect is None else _share(test),
                    NONE if general is None else _short(general.effect),
                )
            )  # fmt: skip
    heads = (
        "Outcome", "Effect", "*F*", "*df*_1", "*df*_2", "*p*", "*η*_p^2 [95% CI]", "*η*_G^2",
    )  # fmt: skip
    models = sorted({analysis.main.name for analysis in analyses})
    note = (
        f"Model: {', '.join(models)}. Within participants degrees of freedom and p have Greenhouse "
        "and Geisser's correction. Mixed models have Satterthwaite's degrees of freedom."
    )
    designs = ", ".join(sorted({analysis.outcome.layout.words for analysis in analyses}))
    return PaperTable(f"Tests of effects ({designs})", heads, tuple(rows), note, 2)


def _in_unit(analysis: Analysis) -> str:
    """An outcome, with the unit of differences where that is not its own."""
    name = analysis.outcome.name
    return Verbatim(f"{name} ({analysis.unit})") if analysis.transform else name


def _contrasts(results: StudyAnalyses) -> PaperTable:
    rows = []
    tests = [(analysis, row) for analysis in results.analyses for row in analysis.select(CONTRAST)]
    for analysis, row in tests:
        if row.difference is None:
            continue
        symbol = "*g* = " if row.effect_name == HEDGES else "*d*_z = "
        marked = (
            row.contrast if row.direction == TWO_SIDED else f"{row.contrast} ({say(row.direction)})"
        )
        rows.append(
            (
                _in_unit(analysis), Verbatim(marked),
                f"{_number(row.difference)} [{_number(row.low)}, {_number(row.high)}]",
                f"{row.statistic:.2f}", df_words(row.df), p_cell(row.p), p_cell(row.p_corrected),
                NONE if row.effect is None else Verbatim(f"{symbol}{say(_interval(row))}"),
            )
        )  # fmt: skip
    plan = results.declaration.analysis
    family = "each outcome" if plan.family == "per_outcome" else "all outcomes"
    note = f"Corrected p: {CORRECTIONS[plan.correction]} over the contrasts of {family}."
    if {row.direction for _, row in tests} - {TWO_SIDED}:
        note += " Tests marked greater or less are one-sided; all others are two-sided."
    heads = (
        "Outcome", "Contrast", "Difference [95% CI]", "*t*", "*df*", "*p*", "*p*_corr",
        "Effect [95% CI]",
    )  # fmt: skip
    return PaperTable("Contrasts of estimated means", heads, tuple(rows), note, 2)


def _equivalence(results: StudyAnalyses) -> PaperTable:
    rows = [
        (
            analysis.outcome.name if analysis.raw_equivalence else _in_unit(analysis),
            Verbatim(row.contrast), f"±{_number(row.bound)}",
            f"[{_number(row.low)}, {_number(row.high)}]", f"{row.statistic:.2f}",
            df_words(row.df), p_cell(row.p), p_cell(row.p_corrected),
        )
        for analysis in results.analyses
        for row in analysis.select(EQUIVALENCE)
    ]  # fmt: skip
    heads = ("Outcome", "Contrast", "Smallest effect", "90% CI", "*t*", "*df*", "*p*", "*p*_corr")
    note = (
        "Of two one-sided tests, the one with the larger p is shown. They are corrected apart from "
        "the tests of differences."
    )
    return PaperTable("Tests of equivalence", heads, tuple(rows), note, 2)


def _number(value: float | None) -> str:
    if value is None:
        return NONE
    return f"{value:.3f}" if abs(value) < 1 else f"{value:,.2f}"


def _short(value: float | None) -> str:
    if value is None:
        return NONE
    text = f"{value:.2f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def _share(row: Statistic) -> str:
    return f"{_short(row.effect)} [{_short(row.effect_low)}, {_short(row.effect_high)}]"


def _interval(row: Statistic) -> str:
    ends = (row.effect_low, row.effect_high)
    low, high = (NONE if end is None else f"{end:.2f}" for end in ends)
    return f"{row.effect:.2f} [{low}, {high}]"


def tex(studies: Iterable[StudyAnalyses]) -> str:
    """Tables for LaTeX, each a `table` with `booktabs`."""
    parts = [
        "% Needs \\usepackage{booktabs}. Made by labapp from the analyses by the design.",
    ]
    number = 0
    for results in studies:
        for made in paper_tables(results):
            number += 1
            columns = "l" * made.texts + "r" * (len(made.heads) - made.texts)
            parts += [
                "",
                "\\begin{table}",
                f"  \\caption{{{_tex(f'{results.study}: {made.title}')}}}",
                f"  \\label{{tab:labapp-{number}}}",
                f"  \\begin{{tabular}}{{{columns}}}",
                "    \\toprule",
                f"    {' & '.join(map(_tex, made.heads))} \\\\",
                "    \\midrule",
                *(f"    {' & '.join(map(_tex, row))} \\\\" for row in made.rows),
                "    \\bottomrule",
                "  \\end{tabular}",
                f"  \\par\\smallskip\\textit{{{_tex(say('Note'))}.}} {_tex(made.note)}",
                "\\end{table}",
            ]
    return "\n".join(parts) + "\n"


_ESCAPES = {
    "\\": "\\textbackslash{}", "&": "\\&", "%": "\\%", "$": "\\$", "#": "\\#", "{": "\\{",
    "}": "\\}", "~": "\\textasciitilde{}", "<": "$<$", ">": "$>$", "±": "$\\pm$",
    "−": "$-$", "–": "--", "×": "$\\times$", "η": "$\\eta$", "²": "$^2$", "ε": "$\\epsilon$",
}  # fmt: skip


def _tex(text: str) -> str:
    """Escaped; *x* in italics and, behind it, _i and ^j as indices."""
    made = []
    for style, piece in _pieces(text):
        escaped = "".join(_ESCAPES.get(letter, letter) for letter in piece)
        escaped = escaped.replace("_", "\\_").replace("^", "\\textasciicircum{}")
        if style == "italic":
            escaped = f"\\textit{{{escaped}}}"
        elif style == "low":
            escaped = f"$_{{\\mathrm{{{piece}}}}}$"
        elif style == "high":
            escaped = f"$^{{{piece}}}$"
        elif piece.startswith("-") and piece[1:2].isdigit():
            escaped = f"$-${escaped[1:]}"
        made.append(escaped)
    return "".join(made)


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """The text in pieces: plain, italic (between stars), low and high (indices behind italics)."""
    parts = text.split("*")
    if len(parts) % 2 == 0:  # a star that opens nothing is a star
        yield "plain", text
        return
    for at, part in enumerate(parts):
        if at % 2:
            yield "italic", part
            continue
        if at:
            for sign, style in (("_", "low"), ("^", "high")):
                if part.startswith(sign):
                    length = 1
                    while length < len(part) and part[length].isalnum():
                        length += 1
                    yield style, part[1:length]
                    part = part[length:]
        if part:
            yield "plain", part


def write_docx(studies: Iterable[StudyAnalyses], path: Path) -> None:
    """Tables for a word processor. Raises OSError."""
    from docx import Document
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.shared import Pt

    document = Document()
    document.styles["Normal"].font.name = "Times New Roman"
    document.styles["Normal"].font.size = Pt(11)
    number = 0
    for results in studies:
        for made in paper_tables(results):
            number += 1
            document.add_paragraph().add_run(say(f"Table {number}")).bold = True
            title = document.add_paragraph()
            title.add_run(f"{results.study}: {made.title}").italic = True
            grid = document.add_table(rows=1 + len(made.rows), cols=len(made.heads))
            for place, row in enumerate((made.heads, *made.rows)):
                for column, text in enumerate(row):
                    cell = grid.cell(place, column)
                    paragraph = cell.paragraphs[0]
                    if column >= made.texts:
                        paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
                    for style, piece in _pieces(text):
                        run = paragraph.add_run(piece)
                        run.italic = style == "italic"
                        run.font.subscript = style == "low"
                        run.font.superscript = style == "high"
                    edges = [
                        edge
                        for edge, there in (
                            ("top", place == 0),
                            ("bottom", place in (0, len(made.rows))),
                        )
                        if there
                    ]
                    _rule(cell, edges)
            note = document.add_paragraph()
            note.add_run(f"{say('Note')}. ").italic = True
            note.add_run(made.note)
            document.add_paragraph()
    with path.open("xb") as file:
        document.save(file)


def _rule(cell: object, edges: Sequence[str]) -> None:
    """Lines at edges of a cell; python-docx has no word for them."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    if not edges:
        return
    borders = OxmlElement("w:tcBorders")
    for edge in edges:
        line = OxmlElement(f"w:{edge}")
        for key, value in (("val", "single"), ("sz", "6"), ("space", "0"), ("color", "000000")):
            line.set(qn(f"w:{key}"), value)
        borders.append(line)
    cell._tc.get_or_add_tcPr().append(borders)  # type: ignore[attr-defined]
