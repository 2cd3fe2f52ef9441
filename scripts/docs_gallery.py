"""The gallery of the documentation: each shipped study, its screens, length, paper and command.

    python -m scripts.docs_gallery                     writes docs/guide/gallery.md from the studies
    python -m scripts.docs_gallery --pictures [ID …]   draws their screens; a minute each

The pictures are real screens (`labapp studies preview`) of a simulated participant.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from labapp.study import loading

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guide" / "gallery.md"
PICTURES = ROOT / "docs" / "pictures"
ACROSS, SHOWN, WIDTH, GAP = 2, 4, 480, 8
"""Screens in a row, screens of a study, and pixels of each."""
WANTED = (
    r"\d+-stage-1\.png",
    r"\d+-(practice|stage-1)-(trial-solved|judgement-made|concept-set|stimulus-drawn|\w+-\w+)\.png",
    r"\d+-(method|tutorial|example)[\w-]*\.png",
    r"\d+-practice(-examples)?\.png",
    r"\d+-(stage-\d+-(?!intro)[\w-]+|questionnaire-\d+)\.png",
    r"\d+-[\w-]+\.png",
)
"""Which screens say most about a study, the best first; one of each kind is shown."""
PAPERS = {
    "000": "Ross et al. (2021), CHI",
    "003": "Kim et al. (2022), HIVE, ECCV",
    "004": "Biessmann and Refiano (2019)",
}
OURS = "ours"
GROUPS = (
    ("To try everything", ("quickstart", "dsprites-demo", "calibration")),
    ("Match pictures with sliders", ("synthetic-", "mnist-")),
    ("Judge explanations", ("gradcam-", "bagnet-", "protopnet-", "prototree-")),
    ("Name what is revealed", ("unmasking-",)),
    ("Correct concepts", ("concept-",)),
)
ABOUT = """# Gallery of the shipped studies

Every study below comes with labapp and is ready to run. Choose it in the moderator window, or run
the command shown. To look at all of its screens, run `labapp studies preview ID`. To change a
study, run `labapp studies new my-study --from ID`.

The minutes are planned lengths of sessions. The screens show a simulated session.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", nargs="*", metavar="ID", help="draw these, or all")
    options = parser.parse_args()
    if options.pictures is None:
        PAGE.write_text(page(), "utf-8")
        return 0
    for name in options.pictures or names():
        draw(name)
    return 0


def names() -> list[str]:
    return sorted(path.stem for path in loading.list_shipped())


def file_of(name: str) -> str:
    return f"study-{name}.webp"


def shown(name: str) -> str:
    """The words for a picture."""
    return f"Screens of the study {name}"


def page() -> str:
    """The page, from the files of the studies."""
    parts, left = [ABOUT.rstrip()], names()
    for title, beginnings in GROUPS:
        parts.append(f"## {title}")
        for beginning in beginnings:
            for name in [name for name in left if name.startswith(beginning)]:
                left.remove(name)
                parts.append(entry(name))
    assert not left, f"in no group: {left}"
    return "\n\n".join(parts) + "\n"


def entry(name: str) -> str:
    study = loading.load(name).study
    replicated = study.replicates
    paper = PAPERS[replicated.paper] if replicated else OURS
    sound = {"off": "no sound", "optional": "sound optional", "required": "with sound"}
    facts = f"*{study.minutes} minutes · {sound[study.recording.audio]} · {paper} · id `{name}`*"
    return "\n\n".join(
        [
            f"### {study.title}",
            facts,
            study.summary,
            f"```sh\nlabapp run {name}\n```",
            f"![{shown(name)}](../pictures/{file_of(name)})",
        ]
    )


def draw(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "screens"
        command = [sys.executable, "-m", "labapp", "studies", "preview", name, "--out", str(out)]
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        files = [out / file for file in chosen(sorted(path.name for path in out.iterdir()))]
        screens = [Image.open(file).convert("RGB") for file in files]
    height = round(WIDTH * screens[0].height / screens[0].width)
    rows = -(-len(screens) // ACROSS)
    size = (ACROSS * WIDTH + (ACROSS + 1) * GAP, rows * height + (rows + 1) * GAP)
    whole = Image.new("RGB", size, "#d8dce1")
    for index, screen in enumerate(screens):
        at = (GAP + index % ACROSS * (WIDTH + GAP), GAP + index // ACROSS * (height + GAP))
        whole.paste(screen.resize((WIDTH, height), Image.Resampling.LANCZOS), at)
    path = PICTURES / file_of(name)
    whole.save(path, quality=72, method=6)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB", flush=True)


def chosen(files: list[str]) -> list[str]:
    """Of the names of all screens, those that are shown, in the order of the session."""
    picked: list[str] = []
    usual = [f for f in files if not re.search(r"consent|incentive|debrief|sheet|session-", f)]
    for pattern in WANTED:
        matching = [file for file in usual if re.fullmatch(pattern, file) and file not in picked]
        picked += matching[len(matching) // 2 : len(matching) // 2 + 1]
    for pattern in WANTED:
        matching = [file for file in usual if re.fullmatch(pattern, file) and file not in picked]
        picked += matching[:SHOWN]
    return sorted(picked[:SHOWN])


if __name__ == "__main__":
    sys.exit(main())
