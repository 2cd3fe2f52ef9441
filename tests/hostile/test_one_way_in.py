"""Files from outside are opened and unpacked in one place; every other call that does is listed
here, with why."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
READING = "labapp/base/reading/"
FUNCTIONS = frozenset(
    {
        "open", "io.open", "os.open", "json.load", "json.loads", "orjson.loads", "yaml.compose",
        "yaml.load", "yaml.safe_load", "np.load", "np.fromfile", "np.memmap", "np.loadtxt",
        "np.genfromtxt", "pd.read_csv", "pd.read_parquet", "pq.read_table", "pq.ParquetFile",
        "sqlite3.connect", "zipfile.ZipFile", "tarfile.open",
        "gzip.open", "wave.open", "soundfile.read", "soundfile.SoundFile", "safetensors.safe_open",
        "Image.open", "images.open", "QPixmap", "h5py.File", "torch.load", "pickle.load",
        "shutil.unpack_archive", "csv.reader", "csv.DictReader", "msgspec.json.Decoder",
        "msgspec.json.decode",
    }
)  # fmt: skip
METHODS = frozenset({"read_bytes", "read_text"})
"""Of a path; and `open` with a mode that reads."""
WAYS_IN = frozenset({"files.read_bytes", "library.read_bytes"})
"""Functions of ours that lead through the one way in."""

OWN = "labapp wrote it, in a place of its own"
MEASURED = "of what was read, and so measured, before"
ALLOWED = {
    "labapp/models/datasets/concepts/shapes.py": {"h5py.File": "the published file"},
    "labapp/base/messages.py": {"compiled.open": "made by labapp of what comes with it"},
    "labapp/base/report/listing.py": {
        "path.read_text": "comes with labapp",
        "yaml.safe_load": "comes with labapp",
    },
    "labapp/base/documentation.py": {
        "path.read_text": "comes with labapp",
        "(folder / KEYWORDS).read_text": "comes with labapp",
        "yaml.safe_load": "comes with labapp",
        "sqlite3.connect": "in memory",
    },
    "labapp/ui/documentation.py": {"path.read_text": "comes with labapp"},
    "labapp/base/resources.py": {
        "json.loads": "comes with labapp",
        "file.read_text": "comes with labapp",
    },
    "labapp/base/access.py": {"os.open": "makes files of its own, with their rights"},
    "labapp/analysis/folding/folded.py": {"json.loads": "of cells that were made in memory"},
    "labapp/analysis/design/contents.py": {
        "files('labapp.analysis.design').joinpath(name).read_text": ("comes with labapp"),
    },
    "labapp/analysis/design/sources.py": {"json.loads": "of cells that were made in memory"},
    "labapp/analysis/questionnaires.py": {"shipped.read_bytes": "comes with labapp"},
    "labapp/analysis/quotes.py": {"(folder / quote.picture).read_bytes": "just drawn"},
    "labapp/models/representations/importing/memory.py": {
        "Path('/proc/meminfo').read_text": "the kernel's",
        "Path('/proc/self/statm').read_text": "the kernel's",
        "(_GROUP / 'memory.max').read_text": "the kernel's",
        "(_GROUP / 'memory.current').read_text": "the kernel's",
    },
    "labapp/analysis/declared.py": {"json.loads": "of what was made in memory"},
    "labapp/analysis/data_files.py": {"json.loads": "of cells that were made in memory"},
    "labapp/analysis/sections.py": {"json.loads": "of cells that were made in memory"},
    "labapp/analysis/wording.py": {"json.loads": "of cells that were made in memory"},
    "labapp/coding/annotations/codebook.py": {"yaml.safe_load": "of a codebook that was read"},
    "labapp/base/leftovers.py": {
        "entry.read_bytes": "a registration of its own, of at most what it wrote",
        "json.loads": "a registration of its own, of at most what it wrote",
    },
    "labapp/coding/exchange/qdpx.py": {"zipfile.ZipFile": "writes"},
    "labapp/models/explanations/building/black_box.py": {
        "Image.open": "of an open file, its size alone"
    },
    "labapp/analysis/retention.py": {"json.loads": "of cells that were made in memory"},
    "labapp/analysis/snapshots.py": {"pq.ParquetFile": OWN},
    "labapp/coding/annotations/packs.py": {"zipfile.ZipFile": "writes"},
    "labapp/record/audio/pyramid.py": {"wave.open": MEASURED},
    "labapp/record/audio/player.py": {"json.loads": "between two processes of ours"},
    "labapp/record/audio/process.py": {"json.loads": "between two processes of ours"},
    "labapp/record/audio/recorded_sound.py": {"path.open": "writes what was looked at"},
    "labapp/record/audio/devices.py": {"json.loads": "the answer of PulseAudio"},
    "labapp/record/audio/capture.py": {"os.open": "makes the sound files"},
    "labapp/session/remote/client.py": {
        "partial.open": "a file that it wrote, of a size that is limited",
    },
    "labapp/session/remote/host.py": {
        "msgspec.json.decode": "of a message whose length is limited"
    },
    "labapp/session/remote/server.py": {"source.open": "a piece of a file that was listed"},
    "labapp/session/bids/verify.py": {"zipfile.ZipFile": "of an archive that was looked through"},
    "labapp/session/bids/folder.py": {
        "(self.root / name).open": OWN,
        "os.open": "syncs folders",
        "zipfile.ZipFile": "writes",
    },
    "labapp/cli/main.py": {"os.open": "nothing (/dev/null)"},
    "labapp/models/datasets/mnist.py": {"gzip.open": "of an open file, and so much as is needed"},
    "labapp/base/documents.py": {"yaml.compose": MEASURED},
    "labapp/coding/annotations/codebook_edit.py": {"yaml.compose": MEASURED},
    "labapp/base/durable.py": {
        "os.open": "syncs folders",
        "path.open": "the last byte, to add a line",
    },
    "labapp/record/journal/arrow.py": {"pq.ParquetFile": MEASURED},
    "labapp/papers/interactive_reconstruction/results.py": {
        "FILE.open": "comes with labapp",
        "csv.DictReader": "comes with labapp",
    },
    "labapp/models/representations/importing/child.py": {
        "os.open": "tries whether it is refused",
        "json.loads": "between two processes of ours",
        "np.load": "between two processes of ours, without pickles",
    },
    "labapp/models/representations/importing/convert.py": {
        "json.loads": "between two processes of ours",
        "np.load": "between two processes of ours, without pickles",
    },
    "labapp/record/journal/read.py": {
        "sqlite3.connect": "in memory, or with the longest value limited and no view read",
        "msgspec.json.Decoder": "a row whose length is limited",
    },
    "labapp/record/events/registry.py": {"json.loads": "of an event that was made in memory"},
    "labapp/models/training/loop.py": {
        "safetensors.safe_open": OWN,
        "json.loads": OWN,
    },
    "labapp/base/report/page.py": {
        "resources.files(package).joinpath('templates', file).read_text": "comes with labapp"
    },
    "labapp/models/representations/sheet_figure.py": {"path.read_bytes": OWN},
    "labapp/record/journal/flac.py": {
        "soundfile.SoundFile": "of an open file, decoded piece by piece and measured before"
    },
    "labapp/study/media.py": {"soundfile.SoundFile": "of bytes in memory, no longer than measured"},
    "labapp/session/condition_assignment.py": {"sqlite3.connect": OWN},
    "labapp/session/environment.py": {
        "Path('/proc/sys/kernel/random/boot_id').read_text": "Linux",
        "Path('/proc/self/mountinfo').read_text": "Linux",
    },
    "labapp/session/folder.py": {"probe.read_bytes": OWN},
    "labapp/record/journal/write.py": {
        "msgspec.json.decode": "of an event that was made in memory",
        "sqlite3.connect": "the journal that is being written",
    },
    "labapp/session/private.py": {"sqlite3.connect": OWN},
    "labapp/session/runner.py": {"sqlite3.connect": OWN},
    "labapp/session/simulation/simulation_job.py": {"tarfile.open": "between processes of ours"},
    "labapp/models/stimuli/masked_pictures.py": {
        "json.loads": "comes with labapp",
        "(assets() / 'colour_maps.json').read_text": "comes with labapp",
    },
    "labapp/models/stimuli/gallery.py": {"path.read_bytes": "the program's own modules"},
    "labapp/study/instruments/instrument.py": {"path.read_bytes": "comes with labapp"},
    "labapp/coding/transcription/child.py": {"json.loads": "between two processes of ours"},
    "labapp/coding/transcription/session.py": {"json.loads": "between two processes of ours"},
    "labapp/ui/consent_pdf.py": {
        "json.loads": "of strokes that were just drawn",
        "os.open": "makes the form",
    },
    "labapp/ui/doctor.py": {"json.loads": "between processes of ours"},
    "labapp/testing/rehearsal.py": {"json.loads": "of an event that was made in memory"},
    "labapp/ui/participant/window.py": {"QPixmap": "an empty one, to draw on"},
    "labapp/ui/replay/timeline.py": {"QPixmap": "an empty one, to draw on"},
    "labapp/ui/researcher/page.py": {
        "QPixmap": "figures that an analysis just drew",
        "csv.DictReader": MEASURED,
    },
    "labapp/ui/widgets/dial.py": {"QPixmap": "of a picture in memory"},
}
"""By module: each call, and why it may be made there."""


LAST = frozenset(name.rpartition(".")[2] for name in FUNCTIONS | METHODS)
CALLED = re.compile(
    rf"(?<![\w.])({'|'.join(map(re.escape, FUNCTIONS))})\(|\.({'|'.join(METHODS)}|open)\("
)
"""In the text of a module that makes such a call: few modules are parsed, which takes long."""


def reading_calls(path: Path) -> set[str]:
    """What a module calls that reads a file or unpacks its contents."""
    found: set[str] = set()
    source = path.read_text("utf-8")
    if not CALLED.search(source):
        return found
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        last = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if (last or getattr(node.func, "id", "")) not in LAST:
            continue
        name = ast.unparse(node.func)
        reads = last == "open" and bool(_mode(node) & set("r+"))
        if name not in WAYS_IN and (name in FUNCTIONS or last in METHODS or reads):
            found.add(name)
    return found


def _mode(node: ast.Call) -> set[str]:
    """The letters of the mode of a path's `open`: r where there is none but an encoding."""
    words = {one.arg: one.value for one in node.keywords}
    mode = node.args[0] if node.args else words.get("mode")
    if mode is None:
        return {"r"} if "encoding" in words or "newline" in words else set()
    value = mode.value if isinstance(mode, ast.Constant) else None
    return set(value) if isinstance(value, str) and set(value) <= set("rwxab+t") else set()


def test_every_other_call_is_listed() -> None:
    found = {}
    for path in sorted((ROOT / "labapp").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(READING) and (calls := reading_calls(path)):
            found[name] = calls
    assert found == {name: set(calls) for name, calls in ALLOWED.items() if calls}, (
        "read files by labapp.base.reading, which has limits; or list the call in ALLOWED, with why"
    )


@pytest.mark.parametrize(
    "line",
    [
        "path.read_bytes()", "open(path)", "path.open('rb')", "path.open(encoding='utf-8')",
        "np.load(path)", "json.load(file)", "zipfile.ZipFile(path)", "(a / b).read_text('utf-8')",
        "path.open('r+b')",
    ],
)  # fmt: skip
def test_the_usual_calls_are_seen(line: str, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(f"def f():\n    return {line}\n")
    assert reading_calls(tmp_path / "module.py")
