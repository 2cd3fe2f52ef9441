"""The look, in one place: widgets name these tokens, never literal colours or sizes."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QApplication

BODY_PX = 15
SECONDARY_PX = 13
TITLE_PX = 20
NUMBER_PX = 28

SPACE_XS, SPACE_S, SPACE_M, SPACE_L, SPACE_XL, SPACE_XXL, SPACE_XXXL = 4, 8, 12, 16, 24, 32, 48
CONTENT_WIDTH = 1100
TARGET_HEIGHT = 32
TOUCH_HEIGHT = 44
"""Of what a finger should hit without looking."""
RADIUS = 8
RING = 2
"""Pixels of a focus ring."""


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours of a theme, each with at least 4.5 : 1 against ground and card where it is text."""

    ground: str
    card: str
    ink: str
    secondary: str
    hairline: str
    accent: str
    accent_soft: str
    on_accent: str
    good: str
    warn: str
    alarm: str
    track: str

    def color(self, token: str) -> QColor:
        """The QColor of a token by name."""
        return QColor(getattr(self, token))


LIGHT = Palette(
    ground="#FAFAF8",
    card="#FFFFFF",
    ink="#1F2328",
    secondary="#57606A",
    hairline="#D8DEE4",
    accent="#1F5FD6",
    accent_soft="#E8EFFC",
    on_accent="#FFFFFF",
    good="#1A7F37",
    warn="#9A6700",
    alarm="#CF222E",
    track="#E1E7EE",
)

DARK = Palette(
    ground="#14181D",
    card="#1B2128",
    ink="#E6EAEE",
    secondary="#8B98A5",
    hairline="#2B333C",
    accent="#7AA5F8",
    accent_soft="#22324B",
    on_accent="#14181D",
    good="#3FB950",
    warn="#E3B341",
    alarm="#FF7B72",
    track="#2B333C",
)

# Stimuli look the same in both themes.
SERIES_GROUND = "#FFFFFF"
SERIES_AXIS = "#8B949E"
SERIES_OWN = "#1F5FD6"
SERIES_TARGET = "#B35900"
SERIES_BAND = "#F6DDB8"
BOX, BOX_EDGE = "#FFE100", "#1F2328"
"""Of a box round a part of a photo: seen on light and on dark ones."""


def font(px: int = BODY_PX, *, bold: bool = False) -> QFont:
    """The system's interface font at a pixel size of the scale above."""
    made = QFont(QApplication.font())
    made.setPixelSize(px)
    made.setBold(bold)
    return made


def stylesheet(p: Palette) -> str:
    """The style sheet of a window; roles are set with the dynamic property `role`."""
    return f"""
    QWidget {{ color: {p.ink}; font-size: {BODY_PX}px; }}
    QWidget[role="ground"], QMainWindow, QDialog {{ background: {p.ground}; }}
    QWidget[role="bar"] {{ background: {p.card}; }}
    QFrame[role="card"] {{
        background: {p.card}; border: 1px solid {p.hairline}; border-radius: {RADIUS}px;
    }}
    QFrame[role="hairline"] {{ background: {p.hairline}; border: none; }}
    QLabel {{ background: transparent; }}
    QLabel[role="title"] {{ font-size: {TITLE_PX}px; font-weight: 600; }}
    QLabel[role="secondary"] {{ font-size: {SECONDARY_PX}px; color: {p.secondary}; }}
    QLabel[role="pilot"] {{
        background: {p.warn}; color: {p.on_accent}; font-weight: 600; padding: 3px;
    }}
    QLabel[role="strong"] {{ font-weight: 600; }}
    QLabel[role="caption"] {{ font-size: {SECONDARY_PX}px; font-weight: 600; }}
    QLabel[role="chosen"] {{ font-weight: 600; color: {p.accent}; }}
    QScrollArea[role="rows"] {{
        border: {RING}px solid transparent; border-radius: {RADIUS}px; background: transparent;
    }}
    QScrollArea[role="rows"]:focus {{ border-color: {p.accent}; }}
    QLabel[role="number"] {{ font-size: {NUMBER_PX}px; font-weight: 600; }}
    QLabel[role="heading"] {{
        font-size: {SECONDARY_PX}px; font-weight: 600; color: {p.secondary};
    }}
    QLabel[tone="good"] {{ color: {p.good}; }}
    QLabel[tone="warn"] {{ color: {p.warn}; }}
    QLabel[tone="alarm"] {{ color: {p.alarm}; }}
    QPushButton {{
        background: {p.card}; border: 1px solid {p.hairline}; border-radius: {RADIUS}px;
        padding: {SPACE_S}px {SPACE_L}px; min-height: {TARGET_HEIGHT - 2 * SPACE_S}px;
        outline: none;
    }}
    QPushButton:hover {{ border-color: {p.accent}; }}
    QPushButton:focus {{ border: 2px solid {p.accent}; padding: {SPACE_S - 1}px {SPACE_L - 1}px; }}
    QPushButton:disabled {{ color: {p.secondary}; border-color: {p.hairline}; }}
    QPushButton[touch="true"] {{ min-height: {TOUCH_HEIGHT - 2 * SPACE_S - 2}px; }}
    QPushButton[role="primary"] {{
        background: {p.accent}; color: {p.on_accent}; border-color: {p.accent}; font-weight: 600;
    }}
    QPushButton[role="primary"]:focus {{ border: 2px solid {p.ink}; }}
    QPushButton[role="primary"]:disabled {{
        background: {p.accent_soft}; color: {p.secondary}; border-color: {p.hairline};
    }}
    QPushButton[role="primary"][unready="true"] {{
        background: {p.accent_soft}; color: {p.secondary}; border-color: {p.hairline};
    }}
    QPushButton[role="primary"][unready="true"]:focus {{ border: 2px solid {p.accent}; }}
    QPushButton[role="quiet"] {{ background: transparent; border-color: transparent; }}
    QPushButton[role="quiet"]:focus {{ border: 2px solid {p.accent}; }}
    QPushButton[role="link"] {{
        background: transparent; border-color: transparent; color: {p.accent};
        padding: {SPACE_XS}px {SPACE_S}px;
    }}
    QPushButton[role="link"]:focus {{ border: 2px solid {p.accent}; }}
    QLineEdit, QComboBox, QPlainTextEdit {{
        background: {p.card}; border: 1px solid {p.hairline}; border-radius: {RADIUS}px;
        padding: {SPACE_XS}px {SPACE_M}px; min-height: {TARGET_HEIGHT - 2 * SPACE_XS}px;
        selection-background-color: {p.accent}; selection-color: {p.on_accent};
    }}
    QLineEdit, QPlainTextEdit {{ placeholder-text-color: {p.secondary}; }}
    QLineEdit:focus, QComboBox:focus, QPlainTextEdit:focus {{ border: 2px solid {p.accent}; }}
    QPushButton[side="left"] {{ text-align: left; }}
    QTextBrowser[role="text"] {{
        background: transparent; border: {RING}px solid transparent; border-radius: {RADIUS}px;
    }}
    QTextBrowser[role="text"]:focus {{ border-color: {p.accent}; }}
    QScrollBar:vertical {{
        background: transparent; width: {SPACE_L}px; margin: {SPACE_XS}px 0;
    }}
    QScrollBar::handle:vertical {{
        background: {p.secondary}; border-radius: {RING}px; min-height: {TARGET_HEIGHT}px;
        margin: 0 {RING}px 0 {SPACE_S}px;
    }}
    QScrollBar:horizontal {{
        background: transparent; height: {SPACE_L}px; margin: 0 {SPACE_XS}px;
    }}
    QScrollBar::handle:horizontal {{
        background: {p.secondary}; border-radius: {RING}px; min-width: {TARGET_HEIGHT}px;
        margin: {SPACE_S}px 0 {RING}px 0;
    }}
    QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
    QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
    QProgressBar[role="sound"] {{
        background: {p.track}; border: none; border-radius: 3px; max-height: 6px;
    }}
    QProgressBar[role="sound"]::chunk {{ background: {p.accent}; border-radius: 3px; }}
    QMenu {{ background: {p.card}; border: 1px solid {p.hairline}; padding: {SPACE_XS}px; }}
    QMenu::item {{ padding: {SPACE_XS}px {SPACE_XL}px {SPACE_XS}px {SPACE_M}px; }}
    QMenu::item:selected {{ background: {p.accent_soft}; color: {p.ink}; }}
    QMenu::item:disabled {{ color: {p.secondary}; background: transparent; }}
    QToolTip {{ background: {p.card}; color: {p.ink}; border: 1px solid {p.hairline}; }}
    """
