"""The home's microphone: which one is in use, and what it hears before a session."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QObject, QTimer

from labapp.audio import devices
from labapp.audio.check import MicrophoneProbe
from labapp.audio.devices import Device
from labapp.errors import AudioError
from labapp.ui.moderator import checklist
from labapp.ui.moderator.checklist import Microphone
from labapp.ui.moderator.home import HomeView

LEVEL_MS = 100
Policy = Literal["required", "optional", "off"]


class HomeMicrophone(QObject):
    """Finds microphones, listens to the chosen one, and shows both on the home.

    Attributes
    ----------
    device : the microphone in use.
    off : bool
        Whether the moderator wants no sound where the study leaves the choice.
    remembered : str
        Spec of the microphone of the last time, which is preferred.
    """

    def __init__(self, view: HomeView, parent: QObject) -> None:
        super().__init__(parent)
        self._view = view
        self.device: Device | None = None
        self.off = False
        self.remembered = ""
        self._policy: Policy | None = None
        self._devices: list[Device] | None = None  # before they were looked for
        self._probe: MicrophoneProbe | None = None
        self._heard = False
        self._problem = ""
        self._timer = QTimer(self)
        self._timer.setInterval(LEVEL_MS)
        self._timer.timeout.connect(self._show_level)

    @property
    def policy(self) -> Policy:
        """Of the chosen study; optional where there is none."""
        return self._policy or "optional"

    @property
    def silent(self) -> bool:
        """Whether no sound was chosen, where the study leaves that choice."""
        return self.off and self.policy != "required"

    @property
    def recorded(self) -> bool:
        """Whether a session will have sound, were there a microphone."""
        return not self.silent and self.policy != "off"

    def begin(self) -> None:
        """Show the level from now on."""
        self._timer.start()

    @property
    def begun(self) -> bool:
        return self._timer.isActive()

    def rest(self) -> None:
        """Show no level, and leave the microphone to others."""
        self._timer.stop()
        self.release()

    def release(self) -> None:
        """Leave the microphone to others."""
        if self._probe is not None:
            self._probe.close()
            self._probe = None

    def set_policy(self, policy: Policy | None) -> None:
        """What the chosen study says of sound; None where none can be used."""
        changed = (policy or "optional") != self.policy
        self._policy = policy
        if self.begun and changed:
            self._use(self._wanted())
        else:
            self._show()

    def find(self) -> None:
        """Look for microphones, and listen to the one that is wanted."""
        self._devices, problem = [], ""  # looked for, whatever comes of it
        try:
            self._devices = devices.list_devices()
        except AudioError as error:
            problem = error.what
        self._use(self._wanted(), problem)

    def choose(self, spec: str | None) -> None:
        """Use another one; None for no sound."""
        self.off = spec is None
        self._use(next((d for d in self._devices or () if d.spec == spec), None))

    def look_again(self) -> None:
        """Whether the microphone is still there, or another one was plugged in."""
        if self._probe is not None and self._probe.level().state == "lost":
            self._use(None)
        if self.device is None and not self.silent:
            # PortAudio looks again only while nothing is open.
            self.find()

    def _wanted(self) -> Device | None:
        """The microphone in use or remembered, else the usual one; None where none is wanted."""
        if self.silent:
            return None
        before = self.remembered if self.device is None else self.device.spec
        ranked = sorted(self._devices or (), key=lambda d: (d.spec != before, not d.is_default))
        return next(iter(ranked), None)

    def _use(self, device: Device | None, problem: str = "") -> None:
        """Listen to a microphone; problem: why there is none."""
        self.release()
        self.device, self._heard, self._problem = device, False, problem
        if device is not None and self.policy != "off":
            try:
                self._probe = MicrophoneProbe(device)
            except AudioError as error:
                self._problem = error.what
        self._show()

    def _show(self) -> None:
        if self._policy is not None:
            current = self.device.spec if self.device else None
            self._view.set_audio(self._policy, self._devices, current)
            self._show_level()

    def _show_level(self) -> None:
        level = self._probe.level() if self._probe else None
        self._heard |= level is not None and level.state == "heard"
        problem = self._problem or (level.problem if level else "")
        name = self.device.label if self.device else None
        state = "unknown" if self._devices is None else level.state if level else "starting"
        self._view.set_level(level)
        if self._policy is not None:
            microphone = Microphone(name, self._heard, state, problem)
            self._view.set_checklist([checklist.microphone_row(self._policy, microphone)])
