"""Which screen a part of the plan has."""

from __future__ import annotations

from typing import assert_never

from labapp.study.judging import JudgingPart, JudgingTask, MethodPart, WarmUpPart
from labapp.study.plan import (
    BreakPart,
    ConsentPart,
    InterviewPart,
    PagesPart,
    PlannedPart,
    QuestionnairePart,
    ReconstructionPart,
    TutorialPart,
)
from labapp.study.single_dimension import ExamplePart, SingleDimensionPart
from labapp.study.unmasking import UnmaskingPart
from labapp.ui.participant.break_ import BreakScreen
from labapp.ui.participant.calibration import CalibrationScreen
from labapp.ui.participant.consent import ConsentScreen
from labapp.ui.participant.example import ExampleScreen
from labapp.ui.participant.heatmaps import HeatmapScreen
from labapp.ui.participant.interview import InterviewScreen
from labapp.ui.participant.judging import JudgingScreen
from labapp.ui.participant.method import MethodScreen
from labapp.ui.participant.pages import PagesScreen
from labapp.ui.participant.paths import (
    FirstStepScreen,
    PathAgreementScreen,
    PathDistinctionScreen,
)
from labapp.ui.participant.prototypes import (
    PrototypeAgreementScreen,
    PrototypeDistinctionScreen,
)
from labapp.ui.participant.questionnaire import QuestionnaireScreen
from labapp.ui.participant.reconstruction import ReconstructionScreen
from labapp.ui.participant.screen import Screen, Setting
from labapp.ui.participant.single_dimension import SingleDimensionScreen
from labapp.ui.participant.tutorial import TutorialScreen
from labapp.ui.participant.unmasking import UnmaskingScreen
from labapp.ui.participant.warm_up import WarmUpScreen

JUDGING: dict[JudgingTask, type[JudgingScreen]] = {
    "heatmap-distinction": HeatmapScreen,
    "prototype-distinction": PrototypeDistinctionScreen,
    "prototype-agreement": PrototypeAgreementScreen,
    "path-distinction": PathDistinctionScreen,
    "path-agreement": PathAgreementScreen,
    "path-first-step": FirstStepScreen,
}


def make_screen(setting: Setting, part: PlannedPart) -> Screen:
    """The screen of a part for which everything is ready."""
    match part:
        case ConsentPart():
            return ConsentScreen(setting, part)
        case BreakPart():
            return BreakScreen(setting, part)
        case InterviewPart():
            return InterviewScreen(setting, part)
        case PagesPart():
            return PagesScreen(setting, part)
        case TutorialPart():
            return TutorialScreen(setting, part)
        case JudgingPart():
            return JUDGING[part.task](setting, part)
        case WarmUpPart():
            return WarmUpScreen(setting, part)
        case MethodPart():
            return MethodScreen(setting, part, JUDGING[part.task])
        case UnmaskingPart():
            return UnmaskingScreen(setting, part)
        case QuestionnairePart():
            return QuestionnaireScreen(setting, part)
        case ReconstructionPart():
            assert setting.runner.pictures is not None
            screen = CalibrationScreen if part.marks else ReconstructionScreen
            return screen(setting, part, setting.runner.pictures)
        case SingleDimensionPart():
            assert setting.runner.examples is not None
            return SingleDimensionScreen(setting, part, setting.runner.examples)
        case ExamplePart():
            assert setting.runner.examples is not None
            return ExampleScreen(setting, part, setting.runner.examples)
        case _:
            assert_never(part)
