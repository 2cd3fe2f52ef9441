"""What a hand used: mouse, touch or keyboard."""

from __future__ import annotations

from PySide6.QtGui import QInputDevice, QPointerEvent

KEYBOARD = "keyboard"
TOUCH = (QInputDevice.DeviceType.TouchScreen, QInputDevice.DeviceType.Stylus)


def device_of(event: QPointerEvent) -> str:
    """Mouse or touch. What no control takes as a touch, Qt makes a press of the mouse, which still
    knows the device that it came from."""
    return "touch" if event.device().type() in TOUCH else "mouse"
