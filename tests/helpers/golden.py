"""The golden session: a whole session with round numbers, so that its metrics are done by hand.

Stages (practice is not counted):

=======  ============  =====  ========  ========  ========  =======  ======  ======
stage    model         trial  outcome   response  aligned   AUC sum  slide   active
                                        time s    after s   × s      widths  s
=======  ============  =====  ========  ========  ========  =======  ======  ======
stage-1  sinelines/gt  1      solved    6.5       5.0       176      0.625   6.5
stage-1  sinelines/gt  2      skipped   9.0       -         840      0.2     7.0
stage-2  sinelines/vae 1      solved    8.0       6.1       41.95    0.5     8.0
stage-2  sinelines/vae 2      solved    7.25      6.25      64       1.0     7.25
stage-3  mnist8k/ss2   1      solved    4.0       3.0       124      1.1     4.0
stage-3  mnist8k/ss2   2      solved    1.0       0.0       1        0.0     1.0
=======  ============  =====  ========  ========  ========  =======  ======  ======

Trial 1 of stage-1 holds a pause of 10 s, trial 2 of stage-2 a crash gap of 32 s (from 72.25 to
104.25), trial 2 of stage-3 is aligned at its start. Active time is the default rule's, up to the
end of the trial. SEQ: 4 (changed from 3), 5, and none for stage-3 (skipped by the moderator).
The session takes 124 s, of which 82 are working time.
"""

from __future__ import annotations

from labapp.record.events import Source
from labapp.record.events.lifecycle import (
    AlarmCleared,
    AlarmRaised,
    DecoderWarmed,
    EnvironmentRecorded,
    FlagAdded,
    NoteAdded,
    PageTurned,
    PartEnded,
    PartStarted,
    PromptGiven,
    SegmentEnded,
    SessionCompleted,
    SessionPaused,
    SessionResumed,
    WindowFocus,
)
from labapp.record.events.trials import QuestionnaireSubmitted, ResponseChanged, TrialEnded
from labapp.record.events.voice import AudioGap, AudioStarted, AudioState, AudioStopped
from labapp.tasks.consent.events import ConsentGiven
from labapp.tasks.reconstruction.events import (
    DialMoved,
    DialSelected,
    LabelEdited,
    OverlayToggled,
    PictureDecoded,
    TrialDrawn,
    TrialSolved,
    TrialStarted,
    TutorialDialMoved,
)
from tests.helpers.journals import SessionBuilder, golden_plan

PARTICIPANT, MODERATOR = Source.PARTICIPANT, Source.MODERATOR
SINELINES, CIRCLES, MNIST = 64, 64 * 64, 28 * 28
"""Pixels (or points) of a picture: the mean error is the sum over this."""


class _Stage:
    """Shorthand for the events of one reconstruction stage."""

    def __init__(self, builder: SessionBuilder, stage: str, pixels: int) -> None:
        self.builder, self.stage, self.pixels = builder, stage, pixels
        self.trial = 0
        self.seq = 0

    def draw(self, t: float, start: tuple[float, ...], target: tuple[float, ...]) -> None:
        self.trial += 1
        self.seq = 0
        self.add(t, TrialDrawn(start, target))

    def show(self, t: float, alignment: float, error: float, *, aligned: bool = False) -> None:
        self.add(t, TrialStarted(alignment, error, error / self.pixels, aligned))

    def move(
        self,
        t: float,
        dimension: int,
        value: float,
        alignment: float,
        error: float,
        *,
        lag: float = 0.0,
        device: str = "mouse",
    ) -> None:
        self.seq += 1
        self.add(t, DialMoved(self.seq, dimension, value, device), PARTICIPANT)
        self.add(t + lag, PictureDecoded(self.seq, alignment, error, error / self.pixels))

    def solve(self, t: float, z: tuple[float, ...], alignment: float) -> None:
        self.add(t, TrialSolved(self.seq, z, alignment))

    def end(self, t: float, outcome: str) -> None:
        self.add(t, TrialEnded(outcome), PARTICIPANT)

    def add(self, t: float, payload: object, source: Source = Source.SYSTEM) -> None:
        self.builder.at(t, payload, self.stage, self.trial, source=source)  # type: ignore[arg-type]


def golden_builder() -> SessionBuilder:
    """The rows of the golden session, ready to be changed or written."""
    s = SessionBuilder(rate=1000)
    frozen = golden_plan()
    plan = frozen.pop("plan")
    s.plan(plan, **frozen)
    s.segment(0, 1)
    screen = {"name": "DELL U2720Q", "width": 1920, "height": 1080}
    environment = {"labapp": "0.1.0", "system": "Linux", "screens": [screen]}
    s.environment = [{"segment": 1, **environment}, {"segment": 2, **environment}]
    s.at(0, EnvironmentRecorded(environment))
    s.at(0.5, DecoderWarmed("sinelines/gt", "cpu", 1, 200, 0.05, 0.09))
    part = {row["id"]: index for index, row in enumerate(plan)}

    def begin(t: float, stage: str) -> None:
        s.at(t, PartStarted(part[stage]), stage)

    def finish(t: float, stage: str, outcome: str = "completed") -> None:
        s.at(t, PartEnded(part[stage], outcome), stage, source=PARTICIPANT)

    _sound(s)
    begin(2, "consent")
    sha256 = plan[0]["document_sha256"]
    s.at(8, ConsentGiven(sha256), "consent", source=PARTICIPANT)
    finish(8, "consent")
    begin(8, "tutorial")
    s.at(10, PageTurned(1), "tutorial", source=PARTICIPANT)
    s.at(12, TutorialDialMoved(0, 0, 0.6), "tutorial", source=PARTICIPANT)
    finish(14, "tutorial")
    begin(14, "practice-intro")
    finish(16, "practice-intro")
    begin(16, "practice")
    _practice(s)
    finish(26, "practice")
    begin(26, "stage-1-intro")
    finish(28, "stage-1-intro")
    begin(28, "stage-1")
    _stage_1(s)
    finish(54, "stage-1")
    begin(54, "stage-1-seq")
    s.at(56, ResponseChanged("seq", "seq", 3), "stage-1-seq", source=PARTICIPANT)
    s.at(57, ResponseChanged("seq", "seq", 4), "stage-1-seq", source=PARTICIPANT)
    s.at(58, QuestionnaireSubmitted("seq", 1, {"seq": 4}), "stage-1-seq", source=PARTICIPANT)
    finish(58, "stage-1-seq")
    begin(58, "stage-2-intro")
    finish(60, "stage-2-intro")
    begin(60, "stage-2")
    _stage_2(s, environment)
    finish(108.25, "stage-2")
    begin(108.25, "stage-2-seq")
    s.at(109, ResponseChanged("seq", "seq", 5), "stage-2-seq", source=PARTICIPANT)
    s.at(110, QuestionnaireSubmitted("seq", 1, {"seq": 5}), "stage-2-seq", source=PARTICIPANT)
    finish(110, "stage-2-seq")
    begin(110, "stage-3-intro")
    finish(112, "stage-3-intro")
    begin(112, "stage-3")
    _stage_3(s)
    finish(118, "stage-3")
    begin(118, "stage-3-seq")
    s.at(119, ResponseChanged("seq", "seq", 6), "stage-3-seq", source=PARTICIPANT)
    s.at(120, PartEnded(part["stage-3-seq"], "skipped"), "stage-3-seq", source=MODERATOR)
    begin(120, "debrief")
    finish(123, "debrief")
    s.at(123, SessionCompleted())
    s.at(123.5, AudioStopped("audio/segment-02.wav", 20_000, 500))
    s.at(124, SegmentEnded("completed"))
    return s


def _sound(s: SessionBuilder) -> None:
    """71 s of sound before the crash, 100 ppm fast; 20 s after it, with half a second lost."""
    for number, start, blocks in ((1, 1.0, 71), (2, 103.0, 20)):
        file = f"audio/segment-{number:02d}.wav"
        s.at(start, AudioStarted(file, "Table microphone", "ALSA", 1000, 1, "PCM_16"))
        for t, block in s.sound(file, start, blocks, ppm=100.0):
            s.at(t, block)
    s.at(20, AudioState("heard", 19_000_000_000))
    s.at(113.0, AudioGap("audio/segment-02.wav", 9_500, 500, "overflow"))


def _practice(s: SessionBuilder) -> None:
    p = _Stage(s, "practice", CIRCLES)
    p.draw(16, (0.0, 0.0), (0.6, 0.3))
    p.show(16, 0.2, 2048)
    p.move(17, 0, 0.6, 0.7, 512)
    p.move(18, 1, 0.3, 1.0, 0)
    p.solve(18, (0.6, 0.3), 1.0)
    p.end(19, "solved")
    p.draw(19, (1.0, 1.0), (0.1, 0.9))
    p.show(20, 0.3, 1024)
    p.move(21, 0, 0.1, 0.9, 256)
    p.move(22, 1, 0.9, 0.99, 4)
    p.solve(22, (0.1, 0.9), 0.99)
    p.end(23, "solved")
    p.draw(23, (0.4, 0.75), (0.2, 0.0))
    p.show(23, 0.4, 1024)
    p.move(24, 0, 0.2, 0.6, 512)
    p.move(25, 1, 0.0, 1.0, 0)
    p.solve(25, (0.2, 0.0), 1.0)
    p.end(26, "solved")


def _stage_1(s: SessionBuilder) -> None:
    p = _Stage(s, "stage-1", SINELINES)
    p.draw(28, (0.0, 0.0, 1.0, 1.0, 0.0), (0.5, 1.0, 1.0, 1.0, 0.0))
    p.show(28, 0.25, 64)
    p.add(29, DialSelected(0, "mouse"), PARTICIPANT)
    p.move(29.5, 0, 0.5, 0.5, 32)
    p.move(31, 1, 2.0, 0.625, 16)
    s.at(32, SessionPaused("The participant asked for water."), source=MODERATOR)
    s.at(42, SessionResumed("moderator"), source=MODERATOR)
    p.move(43, 1, 1.0, 1.0, 0)
    p.solve(43, (0.5, 1.0, 1.0, 1.0, 0.0), 1.0)
    p.end(44.5, "solved")
    p.draw(44.5, (0.0, 0.0, 2.0, 1.0, 0.0), (-0.5, 2.0, 2.0, 3.0, 0.0))
    p.show(45, 0.1, 100)
    p.move(46, 2, 3.0, 0.2, 90, device="keyboard")
    s.at(50, NoteAdded("Says the third dial does nothing.", 47_500_000_000), source=MODERATOR)
    p.add(51, OverlayToggled(False), PARTICIPANT)
    p.move(52, 2, 2.0, 0.1, 100, device="keyboard")
    p.end(54, "skipped")


def _stage_2(s: SessionBuilder, environment: dict[str, object]) -> None:
    p = _Stage(s, "stage-2", SINELINES)
    p.draw(60, (0.0, 0.0), (1.0, 1.0))
    p.show(60.5, 0.5, 10)
    s.at(61, FlagAdded(1, "insight"), source=MODERATOR)
    p.move(62.5, 0, 0.4, 0.7, 6, lag=0.1)
    p.move(64.5, 0, 1.0, 0.8, 4, lag=0.1)
    p.move(66.5, 1, 1.0, 0.95, 0.5, lag=0.1)
    p.solve(66.6, (1.0, 1.0), 0.95)
    p.end(68.5, "solved")
    p.draw(68.5, (-1.0, 0.0), (1.0, 2.0))
    p.show(69, 0.2, 20)
    p.move(70, 0, 0.0, 0.4, 12)
    p.move(72, 0, 0.5, 0.6, 8)
    s.at(72.25, WindowFocus(False))
    # The program was killed here and started again half a minute later.
    s.segment(102.25, 2, gap_from=72.25)
    s.at(102.25, EnvironmentRecorded(environment))
    s.at(104.25, SessionResumed("resumed after a crash"))
    p.move(106.25, 1, 2.0, 0.85, 2)
    p.move(107.25, 0, 1.0, 1.0, 0)
    p.solve(107.25, (1.0, 2.0), 1.0)
    p.end(108.25, "solved")


def _stage_3(s: SessionBuilder) -> None:
    p = _Stage(s, "stage-3", MNIST)
    p.draw(112, (0.0, 0.0), (2.0, 1.0))
    p.show(112, 0.1, 50)
    p.add(113, LabelEdited(1, "slant"), PARTICIPANT)
    p.move(114, 0, 2.0, 0.5, 20)
    p.move(115, 1, 1.0, 0.76, 4)
    p.solve(115, (2.0, 1.0), 0.76)
    s.at(115.5, PromptGiven("Please keep talking"), source=MODERATOR)
    p.end(116, "solved")
    s.at(116, AlarmRaised("silence", "No speech for 15 s."))
    p.draw(116, (1.0, 2.0), (1.0, 2.02))
    p.show(117, 0.9, 1, aligned=True)
    p.solve(117, (1.0, 2.0), 0.9)
    s.at(117.5, AlarmCleared("silence"))
    p.end(118, "solved")
