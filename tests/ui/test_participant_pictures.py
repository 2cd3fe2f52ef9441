"""Stimuli and text: exact pixels, whole text, and shown when they are said to be."""

from __future__ import annotations

import gc
import re
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QExposeEvent,
    QGuiApplication,
    QImage,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QRegion,
)
from PySide6.QtWidgets import QApplication, QStackedWidget, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

import labapp
from labapp.base.resources import assets
from labapp.study.plugins.texts import pages
from labapp.tasks.unmasking.screen import StimulusField, scale_image
from labapp.ui import theme
from labapp.ui.presentation import DueTimer, Presenter, refresh_ms
from labapp.ui.widgets import painting
from labapp.ui.widgets.controls import PlainLabel
from labapp.ui.widgets.dial import SeriesView
from labapp.ui.widgets.markdown import MarkdownView, text_width
from labapp.ui.widgets.photo_view import image_of
from labapp.ui.widgets.segments import (
    LEAST_SIDE,
    ImageView,
    format_marks,
    magnification,
    picture_side,
    strip_marks,
)

BLACK, WHITE = 0xFF000000, 0xFFFFFFFF


def pixels(*rows: list[float]) -> np.ndarray:
    return np.array(rows, dtype=np.float32)


def test_two_hues_are_the_plain_grey_where_pictures_agree():
    own, target = pixels([0, 1, 1, 0.5]), pixels([0, 1, 0, 0.5])
    out = np.zeros((1, 4), dtype=np.uint32)
    painting.two_hues(own, target, out)
    assert out.tolist() == [[BLACK, WHITE, 0xFF0080FF, 0xFF808080]]
    painting.two_hues(target, own, out)
    assert out[0, 2] == 0xFFFF8000


def test_as_published_overlay_is_half_and_half():
    out = np.zeros((1, 3), dtype=np.uint32)
    painting.half_and_half(pixels([1, 0, 1]), pixels([0, 0, 1]), out)
    assert out.tolist() == [[0xFF808080, BLACK, WHITE]]


def test_binary_rounds_as_the_distance_does():
    from labapp.models.representations.distance import mnist

    x = pixels([0.49999, 0.5, 0.51, -0.2, 1.3])
    out = np.zeros((1, 5), dtype=np.uint32)
    painting.binary(x, out)
    assert out.tolist() == [[BLACK, WHITE, WHITE, BLACK, WHITE]]
    assert mnist(x, (out == WHITE).astype(np.float32)) == 0.0


def test_grey_clips():
    out = np.zeros((1, 3), dtype=np.uint32)
    painting.plain(pixels([-1, 0.5, 2]), out)
    assert out.tolist() == [[BLACK, 0xFF808080, WHITE]]


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 1.75, 2.0, 3.0])
@pytest.mark.parametrize("size", [28, 64])
def test_magnification_is_whole_in_device_pixels(size, ratio):
    side = picture_side(size, 360, ratio)
    assert side <= 360
    assert (side * ratio / size) == pytest.approx(magnification(size, 360, ratio))
    assert (side + size / ratio) > 360  # the next whole magnification would not fit


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("size", [28, 64])
def test_pictures_are_at_least_320_at_the_four_settings(size, ratio):
    assert picture_side(size, 340 if size == 28 else 358, ratio) >= LEAST_SIDE


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
def test_each_picture_pixel_is_a_square_of_device_pixels(qapp, ratio):
    rng = np.random.default_rng(0)
    picture = (rng.random((28, 28)) > 0.5).astype(np.float32)
    holder = QWidget()
    view = ImageView((28, 28), theme.LIGHT, "own", binary=True, two_hues=True)
    view.setParent(holder)
    view.move(7, 3)  # at 150 % this is no whole device pixel
    view.set_side(picture_side(28, 340, ratio))
    view.show_picture(picture)
    image = QImage(round(600 * ratio), round(600 * ratio), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    view.devicePixelRatioF = lambda: ratio  # as on a screen of that scale
    painter = QPainter(image)
    painter.translate(7, 3)
    view.paint(painter)
    painter.end()
    array = np.ndarray((image.height(), image.width()), np.uint32, image.constBits())
    m = magnification(28, view.width() - 2, ratio)
    where = view.target_rect()
    left, top = (where.x() + 7) * ratio, (where.y() + 3) * ratio
    assert left == pytest.approx(round(left), abs=1e-6)
    assert top == pytest.approx(round(top), abs=1e-6)
    x, y = round(left), round(top)
    shown = array[y : y + 28 * m, x : x + 28 * m].reshape(28, m, 28, m)
    expected = np.where(picture > 0, WHITE, BLACK).astype(np.uint32)
    assert (shown == expected[:, None, :, None]).all()


def series_image(view: SeriesView) -> np.ndarray:
    image = view.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return np.ndarray((image.height(), image.width()), np.uint32, image.constBits()).copy()


def series_view(**options: bool) -> SeriesView:
    view = SeriesView(theme.LIGHT, "own", two_styles=options.get("two_styles", True))
    view.set_side(340)
    return view


def has(image: np.ndarray, color: str) -> bool:
    return bool((image == (QColor(color).rgb() & 0xFFFFFFFF)).any())


def test_series_show_own_target_and_band(qapp):
    view = series_view()
    own = np.full(64, 5.0, dtype=np.float32)
    target = np.full(64, -5.0, dtype=np.float32)
    view.show_picture(own)
    alone = series_image(view)
    assert has(alone, theme.SERIES_OWN)
    assert not has(alone, theme.SERIES_BAND)
    view.show_overlay(own, target)
    both = series_image(view)
    assert has(both, theme.SERIES_OWN)
    assert has(both, theme.SERIES_TARGET)
    rows = np.flatnonzero((both == QColor(theme.SERIES_BAND).rgb()).any(axis=1))
    # y = -5 lies at three quarters of the height; the band is 1 of 20 units high.
    assert rows.mean() == pytest.approx(0.75 * view.height(), abs=2)
    assert np.ptp(rows) == pytest.approx(view.height() / 20, abs=3)


def test_series_lines_differ_in_style_not_only_in_colour(qapp):
    view = series_view()
    flat = np.full(64, 5.0, dtype=np.float32)
    view.show_overlay(flat, -flat)
    image = series_image(view)
    middle = lambda y: image[round(view.height() / 2 - y * (view.height() / 2 - 1) / 10)]  # noqa: E731
    own = middle(5.0) == QColor(theme.SERIES_OWN).rgb()
    target = middle(-5.0) == QColor(theme.SERIES_TARGET).rgb()
    assert own[5:-5].all()
    assert 0.3 < target.mean() < 0.8  # dashed


def test_as_published_series_are_half_transparent(qapp):
    view = series_view(two_styles=False)
    flat = np.full(64, 5.0, dtype=np.float32)
    view.show_overlay(flat, -flat)
    image = series_image(view)
    assert not has(image, theme.SERIES_OWN)
    assert not has(image, theme.SERIES_TARGET)


def test_series_far_outside_the_chart_stay_inside_it(qapp):
    view = series_view()
    view.show_picture(np.linspace(-1e9, 1e9, 64, dtype=np.float32))
    assert all(abs(point.y()) < 10 * view.height() for point in view.points(view._own))


def test_painting_does_not_eat_references_to_none(qapp):
    """PySide 6.12 on Python 3.10 and 3.11 drops one reference to None per void paint call, until
    the interpreter dies; the pin in pyproject.toml keeps it out."""
    image = QImage(32, 32, QImage.Format.Format_RGB32)
    gc.collect()
    painter = QPainter(image)
    before = sys.getrefcount(None)
    for _ in range(1000):
        painter.setPen(QPen(Qt.GlobalColor.black))
        painter.drawLine(0, 0, 5, 5)
        painter.drawEllipse(QPointF(5, 5), 2, 2)
        painter.fillRect(0, 0, 4, 4, Qt.GlobalColor.white)
        path = QPainterPath()
        path.moveTo(0, 0)
        path.lineTo(5, 5)
        path.addRect(QRectF(0, 0, 3, 3))
        painter.drawPath(path)
    lost = before - sys.getrefcount(None)
    painter.end()
    assert abs(lost) < 200, f"{lost} references to None were lost over 8000 paint calls"


@pytest.mark.parametrize("room", [-500.0, -14.0, 0.0, 20.0, 300.0])
def test_a_picture_has_a_size_where_a_window_has_no_room_for_it(room, qapp):
    view = SeriesView(theme.LIGHT, "own", two_styles=True)
    view.set_side(view.side_for(room))
    assert view.width() > 28
    view.deleteLater()
    assert picture_side(28, room, 1.0) >= 28


def test_colours_reach_the_screen_as_they_are():
    out = np.zeros((1, 4), dtype=np.uint32)
    colours = np.array([[[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 2, -1]]], dtype=np.float32)
    painting.plain(colours, out)
    assert out.tolist() == [[0xFFFF0000, 0xFF00FF00, 0xFF0000FF, 0xFF80FF00]]


def test_an_overlay_in_colour_is_that_of_grey_where_there_is_none():
    rng = np.random.default_rng(0)
    own, target = rng.random((2, 16, 16)).astype(np.float32)
    grey, coloured = np.zeros((2, 16, 16), dtype=np.uint32)
    painting.two_hues(own, target, grey)
    painting.two_hues(*(np.repeat(x[..., None], 3, axis=2) for x in (own, target)), coloured)
    channels = [pixels.view(np.uint8).astype(int) for pixels in (grey, coloured)]
    assert np.abs(channels[0] - channels[1]).max() <= 1  # rounded at another moment


def test_an_overlay_in_colour_keeps_the_colours_on_which_pictures_agree():
    x = np.array([[[0.2, 0.6, 1.0]]], dtype=np.float32)
    out = np.zeros((1, 1), dtype=np.uint32)
    painting.two_hues(x, x, out)
    assert out.tolist() == [[0xFF3399FF]]
    painting.two_hues(x, np.zeros_like(x), out)  # only the own picture is light there
    red, green, blue = ((int(out[0, 0]) >> shift) & 0xFF for shift in (16, 8, 0))
    assert blue > green > red


@pytest.mark.parametrize("size", [256, 512])
@pytest.mark.parametrize("ratio", [1.0, 1.5])
def test_a_picture_with_more_pixels_than_its_place_is_made_smaller_by_their_means(
    size, ratio, qapp
):
    """Left out instead, a fine pattern would become black or white."""
    pattern = np.indices((size, size)).sum(axis=0) % 2
    colours = np.repeat(pattern[..., None], 3, axis=2).astype(np.float32)
    view = ImageView((size, size), theme.LIGHT, "own", binary=False, two_hues=True)
    side = view.side_for(150)
    assert side == 150
    view.set_side(side)
    view.show_picture(colours)
    where = view.target_rect()
    assert max(where.width(), where.height()) <= 150
    image = QImage(view.size() * ratio, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    view.render(image)
    middle = QColor(image.pixel(image.width() // 2, image.height() // 2))
    assert abs(middle.red() - 128) < 16
    view.show_picture(np.zeros_like(colours))  # a picture that follows is drawn, too
    view.render(image)
    assert QColor(image.pixel(image.width() // 2, image.height() // 2)).red() == 0


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 2.0])
@pytest.mark.parametrize("side", [384.0, 481.3])
def test_scaled_for_any_screen(ratio: float, side: float) -> None:
    rgb = np.random.default_rng(1).integers(0, 256, (48, 48, 3), np.uint8)
    made_ready = scale_image(image_of(rgb), side, ratio)
    factor = made_ready.width() // 48
    assert made_ready.width() == 48 * factor == made_ready.height()
    assert made_ready.width() <= side * ratio < made_ready.width() + 48
    assert made_ready == image_of(np.repeat(np.repeat(rgb, factor, 0), factor, 1))


def test_a_picture_larger_than_the_window_is_made_smaller() -> None:
    rgb = np.zeros((490, 640, 3), np.uint8)
    assert (
        scale_image(image_of(rgb), 320, 1.0).width(),
        scale_image(image_of(rgb), 320, 1.0).height(),
    ) == (
        320,
        245,
    )


def test_an_empty_field_is_of_the_level_of_masked_pixels(qapp: object) -> None:
    grey = StimulusField((112,), theme.LIGHT)
    tinted = StimulusField((10, 20, 30), theme.LIGHT)
    assert grey.ground == QColor(112, 112, 112)
    assert tinted.ground == QColor(10, 20, 30)


def test_another_size_makes_ready_pictures_unready_and_keeps_the_one_that_is_seen(
    qapp: object,
) -> None:
    field = StimulusField((112,), theme.LIGHT)
    field.set_room(400, 96)
    assert field.side == 384
    told: list[float] = []
    field.rescaled.connect(lambda: told.append(field.side))
    field.prepare("a", image_of(np.zeros((96, 96, 3), np.uint8)))
    field.show_picture("a")
    field.set_room(400, 96)
    assert field.ready("a")
    field.set_room(300, 96)
    assert told == [288]
    assert not field.ready("a")
    assert field.shown == "a"


PAGES = {
    f"{path.stem}-{number}": page
    for path in sorted((assets() / "texts" / "en").glob("*.md"))
    for number, page in enumerate(pages(path.read_text()), start=1)
}


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    made = QWidget()
    made.setStyleSheet(theme.stylesheet(theme.LIGHT))
    qtbot.addWidget(made)
    return made


def shown(qtbot: QtBot, window: QWidget, text: str, height: int, *, before: bool) -> MarkdownView:
    """A view in a column as the participant's screens lay it out.

    before: the text is there before the window is shown.
    """
    column = QVBoxLayout(window)
    side = (1366 - text_width()) // 2
    column.setContentsMargins(side, theme.SPACE_XL, side, theme.SPACE_XL)
    view = MarkdownView()
    column.addStretch(1)
    column.addWidget(view, 100)
    column.addStretch(2)
    if before:
        view.show_text(text)
    window.resize(1366, height)
    with qtbot.waitExposed(window):
        window.show()
    if not before:
        view.show_text(text)
    qtbot.wait(1)
    return view


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("page", PAGES)
def test_every_text_is_shown_whole(qtbot: QtBot, window: QWidget, page: str, before: bool) -> None:
    view = shown(qtbot, window, PAGES[page], 653, before=before)
    assert view.document().size().height() <= view.viewport().height()
    assert not view.focusPolicy()


def test_a_text_without_room_scrolls_to_its_end(qtbot: QtBot, window: QWidget) -> None:
    view = shown(qtbot, window, "\n\n".join(["A paragraph."] * 40), 300, before=True)
    assert view.focusPolicy()
    bar = view.verticalScrollBar()
    assert bar.isVisible()
    assert bar.maximum() + view.viewport().height() >= view.document().size().height() - 1


def test_a_text_that_no_longer_scrolls_has_no_focus_ring(qtbot: QtBot, window: QWidget) -> None:
    view = shown(qtbot, window, "\n\n".join(["A paragraph."] * 12), 300, before=True)
    view.setFocus()
    assert view.hasFocus()
    window.resize(window.width(), 900)
    qtbot.waitUntil(lambda: not view.focusPolicy())
    assert not view.hasFocus()


def test_a_text_that_gets_room_as_it_appears_is_shown_whole(qtbot: QtBot, window: QWidget) -> None:
    view, pages, other = MarkdownView(), QStackedWidget(), QWidget()
    page = QWidget()
    column = QVBoxLayout(page)
    column.addWidget(view, 1)
    column.addStretch(0)
    pages.addWidget(other)
    pages.addWidget(page)
    banner = QWidget()
    banner.setFixedHeight(200)
    outside = QVBoxLayout(window)
    outside.addWidget(banner)
    outside.addWidget(pages, 1)
    view.show_text((assets() / "texts" / "de" / "consent.md").read_text())
    window.resize(1366, 600)
    with qtbot.waitExposed(window):
        window.show()
    window.grab()  # lays out the page that is not on the screen, too
    banner.hide()
    pages.setCurrentIndex(1)
    qtbot.wait(1)
    assert view.document().textWidth() == view.viewport().width()
    assert view.document().size().height() <= view.viewport().height()


HTML = """**Bold** <b>not</b> <img src='/etc/hostname'> <font size='40'>x</font> `<u>`

<script>y</script>"""


def test_html_is_text(qtbot: QtBot) -> None:
    view = MarkdownView()
    qtbot.addWidget(view)
    view.show_text(HTML)
    shown_text = view.toPlainText()
    for tag in ("<b>not</b>", "<img src='/etc/hostname'>", "<font size='40'>", "<script>y", "<u>"):
        assert tag in shown_text
    assert "**" not in shown_text


def test_labels_show_their_words_as_they_stand(qtbot: QtBot) -> None:
    """Qt takes words that look like HTML for it: every label of the windows is a plain one."""
    label = PlainLabel("<b>3</b>")
    qtbot.addWidget(label)
    assert label.textFormat() == Qt.TextFormat.PlainText
    rich = [
        f"{path}: {line.strip()}"
        for path in sorted(Path(labapp.__file__).parent.rglob("*.py"))
        if path.name != "label.py" and re.search(r"QLabel|setHtml", text := path.read_text("utf-8"))
        for line in text.splitlines()
        if re.search(r"(?<![\w.])QLabel\((?!\))|= QLabel\(|setHtml\((?!format_marks)", line)
        and not line.lstrip().startswith("class ")
    ]
    assert rich == []


def test_an_option_knows_two_marks_and_no_html() -> None:
    assert format_marks("a <i>b</i> <u>c</u>") == "a <i>b</i> <u>c</u>"
    assert format_marks("<b>a</b> & <img src=x>") == "&lt;b&gt;a&lt;/b&gt; &amp; &lt;img src=x&gt;"
    assert strip_marks("<i>b</i> <b>") == "b <b>"


class Sheet(QWidget):
    """Paints a colour, and keeps what it painted when."""

    def __init__(self) -> None:
        super().__init__()
        self.tone = "black"
        self.painted: list[tuple[str, int]] = []
        self.presenter: Presenter | None = None

    def show_tone(self, tone: str) -> None:
        self.tone = tone

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self.tone))
        painter.end()
        self.painted.append((self.tone, time.perf_counter_ns()))
        if self.presenter is not None:
            self.presenter.painted()


@pytest.fixture
def sheet(qapp: QApplication) -> Iterator[Sheet]:
    window = QWidget()
    made = Sheet()
    QVBoxLayout(window).addWidget(made)
    window.resize(300, 300)
    window.show()
    qapp.processEvents()
    made.painted.clear()
    yield made
    window.close()
    window.deleteLater()


class Told(list[tuple[int, str]]):
    def __call__(self, at_ns: int, shown_by: str) -> None:
        self.append((at_ns, shown_by))


def test_a_picture_is_shown_when_its_paint_was_flushed(sheet: Sheet) -> None:
    sheet.presenter, told = Presenter(sheet, framed=False), Told()
    before = time.perf_counter_ns()
    sheet.presenter.present(lambda: sheet.show_tone("red"), told)
    [(tone, painted)] = sheet.painted
    [(at, shown_by)] = told
    assert (tone, shown_by) == ("red", "flush")
    assert before < painted <= at <= time.perf_counter_ns()
    assert not sheet.presenter.busy


def test_with_frames_it_is_shown_when_the_second_request_is_answered(
    sheet: Sheet, qtbot: QtBot
) -> None:
    sheet.presenter, told = Presenter(sheet, framed=True), Told()
    answered: list[int] = []
    handle = sheet.window().windowHandle()
    assert handle is not None

    class Watch(QWidget):
        def eventFilter(self, watched: object, event: QEvent) -> bool:
            if event.type() == QEvent.Type.UpdateRequest:
                answered.append(time.perf_counter_ns())
            return False

    sheet.presenter.present(lambda: sheet.show_tone("red"), told)
    watch = Watch()
    handle.installEventFilter(watch)  # the last one installed sees events first
    assert not sheet.painted
    assert not told
    qtbot.waitUntil(lambda: bool(told))
    handle.removeEventFilter(watch)
    [(_, painted)], [(at, shown_by)] = sheet.painted, told
    assert shown_by == "frame"
    assert len(answered) == 2
    assert answered[0] < painted < answered[1] <= at


@pytest.mark.parametrize("framed", [False, True])
def test_nothing_is_said_of_a_picture_that_was_taken_back(
    sheet: Sheet, qtbot: QtBot, framed: bool
) -> None:
    sheet.presenter, told = Presenter(sheet, framed=framed), Told()
    if framed:
        sheet.presenter.present(lambda: sheet.show_tone("red"), told)
    else:
        sheet.window().hide()
        sheet.presenter.present(lambda: sheet.show_tone("red"), told)
    assert sheet.presenter.busy
    sheet.presenter.cancel()
    sheet.window().show()
    qtbot.wait(60)
    assert not told


@pytest.mark.parametrize("framed", [False, True])
def test_a_window_that_is_not_there_shows_nothing_until_it_is(
    sheet: Sheet, qtbot: QtBot, framed: bool
) -> None:
    sheet.presenter, told = Presenter(sheet, framed=framed), Told()
    sheet.window().hide()
    sheet.presenter.present(lambda: sheet.show_tone("red"), told)
    qtbot.wait(60)
    assert not told
    again = time.perf_counter_ns()
    sheet.window().show()
    qtbot.waitUntil(lambda: bool(told))
    assert told[0][0] > again
    assert sheet.painted[-1][0] == "red"


def test_an_unexposed_window_shows_nothing(
    sheet: Sheet, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A minimised window is still painted by some platforms."""
    exposed = False
    handle = sheet.window().windowHandle()
    assert handle is not None
    sheet.presenter, told = Presenter(sheet, framed=False), Told()
    monkeypatch.setattr(type(handle), "isExposed", lambda _: exposed)
    sheet.presenter.present(lambda: sheet.show_tone("red"), told)
    assert sheet.painted
    assert not told
    exposed = True
    sheet.update()
    qtbot.waitUntil(lambda: bool(told))
    assert told[0][1] == "flush"
    assert told[0][0] >= sheet.painted[-1][1]


def test_a_frame_that_was_lost_under_another_window_is_painted_again(
    sheet: Sheet, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet.presenter, told = Presenter(sheet, framed=True), Told()
    handle = sheet.window().windowHandle()
    assert handle is not None
    request, asked = handle.requestUpdate, []

    def unreliable() -> None:
        asked.append(len(sheet.painted))
        if len(asked) != 2:
            request()

    monkeypatch.setattr(type(handle), "requestUpdate", lambda _: unreliable())
    sheet.presenter.present(lambda: sheet.show_tone("red"), told)
    qtbot.waitUntil(lambda: len(asked) >= 2)
    qtbot.wait(60)
    assert asked == [0, 1]
    assert not told
    QApplication.sendEvent(handle, QExposeEvent(QRegion(sheet.window().rect())))
    qtbot.waitUntil(lambda: bool(told))
    assert asked == [0, 1, 2]
    assert told[0][0] > sheet.painted[-1][1]
    qtbot.wait(30)
    assert len(told) == 1


def test_due_is_never_early(qtbot: QtBot) -> None:
    owner = QWidget()
    timer = DueTimer(owner)
    late: list[int] = []

    def came(at: int) -> None:
        late.append(time.perf_counter_ns() - at)

    for wait_ms in (0, 1, 2.5, 7, 20.3):
        at = time.perf_counter_ns() + round(wait_ms * 1e6)
        timer.call(at, partial(came, at))
        qtbot.waitUntil(lambda: not timer.waits)
    assert len(late) == 5
    assert min(late) >= 0
    timer.call(time.perf_counter_ns() + 10_000_000, lambda: late.append(-1))
    timer.stop()
    qtbot.wait(30)
    assert len(late) == 5
    owner.deleteLater()


def test_the_refresh_interval_is_the_screens_and_none_where_it_says_none(
    sheet: Sheet, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = sheet.screen()
    assert refresh_ms(sheet) == pytest.approx(1000 / screen.refreshRate())
    monkeypatch.setattr(type(screen), "refreshRate", lambda _: 0.0)
    assert refresh_ms(sheet) is None


@pytest.mark.parametrize(
    ("platform", "framed"),
    [("wayland", True), ("wayland-egl", True), ("cocoa", True), ("xcb", False), ("windows", False)],
)
def test_frames_are_confirmed_where_the_platform_does_it(
    sheet: Sheet, monkeypatch: pytest.MonkeyPatch, platform: str, framed: bool
) -> None:
    monkeypatch.setattr(QGuiApplication, "platformName", lambda: platform)
    presenter, told = Presenter(sheet), Told()
    sheet.presenter = presenter
    presenter.present(lambda: sheet.show_tone("red"), told)
    assert bool(told) is not framed
    presenter.cancel()
