"""The consent form as a PDF: blank, to print or to hand out, or as a participant signed it.

A field in which the participant draws their signature, with mouse, pen or finger.
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QPointF, QRectF, Qt, QUrl, Signal
from PySide6.QtGui import (
    QFont,
    QImage,
    QMouseEvent,
    QPageLayout,
    QPageSize,
    QPainterPath,
    QPaintEvent,
    QPdfWriter,
    QTextCursor,
    QTextDocument,
)

from labapp.base import durable, leftovers
from labapp.base.errors import DataFolderError, SessionError, StudyError, TargetExists
from labapp.coding.annotations.redacting import note_handed_out
from labapp.record.events.lifecycle import Agreement
from labapp.record.events.registry import kinds_of
from labapp.record.journal.layout import refuse_inside
from labapp.record.journal.opening import open_record
from labapp.record.journal.read import payloads
from labapp.session import private, resuming
from labapp.study import media
from labapp.study.consent import ConsentForm
from labapp.study.flow import items_of
from labapp.study.loading import LoadedStudy, describe_file, in_language
from labapp.study.plugins import registry, texts
from labapp.ui import theme
from labapp.ui.participant.view import announce_interview
from labapp.ui.strings import Strings, strings_of
from labapp.ui.theme import LIGHT
from labapp.ui.widgets import markdown
from labapp.ui.widgets.controls import Picture
from labapp.ui.widgets.painting import brush, color, equip, pen, smooth, write_with
from labapp.ui.widgets.study_picture import scaled, size_of

HEIGHT = 112
LEAST_LENGTH = 0.15
"""Of the field's width: a shorter line is a slip of the hand, no signature."""
STROKE = 2.0

Stroke = list[tuple[float, float]]


def path_of(strokes: list[Stroke], width: float) -> QPainterPath:
    """The strokes as a path, for a field `width` wide."""
    path = QPainterPath()
    for stroke in strokes:
        x, y = stroke[0]
        path.moveTo(x * width, y * width)
        # A point alone is a dot: a line to where it stands.
        for x, y in stroke[1:] or stroke:
            path.lineTo(x * width, y * width)
    return path


def strokes_of(drawing: str) -> list[Stroke]:
    """The strokes of a drawing as `SignatureField.drawing` gives it."""
    return [[(float(x), float(y)) for x, y in stroke] for stroke in json.loads(drawing or "[]")]


class SignatureField(Picture):
    """Points are in widths of the field, so that a drawing has the same shape at any size.

    altered: something was drawn or cleared.
    """

    altered = Signal()

    def __init__(self, hint: str, palette: theme.Palette) -> None:
        super().__init__()
        self._colors = palette
        self._hint = hint
        self._strokes: list[Stroke] = []
        self.setAccessibleName(hint)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setFixedHeight(HEIGHT)

    @property
    def signed(self) -> bool:
        """Whether enough was drawn to be a signature."""
        length = 0.0
        for stroke in self._strokes:
            for (x0, y0), (x1, y1) in pairwise(stroke):
                length += ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        return length >= LEAST_LENGTH

    @property
    def drawing(self) -> str:
        """The strokes as JSON; empty if there is no signature."""
        if not self.signed:
            return ""
        rounded = [[[round(x, 4), round(y, 4)] for x, y in stroke] for stroke in self._strokes]
        return json.dumps(rounded, separators=(",", ":"))

    def clear(self) -> None:
        self._strokes = []
        self.update()
        self.altered.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._strokes.append([self._point(event)])
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and self._strokes:
            self._strokes[-1].append(self._point(event))
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.altered.emit()

    def _point(self, event: QMouseEvent) -> tuple[float, float]:
        place, width = event.position(), max(1, self.width())
        x = min(max(place.x(), 0.0), width)
        y = min(max(place.y(), 0.0), float(self.height()))
        return x / width, y / width

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        painter = smooth(self)
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        equip(painter, pen(p.hairline, 1.0), brush(p.card))
        painter.drawRoundedRect(frame, theme.RADIUS, theme.RADIUS)
        line = self.height() * 0.75
        painter.drawLine(QPointF(theme.SPACE_L, line), QPointF(self.width() - theme.SPACE_L, line))
        if self._strokes:
            ink = pen(p.ink, STROKE)
            ink.setCapStyle(Qt.PenCapStyle.RoundCap)
            ink.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
            equip(painter, ink, Qt.BrushStyle.NoBrush)
            painter.drawPath(path_of(self._strokes, self.width()))
        else:
            write_with(painter, color(p.secondary))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._hint)


MARGIN_MM = 6.0
"""Besides the two centimetres that Qt leaves around the text."""
POINTS = 11
DRAWING = (900, 300)
"""Pixels of a drawn signature's picture, which is printed a third as large."""
MOST_WIDE = 480
"""Logical pixels across a picture of the text: it fits on the page."""
LINE = "_" * 42
TICKED, UNTICKED = "☑", "☐"


@dataclass(frozen=True)
class Signed:
    """Who agreed, when and to what.

    participant, session: the labels under which the data are kept. drawing: the signature, see
    `labapp.session.private.Consent`; like the typed name, empty if there is none. uses: whether
    the participant agreed to each use that was asked one by one. interview, sound: whether the
    session had an interview, and whether it recorded sound.
    """

    participant: str
    session: str
    utc: str
    name: str = ""
    drawing: str = ""
    uses: Mapping[str, bool] = field(default_factory=dict)
    interview: bool = False
    sound: bool = False


def form_of(loaded: LoadedStudy) -> ConsentForm:
    """The consent form of a study. Raises StudyError if it has none."""
    for item in loaded.study.flow:
        if (form := item.consent_form()) is not None:
            return form
    raise StudyError(
        f"The study {loaded.study.id!r} does not ask for consent, so it has no form.",
        todo="Put `consent: TEXT` first in the study's flow.",
    )


def write_blank(out: Path, loaded: LoadedStudy) -> None:
    """Write a study's form with lines to fill in by hand. Raises StudyError,
    TargetExists, DataFolderError."""
    _write(out, loaded, None)


def write_signed(out: Path, session: Path, private_root: Path) -> None:
    """Write the form as the participant of a session signed it.

    The text is the one of the session's own copy of its study; the name or signature comes from
    the private folder. Raises SessionError if no consent was given, or if the name is not in
    the private folder of this user, TargetExists, and DataFolderError where it cannot be written.
    """
    _refuse_existing(out)
    record = open_record(session)
    planned = record.planned
    given_kinds = kinds_of(Agreement)
    consents = list(payloads(row for row in record.rows if row.kind in given_kinds))
    if not consents:
        raise SessionError(
            f"No consent was given in {record.name}.",
            todo="For a blank form: labapp studies consent STUDY --out FILE.pdf",
        )
    event, given = consents[-1]
    assert isinstance(given, Agreement)
    name = drawing = ""
    if given.signed != "click":
        book = private.book_of(planned.study, pilot=planned.pilot)
        signature = _signature(private_root, book, planned.participant, planned.session)
        name, drawing = signature.name, signature.drawing
    signed = Signed(
        planned.participant,
        planned.session,
        event.utc,
        name,
        drawing,
        given.uses,
        interview=any(registry.part_class(part["part"]).talks for part in planned.plan),
        sound=planned.audio == "on",
    )
    refuse_inside(out)
    session = session.absolute()
    note_handed_out(session.parent, "signed consent", out, [session.name])
    _write(out, resuming.load_recorded_study(session, planned), signed, session)


def _signature(root: Path, study: str, participant: str, session: str) -> private.Consent:
    for consent in reversed(private.consents(root, study)):
        if (consent.participant, consent.session) == (participant, session):
            return consent
    raise SessionError(
        f"The private folder {root} contains no signature of {participant}, session {session}.",
        todo="Give the private folder that was used in the session (--private), or log in as "
        "the user who ran it.",
    )


def _refuse_existing(out: Path) -> None:
    if out.exists():
        raise TargetExists(
            f"{out} already exists.",
            safe="It was not touched.",
            todo="Choose another name or folder.",
        )


def _write(out: Path, loaded: LoadedStudy, signed: Signed | None, *sessions: Path) -> None:
    _refuse_existing(out)
    form = form_of(loaded)
    words = strings_of(loaded, begun=signed is not None)
    document = QTextDocument()
    document.setDefaultFont(QFont(document.defaultFont().family(), POINTS))
    text = media.name_sounds(text_of(loaded, signed, words))
    markdown.read(document, text)
    image = QTextDocument.ResourceType.ImageResource.value
    for name in filter(media.is_file, texts.picture_names(text)):
        content = loaded.files[name]
        width = size_of(content, None, MOST_WIDE).width()
        document.addResource(image, QUrl(name), scaled(content, width, 1.0))
    cursor = QTextCursor(document)
    cursor.movePosition(QTextCursor.MoveOperation.End)
    cursor.insertBlock()
    if signed is not None and signed.drawing:
        document.addResource(image, QUrl("signature"), _picture(signed))
    cursor.insertHtml(_bottom(loaded, form, words, signed))
    content = _pdf(document, loaded.study.title)
    try:
        with leftovers.on_its_way(sessions, out) as (draft,):
            # Only people who may read the private folder may read this.
            handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            durable.take_name(draft, out)
    except OSError as error:
        raise DataFolderError(
            f"{out} could not be written ({error.strerror}).",
            todo="Free some space, or choose another name or folder.",
        ) from error


def text_of(loaded: LoadedStudy, signed: Signed | None, words: Strings) -> str:
    """The text of the form as Markdown, with what it says by itself behind it."""
    form = form_of(loaded)
    if signed is None:
        interview = any(item.talks for item in items_of(loaded.study.flow))
        sound = loaded.study.recording.audio != "off"
    else:
        interview, sound = signed.interview, signed.sound
    behind = announce_interview(words, form.items, interview=interview, sound=sound)
    return "\n\n".join([*texts.pages(loaded.text(form.text)), *behind])


def _bottom(loaded: LoadedStudy, form: ConsentForm, words: Strings, signed: Signed | None) -> str:
    ticks = [(words("consent_agree"), signed is not None)]
    for use, asked in form.items.items():
        agreed = signed is not None and signed.uses.get(use, False)
        ticks.append((words(f"consent_use_{use}_{asked}"), agreed))
    lines = [f"{TICKED if on else UNTICKED} {html.escape(text)}" for text, on in ticks]
    rows = [("consent_study", loaded.study.title)]
    if signed is None:
        if form.sign != "click":
            rows += [("consent_name", LINE), ("consent_signature", LINE)]
        rows.append(("consent_date", LINE))
    else:
        rows.append(("consent_participant", f"{signed.participant} ({signed.session})"))
        if signed.name:
            rows.append(("consent_name", signed.name))
        rows.append(("consent_date", f"{signed.utc[:19].replace('T', ' ')} UTC"))
    # The file that the text is from, and its hash, so that a form can be told from another.
    name = in_language(form.text, loaded.study.language)
    digest = sha256(loaded.files[name]).hexdigest()
    rows.append(("consent_document", f"{describe_file(loaded, name)}, SHA-256 {digest}"))
    table = "".join(
        f"<tr><td><b>{html.escape(words(key))}</b>&nbsp;&nbsp;</td><td>{html.escape(text)}</td></tr>"
        for key, text in rows
    )
    drawn = ""
    if signed is not None and signed.drawing:
        width, height = (side // 3 for side in DRAWING)
        drawn = f'<p><img src="signature" width="{width}" height="{height}"></p>'
    ticked = f"<p>&nbsp;</p><p>{'<br>'.join(lines)}</p><p>&nbsp;</p>"
    return f"{ticked}<table cellpadding=4>{table}</table>{drawn}"


def _picture(signed: Signed) -> QImage:
    width, height = DRAWING
    picture = QImage(width, height, QImage.Format.Format_ARGB32)
    picture.fill(0xFFFFFFFF)
    painter = smooth(picture)
    painter.setPen(pen(LIGHT.ink, 5.0))
    painter.drawPath(path_of(strokes_of(signed.drawing), width))
    painter.setPen(pen(LIGHT.hairline, 2.0))
    painter.drawRect(0, 0, width - 1, height - 1)
    painter.end()
    return picture


def _pdf(document: QTextDocument, title: str) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setTitle(title)
    writer.setCreator("labapp")
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    writer.setPageMargins(QMarginsF(*[MARGIN_MM] * 4), QPageLayout.Unit.Millimeter)
    document.print_(writer)
    del writer  # the file is whole only then
    return bytes(buffer.data().data())
