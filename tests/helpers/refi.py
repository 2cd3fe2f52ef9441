"""Projects of REFI-QDA: read apart, changed, and made as other tools make them."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from lxml import etree

from labapp.coding.exchange import qdpx
from labapp.coding.exchange.model import Annotation, Utterance
from tests.helpers.exchanged import SECOND, sheet_with

SPACE = "{urn:QDA-XML:project:1.0}"
SCHEMA = Path(__file__).parents[1] / "coding" / "exchange" / "Project.xsd"


def parts(path: Path) -> dict[str, bytes]:
    """Every file of a project by its name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(files: Mapping[str, bytes]) -> bytes:
    """These files as an archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def changed(path: Path, change: Callable[[etree._Element], None], **texts: bytes) -> Path:
    """A copy of a project in which something else stands."""
    files = parts(path)
    root = etree.fromstring(files["project.qde"])
    change(root)
    files["project.qde"] = etree.tostring(root, xml_declaration=True, encoding="UTF-8")
    copy = path.with_name(f"changed-{path.name}")
    copy.write_bytes(zipped({**files, **texts}))
    return copy


def mistakes(project: bytes) -> list[str]:
    """What the schema says is wrong with a project's file."""
    schema = etree.XMLSchema(etree.parse(str(SCHEMA)))
    schema.validate(etree.fromstring(project))
    return [str(error) for error in schema.error_log]


GUID = "{:08x}-0000-4000-8000-000000000000"
USER, SECOND_USER = GUID.format(1), GUID.format(2)
_BY = f'creatingUser="{USER}" creationDateTime="2024-09-15T15:36:45Z"'
WORDS = "Interviewer\r\nso what is it\r\nwell 🙂 the first dial\r\n"


def _selection(kind: str, number: int, ends: str, code: int, more: str = "") -> str:
    return (
        f'<{kind} guid="{GUID.format(number)}" {ends} {_BY}>{more}<Coding '
        f'guid="{GUID.format(number + 500)}" {_BY}><CodeRef targetGUID="{GUID.format(code)}"/>'
        f"</Coding></{kind}>"
    )


def of_another_tool(media: str = "segment-01.wav") -> dict[str, bytes]:
    """A project shaped as NVivo 15 writes it: one line, attributes in its order, nested codes with
    names that are there twice, a transcript with times, text sources, a memo, a second user."""
    sync = "".join(
        f'<SyncPoint guid="{GUID.format(300 + n)}" timeStamp="{at}" position="{position}"/>'
        for n, (at, position) in enumerate(((0, 0), (2000, 13), (6000, 28), (9500, 52)))
    )
    project = (
        '<?xml version="1.0" encoding="UTF-8" standalone="no" ?><Project basePath="" '
        f'creatingUserGUID="{USER}" creationDateTime="2024-09-15T15:36:45Z" '
        f'modifiedDateTime="2024-09-15T15:36:51Z" modifyingUserGUID="{USER}" name="study" '
        'origin="NVivo 15.0.0" xmlns="urn:QDA-XML:project:1.0" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        'xsi:schemaLocation="urn:QDA-XML:project:1.0 Project.xsd"><Users>'
        f'<User guid="{USER}" id="AS" name="anna"/><User guid="{SECOND_USER}" id="B" name="ben"/>'
        "</Users><CodeBook><Codes>"
        f'<Code guid="{GUID.format(10)}" isCodable="true" name="strategy">'
        f'<Code guid="{GUID.format(11)}" isCodable="true" name="Exploring">'
        f'<Code guid="{GUID.format(12)}" isCodable="true" name="random" color="#abc"/></Code>'
        f'<Code guid="{GUID.format(13)}" isCodable="true" name="other"/></Code>'
        f'<Code guid="{GUID.format(20)}" isCodable="true" name="affect">'
        f'<Code guid="{GUID.format(21)}" isCodable="true" name="Uncertain" color="#B35900">'
        "<Description>Says that it is unclear.</Description></Code>"
        f'<Code guid="{GUID.format(22)}" isCodable="true" name="Insight"/>'
        f'<Code guid="{GUID.format(23)}" isCodable="true" name="other"/></Code>'
        f'<Code guid="{GUID.format(30)}" isCodable="true" name="Insight of its own"/>'
        "</Codes></CodeBook>"
        f'<Variables><Variable guid="{GUID.format(40)}" name="age" typeOfVariable="Integer">'
        "<Description/></Variable></Variables>"
        f'<Cases><Case guid="{GUID.format(41)}" name="Anna"><VariableValue>'
        f'<VariableRef targetGUID="{GUID.format(40)}"/><IntegerValue>30</IntegerValue>'
        "</VariableValue></Case></Cases><Sources>"
        f'<AudioSource guid="{GUID.format(50)}" name="{media}" path="internal://{GUID.format(50)}'
        f'.wav" {_BY} modifiedDateTime="2024-09-15T15:36:51Z"><Transcript guid="{GUID.format(51)}" '
        f'plainTextPath="internal://{GUID.format(51)}.txt" {_BY}>{sync}'
        + _selection(
            "TranscriptSelection", 60,
            f'fromSyncPoint="{GUID.format(301)}" toSyncPoint="{GUID.format(302)}"', 21,
        )
        + "</Transcript>"
        + _selection("AudioSelection", 61, 'begin="2000" end="6000"', 21)
        + _selection(
            "AudioSelection", 62, 'begin="10250" end="14000"', 21, "<Description>why?</Description>"
        )
        + _selection("AudioSelection", 63, 'begin="15000" end="15000"', 22)
        + _selection("AudioSelection", 64, 'begin="20000" end="21000"', 23)
        + "</AudioSource>"
        f'<TextSource guid="{GUID.format(70)}" name="notes" '
        f'richTextPath="internal://{GUID.format(70)}.docx" '
        f'plainTextPath="internal://{GUID.format(70)}.txt" {_BY}>'
        + _selection("PlainTextSelection", 71, 'startPosition="0" endPosition="11"', 13)
        + "</TextSource></Sources><Notes>"
        f'<Note guid="{GUID.format(80)}" name="memo" plainTextPath="internal://{GUID.format(80)}'
        f'.txt" {_BY}/></Notes></Project>'
    )  # fmt: skip
    return {
        "project.qde": project.encode(),
        "sources/.root": b"",
        f"sources/{GUID.format(50)}.wav": b"RIFF",
        f"sources/{GUID.format(51)}.txt": b"\xef\xbb\xbf" + WORDS.encode(),
        f"sources/{GUID.format(70)}.txt": b"some notes on it",
        f"sources/{GUID.format(70)}.docx": b"PK",
        f"sources/{GUID.format(80)}.txt": b"a memo",
    }


# --- what hostile bytes are made of ---------------------------------------------------------------

CODEBOOK = (
    b'<CodeBook xmlns="urn:QDA-XML:codebook:1.0"><Codes><Code guid="1" name="a" isCodable="true" '
    b'color="#abc"><Description>Not: b</Description><Code guid="2" name="a = 3"/></Code></Codes>'
    b"</CodeBook>"
)


@cache
def ours() -> dict[str, bytes]:
    """The files of a project that went out from here, without its sound."""
    said = Utterance("u1", SECOND, 3 * SECOND, "participant", "a <b> 🙂")
    given = Annotation("m1", "surety", "sure", SECOND, 3 * SECOND, "u1", value=3, memo="so")
    with tempfile.TemporaryDirectory() as folder:
        qdpx.write([sheet_with((said,), (given,))], Path(folder) / "a.qdpx")
        files = parts(Path(folder) / "a.qdpx")
    return {name: content for name, content in files.items() if not name.endswith(".wav")}


def both() -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The files of one of ours and of one of another tool."""
    return ours(), of_another_tool()


def packed_ours() -> bytes:
    """Ours as an archive."""
    return zipped(ours())


def noted() -> tuple[str, bytes]:
    """The note that says what went out: the name of its file, and the file."""
    return next((name, text) for name, text in ours().items() if b'"labapp": 1' in text)
