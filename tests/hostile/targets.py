"""A target for every reader: it takes any bytes, and nothing but an error of labapp may come out.

`fuzz` changes a seed at random and hands it over, for as long as it is let; `make fuzz SECONDS=60`
does so for all. With atheris installed, `python -m tests.hostile.targets --atheris NAME` lets it
choose the bytes by what they reach.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from labapp.analysis.folding.folded import fold
from labapp.base import resources
from labapp.base.errors import LabappError
from labapp.coding.agreement.coefficients import agree, read_table
from labapp.coding.exchange import qdpx_in
from labapp.models.datasets.folder import pixels
from labapp.models.explanations import data as classifiers
from labapp.models.metrics.evaluation import scores
from labapp.models.representations import card, recipe, tfjs
from labapp.models.stimuli import sources
from labapp.models.stimuli.pictures import native
from labapp.models.stimuli.score_files import decode_scores
from labapp.models.stimuli.sources import readable
from labapp.models.training import files
from labapp.record.audio.capture import wav_header
from labapp.record.audio.recorded_sound import repair_wav
from labapp.record.journal.arrow import rows_of
from labapp.record.journal.decisions import withdrawal_problems, withdrawals
from labapp.record.journal.layout import FolderTree
from labapp.record.journal.opening import SessionPlace, describe, read_bundled_record
from labapp.record.journal.read import check_rows
from labapp.record.journal.sessions import exports_of, find_exported, summary
from labapp.session.bids.export import export
from labapp.session.bids.folder import read_manifest
from labapp.session.bids.verify import verify
from labapp.session.resuming import recover
from labapp.study.instruments import Instrument
from labapp.study.loading import load
from labapp.study.words import _words
from labapp.tasks.reconstruction.report.labels import sheet
from tests.helpers import refi
from tests.hostile import rehashed
from tests.hostile.growing import of_bytes

Target = Callable[[bytes], Any]
TARGETS: dict[str, tuple[Target, Callable[[], list[bytes]]]] = {}
SECOND = rehashed.GOLDEN / "journals" / "second.jsonl"
TOKENS = (
    b"\0", b"\xff\xff\xff\xff", b"\x7f", b"{", b"[", b'"', b"]" * 40, b"[" * 80, b": ", b"\n- ",
    b"null", b"NaN", b"-1", b"1e999", b"9" * 30, b"2147483648", b"\x1b[2J", b"../", b"\xe2\x80\xae",
    b"\xed\xa0\x80", b"%s", b"{}", b",", b";", b"\t", b"\r\n", b"'", b"&a", b"*a", b"!!binary ",
)  # fmt: skip


def target(name: str, *seeds: Any) -> Callable[[Target], Target]:
    """seeds: paths, bytes, or functions that give bytes."""

    def given() -> list[bytes]:
        return [
            seed.read_bytes() if isinstance(seed, Path) else seed() if callable(seed) else seed
            for seed in seeds
        ]

    def add(made: Target) -> Target:
        TARGETS[name] = made, cache(given)
        return made

    return add


@contextmanager
def placed(name: str, data: bytes) -> Iterator[Path]:
    """A file of this name in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="labapp-fuzz-", dir=_quick()) as folder:
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        yield path


def _quick() -> str | None:
    return "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: PTH112


ASSETS, MODELS = resources.assets(), resources.models()


@target("study", *sorted((ASSETS / "studies").glob("*.yaml"))[:6])
def _(data: bytes) -> None:
    with placed("mine.yaml", data) as path:
        load(path)


@target("instrument", *sorted((ASSETS / "instruments").glob("*.yaml")))
def _(data: bytes) -> None:
    Instrument.parse(Path("mine.yaml"), data, "en")


@target("words", ASSETS / "texts" / "en" / "participant.yaml")
def _(data: bytes) -> None:
    _words(Path("participant.yaml"), data)


@target("model card", *sorted(MODELS.glob("*/*/model.yaml"))[:4])
def _(data: bytes) -> None:
    with placed(card.CARD, data) as path:
        card.read(path.parent)


@target("recipe", *sorted((MODELS / "recipes").glob("*.yaml"))[:8])
def _(data: bytes) -> None:
    with placed("mine.yaml", data) as path:
        (classifiers if classifiers.is_classifier_recipe(path) else recipe).read(path)


def _latents() -> bytes:
    return next(iter(sorted(MODELS.glob("sinelines/*/latents.npz")))).read_bytes()


@target("latents", _latents)
def _(data: bytes) -> None:
    with placed("latents.npz", data) as path:
        files.read_arrays(path, files.digest(data))


@target("weights", *sorted(MODELS.glob("sinelines/*/decoder.safetensors"))[:1])
def _(data: bytes) -> None:
    with placed("decoder.safetensors", data) as path:
        files.read_weights(path, files.digest(data))


TFJS = b'[{"paths": ["weights_manifest.json"], "weights": [{"name": "a", "shape": [2, 3], '
TFJS += b'"dtype": "float32", "quantization": null}]}]'


@target("tfjs", TFJS)
def _(data: bytes) -> None:
    with placed(tfjs.MANIFEST, data) as path:
        tfjs.read(path.parent)


target("stimuli", *sorted((ASSETS / "stimuli").glob("*/manifest.json"))[:2])(
    of_bytes("stimuli", "labapp.models.stimuli.library:parse", Path("manifest.json"))
)
CLASSES = b"id,name,group\na,A,g\nb,B,g\n"


@target("tables of stimuli", b"id,set,file,truth,prediction\np1,1,a.png,a,b\n", CLASSES)
def _(data: bytes) -> None:
    with placed("photos.csv", data) as path:
        for name in ("classes.csv", "rows.csv", "masked.csv", "prototypes.csv"):
            (path.parent / name).write_bytes(data)
        (path.parent / sources.HEADER).write_bytes(b'{"id": "mine", "title": "Mine"}')
        readable(sources.read(path.parent))


def _picture(kind: str) -> Callable[[], bytes]:
    def made() -> bytes:
        from PIL import Image

        out = io.BytesIO()
        Image.radial_gradient("L").resize((32, 24)).convert("RGB").save(out, kind)
        return out.getvalue()

    return made


@target("picture", _picture("PNG"), _picture("JPEG"), _picture("TIFF"), _picture("BMP"))
def _(data: bytes) -> None:
    with suppress(LabappError):
        native(data, "a.png")
    with placed("a.png", data) as path:
        pixels(path, size=8, channels=1)


def _npy() -> bytes:
    import numpy as np

    out = io.BytesIO()
    np.save(out, np.ones((3, 4), np.float32))
    return out.getvalue()


@target("scores", _npy)
def _(data: bytes) -> None:
    with suppress(LabappError):
        decode_scores(data, "a.npy")
    with placed("codes.npy", data) as path:
        scores.read(path, "c")


@target("codes", b"a,b\n1,2\n3.5,-4e5\n", b"1;2\n")
def _(data: bytes) -> None:
    with placed("codes.csv", data) as path:
        scores.read(path, "c")


@target("ratings", b"sheet,label,name,consistent\nabc,1,slant,yes\n")
def _(data: bytes) -> None:
    with placed("a.csv", data) as path:
        list(sheet._rows(path))


@target("rating table", b"unit,a,b\nu1,1,2\nu2,2,2\n", b"unit;a;b\nu1;1,5;2\n")
def _(data: bytes) -> None:
    with placed("a.csv", data) as path:
        table = read_table(path)
        for level in ("nominal", "ordinal", "interval", "ratio"):
            with suppress(LabappError):
                agree(table, "alpha", level)  # type: ignore[arg-type]


@cache
def _session() -> Path:
    root = Path(tempfile.mkdtemp(prefix="labapp-fuzz-", dir=_quick()))
    rows = [row for row in rehashed.rows_of(SECOND) if not row.kind.startswith("audio")]
    return rehashed.write(root, rehashed.chained(rows))


@cache
def _bundle() -> Path:
    return export([_session()], _session().parents[1] / "bundle", audio=False)


def _in_bundle(name: str) -> Callable[[], bytes]:
    return lambda: (_bundle() / "sourcedata" / "labapp" / name).read_bytes()


@target("journal", lambda: (_session() / "journal.sqlite").read_bytes())
def _(data: bytes) -> None:
    with placed(f"golden/{rehashed.NAME}/journal.sqlite", data) as path:
        summary(path.parent)
        recover(path.parent)


@target("parquet", _in_bundle("sub-P01/ses-1/journal.parquet"))
def _(data: bytes) -> None:
    check_rows(rows_of(data, "journal.parquet"), "journal.parquet")


@target("manifest", _in_bundle("manifest.json"))
def _(data: bytes) -> None:
    read_manifest(data)


@target("session facts", _in_bundle("sub-P01/ses-1/session.json"))
def _(data: bytes) -> None:
    with placed("session.json", data) as path:
        (path.parent / "journal.parquet").write_bytes(_in_bundle("sub-P01/ses-1/journal.parquet")())
        read_bundled_record(FolderTree(path.parent), "bundle")


def _zip() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as opened:
        for path in sorted(_bundle().rglob("*")):
            if path.is_file():
                opened.write(path, f"bundle/{path.relative_to(_bundle()).as_posix()}")
    return out.getvalue()


@target("zip", _zip)
def _(data: bytes) -> None:
    with placed("bundle.zip", data) as path:
        verify(path)
        describe(path)


LINE = f'{{"session": "{rehashed.NAME}", "utc": "", "data": "kept", "cells": []}}\n'.encode()


@target("withdrawn", LINE)
def _(data: bytes) -> None:
    with placed("withdrawn.jsonl", data) as path:
        withdrawal_problems(path.parent)
        withdrawals(path.parent)


@target("exports", f'{{"bundle": "/x", "sessions": ["{rehashed.NAME}"]}}\n'.encode())
def _(data: bytes) -> None:
    with placed("exports.jsonl", data) as path:
        exports_of(path.parent / rehashed.NAME)
        find_exported(path.parent)


def _wav() -> bytes:
    return wav_header(48_000, 96) + bytes(96)


@target("wav", _wav)
def _(data: bytes) -> None:
    with placed("a.wav", data) as path:
        repair_wav(path, 48_000)


@target("events", *(f"{number}".encode() for number in range(20)))
def _(data: bytes) -> None:
    """A journal with something changed, chosen by the bytes, and hashed anew."""
    chance = random.Random(data)
    rows = rehashed.mutated(rehashed.rows_of(chance.choice(rehashed.JOURNALS)), chance)
    with placed("data/x", b"") as path:
        folder = rehashed.write(path.parent, rehashed.chained(rows))
        for read in (
            lambda: fold(SessionPlace(folder)),
            lambda: describe(folder),
            lambda: export([folder], path.parents[1] / "bundle"),
            lambda: verify(folder),
            lambda: recover(folder),
        ):
            with suppress(LabappError):
                read()


target("qdpx", refi.packed_ours, lambda: refi.zipped(refi.of_another_tool()))(
    of_bytes("qdpx", "labapp.coding.exchange.qdpx_in:read", "a.qdpx")
)
target("qdc", refi.CODEBOOK)(
    of_bytes("qdc", "labapp.coding.exchange.refi:read", Path("codebook.yaml"))
)


@target("qde", *(lambda n=n: refi.both()[n]["project.qde"] for n in (0, 1)))
def _(data: bytes) -> None:
    for packed in refi.both():
        with suppress(LabappError):
            qdpx_in.read(refi.zipped({**packed, "project.qde": data}), "a.qdpx")


@target("qdpx note", lambda: refi.noted()[1])
def _(data: bytes) -> None:
    qdpx_in.read(refi.zipped({**refi.ours(), refi.noted()[0]: data}), "a.qdpx")


def changed(data: bytes, chance: random.Random) -> bytes:
    """A seed with one to four things changed."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(out) + 1)
        length = chance.choice((1, 1, 1, 2, 4, 8, 60))
        match chance.randrange(6):
            case 0:
                out[at : at + length] = chance.randbytes(length)
            case 1:
                del out[at : at + length]
            case 2:
                out[at:at] = chance.choice(TOKENS)
            case 3:
                out[at : at + length] = chance.choice(TOKENS)
            case 4:
                out[at:at] = out[at : at + length] * chance.choice((1, 2, 50))
            case 5 if chance.random() < 0.2:
                del out[at:]
            case _ if at < len(out):
                out[at] ^= 1 << chance.randrange(8)
    return bytes(out)


def fuzz(name: str, seconds: float, seed: int, most: int = sys.maxsize) -> tuple[int, list[bytes]]:
    """How many inputs were tried, and those that something else came out of than it should."""
    made, given = TARGETS[name]
    chance, seeds = random.Random(f"{name} {seed}"), given()
    ends = time.monotonic() + seconds
    tried, bad = 0, []
    while tried < most and time.monotonic() < ends:
        tried += 1
        data = changed(chance.choice(seeds), chance)
        try:
            made(data)
        except LabappError:
            pass
        except Exception:  # noqa: BLE001  (whatever it is, it is what is looked for)
            traceback.print_exc()
            bad.append(data)
            if len(bad) > 20:
                break
    return tried, bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="targets; default: all")
    parser.add_argument("--seconds", type=float, default=60, help="for each target")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--out", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--atheris", action="store_true", help="one target, by coverage")
    asked = parser.parse_args()
    if asked.atheris:
        import atheris  # type: ignore[import-not-found]

        made, _ = TARGETS[asked.names[0]]

        def only_ours(data: bytes) -> None:
            with suppress(LabappError):
                made(data)

        atheris.instrument_all()
        atheris.Setup([sys.argv[0], f"-max_total_time={asked.seconds:.0f}"], only_ours)
        atheris.Fuzz()
    total = 0
    for name in asked.names or TARGETS:
        tried, bad = fuzz(name, asked.seconds, asked.seed)
        print(f"{name}: {tried} inputs, {len(bad)} findings (seed {asked.seed})", flush=True)
        total += len(bad)
        for number, data in enumerate(bad):
            asked.out.mkdir(exist_ok=True)
            (asked.out / f"{name.replace(' ', '-')}-{asked.seed}-{number}").write_bytes(data)
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
