"""The style sheet of the moderator's windows: the theme's, and what only they use."""

from __future__ import annotations

from labapp.ui import theme
from labapp.ui.theme import Palette


def stylesheet(p: Palette) -> str:
    """For the home (light) and the console (dark)."""
    return (
        theme.stylesheet(p)
        + f"""
    QLabel[role="field"] {{ color: {p.secondary}; }}
    QLabel[role="brand"] {{ font-size: 17px; font-weight: 700; }}
    QLabel[role="strong"] {{ font-weight: 600; }}
    QLabel[role="section"] {{
        font-size: 12px; font-weight: 700; color: {p.secondary}; letter-spacing: 1px;
    }}
    QLabel[role="secondary"][tone="good"] {{ color: {p.good}; }}
    QLabel[role="secondary"][tone="warn"] {{ color: {p.warn}; }}
    QLabel[role="secondary"][tone="alarm"] {{ color: {p.alarm}; }}
    QLabel[role="title"][tone="warn"] {{ color: {p.warn}; }}
    QLabel[role="title"][tone="alarm"] {{ color: {p.alarm}; }}
    QLabel[role="clock"] {{ font-size: {theme.TITLE_PX}px; font-weight: 600; }}
    QLabel[role="state"] {{ font-weight: 600; font-size: {theme.SECONDARY_PX}px; }}
    QLabel[role="fact"] {{ font-size: {theme.SECONDARY_PX}px; }}
    QLabel[role="card-number"] {{ font-size: 160px; font-weight: 700; color: {p.accent}; }}
    QLabel[role="figure"] {{ border: {theme.RING}px solid transparent;
        border-radius: {theme.RADIUS}px; }}
    QLabel[role="figure"]:focus {{ border-color: {p.accent}; }}
    QLabel[role="clip"] {{ font-size: 11px; font-weight: 700;
        color: {p.secondary}; padding: 0 4px; border: 1px solid {p.hairline};
        border-radius: 4px; }}
    QLabel[role="caption"] {{ font-size: 12px; color: {p.secondary}; }}
    QLabel[role="clip"][tone="alarm"] {{ color: {p.alarm}; border-color: {p.alarm}; }}
    QLabel[tone="good"] {{ color: {p.good}; }}
    QLabel[tone="warn"] {{ color: {p.warn}; }}
    QLabel[tone="alarm"] {{ color: {p.alarm}; }}
    QFrame[role="bar"] {{ background: {p.card}; border: none;
        border-bottom: 1px solid {p.hairline}; }}
    QFrame[role="band"] {{ background: {p.card}; border: 1px solid {p.hairline};
        border-radius: {theme.RADIUS}px; }}
    QFrame[role="band"][tone="warn"] {{ border: 1px solid {p.warn}; }}
    QFrame[role="band"][tone="alarm"] {{ border: 1px solid {p.alarm}; }}
    QPushButton[role="tab"] {{
        background: transparent; border: none; border-bottom: 2px solid transparent;
        border-radius: 0; padding: 0 {theme.SPACE_S}px; color: {p.secondary};
        font-size: {theme.SECONDARY_PX}px; min-height: 52px;
    }}
    QPushButton[role="tab"]:hover {{ color: {p.ink}; }}
    QPushButton[role="tab"]:checked {{ color: {p.accent}; border-bottom: 2px solid {p.accent}; }}
    QPushButton[role="tab"]:focus {{ color: {p.accent}; background: {p.accent_soft}; }}
    QPushButton[role="page-tab"] {{
        background: transparent; border: none; border-bottom: 2px solid transparent;
        border-radius: 0; padding: 0 {theme.SPACE_XS}px; color: {p.secondary};
        font-size: {theme.SECONDARY_PX}px; font-weight: 600; min-height: 30px;
    }}
    QPushButton[role="page-tab"]:hover {{ color: {p.ink}; }}
    QPushButton[role="page-tab"]:checked {{ color: {p.ink};
        border-bottom: 2px solid {p.accent}; }}
    QPushButton[role="page-tab"]:focus {{ background: {p.accent_soft}; }}
    QPushButton[role="compact"] {{
        padding: {theme.SPACE_XS}px {theme.SPACE_M}px; min-height: 22px;
        font-size: {theme.SECONDARY_PX}px;
    }}
    QPushButton[role="compact"]:focus {{ padding: 3px 11px; }}
    QPushButton[role="chip"] {{
        background: transparent; border: 1px solid transparent; border-radius: 6px;
        padding: 2px {theme.SPACE_S}px; min-height: 24px; color: {p.secondary};
        font-size: {theme.SECONDARY_PX}px;
    }}
    QPushButton[role="chip"]:hover {{ color: {p.ink}; }}
    QPushButton[role="chip"]:focus {{ border: 1px solid {p.accent}; padding: 2px 8px; }}
    QPushButton[role="pill"] {{
        background: transparent; border: 1px solid {p.hairline}; border-radius: 6px;
        padding: 2px {theme.SPACE_S}px; min-height: 22px; color: {p.secondary};
        font-size: {theme.SECONDARY_PX}px;
    }}
    QPushButton[role="pill"]:hover {{ color: {p.ink}; border-color: {p.accent}; }}
    QPushButton[role="pill"]:checked {{ color: {p.accent}; border-color: {p.accent};
        background: {p.accent_soft}; }}
    QPushButton[role="pill"]:focus {{ border: 1px solid {p.accent}; padding: 2px 8px; }}
    QLabel[role="pill"] {{ color: {p.secondary}; border: 1px solid {p.hairline};
        border-radius: 6px; padding: 2px {theme.SPACE_S}px; font-size: {theme.SECONDARY_PX}px; }}
    QLabel[role="pill"][tone="warn"] {{ color: {p.warn}; border-color: {p.warn}; }}
    QLabel[role="key"] {{ font-size: {theme.SECONDARY_PX}px; font-weight: 600; }}
    QFrame[role="sheet"] {{ background: {p.card}; border: 1px solid {p.secondary};
        border-radius: {theme.RADIUS}px; }}
    QFrame[role="foot"] {{ background: {p.card}; border: none;
        border-top: 1px solid {p.hairline}; }}
    QSplitter::handle {{ background: transparent; }}
    QPushButton[role="flag"] {{
        text-align: left; padding: 2px {theme.SPACE_S}px; min-height: 26px;
        font-size: {theme.SECONDARY_PX}px; border-radius: 6px;
    }}
    QPushButton[role="flag"]:focus {{ padding: 1px 7px; }}
    QPushButton[role="prompt"] {{
        text-align: left; color: {p.warn}; border: 1px solid {p.warn};
        padding: {theme.SPACE_XS}px {theme.SPACE_M}px; font-size: {theme.BODY_PX - 1}px;
    }}
    QPushButton[role="prompt"]:focus {{ padding: 3px 11px; border: 2px solid {p.accent}; }}
    QPushButton[role="danger"] {{ color: {p.alarm}; border-color: {p.alarm}; }}
    QPushButton:pressed {{ background: {p.accent_soft}; }}
    QComboBox {{ padding-right: 0; }}
    QComboBox::drop-down {{ border: none; width: 26px; subcontrol-position: center right; }}
    QComboBox::down-arrow {{ image: none; }}
    QComboBox QAbstractItemView {{
        background: {p.card}; border: 1px solid {p.hairline}; outline: none; padding: 4px;
        selection-background-color: {p.accent_soft}; selection-color: {p.ink};
    }}
    QComboBox QAbstractItemView::item {{ min-height: {theme.TARGET_HEIGHT}px; }}
    QCheckBox {{ spacing: {theme.SPACE_S}px; min-height: {theme.TARGET_HEIGHT}px;
        font-size: {theme.SECONDARY_PX}px; color: {p.secondary}; }}
    QCheckBox:focus {{ color: {p.accent}; }}
    QTableView {{
        background: transparent; border: none; gridline-color: transparent; outline: none;
        font-size: {theme.SECONDARY_PX + 1}px;
        selection-background-color: {p.accent_soft}; selection-color: {p.ink};
    }}
    QTableView::item {{ border-bottom: 1px solid {p.hairline}; padding: 0 {theme.SPACE_XS}px; }}
    QHeaderView {{ background: transparent; border: none; }}
    QHeaderView::section {{
        background: transparent; border: none; border-bottom: 1px solid {p.hairline};
        color: {p.secondary}; font-size: {theme.SECONDARY_PX}px; text-align: left;
        padding: {theme.SPACE_XS}px 7px;
    }}
    QScrollArea, QScrollArea > QWidget > QWidget {{ background: transparent; border: none; }}
    QScrollArea[role="page"] {{ border: {theme.RING}px solid transparent;
        border-radius: {theme.RADIUS}px; }}
    QScrollArea[role="page"]:focus {{ border-color: {p.accent}; }}
    QListWidget, QTreeWidget {{ background: transparent; border: none; outline: none;
        selection-background-color: {p.accent_soft}; selection-color: {p.ink}; }}
    QAbstractItemView[role="choice"] {{ border: {theme.RING}px solid transparent;
        border-radius: {theme.RADIUS}px; }}
    QAbstractItemView[role="choice"]:focus {{ border-color: {p.accent}; }}
    QAbstractItemView[role="choice"]::item {{ padding: {theme.SPACE_S}px; }}
    QListWidget[role="fine"] {{ font-size: {theme.SECONDARY_PX}px; }}
    QListWidget[role="fine"]::item {{ padding: {theme.SPACE_XS}px 0; }}
    QScrollBar:vertical {{ background: transparent; width: 8px; margin: 0; }}
    QScrollBar::handle:vertical {{ background: {p.hairline}; border-radius: 4px;
        min-height: 24px; }}
    QScrollArea[role="page"] QScrollBar:vertical {{ width: {8 + theme.SPACE_S}px; }}
    QScrollArea[role="page"] QScrollBar::handle:vertical {{ margin-left: {theme.SPACE_S}px; }}
    QScrollBar::add-line:vertical, QScrollBar::sub-line:vertical {{ height: 0; }}
    QScrollBar::add-page:vertical, QScrollBar::sub-page:vertical {{ background: transparent; }}
    """
    )
