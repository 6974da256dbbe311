"""Every built-in challenge is sound as a pack.

It is impossible to pass by guessing, skipping or halving the precision.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from judge.packs.data.inputs import lazy_inputs, make_inputs
from judge.packs.form.statement import read_statement
from judge.packs.judging import check_outputs, expected_outputs, spot_check
from judge.packs.pack import Case, Pack
from judge.packs.sizes import case_bytes, case_flops, shape
from judge.packs.submissions import listed_submissions
from judge.verdict import Verdict
from judge.verify.prepared import PreparedCase
from judge.verify.trivial_answers import accepted_trivial_answers
from tests.unit.challenges.computations import COMPUTATIONS, sum_in_half, sum_without_a_tenth

ROOT = Path(__file__).resolve().parents[3]
SLUGS = tuple(COMPUTATIONS)

#: An H200: bytes and operations a second that no kernel gets past.
BANDWIDTH = 4.8e12
PEAKS = {"gemm": 989e12, "int8-matmul": 1979e12}
FP32_PEAK = 67e12


@pytest.fixture(params=SLUGS)
def pack(request: pytest.FixtureRequest, packs: dict[str, Pack]) -> Pack:
    return packs[request.param]


def output_of(pack: Pack) -> str:
    (output,) = pack.outputs
    return output.name


def test_these_are_the_challenges(packs: dict[str, Pack]) -> None:
    assert set(packs) >= set(SLUGS)


@pytest.mark.exhaustive(share=3)
@pytest.mark.parametrize("seed", [3, 4, 5])
def test_guesses_fail_whatever_the_seed(pack: Pack, seed: int) -> None:
    for case in pack.cases_for("emulator") + pack.benchmarks_for("emulator"):
        passing = set(accepted_trivial_answers(PreparedCase(pack, case, seed)))
        allowed = {"ones", "the mean everywhere"} | {f"a copy of {a.name}" for a in pack.arguments}
        assert passing <= (allowed if case.guessable else set()), case.id


def test_single_precision_in_order_passes_every_case(pack: Pack) -> None:
    for case in pack.cases_for("emulator") + pack.benchmarks_for("emulator"):
        inputs = make_inputs(pack, case, 11)
        outputs = {output_of(pack): COMPUTATIONS[pack.slug](inputs)}
        assert check_outputs(pack, case, inputs, outputs) is None, case.id


@pytest.mark.parametrize("slug", [slug for slug in SLUGS if slug != "int8-matmul"])
def test_half_precision_sums_fail_on_several_cases(slug: str, packs: dict[str, Pack]) -> None:
    pack = packs[slug]
    failed = []
    for case in pack.cases:
        inputs = make_inputs(pack, case, 12)
        with np.errstate(over="ignore", invalid="ignore"):
            outputs = {output_of(pack): COMPUTATIONS[slug](inputs, sum_in_half)}
        if check_outputs(pack, case, inputs, outputs) is not None:
            failed.append(case.id)
    assert len(failed) >= 5, failed


def test_sums_without_a_tenth_of_their_terms_fail(pack: Pack) -> None:
    for case in pack.cases:
        # One term, all alike, or a factor of zero: there is nothing that could be missed.
        terms = {"vector-add": 2, "gemm": case.axes.get("K"), "int8-matmul": case.axes.get("K")}
        if (terms.get(pack.slug) or case.axes["N"]) == 1 or case.id in ("equal-keys", "alpha-zero"):
            continue
        inputs = make_inputs(pack, case, 13)
        outputs = {output_of(pack): COMPUTATIONS[pack.slug](inputs, sum_without_a_tenth)}
        assert check_outputs(pack, case, inputs, outputs) is not None, case.id


def test_cases_are_quick_on_a_cpu(pack: Pack) -> None:
    for case in pack.cases + pack.benchmarks_for("emulator"):
        elements = sum(int(np.prod(shape(case, argument))) for argument in pack.arguments if argument.is_pointer)
        assert elements <= 4_000_000, case.id
        assert (case_flops(pack, case) or 0) <= 50e6, case.id


def test_awkward_sizes_are_among_the_hidden_cases(pack: Pack) -> None:
    hidden = [case for case in pack.cases if case.group == "hidden"]
    assert len(hidden) >= 5
    for axis in pack.axes:
        sizes = {case.axes[axis.name] for case in pack.cases}
        if axis.name != "d" or axis.multiple_of > 1:
            assert axis.min in sizes, f"the smallest {axis.name}"
        assert any(size % 32 for size in sizes), f"{axis.name} not a multiple of a warp"
        assert any(size > 64 for size in sizes)
        assert len(sizes) >= 4
    if len(pack.axes) > 1:
        assert any(len(set(case.axes.values())) == len(case.axes) for case in hidden), "all sizes different"


def test_benchmarks_on_a_gpu_take_long_enough(pack: Pack) -> None:
    (case,) = pack.benchmarks_for("cuda")
    least_s = max(case_bytes(pack, case) / BANDWIDTH, (case_flops(pack, case) or 0) / PEAKS.get(pack.slug, FP32_PEAK))
    assert 100e-6 <= least_s <= 1e-3
    (small,) = pack.benchmarks_for("emulator")
    assert case_bytes(pack, small) < case_bytes(pack, case) / 10


def medium_case(pack: Pack) -> Case:
    """As the benchmark on a GPU, but of a size for a test."""
    axes = {
        "vector-add": {"N": 3_000_001},
        "reduction": {"N": 3_000_001},
        "softmax": {"N": 3_000_001},
        "attention": {"M": 600, "N": 300, "d": 64},
        "gemm": {"M": 320, "N": 192, "K": 128},
        "int8-matmul": {"M": 600, "N": 190, "K": 130},
    }[pack.slug]
    return dataclasses.replace(pack.benchmarks_for("emulator")[0], axes=axes)


def test_spot_checks_accept_the_right_and_see_what_is_skipped(pack: Pack) -> None:
    case = medium_case(pack)
    inputs = make_inputs(pack, case, 1, call=7)
    (want,) = expected_outputs(pack, case, inputs).values()
    name, dtype = output_of(pack), pack.outputs[0].dtype
    right = want.values.astype(dtype)
    assert spot_check(pack, case, inputs, {name: right}, seed=1) is None
    assert spot_check(pack, case, lazy_inputs(pack, case, 1, call=7), {name: right}, seed=1) is None
    skipped = right.copy()
    skipped[-max(1, len(skipped) // 10) :] = 0
    for seed in range(5):
        assert spot_check(pack, case, inputs, {name: skipped}, seed=seed) is not None
        assert spot_check(pack, case, lazy_inputs(pack, case, 1, call=7), {name: skipped}, seed=seed) is not None


@pytest.mark.parametrize("slug", ["gemm", "int8-matmul"])
def test_products_are_checked_in_every_row(slug: str, packs: dict[str, Pack]) -> None:
    pack = packs[slug]
    case = medium_case(pack)
    inputs = make_inputs(pack, case, 1)
    (want,) = expected_outputs(pack, case, inputs).values()
    right = want.values.astype(pack.outputs[0].dtype)
    for row in (0, 17, 200, len(right) - 1):
        wrong = right.copy()
        wrong[row] = wrong[row, ::-1]
        for seed in range(3):
            mismatch = spot_check(pack, case, inputs, {"C": wrong}, seed=seed)
            assert mismatch is not None, row
            assert mismatch.indices[0][0] == row


def test_submissions_show_the_verdicts(pack: Pack) -> None:
    shown = {verdict for submission in listed_submissions(pack) for verdict in submission.verdicts}
    assert shown >= set(Verdict) - {Verdict.TIMING_NOT_TRUSTED, Verdict.INTERNAL_ERROR}


def test_styles_of_accepted_submissions(packs: dict[str, Pack]) -> None:
    texts = [
        path.read_text() for slug in SLUGS for path in (packs[slug].directory / "submissions/accepted").glob("*.cu")
    ]
    assert any('extern "C"' not in text and "solve.h" not in text for text in texts)
    assert any('#include "solve.h"' in text for text in texts)
    assert any("int main(" in text for text in texts)
    assert any("ynchronize" not in text for text in texts)
    assert any("atomicAdd(output" in text for text in texts)


def test_our_own_kernels_are_there(pack: Pack) -> None:
    folder = ROOT / "reference_solutions" / pack.slug
    assert {path.name for path in folder.glob("*.cu")} >= {"plain.cu", "tuned.cu"}
    assert all(path.read_text().startswith("//") for path in folder.glob("*.cu"))


def test_statements_have_their_sections(pack: Pack) -> None:
    statement = read_statement(pack)
    for section in ("What you write", "Constraints", "Example", "What is timed", "Getting it fast"):
        assert f"## {section}\n" in statement
    assert "{{" not in statement
    assert statement.count("$") % 2 == 0
