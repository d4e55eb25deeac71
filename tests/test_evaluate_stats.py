"""Intervals, differences, gates, and the comparison of two runs."""

import pytest

from rag.errors import EvaluationError
from rag.evaluate import gates
from rag.evaluate.compare import compare
from rag.evaluate.runs import Record, Run
from rag.evaluate.stats import difference, estimate, percentile, sign_test


def means(*values):
    return [(float(value), 1.0) for value in values]


def test_an_estimate_is_the_mean_with_an_interval_around_it():
    found = estimate(means(*[1] * 80, *[0] * 20))
    assert found.value == pytest.approx(0.8)
    # The normal approximation gives 0.8 +- 1.96 * sqrt(0.8 * 0.2 / 100) = 0.8 +- 0.078.
    assert found.low == pytest.approx(0.722, abs=0.015)
    assert found.high == pytest.approx(0.878, abs=0.015)
    assert found.n == 100


def test_the_same_numbers_always_give_the_same_interval():
    assert estimate(means(1, 0, 1, 1)) == estimate(means(1, 0, 1, 1))


def test_a_ratio_of_sums_is_not_a_mean_of_ratios():
    assert estimate([(1.0, 1.0), (0.0, 3.0)]).value == 0.25


def test_a_metric_without_anything_to_count_has_no_estimate():
    assert estimate([(0.0, 0.0)]) is None
    assert estimate([]) is None


def test_the_sign_test_is_exact():
    assert sign_test(5, 0) == pytest.approx(2 / 32)
    assert sign_test(8, 1) == pytest.approx(2 * (1 + 9) / 512)
    assert sign_test(0, 0) == 1
    assert sign_test(3, 3) == 1


def test_a_few_flips_are_noise_even_when_they_all_go_one_way():
    before = means(*[0] * 5, *[1] * 75)
    after = means(*[1] * 80)
    found = difference(before, after)
    assert found.low > 0
    assert found.p_sign > 0.05
    assert found.direction() == "no difference beyond noise"


def test_many_flips_one_way_are_a_difference():
    found = difference(means(*[0] * 12, *[1] * 68), means(*[1] * 80))
    assert (found.wins, found.losses) == (12, 0)
    assert found.value == pytest.approx(0.15)
    assert found.direction() == "better"
    assert found.direction(higher_is_better=False) == "worse"


def test_the_same_run_twice_does_not_differ():
    scores = means(0.2, 0.9, 1, 0)
    found = difference(scores, scores)
    assert (found.value, found.low, found.high) == (0, 0, 0)
    assert not found.beyond_noise


def test_a_difference_of_unequal_runs_is_a_mistake():
    with pytest.raises(ValueError, match="equal cases"):
        difference(means(1), means(1, 0))


def test_percentiles_interpolate():
    assert percentile([1, 2, 3, 4], 50) == 2.5
    assert percentile([], 50) is None


class TestGates:
    results = {"hit@5": 0.9, "recall@20": None, "latency_ms": {"p95": 80.0}}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("text", "kept"),
        [("hit@5>=0.9", True), ("hit@5 > 0.9", False), ("latency_ms.p95<=79", False)],
    )
    def test_a_gate_is_kept_or_missed(self, text, kept):
        assert gates.check(gates.parse(text), self.results).kept is kept

    def test_a_number_that_the_run_cannot_give_misses_its_gate(self):
        assert not gates.check(gates.parse("recall@20>=0"), self.results).kept

    def test_an_unknown_metric_is_an_error_that_lists_the_known_ones(self):
        with pytest.raises(EvaluationError, match=r"no metric 'hit@7'.*hit@5"):
            gates.check(gates.parse("hit@7>=0.5"), self.results)

    def test_a_condition_that_is_none_is_an_error(self):
        with pytest.raises(EvaluationError, match="write for example"):
            gates.parse("hit@5 = 0.9")


def run(name, **config):
    return Run(name, "2026-01-01", "set", "digest", "retrieval", 5, 3, config=config)


def records(**hits):
    return {
        name: Record(id=name, question=f"{name}?", scores={"hit@5": (float(hit), 1.0)})
        for name, hit in hits.items()
    }


class TestComparison:
    def test_the_flipped_cases_are_named_losses_first(self):
        found = compare((run("a"), records(x=1, y=0, z=1)), (run("b"), records(x=0, y=1, z=1)))
        assert [(flip.id, flip.gained) for flip in found.flips] == [("x", False), ("y", True)]
        assert found.metrics["hit@5"].value == 0

    def test_only_the_cases_of_both_count(self):
        found = compare((run("a"), records(x=1, y=1)), (run("b"), records(x=1, z=0)))
        assert (found.n, found.left_out) == (1, 2)

    def test_what_changed_in_the_configuration_is_named(self):
        found = compare(
            (run("a", chunk_tokens="200", embedder="m"), records(x=1)),
            (run("b", chunk_tokens="400", embedder="m"), records(x=1)),
        )
        assert found.changed == {"chunk_tokens": ("200", "400")}

    def test_runs_of_different_sets_cannot_be_compared(self):
        with pytest.raises(EvaluationError, match="no question in common"):
            compare((run("a"), records(x=1)), (run("b"), records(y=1)))
