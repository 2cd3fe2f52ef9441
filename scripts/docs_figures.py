"""The page of the documentation with every figure of a report: what it shows, and its code.

    python -m scripts.docs_figures          writes docs/guide/figures.md and its pictures; minutes

Each study is simulated as the page says, so the numbers in the figures say nothing about people.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

if TYPE_CHECKING:
    from labapp.base.report.drawing import ReportFigure

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guide" / "figures.md"
PICTURES = ROOT / "docs" / "pictures"
WIDTH = 860
STUDIES = {
    "quickstart": (
        "Sliders, and what was said",
        "--participants 4 --strategy mixture --think-aloud",
    ),
    "mnist-think-aloud": (
        "Names of sliders, and a paper's comparison of models",
        "--participants 4 --strategy mixture",
    ),
    "gradcam-distinction": ("Judged explanations", "--participants 4 --strategy understanding"),
    "unmasking-faces": ("Unmasked pictures", "--participants 2 --strategy understanding"),
    "concept-repair": ("Concept repair", "--participants 4 --strategy careful"),
}
"""A title, and how the participants are simulated, by study."""
ABOUT = """# Every figure of a report, with its code

`labapp analyze` saves a report's figures in the folder `figures`. To change them, draw them in
Python with `labapp.figures`. Each has a `label`, a `caption` and a matplotlib `figure`; its method
`save` writes SVG, PNG and PDF. For width, font and colours, see
[Figures for a paper](analysis.md#figures-for-a-paper).

The participants here are simulated, so the numbers say nothing about people. The pictures were
drawn with the code on this page, by `scripts/docs_figures.py`. A sentence that several captions
share, and the flow of participants, are shown only once.
"""


def command(study: str) -> str:
    """What makes the sessions whose figures are shown."""
    return f"labapp simulate {study} {STUDIES[study][1]} --out sessions-{study}"


def variable(study: str) -> str:
    return study.partition("-")[0]


def file_of(study: str, name: str) -> str:
    return f"figure-{study}-{name}.webp"


SAME = "Earlier captions explain this figure."


def sentences(caption: str) -> list[str]:
    return re.split(r"(?<=\.) (?=[A-Z])", caption)


def shortened(caption: str, shown: set[str]) -> str:
    """A caption without the sentences of earlier ones, to which its own are added."""
    own = [sentence for sentence in sentences(caption) if sentence not in shown]
    shown.update(own)
    return " ".join(own) or SAME


def section(study: str, drawn: list[tuple[str, str, str]], shown: set[str]) -> str:
    """drawn: name, label and caption of each figure; shown: sentences of captions above."""
    of = variable(study)
    parts = [
        f"## {STUDIES[study][0]}",
        f"```sh\n{command(study)}\n```",
        f'```python\nimport labapp\n\n{of} = labapp.figures(labapp.load("sessions-{study}"))\n```',
    ]
    for name, label, caption in drawn:
        parts += [
            f"### {label}",
            shortened(caption, shown).replace("*", "\\*"),
            f'```python\n{of}["{name}"].save("figures-{study}")\n```',
            f"![{alternative(label)}](../pictures/{file_of(study, name)})",
        ]
    return "\n\n".join(parts)


def alternative(label: str) -> str:
    """The text instead of the picture: the heading above it without source and numbers."""
    return re.split(r" \(|:", label)[0]


def drawn_on(page: str) -> dict[str, list[tuple[str, str]]]:
    """Name and label of each figure that a page shows, by study."""
    found: dict[str, list[tuple[str, str]]] = {study: [] for study in STUDIES}
    shown = r'### (.+)\n\n.+\n\n```python\n\w+\["([^"]+)"\]\.save\("figures-([^"]+)"\)'
    for label, name, study in re.findall(shown, page):
        found[study].append((name, label))
    return found


def one_of_each(figures: dict[str, ReportFigure], study: str) -> dict[str, ReportFigure]:
    """The figures without those that several stages have in the same form.

    Only the first study shows the flow of participants, which every study has.
    """
    kept: dict[str, ReportFigure] = {}
    kinds = set()
    first = study == next(iter(STUDIES))
    for name, figure in figures.items():
        kind = re.sub(r"-[\w]*\d\w*(-\d+)?$", "", name)
        if (first or name != "flow") and (kind not in kinds or kind == name):
            kinds.add(kind)
            kept[name] = figure
    return kept


def main() -> int:
    import labapp

    sections, shown = [ABOUT.rstrip()], set[str]()
    for old in PICTURES.glob("figure-*.webp"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for study in STUDIES:
            subprocess.run([sys.executable, "-m", *command(study).split()], check=True)
            figures = one_of_each(labapp.figures(labapp.load(f"sessions-{study}")), study)
            for name, figure in figures.items():
                save(figure, PICTURES / file_of(study, name))
            told = [(name, each.label, each.caption) for name, each in figures.items()]
            sections.append(section(study, told, shown))
    PAGE.write_text("\n\n".join(sections) + "\n", "utf-8")
    return 0


def save(figure: ReportFigure, path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (drawn,) = (each for each in figure.save(Path(folder)) if each.suffix == ".png")
        image = Image.open(io.BytesIO(drawn.read_bytes())).convert("RGB")
    image.thumbnail((WIDTH, WIDTH * 2))
    image.save(path, quality=80, method=6)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    sys.exit(main())
