"""What the journal says of the sound recording."""

from __future__ import annotations

from dataclasses import dataclass, replace

from labapp.events import Event
from labapp.messages import decoded


@dataclass(frozen=True, slots=True)
class Sound:
    """device is empty before the first audio.started; off: why there is no sound, or None.
    lost_frames counts the frames of this segment that were filled with silence; heard: a voice came
    through this microphone."""

    device: str = ""
    host_api: str = ""
    rate: int = 0
    off: str | None = None
    lost: bool = False
    lost_frames: int = 0
    state: str | None = None
    heard: bool = False

    def apply(self, event: Event) -> Sound:
        """The state after an event."""
        p = event.payload
        match event.kind:
            case "segment.started":
                return Sound()
            case "audio.started":
                return Sound(p["device"], p["host_api"], int(p["nominal_rate"]))
            case "audio.off":
                return Sound(off=decoded(str(p["reason"]), p.get("message")))
            case "audio.gap":
                return replace(self, lost_frames=self.lost_frames + int(p["frames"]))
            case "audio.device_lost":
                return replace(self, lost=True, heard=False)
            case "audio.device_back":
                return replace(self, lost=False, device=p["device"])
            case "session.completed" | "session.ended":
                return replace(self, lost=False)
            case "audio.state":
                return replace(self, state=p["state"], heard=self.heard or p["state"] == "heard")
        return self
