"""Coding in the replay window: what the window has is put together with what a coding has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer
from PySide6.QtWidgets import QFrame

from labapp.analysis.inclusion import variables
from labapp.base.errors import DataFolderError, LabappError
from labapp.base.parallel.processes import gc_paused
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.model import Mark
from labapp.coding.annotations.redacting import RedactionReport
from labapp.session.replay.lanes import blind_lanes
from labapp.ui import theme, timers
from labapp.ui.language import counted, hide_names, tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.wording import format_time
from labapp.ui.remembered import read_choices, write_choices
from labapp.ui.replay.codebook_editor import CodebookEditor
from labapp.ui.replay.coding import Coding
from labapp.ui.replay.coding_desk import CodingDesk
from labapp.ui.replay.coding_files import CodingFiles
from labapp.ui.replay.coding_state import MOST_REACTION_MS, CodingRequest, Settings, code_name
from labapp.ui.replay.controller import OpenedSession, open_session
from labapp.ui.replay.exchange_panel import Bench, ExchangePanel, ExchangeWork, taker_of
from labapp.ui.replay.palette import MOST_BAND_ROWS, MOST_LOW_ROWS
from labapp.ui.replay.timeline_rows import CodeItem, CodeLane
from labapp.ui.replay.window import HIGH, PICTURE_SHARE, SIDE_SHARE, ReplayWindow, end_with

SETTINGS = "coding-window.json"
VIEW_NS = 60 * 1_000_000_000
"""So much of the session the timeline shows at first: single units can be told apart."""
CARD_PX = 44
"""Of a card with a heading, besides what it holds."""
LEAST_PX, UNITS_PX = 52, 120
"""Of the list of units: so high in the smallest window; so high wherever the timeline can give
way."""
Place = Literal["beside", "below", "across"]
"""Where the codes are: beside the text, below it, below text and picture."""
TELLING = {"model", "models", "method", "methods", "classifier", "stimuli", "levels"}
"""Keys of a plan whose values say what a participant was given."""
SOON_MS = 15
"""The timeline is drawn behind list and palette, which answer the key; several keys at once draw it
once."""


class CodingWindow(QObject):
    """A replay window in which a session is coded; `desk` has its list, palette and keys."""

    def __init__(self, window: ReplayWindow, coding: Coding) -> None:
        super().__init__(window)
        self.window, self.coding = window, coding
        self.desk = CodingDesk(coding, window.palette_, self, window.keys.key_text)
        self.panel = ExchangePanel(window.palette_, window)
        self.editor: CodebookEditor | None = None
        self.exchange = ExchangeWork(self.panel, self._bench, taker_of(coding), self)
        self._lanes = CodingLanes(coding)
        self._late = timers.once(self, self._show_marks, SOON_MS)
        self._place()
        self._connect()
        self._veil()
        self._viewed = False
        self._show_view()
        self._show_units()
        self._show_marks()
        coding.set_transport(window.controller)
        coding.follow_codebook()
        if coding.units and not coding.files.segmentation.speakers_said:
            window.add_notice(tr("coding.all_participant", key=window.keys.key_text("speaker")))

    def _show_view(self) -> None:
        """Show so much of the timeline that units can be told apart, from the current one on."""
        current = self.coding.current
        at = self.window.session.history.begin_ns if current is None else current.t0_ns
        self.window.timeline.show_stretch(at - VIEW_NS / 4, at + 3 * VIEW_NS / 4)

    def _place(self) -> None:
        window, desk = self.window, self.desk
        before = window.side.set_text(tr("coding.said"), desk.said)
        before.deleteLater()
        self._codes_are: Place | None = None
        self._band = QFrame()
        self._banded = bits.column(self._band, 0)
        self._arrange()
        window.rows.installEventFilter(self)
        desk.palette.rows.arranged.connect(self._soon)
        window.header.add(desk.bar)
        router = window.router
        leave = window.leave
        router.commands |= desk.commands() | {
            "exchange": self._show_exchange,
            "codebook": self._edit_codebook,
        }
        window.sheet.set_coding(True)
        router.commands["leave"] = lambda: self._leave_exchange() or desk.leave() or leave()
        router.coding = True
        router.unclaimed = desk.unclaimed
        key = window.keys.key_text
        window.transport.set_hint(
            tr(
                "coding.keys",
                unit=f"{key('previous_unit')} {key('next_unit')}",
                again=key("repeat_unit"),
                find=key("find_code"),
                undo=key("undo"),
                words=key("edit_text"),
            )
        )

    def _bench(self) -> Bench:
        request, session = self.coding.request, self.coding.files.session
        return Bench(session, request.rater, self.coding.codebook.id, request.round)

    def _edit_codebook(self) -> None:
        """Open the window in which the codebook is changed, or show it again."""
        if self.editor is None or not self.editor.isVisible():
            coding, colours = self.coding, self.window.palette_
            self.editor = CodebookEditor(colours, coding.study, coding.codebook.id)
            self.editor.saved.connect(self._use_codebook)
            self.window.closed.connect(self.editor.close_without_asking)
            self.editor.show_form()
        self.editor.raise_()
        self.editor.activateWindow()

    def _use_codebook(self, codebook: Codebook) -> None:
        self.coding.attempt(lambda: self.coding.use(codebook))

    def _show_exchange(self) -> None:
        if not self._leave_exchange():
            self.exchange.show()
            self._place_exchange()
            self.panel.format.setFocus(Qt.FocusReason.OtherFocusReason)

    def _leave_exchange(self) -> bool:
        shown = self.panel.isVisible()
        self.panel.hide()
        if shown:
            self.desk.units.setFocus(Qt.FocusReason.OtherFocusReason)
        return shown

    def _place_exchange(self) -> None:
        """Over the picture, beside the text."""
        if self.panel.isVisible():
            window, edge = self.window, theme.SPACE_M
            rows = window.rows
            corner = rows.mapTo(window, rows.rect().topLeft())
            room, width = rows.height() - 2 * edge, rows.width() - 2 * edge
            self.panel.place_in(QRect(corner.x() + edge, corner.y() + edge, width, room))

    def _arrange(self) -> None:
        """Codes in a column beside the text where all of them have room there, else in a band below
        it, in a low window across it; at any size some units are seen."""
        window, desk = self.window, self.desk
        low = window.height() < HIGH
        desk.bar.set_narrow(not window.side.wide)
        desk.units.set_dense(low)
        desk.float_field(window if low else None)
        timeline = window.timeline_card.minimumSizeHint().height() + window.rows.handleWidth()
        room = window.rows.height() - timeline
        codes = desk.palette.rows
        half = window.columns.width() * SIDE_SHARE // (PICTURE_SHARE + SIDE_SHARE)
        few = codes.rows_at(half - 2 * theme.SPACE_M) <= MOST_BAND_ROWS
        if window.side.wide and desk.palette.column_height + CARD_PX <= room:
            self._put_codes("beside", 0)
        elif few and not low:
            self._put_codes("below", MOST_BAND_ROWS)
        else:
            least = codes.rows_at(window.columns.width() - 2 * theme.SPACE_M)
            self._put_codes("across", max(MOST_LOW_ROWS, min(MOST_BAND_ROWS, least)))
        taken = window.side.text.minimumSizeHint().height() - desk.units.minimumHeight()
        if self._codes_are == "across":
            taken += self._band.minimumSizeHint().height() + window.upper.spacing()
        desk.units.setMinimumHeight(max(LEAST_PX, min(UNITS_PX, room - taken)))

    def _put_codes(self, place: Place, most_rows: int) -> None:
        window, palette = self.window, self.desk.palette
        palette.set_band(most_rows)
        if place == self._codes_are:
            return
        self._codes_are = place
        self._band.setVisible(place != "beside")
        if place == "beside":
            window.side.set_panels([(tr("coding.code_list"), palette)])
            return
        window.side.set_panels([])
        self._banded.addWidget(palette)
        palette.show()
        across = place == "across"
        edges = (theme.SPACE_M, theme.SPACE_XS) * 2 if across else (0, theme.SPACE_XS, 0, 0)
        self._banded.setContentsMargins(*edges)
        bits.set_property(self._band, "role", "card" if across else "")
        if across:
            window.upper.addWidget(self._band)
        else:
            self.desk.put_below(self._band)

    def _on_resize(self) -> None:
        self._arrange()
        self.desk.place_field()
        self._place_exchange()
        if not self._viewed and self.window.isVisible():
            self._viewed = True
            self._show_view()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.window.rows:
            self._soon()
        return False

    def _soon(self) -> None:
        """Behind the layout's own turn, which says how much room there is."""
        QTimer.singleShot(0, self, self._on_resize)

    def _connect(self) -> None:
        window, coding, desk = self.window, self.coding, self.desk
        # One unit is lit, the one that keys code; the playhead's own is the replay's alone.
        window.controller.unit_changed.disconnect(window.timeline.set_current_unit)
        window.controller.unit_here = lambda: coding.current
        window.controller.jumped.connect(coding.follow)
        window.controller.moved.connect(coding.heard)
        window.timeline.boundary_moved.connect(coding.segmenting.move_boundary)
        window.closed.connect(self.exchange.close)
        window.closed.connect(coding.close)
        desk.bar.exchange_pressed.connect(self._show_exchange)
        desk.bar.codebook_pressed.connect(self._edit_codebook)
        self.panel.left.connect(self._leave_exchange)
        # Behind the layout's own turn, which says how high it is.
        self.panel.grown.connect(lambda: QTimer.singleShot(0, self, self._place_exchange))
        self.panel.picked.connect(coding.seek)
        coding.units_changed.connect(self._show_units)
        coding.marks_changed.connect(self._late.start)
        coding.state_changed.connect(self._show_remark)
        coding.current_changed.connect(self._show_current)
        coding.redacted.connect(self._show_redacted)
        desk.selection = lambda: window.controller.selection
        desk.notice.connect(window.transport.tell)
        desk.failed.connect(window.show_error)
        desk.field.grown.connect(desk.place_field)

    def _veil(self) -> None:
        window, blind = self.window, self.coding.blind
        session = window.session
        if blind:
            window.header.set_chips([])
            window.set_lanes(blind_lanes(session.lanes, self.coding.request.blind))
        window.timeline.set_future_hidden("future" in blind)
        if "screen" in blind or session.history.machine is None:
            window.hide_screen()  # a pack has no screen to be shown

    def _show_units(self) -> None:
        self.window.controller.set_units(self.coding.units)
        self.window.timeline.set_units(self.coding.units, editable=True)
        self._show_current()
        self._show_remark()

    def _show_current(self) -> None:
        current, timeline = self.coding.current, self.window.timeline
        timeline.set_current_unit(None if current is None else current.id)

    def _show_redacted(self, report: RedactionReport) -> None:
        """Redact at once: silent, flat and not filmed; say what was done."""
        stretch = report.redaction
        self.window.withhold(stretch)
        begin, end = format_time(stretch.t0_ns), format_time(stretch.t1_ns)
        told = [tr("coding.redacted", begin=begin, end=end)]
        if report.notes:
            told.append(counted(report.notes, "coding.notes_kept"))
        if made := [*report.exported, *(str(entry.file) for entry in report.handed_out)]:
            told.append(tr("coding.made_before", files=", ".join(made)))
        self.window.add_notice(" ".join(told))

    def _show_marks(self) -> None:
        self.window.timeline.set_marks(self._lanes.lanes())

    def _show_remark(self) -> None:
        begun = self.coding.segmenting.begun_ns
        remark = tr("coding.segmenting") if self.coding.mode == "segment" else ""
        self.window.side.text.set_remark(tr("coding.unit_begun") if begun is not None else remark)


def open_coding_window(path: Path, request: CodingRequest) -> CodingWindow:
    """The window in which a rater codes a session. Raises LabappError."""
    files = CodingFiles.open(path, request)
    with gc_paused():
        try:
            session = open_session(path)
        except LabappError:
            files.close()
            raise
        hide_names(_names_in(session) if "names" in request.blind else ())
        window = ReplayWindow(session)
        window.closed.connect(lambda: hide_names(()))
        coding = Coding(files, session.lanes, window)
        return CodingWindow(window, coding)


def _names_in(session: OpenedSession) -> Iterator[str]:
    """What would say which condition a participant had: models, conditions, methods."""
    for model in session.history.decoders:
        yield from (model, model.rpartition("/")[2])
    planned = session.record.planned
    for _, values in variables(planned.assignment):
        yield from values
    yield from _telling(planned.plan)


def _telling(value: object, told: bool = False) -> Iterator[str]:
    """The texts in the rows of a plan that name a model, a method or a condition: told says that
    the key above does."""
    if isinstance(value, str):
        yield from (value,) * told  # only below such a key
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from (key,) * told
            yield from _telling(each, told or key in TELLING)
    elif isinstance(value, Sequence):
        for each in value:
            yield from _telling(each, told)


def run_coding(path: Path, request: CodingRequest, at_ns: int | None = None) -> int:
    """Let a rater code a session until the window is closed, or the program is asked to end.

    at_ns: the session time to begin at; without it, the position at which this session was last
    closed. Raises LabappError if the session cannot be coded.
    """
    coding = open_coding_window(path, request)
    window = coding.window
    app = end_with(window)
    try:
        coding.coding.settings = read_choices(SETTINGS, Settings(), "coding window", _check)
    except DataFolderError as error:
        window.show_error(error)
    window.closed.connect(lambda: _keep(coding.coding.settings))
    window.session.history.decoders.load_in_background()
    current = coding.coding.current
    window.open(at_ns)
    if current is not None and at_ns is None:
        coding.coding.go_to(current.id, play=False)
    return app.exec()


def _check(settings: Settings) -> None:
    if not 0 <= settings.reaction_ms <= MOST_REACTION_MS:
        raise ValueError("'reaction_ms' is not as expected")


def _keep(settings: Settings) -> None:
    """Keep how coding goes for the next session; where the disk takes nothing, it is as usual."""
    with suppress(DataFolderError):
        write_choices(SETTINGS, settings, "coding window")


class CodingLanes:
    """Makes the lanes of a coding; what did not change is made once."""

    def __init__(self, coding: Coding) -> None:
        self._coding = coding
        self._items: dict[str, tuple[Mark, CodeItem]] = {}
        self._made: dict[str, tuple[int, CodeLane]] = {}
        self._version = ""

    def lanes(self) -> list[CodeLane]:
        """All codes that may be seen."""
        coding = self._coding
        if self._version != coding.codebook.sha256:
            self._items.clear()
            self._made.clear()
            self._version = coding.codebook.sha256
        titles = {tier.name: tier.title for tier in coding.codebook.tiers}
        names = dict.fromkeys((*titles, *coding.marks.tiers))
        lanes = [self._lane(name, titles.get(name, name)) for name in names]
        for name, rater in coding.others.items():
            for tier in coding.codebook.tiers:
                marks = [mark for mark in rater.marks if mark.tier == tier.name]
                if marks:
                    items = _sort_items(self._item(mark) for mark in marks)
                    lanes.append(CodeLane(tier.title, items, name))
        return lanes

    def _lane(self, tier: str, title: str) -> CodeLane:
        version = self._coding.marks.version(tier)
        known = self._made.get(tier)
        if known is not None and known[0] == version:
            return known[1]
        lane = CodeLane(title, _sort_items(map(self._item, self._coding.marks.of_tier(tier))))
        self._made[tier] = (version, lane)
        return lane

    def _item(self, mark: Mark) -> CodeItem:
        known = self._items.get(mark.id)
        if known is not None and known[0] is mark:
            return known[1]
        code = self._coding.codebook.code(mark.code)
        label = code_name(self._coding.codebook, mark.code)
        colour = "#57606A" if code is None else code.colour
        item = CodeItem(mark.t0_ns, mark.t1_ns, label, colour, mark.id, mark.memo)
        self._items[mark.id] = (mark, item)
        return item


def _sort_items(items: Iterable[CodeItem]) -> list[CodeItem]:
    return sorted(items, key=lambda item: item.t0_ns)
