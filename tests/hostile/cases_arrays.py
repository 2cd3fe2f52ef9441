"""Hostile arrays, models and pictures."""

from __future__ import annotations

import bz2
import io
import json
import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

from labapp.models.datasets.folder import pixels
from labapp.models.metrics.evaluation import scores
from labapp.models.representations import card, tfjs
from labapp.models.stimuli import library, pictures
from labapp.models.stimuli.score_files import decode_scores
from labapp.models.training import files
from labapp.tasks.reconstruction.report.labels.sheet import check_files
from tests.hostile.corpus import DEEP, MIB, case


def npy(shape: str, descr: str = "'<f4'", data: bytes = b"") -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + data


NPY: dict[str, tuple[bytes, str]] = {
    "a terabyte claimed": (npy("(1000000000000,)"), "not contain a plain array"),
    "more than 64 bits claimed": (npy("(99999999999, 99999999999)"), "not contain a plain array"),
    "less than nothing": (npy("(-5, -5)"), "not contain a plain array"),
    "objects": (npy("(1,)", "'|O'", b"cos\nsystem\n"), "not contain a plain array"),
    "a deep header": (npy("(" * 900 + ")" * 900), "not contain a plain array"),
    "a type that is none": (npy("(1,)", "'<zz'"), "not contain a plain array"),
    "records without bytes": (npy("(99999999999,)", "'<U0'"), "not contain a plain array"),
    "cut off": (b"\x93NUMPY\1\0\xff", "not contain a plain array"),
}
for _name, (_content, _words) in NPY.items():

    def _scored(tmp: Path, content: bytes = _content) -> Any:
        (tmp / "codes.npy").write_bytes(content)
        return scores.read(tmp / "codes.npy", "c")

    def _score_file(tmp: Path, content: bytes = _content) -> Any:
        return decode_scores(content, "a.npy")

    case(f"codes: {_name}", _words)(_scored)
    case(f"scores: {_name}", "score file")(_score_file)


@case("codes: a pipe", "it is a pipe")
def _(tmp: Path) -> Any:
    os.mkfifo(tmp / "codes.npy")
    return scores.read(tmp / "codes.npy", "c")


@case("codes: a sparse file of 8 GiB", "more than the")
def _(tmp: Path) -> Any:
    with (tmp / "codes.csv").open("wb") as stream:
        stream.truncate(8 * 1024 * MIB)
    return scores.read(tmp / "codes.csv", "c")


@case("codes: a cell of 200 KB", "a cell of more than")
def _(tmp: Path) -> Any:
    (tmp / "codes.csv").write_text("1," + "9" * 200_000)
    return scores.read(tmp / "codes.csv", "c")


def latents(tmp: Path, content: bytes) -> Any:
    (tmp / "latents.npz").write_bytes(content)
    return files.read_arrays(tmp / "latents.npz", files.digest(content))


def npz(**arrays: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in arrays.items():
            opened.writestr(f"{name}.npy", content)
    return out.getvalue()


@case("latents: a damaged directory", "not a complete npz")
def _(tmp: Path) -> Any:
    content = bytearray(npz(latents=npy("(1,)", data=bytes(4))))
    at = content.index(b"PK\1\2")
    content[at + 24 : at + 46] = b"\xff" * 22
    return latents(tmp, bytes(content))


@case("latents: a bomb", "would unpack")
def _(tmp: Path) -> Any:
    return latents(tmp, npz(latents=npy("(50000000,)") + bytes(200 * MIB)))


@case("latents: a name that is no text", "")
def _(tmp: Path) -> Any:
    return latents(tmp, npz(**{"a\u202e": npy("(1,)", data=bytes(4))}))


@case("model: weights are a loop of links", "cannot be read")
def _(tmp: Path) -> Any:
    (tmp / "decoder.safetensors").symlink_to("decoder.safetensors")
    return files.read_weights(tmp / "decoder.safetensors", "0" * 64)


@case("model: a header that lies", "not a complete safetensors")
def _(tmp: Path) -> Any:
    content = struct.pack("<Q", 2**62) + b"{}"
    (tmp / "decoder.safetensors").write_bytes(content)
    return files.read_weights(tmp / "decoder.safetensors", files.digest(content))


@case("model: a deep card", "levels deep")
def _(tmp: Path) -> Any:
    (tmp / card.CARD).write_text("a: " + "{b: " * 2000)
    return card.read(tmp)


@case("recipe: a pipe", "it is a pipe")
def _(tmp: Path) -> Any:
    from labapp.models.explanations import data

    os.mkfifo(tmp / "mine.yaml")
    return data.read(tmp / "mine.yaml")


@case("tfjs: a file's name of 5000 letters", "lacks")
def _(tmp: Path) -> Any:
    weights = [{"name": "a", "shape": [1], "dtype": "float32"}]
    groups = [{"paths": ["x" * 5000], "weights": weights}]
    (tmp / tfjs.MANIFEST).write_text(json.dumps(groups))
    return tfjs.read(tmp)


@case("tfjs: a deep manifest", "does not look like a TensorFlow.js")
def _(tmp: Path) -> Any:
    (tmp / tfjs.MANIFEST).write_text("[" * DEEP)
    return tfjs.read(tmp)


@case("stimuli: a deep manifest", "levels deep")
def _(tmp: Path) -> Any:
    return library.parse(b"[" * DEEP + b"]" * DEEP, tmp / "manifest.json")


@case("stimuli: a million empty objects", "more than 2000000 values")
def _(tmp: Path) -> Any:
    return library.parse(b"[" + b"{}," * 3_000_000 + b"{}]", tmp / "manifest.json")


@case("stimuli: a manifest that is a pipe", "no stimulus set")
def _(tmp: Path) -> Any:
    os.mkfifo(tmp / "manifest.json")
    return library.load(tmp)


def png(width: int, height: int, data: bytes = b"") -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        sealed = kind + content
        return struct.pack(">L", len(content)) + sealed + struct.pack(">L", zlib.crc32(sealed))

    header = struct.pack(">2L5B", width, height, 1, 0, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", data), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


PICTURES = {
    "of 900 million pixels": (png(30_000, 30_000, zlib.compress(bytes(1000))), "pixels"),
    "of 2^31 columns": (png(2**31 - 1, 2**31 - 1), "pixels"),
    "cut off": (png(10, 10)[:40], "not a readable"),
    "without pixels": (png(10, 10), "not a readable"),
    "of nothing": (b"", "not a readable"),
    "packed by bzip2": (bz2.compress(b"x"), "not a readable"),
}
for _name, (_content, _words) in PICTURES.items():

    def _stimulus(tmp: Path, content: bytes = _content) -> Any:
        (tmp / "a.png").write_bytes(content)
        return pictures.read(tmp, "a.png")

    def _own_photo(tmp: Path, content: bytes = _content) -> Any:
        (tmp / "a.png").write_bytes(content)
        return pixels(tmp / "a.png", size=8, channels=3)

    case(f"stimulus: a picture {_name}", _words)(_stimulus)
    case(f"photo: a picture {_name}", _words)(_own_photo)


@case("stimulus: a picture is a pipe", "it is a pipe")
def _(tmp: Path) -> Any:
    os.mkfifo(tmp / "a.png")
    return pictures.read(tmp, "a.png")


@case("ratings: a pipe", "it is a pipe")
def _(tmp: Path) -> Any:
    os.mkfifo(tmp / "a.csv")
    return check_files([tmp / "a.csv"])
