"""What metrics share: alignment, bins, halves, ROC areas and correlations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import softmax
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from benchmarks.reproduction.hand_made import hand_made
from labapp.base.errors import MetricError
from labapp.models.datasets.birds import SPECIES, FieldMark, marks_of
from labapp.models.datasets.split import Float64
from labapp.models.metrics.evaluation.scores import correlations
from labapp.models.metrics.information import Binning, discretise
from labapp.models.metrics.inputs import halves, z_scores
from labapp.models.metrics.ois import align, alignment_accuracy, greedy
from labapp.models.metrics.roc import class_auc, roc_auc
from tests.helpers.sample import examples, sample
from tests.models.metrics.made import BINNINGS, array, seeds


def noisy(seed: int, rows: int = 500) -> tuple[Float64, Float64]:
    """Three concepts and a noisy code of each."""
    rng = np.random.default_rng(seed)
    truth = (rng.random((rows, 3)) > 0.5).astype(float)
    return truth + 0.3 * rng.normal(size=truth.shape), truth


def test_the_greatest_area_is_matched_first() -> None:
    # Concept 0 is best told from code 1, which however tells concept 1 better still.
    areas = np.array([[0.8, 0.5], [0.9, 0.95], [0.6, 0.7]])
    assert greedy(areas).tolist() == [0, 1]
    # Greedy, not best in total: 0.95 + 0.5 is less than 0.9 + 0.94.
    assert greedy(np.array([[0.95, 0.94], [0.9, 0.5]])).tolist() == [0, 1]


def test_of_equal_areas_the_first_codes_first_concept_counts() -> None:
    assert greedy(np.full((4, 3), 0.5)).tolist() == [0, 1, 2]
    assert greedy(np.array([[0.5, 0.9], [0.9, 0.9]])).tolist() == [1, 0]


@examples(60)
@given(seed=st.integers(0, 2**32 - 1), codes=st.integers(1, 8), concepts=st.integers(1, 8))
def test_order_of_codes_and_concepts_goes_with_the_alignment(
    seed: int, codes: int, concepts: int
) -> None:
    rng = np.random.default_rng(seed)
    codes = max(codes, concepts)
    areas = rng.random((codes, concepts))
    found = greedy(areas)
    assert len(set(found.tolist())) == concepts
    c, k = rng.permutation(codes), rng.permutation(concepts)
    assert np.array_equal(c[greedy(areas[c][:, k])], found[k])


@pytest.mark.parametrize("as_published", [False, True])
def test_shuffled_codes_are_put_back(as_published: bool) -> None:
    codes, truth = noisy(0, rows=1500)
    rng = np.random.default_rng(1)
    among = np.hstack([codes, rng.normal(size=(len(codes), 3)), np.ones((len(codes), 1))])
    shuffle = rng.permutation(7)
    found = align(among[:, shuffle], truth, as_published=as_published)
    assert shuffle[found.order].tolist() == [0, 1, 2]
    assert found.predictability.shape == (7, 3)
    constant = int(np.flatnonzero(shuffle == 6)[0])
    assert (found.predictability[constant] == 0.5).all()
    assert found.settings["batch"] == (512 if as_published else 128)


def test_codes_of_several_numbers() -> None:
    codes, truth = noisy(2, rows=1500)
    noise = np.random.default_rng(3).normal(size=codes.shape)
    vectors = np.stack([noise, codes], axis=2)[:, [2, 0, 1]]
    assert align(vectors, truth).order.tolist() == [1, 2, 0]


def test_signs_and_copies_of_codes_move_no_concept_to_another_code() -> None:
    codes, truth = noisy(5, rows=700)
    assert align(codes * [-1, 1, -1], truth).order.tolist() == [0, 1, 2]
    copied = align(np.hstack([codes, codes]), truth).order
    assert (copied % 3).tolist() == [0, 1, 2]


def test_one_code_and_one_concept() -> None:
    codes, truth = noisy(6)
    assert align(codes[:, :1], truth[:, :1]).order.tolist() == [0]
    assert align(codes, truth[:, 1:2]).order.tolist() == [1]


def test_refusals() -> None:
    codes, truth = noisy(4)
    with pytest.raises(MetricError, match="2 codes for 3 concepts") as refused:
        align(codes[:, :2], truth)
    assert refused.value.todo
    with pytest.raises(MetricError, match="the seed is -1"):
        align(codes, truth, seed=-1)
    with pytest.raises(MetricError, match="in only one row"):
        align(codes, codes)


RNG = np.random.default_rng(0)

TRUTH = (RNG.random((2_000, 3)) < [0.5, 0.5, 0.9]).astype(float)

NOISE = RNG.normal(size=(2_000, 1))


def test_the_best_code_of_each_concept_counts_wherever_it_stands() -> None:
    codes = np.concatenate([NOISE, TRUTH[:, [1, 0, 2]]], axis=1)
    found = alignment_accuracy(codes, TRUTH)
    assert found.score == 1.0
    np.testing.assert_array_equal(array(found, "best_code"), [2, 1, 3])


def test_one_code_may_be_the_best_of_several_concepts() -> None:
    """A code 3 c1 + c2 tells both; of a concept that no code tells, its likelier class is told."""
    found = alignment_accuracy((3 * TRUTH[:, 0] + TRUTH[:, 1])[:, None], TRUTH, epochs=40)
    np.testing.assert_array_equal(array(found, "best_code"), np.zeros(3))
    np.testing.assert_allclose(array(found, "per_factor")[:2], 1.0, atol=0.3)
    assert array(found, "per_factor")[0] == 1.0
    assert (
        array(found, "per_factor")[2] == array(found, "chance")[2] == pytest.approx(0.9, abs=0.03)
    )
    assert found.score == pytest.approx(array(found, "accuracy").max(axis=0).mean())


def test_pure_and_impure_codes_score_alike() -> None:
    made = hand_made(seed=0, covariance=0)
    scores = [
        alignment_accuracy(codes, made.concepts, epochs=10).score
        for codes in (made.pure, made.impure)
    ]
    np.testing.assert_allclose(scores, 1.0, atol=0.01)


def test_accuracy_of_codes_of_several_numbers() -> None:
    # Whether two numbers are equal; neither tells it alone.
    equal = (TRUTH[:, 0] == TRUTH[:, 1]).astype(float)[:, None]
    pair = alignment_accuracy(2 * TRUTH[:, None, :2] - 1, equal, epochs=200)
    alone = alignment_accuracy(2 * TRUTH[:, :2] - 1, equal, epochs=20)
    assert pair.score == 1.0
    assert alone.score < 0.6


def test_refusals_of_alignment_accuracy() -> None:
    with pytest.raises(MetricError, match="hidden is 0"):
        alignment_accuracy(TRUTH, TRUTH, hidden=0)
    with pytest.raises(MetricError, match="no coordinates"):
        alignment_accuracy(TRUTH, TRUTH, coordinates="x")  # type: ignore[arg-type]


columns = arrays(np.float64, st.integers(2, 60), elements=st.floats(-1e6, 1e6))


def test_equal_widths_by_hand() -> None:
    # Cuts at 0.25, 0.5, 0.75: a value on a cut belongs above it, the greatest value below the end.
    column = np.array([0.0, 0.24, 0.25, 0.5, 0.74, 0.75, 1.0])
    assert discretise(column, bins=4).tolist() == [0, 0, 1, 2, 2, 3, 3]


def test_equal_frequencies_by_hand() -> None:
    column = np.array([1000.0, -5.0, 0.0, 0.1, 0.2, 7.0, 30.0, -90.0])
    assert discretise(column, 4, "equal-frequency").tolist() == [3, 0, 1, 1, 2, 2, 3, 0]


def test_equal_values_are_never_parted() -> None:
    column = np.array([1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 3.0])
    assert discretise(column, 4, "equal-frequency").tolist() == [0, 2, 2, 2, 2, 2, 2, 3]


@pytest.mark.parametrize("binning", BINNINGS)
def test_a_constant_column_is_one_bin(binning: Binning) -> None:
    assert len(set(discretise(np.full(9, 3.7), 20, binning).tolist())) == 1


@settings(deadline=None)
@given(column=columns, bins=st.integers(2, 30), binning=st.sampled_from(BINNINGS))
def test_bins_follow_the_order_of_the_values(column: Float64, bins: int, binning: Binning) -> None:
    found = discretise(column, bins, binning)
    assert found.min() >= 0
    assert found.max() <= bins - 1
    order = np.argsort(column, kind="stable")
    assert (np.diff(found[order]) >= 0).all()
    assert ((np.diff(column[order]) > 0) | (np.diff(found[order]) == 0)).all()
    if column.min() < column.max():
        assert found[column.argmin()] < found[column.argmax()]


@given(seed=seeds, count=st.integers(20, 400))
def test_equal_frequency_bins_differ_by_a_row_at_most(seed: int, count: int) -> None:
    column = np.random.default_rng(seed).normal(size=count)
    filled = np.bincount(discretise(column, 20, "equal-frequency"), minlength=20)
    assert filled.max() - filled.min() <= 1


@given(column=columns)
def test_equal_frequency_bins_stay_under_increasing_maps(column: Float64) -> None:
    ranks = np.unique(column, return_inverse=True)[1].astype(np.float64)
    for mapped in (ranks, np.exp(ranks / 10)):
        assert np.array_equal(
            discretise(mapped, 20, "equal-frequency"), discretise(column, 20, "equal-frequency")
        )


@pytest.mark.parametrize(("bins", "binning"), [(1, "equal-width"), (20, "equal-hope")])
def test_impossible_bins_are_refused(bins: int, binning: Binning) -> None:
    with pytest.raises(MetricError, match=r"bins is 1|'equal-hope'"):
        discretise(np.arange(5.0), bins, binning)


@given(rows=st.integers(10, 300), seed=st.integers(0, 2**32 - 1))
def test_halves_are_all_rows_once(rows: int, seed: int) -> None:
    train, test = halves(rows, seed)
    assert len(train) == rows // 2
    assert sorted([*train, *test]) == list(range(rows))
    assert [part.tolist() for part in halves(rows, seed)] == [train.tolist(), test.tolist()]


def test_another_seed_divides_otherwise() -> None:
    assert halves(100, 0)[0].tolist() != halves(100, 1)[0].tolist()


@pytest.mark.parametrize(
    ("rows", "seed", "message"), [(9, 0, "9 rows"), (20, -1, "seed is -1"), (20, 2**32, "seed is")]
)
def test_too_few_rows_and_impossible_seeds_are_refused(rows: int, seed: int, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        halves(rows, seed)


@given(seed=st.integers(0, 2**32 - 1))
def test_z_scores_against_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table, train = rng.normal(3, 2, (40, 3)), rng.permutation(40)[:20]
    expected = StandardScaler().fit(table[train]).transform(table)
    np.testing.assert_allclose(z_scores(table, train), expected, atol=1e-9)


def test_columns_that_do_not_vary_among_the_rows_learnt_from_are_0() -> None:
    table = np.array([[1, 2.0], [1, 3], [9, 4]])
    found = z_scores(table, np.array([0, 1]))
    assert found[:, 0].tolist() == [0, 0, 0]
    np.testing.assert_allclose(found[:, 1], [-1, 1, 3])


@pytest.mark.parametrize("unit", [1e-300, 1e100])
def test_no_unit_leaves_float64(unit: float) -> None:
    np.testing.assert_allclose(
        z_scores(np.array([[1.0], [2.0], [3.0]]) * unit, np.arange(2))[:, 0], [-1, 1, 3]
    )
    far = z_scores(np.array([[0.0], [1e-300], [1e100]]), np.arange(2))
    assert np.isfinite(far).all()


@examples(60)
@given(seed=seeds, levels=st.integers(1, 40), share=st.floats(0.05, 0.95))
def test_many_at_once_are_scikit_learns_one_by_one(seed: int, levels: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, (3, 4, 50)).astype(float)
    positive = rng.random((4, 50)) < share
    positive[:, 0], positive[:, 1] = True, False
    found = roc_auc(scores, positive)
    assert found.shape == (3, 4)
    for i, j in sample(list(np.ndindex(3, 4)), [(0, 0), (1, 2), (2, 3)]):
        assert found[i, j] == pytest.approx(roc_auc_score(positive[j], scores[i, j]), abs=1e-12)


def test_by_hand() -> None:
    truth = np.array([True, False, True, False])
    assert roc_auc(np.array([4.0, 1, 3, 2]), truth) == 1
    assert roc_auc(np.array([1.0, 4, 2, 3]), truth) == 0
    assert roc_auc(np.array([4.0, 3, 2, 1]), truth) == 0.75
    assert roc_auc(np.ones(4), truth) == 0.5


@pytest.mark.parametrize("only", [True, False])
def test_one_class_alone_has_no_curve(only: bool) -> None:
    assert np.isnan(roc_auc(np.arange(5.0), np.full(5, only)))


@examples(30)
@given(seed=seeds, classes=st.integers(3, 6))
def test_more_classes_are_scikit_learns_one_against_the_rest(seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(2, 60, classes))
    labels = np.concatenate([np.arange(classes), rng.integers(0, classes, 60 - classes)])
    wanted = [
        roc_auc_score(labels, softmax(one, axis=1), multi_class="ovr", average="macro")
        for one in logits
    ]
    np.testing.assert_allclose(class_auc(logits, labels), wanted, atol=1e-12)


def test_one_logit_is_that_of_the_second_class() -> None:
    labels = np.array([0, 1, 0, 1])
    assert class_auc(np.array([[-5.0], [3], [-1], [2]]), labels) == 1


def test_the_factors_that_tell_most_come_first() -> None:
    a, b = np.array([(0, 0), (0, 1), (1, 0), (1, 1)] * 50).T
    label = 2 * a + b
    # A copy of the label, of its second digit, and its second digit with a quarter turned over.
    factors = np.stack([np.arange(200) % 3, b, label, np.where(np.arange(200) < 50, 1 - b, b)], 1)
    found = correlations(factors, label, top=3)
    assert found.chosen.tolist() == [2, 1, 3]
    np.testing.assert_allclose(found.mutual_information[:2], [np.log(4), np.log(2)])
    assert found.matrix[0, 1] == pytest.approx(1 / np.sqrt(5))
    assert found.matrix[1, 2] == pytest.approx(0.5)
    assert found.mean == pytest.approx(found.matrix[np.triu_indices(3, 1)].mean())


def test_the_marks_of_the_painted_birds() -> None:
    """By hand: 20 species as often; a crest and wing spots in ten and eight of them."""
    marks = np.array([marks_of(species) for species in range(SPECIES)])
    found = correlations(marks, np.arange(SPECIES))
    order = [FieldMark(place) for place in found.chosen]
    shares = marks.mean(axis=0)[found.chosen]
    entropies = -(shares * np.log(shares) + (1 - shares) * np.log(1 - shares))
    # A mark is decided by the species: it tells its own entropy.
    np.testing.assert_allclose(found.mutual_information, entropies)
    assert set(order) == set(FieldMark)
    known = np.corrcoef(marks[:, FieldMark.CREST], marks[:, FieldMark.PATTERN])[0, 1]
    places = order.index(FieldMark.CREST), order.index(FieldMark.PATTERN)
    assert found.matrix[places] == pytest.approx(abs(known))


@examples(20)
@given(st.integers(0, 100), st.integers(1, 6))
def test_signs_and_units_do_not_count(seed: int, top: int) -> None:
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, 2, (60, 4)).astype(float)
    factors[:2] = [[0] * 4, [1] * 4]
    label = (factors @ rng.normal(size=4)).round(1)
    label[:2] = [-9, 9]
    one = correlations(factors, label, top=top)
    other = correlations(3 - 2 * factors, 7 * label, top=top)
    np.testing.assert_array_equal(one.chosen, other.chosen)
    np.testing.assert_allclose(one.matrix, other.matrix, atol=1e-12)
    assert (one.matrix.diagonal() == 1).all()
    assert (np.diff(one.mutual_information) <= 1e-12).all()
    assert len(one.chosen) == min(top, 4)


def test_a_single_factor_has_no_pair() -> None:
    found = correlations(np.array([[0.0], [1.0], [1.0]]), [0, 1, 2], top=5)
    assert found.matrix.tolist() == [[1.0]]
    assert np.isnan(found.mean)
    assert found.to_json(["a"])["mean"] is None


def test_refusals_of_correlations() -> None:
    factors = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    with pytest.raises(MetricError, match="top is 0"):
        correlations(factors, [0, 1, 2], top=0)
    with pytest.raises(MetricError, match="every label is 1"):
        correlations(factors, [1, 1, 1])
    with pytest.raises(MetricError, match="there are 3 rows"):
        correlations(factors, [1, 2])
