# ruff: noqa: E501  (a way to grow stands on a line of its own)
"""Inputs that grow: for each way in which a file can be large, what it holds at the size n, and the
reader that it is for.

Each reader has to be linear: `python -m tests.hostile.growing` prints what it takes at n, 2n and 4n
as a table, and what it does of the largest that there is of such a file, in a process of its own
each.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from labapp.base.discovery import load
from labapp.base.errors import LabappError

Make = Callable[[int], bytes]
Read = Callable[[bytes], Any]


@dataclass(frozen=True)
class Growing:
    """A way to grow.

    Attributes
    ----------
    make : callable
        From n to the file's content.
    read : callable
        What reads it.
    small : int
        The n that the test begins with: a reader takes a few hundredths of a second.
    large : int
        The n of an attack.
    """

    make: Make
    read: Read
    small: int
    large: int

    @property
    def largest(self) -> int:
        """The n of the largest file that is still opened, or of the attack where that is less."""
        each = (len(self.make(2 * self.small)) - len(self.make(self.small))) / self.small
        room = LARGEST.get(self.read.__name__, DOCUMENT) - 2 * len(self.make(1)) - 100
        return min(self.large, max(1, int(0.98 * room / each)))


GROWING: dict[str, Growing] = {}
MIB = 1024 * 1024
LARGEST = {
    **dict.fromkeys(("_captions", "_textgrid", "_csv", "_manifest", "_photos", "_qdc"), 16 * MIB),
    **dict.fromkeys(("_eaf", "_qde", "_agree", "_metrics"), 32 * MIB),
    **dict.fromkeys(("_lines", "_received"), 64 * MIB),
    "_map": 4 * MIB,
}
"""Bytes of a file that a reader still opens."""
DOCUMENT = 256 * 1024


def growing(name: str, read: Read, make: Make, *, small: int, large: int) -> None:
    assert name not in GROWING
    GROWING[name] = Growing(make, read, small, large)


@contextmanager
def placed(name: str, data: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="labapp-growing-") as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        yield path


def of_bytes(name: str, where: str, file: str | Path) -> Read:
    """A reader of labapp, `module:function`, of a file's content and its name; it is loaded when it
    reads. name : as `LARGEST` has it."""

    def read(data: bytes) -> Any:
        return load(where)(data, file)

    read.__name__ = name
    return read


def of_path(name: str, where: str, file: str) -> Read:
    """The same of a file that lies somewhere."""

    def read(data: bytes) -> Any:
        with placed(file, data) as path:
            return load(where)(path)

    read.__name__ = name
    return read


# fmt: off
# --- captions -------------------------------------------------------------------------------------


_captions = of_bytes("_captions", "labapp.coding.exchange.captions:read", "a.vtt")
CUE = b"00:00:01.000 --> 00:00:02.000\n"
VTT, SRT = b"WEBVTT\n\n" + CUE, b"1\n" + CUE.replace(b".", b",")


def _cues(n: int) -> bytes:
    return b"WEBVTT\n\n" + b"".join(
        b"%02d:%02d:%02d.000 --> %02d:%02d:%02d.500\nyes\n\n" % (*(at := (s // 3600 % 99, s // 60 % 60, s % 60)), *at)
        for s in range(n)
    )


for _kind, _head in (("vtt", VTT), ("srt", SRT)):
    for _what, _begin, _again, _end in (
        ("tags that open", b"", b"<a ", b""),
        ("angles", b"", b"<", b""),
        ("voices", b"", b"<v ", b""),
        ("named voices", b"", b"<v.a", b""),
        ("bold within bold", b"", b"<b>", b""),
        ("bold and its ends", b"", b"<b>", b"</i>"),
        ("fonts", b"", b"<font ", b""),
        ("entities", b"", b"&am", b""),
        ("whole entities", b"", b"&amp;", b""),
        ("spaces", b"a", b" ", b"b"),
        ("lines", b"", b"a\n", b""),
        ("digits", b"", b"1", b""),
        ("names", b"[", b"a", b""),
    ):
        growing(
            f"{_kind}: {_what} in a cue",
            _captions,
            lambda n, head=_head, a=_begin, b=_again, c=_end: head + a + b * n + c + b"\n",
            small=20_000,
            large=10_000_000,
        )
    growing(
        f"{_kind}: bold in bold",
        _captions,
        lambda n, head=_head: head + b"<b>" * n + b"x" + b"</b>" * n + b"\n",
        small=5_000,
        large=4_000_000,
    )
    growing(
        f"{_kind}: spaces before times",
        _captions,
        lambda n, head=_head: head + b"yes\n\n" + b" " * n + b"-->" + b" " * n + b"\n",
        small=20_000,
        large=10_000_000,
    )
growing("vtt: cues", _captions, _cues, small=3_000, large=4_000_000)
growing("vtt: cues at one time", _captions, lambda n: b"WEBVTT\n\n" + (CUE + b"a\n\n") * n, small=3_000, large=4_000_000)
growing("vtt: lines", _captions, lambda n: b"WEBVTT\n" + b"\n" * n, small=50_000, large=60_000_000)
for _word in (b"NOTE", b"STYLE"):
    growing(
        f"vtt: arrows in a {_word.decode()}",
        _captions,
        lambda n, word=_word: b"WEBVTT\n\n" + word + b"\n" + b"a --> b\n" * n,
        small=3_000,
        large=10_000_000,
    )
growing("vtt: cues without words", _captions, lambda n: b"WEBVTT\n\n" + (CUE + b"\n") * n, small=3_000, large=4_000_000)

# --- TextGrid -------------------------------------------------------------------------------------


_textgrid = of_bytes("_textgrid", "labapp.coding.exchange.textgrid:read", "a.TextGrid")
HEAD = b'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n100\n<exists>\n'


def _tier(name: bytes, rows: bytes, count: int) -> bytes:
    return HEAD + b'1\n"IntervalTier"\n"' + name + b'"\n0\n100\n%d\n' % count + rows


growing("TextGrid: a long label", _textgrid, lambda n: _tier(b"a", b'0 1 "' + b"x" * n + b'"', 1), small=100_000, large=60_000_000)
growing("TextGrid: quotes", _textgrid, lambda n: _tier(b"a", b'0 1 "' + b'""' * n + b'"', 1), small=50_000, large=30_000_000)
growing("TextGrid: a quote that never closes", _textgrid, lambda n: _tier(b"a", b'0 1 "' + b'""' * n, 1), small=20_000, large=30_000_000)
growing("TextGrid: intervals", _textgrid, lambda n: _tier(b"a", b'0 1 "b"\n' * n, n), small=5_000, large=8_000_000)
growing("TextGrid: speech", _textgrid, lambda n: _tier(b"speech: participant", b'0 1 "b"\n' * n, n), small=5_000, large=8_000_000)
growing("TextGrid: moments of speech", _textgrid, lambda n: _tier(b"speech: participant", b'1 1 "b"\n' * n, n), small=5_000, large=8_000_000)
growing("TextGrid: tiers", _textgrid, lambda n: HEAD + b"%d\n" % n + b'"IntervalTier" "a" 0 1 0\n' * n, small=3_000, large=5_000_000)
growing("TextGrid: a name of strokes", _textgrid, lambda n: _tier(b" / " * n, b'0 1 "b"\n', 1), small=2_000, large=10_000_000)
growing("TextGrid: a name of hashes", _textgrid, lambda n: _tier(b" #1" * n, b'0 1 "b"\n', 1), small=2_000, large=10_000_000)
growing("TextGrid: a label of equals", _textgrid, lambda n: _tier(b"a", b'0 1 "' + b"a = " * n + b'"', 1), small=2_000, large=10_000_000)
growing("TextGrid: a label of spaces", _textgrid, lambda n: _tier(b"a", b'0 1 "x' + b" " * n + b'y"', 1), small=2_000, large=10_000_000)
growing("TextGrid: items", _textgrid, lambda n: HEAD + b"item [" * n, small=10_000, large=10_000_000)
growing("TextGrid: items and spaces", _textgrid, lambda n: HEAD + b"item" + b" " * n + b"item", small=10_000, large=30_000_000)
growing("TextGrid: digits", _textgrid, lambda n: HEAD + b"1" * n, small=10_000, large=60_000_000)
growing("TextGrid: points", _textgrid, lambda n: HEAD + b"1." * n, small=10_000, large=30_000_000)

# --- EAF ------------------------------------------------------------------------------------------


_eaf = of_bytes("_eaf", "labapp.coding.exchange.eaf:read", "a.eaf")


def _document(tiers: bytes, slots: bytes = b"", attributes: bytes = b"") -> bytes:
    return (
        b"<ANNOTATION_DOCUMENT" + attributes + b'><HEADER TIME_UNITS="milliseconds"/><TIME_ORDER>'
        b'<TIME_SLOT TIME_SLOT_ID="a" TIME_VALUE="0"/><TIME_SLOT TIME_SLOT_ID="b" TIME_VALUE="9"/>'
        + slots + b"</TIME_ORDER>" + tiers + b"</ANNOTATION_DOCUMENT>"
    )  # fmt: skip


ROW = (
    b'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="x" TIME_SLOT_REF1="a" TIME_SLOT_REF2="b">'
    b"<ANNOTATION_VALUE>yes</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>"
)
for _name in ("codes", "speech: participant"):
    growing(
        f"EAF: annotations of {_name} at one place",
        _eaf,
        lambda n, name=_name: _document(b'<TIER TIER_ID="' + name.encode() + b'" LINGUISTIC_TYPE_REF="t">' + ROW * n + b"</TIER>"),
        small=2_000,
        large=1_000_000,
    )
    growing(
        f"EAF: annotations of {_name} without times",
        _eaf,
        lambda n, name=_name: _document(b'<TIER TIER_ID="' + name.encode() + b'" LINGUISTIC_TYPE_REF="t">' + ROW.replace(b'"a"', b'"c"') * n + b"</TIER>"),
        small=2_000,
        large=1_000_000,
    )
growing("EAF: tiers", _eaf, lambda n: _document(b'<TIER TIER_ID="t" LINGUISTIC_TYPE_REF="t"/>' * n), small=5_000, large=3_000_000)
growing("EAF: times", _eaf, lambda n: _document(b"", b"".join(b'<TIME_SLOT TIME_SLOT_ID="t%d" TIME_VALUE="%d"/>' % (i, i) for i in range(n))), small=5_000, large=3_000_000)
growing("EAF: attributes", _eaf, lambda n: _document(b"", attributes=b"".join(b' a%d=""' % i for i in range(n))), small=5_000, large=8_000_000)
growing("EAF: attributes in many", _eaf, lambda n: _document((b"<TIER" + b"".join(b' a%d=""' % i for i in range(100)) + b"/>") * (n // 100)), small=20_000, large=20_000_000)
growing("EAF: a long attribute", _eaf, lambda n: _document(b"", attributes=b' a="' + b"x" * n + b'"'), small=200_000, large=200_000_000)
growing("EAF: a long text", _eaf, lambda n: _document(b"x" * n), small=200_000, large=200_000_000)
growing("EAF: references", _eaf, lambda n: _document(b"&#65;" * n), small=50_000, large=40_000_000)
growing("EAF: a long space in many", _eaf, lambda n: _document(b"<a/>" * n, attributes=b' xmlns="' + b"x" * (10 * n) + b'"'), small=1_000, large=1_000_000)
growing("EAF: comments", _eaf, lambda n: _document(b"<!---->" * n), small=20_000, large=30_000_000)
growing("EAF: instructions", _eaf, lambda n: _document(b"<?a?>" * n), small=20_000, large=30_000_000)
growing("EAF: depth", _eaf, lambda n: _document(b"<a>" * n), small=1_000, large=10_000_000)
growing("EAF: media", _eaf, lambda n: _document(b"").replace(b"<HEADER ", b"<HEADER><P/></HEADER><HEADER ").replace(b"<P/>", b'<MEDIA_DESCRIPTOR MEDIA_URL="a.wav"/>' * n), small=5_000, large=3_000_000)

# --- QDPX, QDC ------------------------------------------------------------------------------------


_qdc = of_bytes("_qdc", "labapp.coding.exchange.refi:read", Path("codebook.yaml"))


def _qde(data: bytes) -> Any:
    from labapp.coding.exchange import qdpx_in
    from tests.helpers import refi

    return qdpx_in.read(refi.zipped({"project.qde": data}), "a.qdpx")


def _codes(n: int) -> bytes:
    return b"".join(
        b'<Code guid="%08x-0000-4000-8000-000000000000" name="c%d" isCodable="true"/>' % (i, i)
        for i in range(n)
    )


def _book(codes: bytes) -> bytes:
    return b'<CodeBook xmlns="urn:QDA-XML:codebook:1.0"><Codes>' + codes + b"</Codes></CodeBook>"


def _project(inner: bytes, attributes: bytes = b"") -> bytes:
    return b'<Project xmlns="urn:QDA-XML:project:1.0"' + attributes + b">" + inner + b"</Project>"


growing("qdc: codes", _qdc, lambda n: _book(_codes(n)), small=200, large=300_000)
growing("qdc: codes of one name", _qdc, lambda n: _book(b'<Code name="c" isCodable="true"/>' * n), small=200, large=300_000)
growing("qdc: names of a letter", _qdc, lambda n: _book(b'<Code name="\xc3\xa9" isCodable="true"/>' * n), small=200, large=300_000)
growing("qdc: a long description", _qdc, lambda n: _book(b'<Code name="c" isCodable="true"><Description>' + b"x: \n" * n + b"</Description></Code>"), small=5_000, large=7_000_000)
growing("qdc: a long name", _qdc, lambda n: _book(b'<Code name="' + b"x " * n + b'" isCodable="true"/>'), small=5_000, large=10_000_000)
growing("qdc: codes within codes", _qdc, lambda n: _book((b'<Code name="c" isCodable="true">' * 90 + b"</Code>" * 90) * (n // 90)), small=360, large=300_000)
growing("qde: codes", _qde, lambda n: _project(b"<CodeBook><Codes>" + _codes(n) + b"</Codes></CodeBook>"), small=1_000, large=500_000)
growing("qde: a long space", _qde, lambda n: _project(b'<a xmlns="' + b"y" * (20 * n) + b'">' + b"<b/>" * n + b"</a>"), small=500, large=50_000)
growing("qde: sources", _qde, lambda n: _project(b"<Sources>" + b"".join(b'<AudioSource guid="%08x-0000-4000-8000-000000000000" name="a%d.wav" path="internal://a.wav"/>' % (i, i) for i in range(n)) + b"</Sources>"), small=1_000, large=300_000)
growing("qde: selections", _qde, lambda n: _project(b"<CodeBook><Codes>" + _codes(1) + b'</Codes></CodeBook><Sources><AudioSource guid="00000009-0000-4000-8000-000000000000" name="a.wav" path="internal://a.wav">' + b'<AudioSelection begin="1" end="5" guid="00000008-0000-4000-8000-000000000000"><Coding><CodeRef targetGUID="00000000-0000-4000-8000-000000000000"/></Coding></AudioSelection>' * n + b"</AudioSource></Sources>"), small=1_000, large=200_000)
growing("qde: notes", _qde, lambda n: _project(b"<Notes>" + b'<Note guid="00000008-0000-4000-8000-000000000000" name="labapp"><PlainTextContent>{"labapp": 1}</PlainTextContent></Note>' * n + b"</Notes>"), small=1_000, large=300_000)

# --- tables ---------------------------------------------------------------------------------------


_csv = of_bytes("_csv", "labapp.coding.exchange.tables:read_csv", "a.csv")
_map = of_path("_map", "labapp.coding.exchange.incoming:read_translation", "map.csv")


def _agree(data: bytes) -> Any:
    from labapp.coding.agreement.coefficients import agree, read_table

    with placed("a.csv", data) as path:
        return agree(read_table(path), "alpha", "nominal")


def _metrics(data: bytes) -> Any:
    from labapp.models.metrics.evaluation.scores import read

    with placed("codes.csv", data) as path:
        return read(path, "c")


MARKS = b"onset_s,offset_s,tier,code,memo,text\n"
growing("csv: rows", _csv, lambda n: MARKS + b"1,2,a,b,,\n" * n, small=5_000, large=10_000_000)
growing("csv: rows without times", _csv, lambda n: MARKS + b"x,2,a,b,,\n" * n, small=5_000, large=10_000_000)
growing("csv: columns", _csv, lambda n: MARKS.strip() + b",c" * n + b"\n1,2,a,b,,\n", small=5_000, large=50_000_000)
growing("csv: cells", _csv, lambda n: MARKS + b"1,2,a,b,,," + b"," * n, small=20_000, large=100_000_000)
growing("csv: an open quote", _csv, lambda n: MARKS + b'1,2,a,"' + b"\n" * n, small=20_000, large=100_000_000)
growing("csv: a code of equals", _csv, lambda n: MARKS + b'1,2,a,"' + b"a = " * n + b'"\n', small=2_000, large=30_000)
growing("csv: a tier of strokes", _csv, lambda n: MARKS + b'1,2,"' + b" / " * n + b'",a\n', small=2_000, large=40_000)
growing("csv: a time of digits", _csv, lambda n: MARKS + b"1" * n + b",2,a,b\n", small=5_000, large=100_000)
growing("csv: empty lines", _csv, lambda n: MARKS + b"\n" * n, small=50_000, large=200_000_000)
growing("map: rows", _map, lambda n: b"tier,code,to_tier,to_code\n" + b"".join(b"t%d,,a,b\n" % i for i in range(n)), small=5_000, large=400_000)
growing("ratings: units", _agree, lambda n: b"unit,a,b\n" + b"".join(b"u%d,1,2\n" % i for i in range(n)), small=2_000, large=2_500_000)
growing("ratings: values", _agree, lambda n: b"unit,a,b\n" + b"".join(b"u%d,x%d,y%d\n" % (i, i, i) for i in range(n)), small=200, large=1_500_000)
growing("ratings: raters", _agree, lambda n: b"unit," + b",".join(b"r%d" % i for i in range(n)) + b"\n" + b"u," + b",".join([b"1"] * n) + b"\n", small=1_000, large=4_000_000)
growing("codes to measure: rows", _metrics, lambda n: b"a,b\n" + b"1,2\n" * n, small=5_000, large=10_000_000)
growing("codes to measure: columns", _metrics, lambda n: b",".join(b"c%d" % i for i in range(n)) + b"\n" + b",".join([b"1"] * n), small=5_000, large=10_000_000)

# --- documents in YAML ----------------------------------------------------------------------------


_codebook = of_path("_codebook", "labapp.coding.annotations.codebook:read", "codebook.yaml")
_study = of_path("_study", "labapp.study.loading:load", "mine.yaml")
_checked = of_path("_checked", "labapp.study.examining:examine", "mine.yaml")


def _instrument(data: bytes) -> Any:
    from labapp.study.instruments import Instrument

    return Instrument.parse(Path("mine.yaml"), data, "en")


BOOK = b"codebook: a\nversion: 1\ntiers: {t: {}}\n"
growing("codebook: codes", _codebook, lambda n: BOOK + b"codes:\n" + b"".join(b"- {id: c%d, tier: t, name: n}\n" % i for i in range(n)), small=100, large=8_000)
growing("codebook: codes that are wrong", _codebook, lambda n: BOOK + b"codes:\n" + b"".join(b"- {id: c%d, x: 1}\n" % i for i in range(n)), small=100, large=12_000)
growing("codebook: one code again", _codebook, lambda n: BOOK + b"codes:\n" + b"- {id: c, tier: t, name: n}\n" * n, small=100, large=9_000)
growing("codebook: codes of no tier", _codebook, lambda n: BOOK + b"codes:\n" + b"- {id: c, tier: u, name: n}\n" * n, small=100, large=9_000)
growing("codebook: parents", _codebook, lambda n: BOOK + b"codes:\n" + b"".join(b"- {id: c%d, tier: t, name: n, parent: c%d}\n" % (i, (i + 1) % n) for i in range(n)), small=100, large=5_000)
growing("codebook: tiers", _codebook, lambda n: b"codebook: a\nversion: 1\ncodes: [{id: a, tier: t0, name: n}]\ntiers:\n" + b"".join(b" t%d: {}\n" % i for i in range(n)), small=100, large=20_000)
growing("codebook: renamed", _codebook, lambda n: BOOK + b"codes: [{id: z, tier: t, name: n}]\nrenamed:\n" + b"".join(b" c%d: c%d\n" % (i, i + 1) for i in range(n)), small=100, large=15_000)
growing("codebook: split", _codebook, lambda n: BOOK + b"codes: [{id: z, tier: t, name: n}]\nsplit:\n" + b"".join(b" c%d: [c%d, c%d]\n" % (i, i + 1, i // 2) for i in range(n)), small=100, large=10_000)
growing("codebook: values", _codebook, lambda n: b"codebook: a\nversion: 1\ncodes: [{id: a, tier: t, name: n}]\ntiers: {t: {values: [" + b"1," * n + b"]}}\n", small=500, large=120_000)
for _name, _read in (("study", _study), ("checked study", _checked), ("questionnaire", _instrument)):
    growing(f"{_name}: unknown keys", _read, lambda n: b"".join(b"k%d: 1\n" % i for i in range(n)), small=200, large=25_000)
    growing(f"{_name}: a list", _read, lambda n: b"flow: [" + b"1," * n + b"]\n", small=500, large=120_000)
    growing(f"{_name}: items of a list", _read, lambda n: b"items: [" + b"{a: b}," * n + b"]\nflow: [" + b"{a: b}," * n + b"]\n", small=100, large=15_000)
    growing(f"{_name}: a long text", _read, lambda n: b"id: " + b"x" * n + b"\n", small=5_000, large=250_000)
    growing(f"{_name}: anchors", _read, lambda n: b"a: &a [1]\n" + b"b: &b [2]\n" * n, small=500, large=25_000)
    growing(f"{_name}: conditions", _read, lambda n: b"conditions: {" + b"".join(b"c%d: [a, b], " % i for i in range(n)) + b"}\n", small=100, large=14_000)

# --- manifests of stimulus sets --------------------------------------------------------------------


def _manifest(data: bytes) -> Any:
    from labapp.models.stimuli import library

    with placed("manifest.json", data) as path:
        return library.load(path.parent)


def _photos(data: bytes) -> Any:
    """As `labapp stimuli check` reads it."""
    from labapp.models.stimuli import sources
    from labapp.models.stimuli.sources import readable

    with placed("manifest.json", data) as path:
        return readable(sources.read(path.parent))


for _name, _read in (("manifest", _manifest), ("checked manifest", _photos)):
    growing(f"{_name}: photos of nothing", _read, lambda n: b'{"photos": [' + b"{}," * n + b"{}]}", small=2_000, large=990_000)
    growing(f"{_name}: photos that are numbers", _read, lambda n: b'{"photos": [' + b"1," * n + b"1]}", small=5_000, large=1_900_000)
    growing(f"{_name}: photos that are right", _read, lambda n: b'{"photos": [' + b",".join(b'{"id": "p%d", "photo": "a.png", "truth": "a", "prediction": "a"}' % i for i in range(n)) + b"]}", small=500, large=210_000)
    growing(f"{_name}: rows of a photo", _read, lambda n: b'{"photos": [{"rows": [' + b"{}," * n + b"{}]}]}", small=2_000, large=990_000)
    growing(f"{_name}: scores that are texts", _read, lambda n: b'{"photos": [{"logits": [' + b'"a",' * n + b"1]}]}", small=5_000, large=1_900_000)
    growing(f"{_name}: unknown keys", _read, lambda n: b"{" + b",".join(b'"k%d": 1' % i for i in range(n)) + b"}", small=100, large=990)
    growing(f"{_name}: lists in lists", _read, lambda n: b'{"photos": ' + b"[" * n + b"]" * n + b"}", small=500, large=60)

# --- annotations and journals ---------------------------------------------------------------------


def _lines(data: bytes) -> Any:
    from labapp.coding.annotations.ledger import parse, require_whole

    return require_whole(parse(data), "a.jsonl")


def _received(data: bytes) -> Any:
    from labapp.coding.annotations.packs import receive

    with placed("ben.jsonl", data) as path:
        return receive(path.parent, path)


growing("annotations: lines of nothing", _lines, lambda n: b"\n" * n, small=5_000, large=30_000_000)
growing("annotations: lines of braces", _received, lambda n: b"{}\n" * n, small=5_000, large=20_000_000)
growing("annotations: a long line", _received, lambda n: b'{"a": "' + b"x" * n, small=200_000, large=60_000_000)
growing("annotations: many values", _received, lambda n: b"[" + b"1," * n + b"1]", small=50_000, large=30_000_000)


# fmt: on
# --- the measurement ------------------------------------------------------------------------------

MOST_S, MOST_MB = 20.0, 500
RATIO = 2.9
"""Twice the input takes twice the time, and somewhat more where memory is new."""
SLACK_S = 0.02
"""Of the clock, and of what else the machine does."""


def measure(name: str, sizes: list[int]) -> list[dict[str, Any]]:
    """What a reader does of each size: seconds of computing, what it ended in, and the memory that
    it took beyond the input, in MB."""
    case = GROWING[name]
    rows = []
    with suppress(LabappError):
        case.read(case.make(1))  # what is loaded once
    for n in sizes:
        data = case.make(n)
        _reset_peak()
        base, began = _peak_mb(), time.process_time()
        ended = "read"
        try:
            case.read(data)
        except LabappError as error:
            ended = f"told: {error.what[:200]}"
        except BaseException as error:  # noqa: BLE001  (whatever it is, it is to be told here)
            ended = f"traceback: {type(error).__name__}: {error}"[:200]
        seconds = round(time.process_time() - began, 4)
        mb = _peak_mb() - base
        row = {"n": n, "bytes": len(data), "s": seconds, "mb": mb, "ended": ended}
        rows.append(row)
    return rows


def superlinear(name: str, again: int = 3) -> str:
    """Which step of n, 2n, 4n takes more than it should, in words; empty where none does. A step is
    measured again where it does, for another program may have had the memory."""
    small = GROWING[name].small
    for _ in range(again):
        times = [row["s"] for row in measure(name, [small, 2 * small, 4 * small])]
        steps = pairwise(times)
        if all(after <= RATIO * before + SLACK_S for before, after in steps):
            return ""
    return f"{name}: {times} s at n, 2n and 4n"


def _reset_peak() -> None:
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        clear.write_text("5")


def _peak_mb() -> int:
    status = Path("/proc/self/status")
    if not status.is_file():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) // 1024


ROOT = Path(__file__).resolve().parents[2]


def _limits() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def apart(name: str, sizes: list[int]) -> list[dict[str, Any]]:
    """`measure` in a process of its own, of bounded memory and time."""
    command = [sys.executable, "-m", "tests.hostile.growing", "--measure", name, *map(str, sizes)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        preexec_fn=_limits,
        check=False,
    )
    if done.returncode:
        why = f"died ({done.returncode}): {done.stderr.strip().rpartition(chr(10))[2][:200]}"
        return [{"n": sizes[-1], "bytes": 0, "s": 60.0, "mb": 0, "ended": why}]
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names; default: all")
    parser.add_argument("--measure", nargs="+", metavar="NAME SIZE", help=argparse.SUPPRESS)
    parser.add_argument("--large", action="store_true", help="of the largest file alone")
    asked = parser.parse_args()
    if asked.measure:
        name, *sizes = asked.measure
        print(json.dumps(measure(name, [int(size) for size in sizes])))
        return 0
    wrong = 0
    for name, case in GROWING.items():
        if asked.names and not any(part in name for part in asked.names):
            continue
        n = case.small
        rows = apart(name, [case.largest] if asked.large else [n, 2 * n, 4 * n])
        worst = max(row["mb"] for row in rows)
        bad = worst > MOST_MB or any(
            row["s"] > MOST_S or not row["ended"].startswith(("read", "told")) for row in rows
        )
        wrong += bad
        times = " ".join(f"{row['s'] * 1000:9.1f}" for row in rows)
        mark = "!" if bad else " "
        print(f"{mark} {name:50} {times} ms {worst:5} MB  {rows[-1]['ended'][:80]!r}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
