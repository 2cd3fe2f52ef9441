"""Products: small files that become large, and things that do not end in a file of any size."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

from labapp.base.errors import AnnotationError
from labapp.coding.annotations import codebook
from labapp.coding.annotations.ledger import parse
from labapp.coding.exchange import incoming, textgrid
from labapp.models.representations import onnx_backend
from tests.hostile import graphs, growing
from tests.hostile.corpus import MIB, case


def longns() -> bytes:
    """A project of a few kilobytes: a namespace of a megabyte, and a million elements in it."""
    text = b'<Project xmlns="urn:QDA-XML:project:1.0"><a xmlns="' + b"y" * MIB + b'">'
    text += b"<b/>" * 900_000 + b"</a></Project>"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("project.qde", text)
    assert len(out.getvalue()) < 32 * 1024
    return out.getvalue()


@case("qdpx: a namespace of a megabyte", "more memory than")
def _(tmp: Path) -> Any:
    (tmp / "a.qdpx").write_bytes(longns())
    return incoming.read(tmp / "a.qdpx")


@case("TextGrid: a count without end", "inf is not a count")
def _(tmp: Path) -> Any:
    return textgrid.read(growing.HEAD + b"1e999\n", "a.TextGrid")


@case("TextGrid: a label of 60 million letters", "more than the 32 MiB")
def _(tmp: Path) -> Any:
    (tmp / "a.TextGrid").write_bytes(growing.HEAD + b'1 "IntervalTier" "' + b"x" * 60_000_000)
    return incoming.read(tmp / "a.TextGrid")


@case("pack: a file of a rater that unpacks to millions of damaged lines", "too many are damaged")
def _(tmp: Path) -> Any:
    found = parse(b"{}\n" * 1_900_000).problems
    raise AnnotationError(f"{len(found)} problems: {found[-1]}")


@case("codebook: 7500 codes", "")
def _(tmp: Path) -> Any:
    (tmp / "codebook.yaml").write_bytes(growing.GROWING["codebook: codes"].make(7_500))
    return codebook.read(tmp / "codebook.yaml")


@case("graph: 14 GB", "it needs more memory than")
def _(tmp: Path) -> Any:
    made = graphs.swelling(3, (8, 8), 14 << 30)
    return onnx_backend.graph(made, "a.onnx", (3,), (8, 8), todo="Mend it.")
