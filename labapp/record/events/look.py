"""What the participant's window shows besides what the tasks decide about: which page of a screen's
own, how far something is scrolled, what is shown larger, and how large the window is.

So a mirror, and people who look at a session later, see the same as the participant did. What they
do not see: the caret and what is being typed before it is kept, the ring round what has the
keyboard, the pointer (see `labapp.record.events.lifecycle`) and what is lit under it, hints at the
pointer, how far a text field is scrolled, what is tried out on a page that introduces a task, what
is ticked of a consent before it is given, the line that says that the moderator is using the
keyboard, and the card that asks whether to leave, which the console shows in words of its own.
Signatures and typed names are in no event.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from labapp.record.events.lifecycle import PageTurned, PartStarted
from labapp.record.events.registry import Index, Payload, Whole, kind


@kind("window.shown")
class WindowShown(Payload):
    """The participant's window appeared, or its size or screen changed.

    Attributes
    ----------
    width, height : of the area inside its frame, in logical pixels.
    ratio : device pixels per logical pixel.
    screen : the screen's name.
    screen_width, screen_height : of the whole screen, in logical pixels.
    layout : the version of the screens' layout, so that a replay shows what was seen: 1 in sessions
        recorded before pages grew with their window; from 2 on they do, are placed slightly above
        the middle, and sliders show that they have no answer yet.
    grown : the factor by which everything in it is enlarged beyond the system's setting; it is part
        of the ratio. Pictures whose size matters are not enlarged.
    """

    width: Whole
    height: Whole
    ratio: float
    screen: str
    screen_width: Whole
    screen_height: Whole
    layout: Whole = 1
    grown: float = 1.0


@kind("screen.page")
class ScreenPage(Payload):
    """A page that does not depend on a task's state is on the screen, such as one of the pages
    before the exercises of a warm-up, or a worked example in a description.

    Attributes
    ----------
    page : the number of the page, from 0.
    reminded : whether missing answers are marked, because the participant tried to continue without
        them.
    """

    page: Index
    reminded: bool


@kind("screen.scrolled", frequent=True)
class ScreenScrolled(Payload):
    """Something was scrolled and came to rest.

    Attributes
    ----------
    area : the scrolled area, from 0 in the order of the screen; after these, the screen as a whole,
        vertically and then horizontally, if its window is too small for it.
    at : logical pixels that are hidden above the edge, or to the left of it.
    """

    area: Whole
    at: Whole


@kind("screen.enlarged", frequent=True)
class ScreenEnlarged(Payload):
    """A picture, or a part of it, is shown larger.

    Attributes
    ----------
    picture : the number of the picture, from 0 in the order of the screen; -1 if no picture is
        enlarged any more, -2 for the picture in the place reserved for enlargement.
    x, y : the point in the middle, as shares of the picture's width and height.
    scale : logical pixels per pixel of the picture; 0 if its place determines its size.
    """

    picture: Whole
    x: float
    y: float
    scale: float = 0.0


SCALED = 2
"""The first layout whose pages grow with their window."""
ROOMY = 3
"""The first layout that gives a long text all the height of its page."""
LAYOUT = ROOMY
"""How screens are laid out today."""
NOTHING = ScreenEnlarged(-1, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Look:
    """What is seen besides the state of the part that runs.

    Attributes
    ----------
    window
        None before the window came up.
    page, reminded, enlarged
        See the events.
    scrolled
        Logical pixels of each area, in the order of the screen; those at its end that are not
        scrolled are left out.
    """

    window: WindowShown | None = None
    page: int = 0
    reminded: bool = False
    scrolled: tuple[int, ...] = ()
    enlarged: ScreenEnlarged = NOTHING

    def __post_init__(self) -> None:
        areas = self.scrolled
        while areas and not areas[-1]:
            areas = areas[:-1]
        object.__setattr__(self, "scrolled", areas)

    def after(self, payload: Payload) -> Look:
        """What is seen after an event of the session: a new page or trial begins at its top."""
        match payload:
            case WindowShown():
                return replace(self, window=payload)
            case ScreenPage():
                return replace(self, page=payload.page, reminded=payload.reminded)
            case ScreenScrolled():
                areas = [self.at(area) for area in range(max(len(self.scrolled), payload.area + 1))]
                areas[payload.area] = payload.at
                return replace(self, scrolled=tuple(areas))
            case ScreenEnlarged():
                return replace(self, enlarged=payload)
            case PartStarted():
                return Look(self.window)
            case PageTurned():
                return Look(self.window, self.page)
        return Look(self.window, self.page) if payload.begins else self

    def toward(self, other: Look) -> Payload | None:
        """The event that comes first on the way to another look; None if nothing differs."""
        if other.window is not None and other.window != self.window:
            return other.window
        if (other.page, other.reminded) != (self.page, self.reminded):
            return ScreenPage(other.page, other.reminded)
        if other.enlarged != self.enlarged:
            return other.enlarged
        for area in range(max(len(self.scrolled), len(other.scrolled))):
            if other.at(area) != self.at(area):
                return ScreenScrolled(area, other.at(area))
        return None

    def at(self, area: int) -> int:
        """How far an area is scrolled."""
        return self.scrolled[area] if area < len(self.scrolled) else 0
