"""The metrics by name: what the command line, `labapp models evaluate` and benchmarks can compute.

Nothing heavy is imported before a metric is loaded. A package adds one by an entry point of the
group `labapp.models.metrics` that names a `Metric`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from labapp.base.discovery import Catalogue, load
from labapp.models.metrics.inputs import Score

Function = Callable[..., Score]
OF_CONCEPTS = ("oracle", "deviation", "leakage", "between_codes", "between_concepts")
"""Parts of shape (K, K), whose rows are concepts and not codes."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric.

    Attributes
    ----------
    name : its name on the command line, of its function, and in `Score.metric`.
    label : its name as titles and texts have it.
    title : what it stands for, in words.
    better : whether a higher or a lower score says that the representation is better.
    source : where it was defined.
    where : its function, as `module:function`; or the module in `labapp.models.metrics` that has
        one of its own name, by default that of its own name.
    vectors : whether codes may have shape (n, k, d).
    concepts : whether factors must be classes, each of some rows, and not measurements.
    progress : whether it may take minutes and its function takes `progress`, to tell how far it is.
    train : whether its function takes `train`, codes and factors of other rows to learn from; with
        `labels`, their labels too.
    labels : whether its function takes `labels`, the label of each row in a task.
    caution : what a reader of its score must know, in a sentence or two; shown beside it.
    """

    name: str
    label: str
    title: str
    better: Literal["higher", "lower"]
    source: str
    where: str = ""
    vectors: bool = False
    concepts: bool = False
    progress: bool = False
    train: bool = False
    labels: bool = False
    caution: str = ""

    def load(self) -> Function:
        """Its function, `(codes, factors, *, seed, as_published, ...) -> Score`.

        Codes have shape (n, C), factors (n, K), float64, row for row the same instances. It raises
        MetricError for what it cannot score. Its further keyword arguments with defaults are what
        `--set` can change; with `progress` it has an argument of that name, see `metrics.r4`.
        """
        own = self.name.replace("-", "_")
        shipped = f"labapp.models.metrics.{self.where or own}:{own}"
        function: Function = load(self.where if ":" in self.where else shipped)
        return function


_ALL = (
    Metric(
        "mi",
        "MI",
        "Pairwise mutual information",
        "higher",
        "Ross et al. (2021), Figure 2",
        where="information",
    ),
    Metric(
        "mig", "MIG", "Mutual information gap", "higher", "Chen et al. (2018)", where="information"
    ),
    Metric("sap", "SAP", "Separated attribute predictability", "higher", "Kumar et al. (2018)"),
    Metric(
        "dci",
        "DCI",
        "Disentanglement, completeness, informativeness",
        "higher",
        "Eastwood and Williams (2018)",
    ),
    Metric(
        "modularity",
        "Modularity",
        "Whether codes tell of one factor each",
        "higher",
        "Ridgeway and Mozer (2018)",
        where="information",
    ),
    Metric(
        "explicitness",
        "Explicitness",
        "Whether factors can be read off all codes",
        "higher",
        "Ridgeway and Mozer (2018)",
        where="sap",
    ),
    Metric(
        "betavae",
        "BetaVAE",
        "Whether a fixed factor shows in differences of codes",
        "higher",
        "Higgins et al. (2017)",
        where="sampling",
    ),
    Metric(
        "factorvae",
        "FactorVAE",
        "Whether a fixed factor shows in the steadiest code",
        "higher",
        "Kim and Mnih (2018)",
        where="sampling",
    ),
    Metric(
        "r4",
        "R4",
        "R^2 both ways, between single codes and factors",
        "higher",
        "Ross and Doshi-Velez (2021)",
        progress=True,
    ),
    Metric(
        "dcimig",
        "DCIMIG",
        "Gaps of mutual information, code by code",
        "higher",
        "Sepliarskaia et al. (2019), 4.1",
        where="information",
    ),
    Metric(
        "ois",
        "OIS",
        "Oracle impurity score",
        "lower",
        "Espinosa Zarlenga et al. (2023), Definition 3.2",
        vectors=True,
        concepts=True,
        caution="It counts what briefly trained networks read of a code as it is: compare kinds "
        "of codes only in the same coordinates. A code that is honestly unsure of its concept for "
        "some inputs tells which inputs these are, and that counts as impurity: see the deviation "
        "of each code and concept.",
    ),
    Metric(
        "nis",
        "NIS",
        "Niche impurity score",
        "lower",
        "Espinosa Zarlenga et al. (2023), Definition 3.6",
        vectors=True,
        concepts=True,
        train=True,
        caution="By the paper's text, its own hand-made codes come out in the other order than "
        "published: pure ones at 0.512, impure ones at 0.480. Only --as-published has the "
        "published order.",
    ),
    Metric(
        "concept-probe",
        "Concept probe",
        "Whether concepts can be read off all codes, by a network",
        "higher",
        "Espinosa Zarlenga et al. (2023), A.11",
        where="probes",
        vectors=True,
        concepts=True,
        progress=True,
        train=True,
    ),
    Metric(
        "task-probe",
        "Task probe",
        "Whether a task's label can be read off all codes, by a network",
        "higher",
        "Espinosa Zarlenga et al. (2023), A.9",
        where="probes",
        vectors=True,
        progress=True,
        train=True,
        labels=True,
    ),
    Metric(
        "completeness",
        "Completeness",
        "How far codes suffice for a network's task",
        "higher",
        "Yeh et al. (2020), Definition 3.1",
        where="probes",
        vectors=True,
        progress=True,
        train=True,
        labels=True,
    ),
    Metric(
        "alignment-accuracy",
        "Alignment accuracy",
        "How well the best single code tells each concept",
        "higher",
        "Yeh et al. (2020)",
        where="ois",
        vectors=True,
        concepts=True,
    ),
    Metric(
        "ctl",
        "CTL",
        "Concepts-task leakage",
        "lower",
        "Parisini et al. (2025)",
        where="leakage",
        concepts=True,
        labels=True,
    ),
    Metric(
        "icl",
        "ICL",
        "Interconcept leakage",
        "lower",
        "Parisini et al. (2025)",
        where="leakage",
        concepts=True,
        caution="By nearest neighbours it falls with the number of rows, and continuous codes "
        "score lower than the same codes cut into classes: compare equal kinds of codes at equal "
        "numbers of rows, or take --set estimator=bins.",
    ),
)
METRICS: Catalogue[Metric] = Catalogue("labapp.metrics", "a metric", Metric, lambda: _ALL)
"""In the order in which they are shown."""
