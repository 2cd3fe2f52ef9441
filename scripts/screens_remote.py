"""Sessions that are joined from other computers, at both ends and in both languages: the window to
join, and the line in the consoles. Also what else comes before and after a session: the rows of the
home's checklist, the list of keys, the splash. For screenshots.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from PySide6.QtWidgets import QApplication

from labapp.ui import language
from labapp.ui.joining import JoinWindow
from labapp.ui.language import tr
from labapp.ui.moderator import checklist
from labapp.ui.moderator.checklist import Computer
from labapp.ui.moderator.console import PALETTE
from labapp.ui.moderator.others import LinkBar, OthersBar, PersonLine
from scripts.screens_moderator import OWN_ITEMS, desk_of, further_rows, on_screen, ready_home
from scripts.screens_participant import Shot
from tests.helpers.rooms import skip_to

WHERE = "192.168.178.120:8731"
HERE = [("192.168.178.120 (eth0)", "192.168.178.120"), ("127.0.0.1", "127.0.0.1")]
ANNA = PersonLine(1, "Anna Petersen", "moderator", True, True, 0.4)
GONE = PersonLine(1, "Anna Petersen", "moderator", False, True, 0.4)
CARL = PersonLine(2, "Carl", "moderator", True, False, 1.2)
BEN = PersonLine(3, "Ben", "observer", True, False, 12.0)


def shots(folder: Path) -> Iterator[Shot]:
    for spoken in ("en", "de"):
        language.speak(spoken)
        try:
            for name, window in chain(both_ends(folder / spoken), before_and_after()):
                yield f"{spoken}-{name}", window
        finally:
            language.speak(language.ENGLISH)


def before_and_after() -> Iterator[Shot]:
    window = ready_home()
    view = window.view
    view.ready.items.set_items(OWN_ITEMS[language.current_language()])
    view.ready.items.boxes[0].click()
    rows = further_rows(Computer(31, plugged=False, held=frozenset(), restart=True), 3, "asked")
    view.set_checklist(rows)
    view.ready.show_loudspeaker("asked")
    view.ready.show_backup(chooses=True, able=True)
    yield "r30-home", on_screen(window)
    QApplication.processEvents()  # so that it is known how high the list is
    view.ready.area.verticalScrollBar().setValue(10_000)
    yield "r31-home-rows", window
    unset = checklist.backup_row("", 5, 5, there=False)
    view.set_checklist([checklist.computer_row(Computer(None)), unset])
    view.set_checklist([checklist.loudspeaker_row("unheard")])
    view.ready.show_loudspeaker("unheard")
    view.ready.show_backup(chooses=True, able=True)
    QApplication.processEvents()
    view.ready.area.verticalScrollBar().setValue(10_000)
    yield "r32-home-unset", window
    window.close()


def both_ends(folder: Path) -> Iterator[Shot]:
    window = JoinWindow()
    window.show()
    yield "r01-join", window
    window.host.setText(WHERE)
    window.ask_again(tr("join.refused.wrong_server", where=WHERE))
    yield "r02-join-refused", window
    window.roles["observer"].click()
    window.set_busy(True)
    window.say(tr("join.fetching"))
    yield "r03-join-fetching", window
    window.close()
    codes = ("614 411", "132 989")
    with desk_of(folder / "here", "quickstart") as desk:
        skip_to(desk.room, "stage-1")
        bar, console = OthersBar(PALETTE), desk.console
        console.add_others(bar)
        bar.show_closed(HERE)
        console.header.share.setChecked(True)
        bar.want(True)
        desk.talk(5)
        yield "r10-offer", desk.settled()
        bar.show_open(WHERE, codes, 0, ())
        yield "r11-codes", desk.settled()
        bar.show_open(WHERE, (codes[0], ""), 30, (ANNA, CARL, BEN))
        console.set_controls(False)
        yield "r12-people", desk.settled()
        bar.want(False)
        bar.show_open(WHERE, codes, 0, (ANNA, CARL, BEN))
        yield "r13-elsewhere", desk.settled()
        bar.show_open(WHERE, codes, 0, (GONE, BEN))
        yield "r14-lost", desk.settled()
    with desk_of(folder / "there", "quickstart") as desk:
        skip_to(desk.room, "stage-1")
        link, console = LinkBar(), desk.console
        console.header.share.hide()
        console.add_others(link)
        desk.talk(5)
        anna, carl, ben = (replace(each, error_ms=None) for each in (ANNA, CARL, BEN))
        link.show_link("linked", 0, 0.4, (anna, carl, ben), me=1)
        yield "r20-moderating", desk.settled()
        console.keys.toggle()
        yield "r24-keys", desk.settled()
        console.keys.toggle()
        link.show_link("broken", 2, 0.4, (anna, ben), me=1)
        yield "r21-broken", desk.settled()
        console.set_controls(False)
        link.show_link("linked", 0, 12.0, (anna, ben), me=3)
        yield "r22-observing", desk.settled()
        link.show_link("over", 0, 12.0, (anna,), me=3, problem=tr("join.over.closed"))
        yield "r23-over", desk.settled()
