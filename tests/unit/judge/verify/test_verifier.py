from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from judge.compile.target import Target
from judge.judgement import BuildReport, CaseJudgement, DeviceInfo, Judgement, MemoryFault
from judge.packs.pack import Pack
from judge.verdict import Verdict
from judge.verify import Severity, SubmissionCheck, verify_pack

#: Each draws and checks a pack's inputs for seconds.
pytestmark = pytest.mark.exhaustive(by_file=True)

Edit = Callable[..., Path]


def errors(directory: Path) -> dict[str, str]:
    """The messages of a pack's errors by code; there must be one."""
    verification = verify_pack(directory)
    assert not verification.ok
    found: dict[str, str] = {}
    for finding in verification.findings:
        if finding.severity is Severity.ERROR:
            found[finding.code] = f"{found.get(finding.code, '')}\n{finding}".strip()
    return found


def test_a_good_pack_has_no_findings(pack_directory: Path) -> None:
    verification = verify_pack(pack_directory)
    assert verification.findings == ()
    assert verification.ok
    assert verification.pack is not None
    assert len(verification.mutants) > 10


def test_one_that_does_not_load(edit: Edit) -> None:
    verification = verify_pack(edit('difficulty = "easy"', ""))
    assert verification.pack is None
    assert "difficulty" in str(verification.findings[0])


def test_several_errors_are_found_at_once(edit: Edit) -> None:
    edit("axes = { N = 1 }", "axes = { N = 2 }")
    edit("{{N.max}}", "{{M.max}}", "statement.md")
    found = errors(edit("    return", "    assert N != 100, 'not a hundred'\n    return", "reference.py"))
    assert set(found) == {"size-minimum", "statement-placeholder", "reference-failed"}
    assert "{{M.max}} is not known" in found["statement-placeholder"]
    assert "raises AssertionError: not a hundred" in found["reference-failed"]


def test_a_stale_starter(pack_directory: Path) -> None:
    (pack_directory / "starter.cu").write_text("// old\n")
    assert "starter" in errors(pack_directory)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("axes = { N = 33 }", "axes = { N = 32 }", None),
        ("axes = { N = 1031 }", "axes = { N = 1024 }", "size-prime"),
        ("axes = { N = 50 }", "axes = { N = 52 }", "size-pairs"),
        ("{{signature}}", "", "statement-section"),
        ("Example", "Once", "statement-example"),
        ("At most", "$ at most", "statement-maths"),
    ],
)
def test_weaknesses(edit: Edit, old: str, new: str, code: str | None) -> None:
    directory = edit(old, new, "challenge.toml" if "axes" in old else "statement.md")
    if old == "axes = { N = 1031 }":
        edit("axes = { N = 33 }", "axes = { N = 32 }")
    found = verify_pack(directory).findings
    assert {each.code for each in found} == ({code} if code else set())


def test_a_prime_times_what_all_sizes_are_multiples_of_counts_as_a_prime(edit: Edit) -> None:
    sizes = {1: 2, 33: 34, 5: 10, 1031: 1024}
    for old, new in sizes.items():
        edit(f"axes = {{ N = {old} }}", f"axes = {{ N = {new} }}")
    directory = edit("max = 100_000_000", "min = 2, max = 100_000_000, multiple_of = 2")
    assert "size-prime" not in {each.code for each in verify_pack(directory).findings}
    edit("axes = { N = 34 }", "axes = { N = 36 }")
    assert "size-prime" in {each.code for each in verify_pack(directory).findings}


def test_lengths_that_cannot_be_pairs_without_fours_are_not_missed(edit: Edit) -> None:
    for old, new in {33: 36, 50: 52, 5: 8, 1: 4, 1031: 4124}.items():
        edit(f"axes = {{ N = {old} }}", f"axes = {{ N = {new} }}")
    directory = edit("max = 100_000_000", "min = 4, max = 100_000_000, multiple_of = 4")
    assert "size-pairs" not in {each.code for each in verify_pack(directory).findings}


def test_sizes_that_hide_mistakes(edit: Edit) -> None:
    edit("axes = { N = 1 }", "axes = { N = 32 }")
    edit("axes = { N = 100 }", "axes = { N = 64 }")
    edit("axes = { N = 33 }", "axes = { N = 96 }")
    edit("axes = { N = 50 }", "axes = { N = 96 }")
    edit("axes = { N = 1031 }", "axes = { N = 128 }")
    edit("axes = { N = 1_100_000 }", "axes = { N = 1024 }")
    found = errors(edit("axes = { N = 5 }", "axes = { N = 32 }"))
    assert {"size-minimum", "size-warp", "size-one-block"} <= set(found)


def test_a_size_that_an_int_cannot_hold(edit: Edit) -> None:
    assert "size-overflow" in errors(edit("max = 100_000_000", "max = 3_000_000_000"))


def test_a_benchmark_that_is_too_short(edit: Edit) -> None:
    short = edit("axes = { N = 100_000_000 }", "axes = { N = 1_000_000 }")
    assert "bench-short" in errors(short)


def test_a_finding_that_is_waived_is_a_note_with_the_reason(edit: Edit) -> None:
    edit("axes = { N = 100_000_000 }", "axes = { N = 1_000_000 }")
    waived = edit("[bench]", '[waived]\nbench-short = "each step waits for the one before"\n\n[bench]')
    found = {finding.code: finding for finding in verify_pack(waived).findings}
    assert found["bench-short"].severity is Severity.NOTE
    assert found["bench-short"].message.endswith("choose sizes for 100 µs, but: each step waits for the one before")


def test_a_waiver_of_what_was_not_found_is_needless(edit: Edit) -> None:
    pack = edit("[bench]", '[waived]\nbench-long = "the reference is slow"\ncheck-cost = "so is the check"\n\n[bench]')
    found = [finding.key for finding in verify_pack(pack).findings if finding.code == "waiver"]
    assert found == ["waived.bench-long"], "what checks cost depends on the machine"


def test_no_benchmark_for_the_emulator(edit: Edit) -> None:
    assert "bench-missing" in errors(edit('devices = ["emulator"]', 'devices = ["cuda"]'))


@pytest.mark.parametrize(
    ("distribution", "guess"),
    [
        ('kind = "constant", value = 0', "zeros"),
        ('kind = "constant", value = 1', "the mean everywhere"),
    ],
)
def test_cases_that_a_guess_passes(edit: Edit, distribution: str, guess: str) -> None:
    own = f"axes = {{ N = 100 }}\ndata.x = {{ {distribution} }}"
    assert guess in errors(edit("axes = { N = 100 }", own))["trivial-answer"]


def test_a_copy_that_passes(edit: Edit) -> None:
    found = errors(edit("axes = { N = 100 }", "axes = { N = 100 }\nparameters = { factor = 1 }"))
    assert "cases.hundred: accepts a trivial answer (a copy of x)" in found["trivial-answer"]


def test_guessable_cases_may_be_guessed(edit: Edit) -> None:
    copy = edit("axes = { N = 100 }", "axes = { N = 100 }\nguessable = true\nparameters = { factor = 1 }")
    assert verify_pack(copy).ok


def test_zeros_may_be_right_where_a_case_says_that_it_is_guessable(edit: Edit) -> None:
    zeros = edit("axes = { N = 100 }", "axes = { N = 100 }\nparameters = { factor = 0 }")
    assert "zeros" in errors(zeros)["trivial-answer"]
    assert verify_pack(edit("parameters = { factor = 0 }", "guessable = true\nparameters = { factor = 0 }")).ok


def test_inputs_that_do_not_follow_from_the_seed(pack_directory: Path, edit: Edit) -> None:
    edit('data = { kind = "uniform", low = -1, high = 1 }', "")
    path = pack_directory / "reference.py"
    path.write_text(
        path.read_text()
        + "\n_calls = 0\ndef make_inputs(rng, N, factor):\n    global _calls\n    _calls += 1\n"
        + "    return {'x': np.arange(1.0, N + 1) + _calls}\n"
    )
    assert "same seed makes different inputs" in errors(pack_directory)["seed-ignored"]


def test_inputs_that_are_the_same_for_every_seed(pack_directory: Path, edit: Edit) -> None:
    edit('data = { kind = "uniform", low = -1, high = 1 }', "")
    path = pack_directory / "reference.py"
    path.write_text(path.read_text() + "\ndef make_inputs(rng, N, factor):\n    return {'x': np.arange(1.0, N + 1)}\n")
    assert "seed-without-effect" in errors(pack_directory)


def test_a_reference_in_single_precision(edit: Edit) -> None:
    assert "reference-float64" in errors(edit("x.astype(np.float64) * float(factor)", "x * factor", "reference.py"))


def test_a_reference_that_writes_to_its_inputs(edit: Edit) -> None:
    found = errors(edit("    return", "    x *= 2\n    return", "reference.py"))
    assert "read-only" in found["reference-failed"]


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ("'no factor' if len(outputs['y']) else None", "reference-accused", "no factor"),
        ("inputs['z']", "reference-failed", "KeyError"),
        ("42", "reference-failed", "must return a sentence or None"),
    ],
)
def test_a_mistake_that_accuses_the_reference_or_fails(pack_directory: Path, body: str, code: str, words: str) -> None:
    path = pack_directory / "reference.py"
    path.write_text(path.read_text() + f"\n\ndef mistake(inputs, outputs):\n    return {body}\n")
    assert words in errors(pack_directory)[code]


def test_a_reference_that_returns_another_shape(edit: Edit) -> None:
    assert "reference-shape" in errors(edit("return x", "return x[:1]", "reference.py"))


def test_a_mistake_that_no_case_refuses(edit: Edit) -> None:
    found = errors(edit('kind = "elementwise"', 'kind = "elementwise", terms = 100_000'))
    assert "y in half precision" in found["mutant"]


def test_a_spot_check_that_misses(pack_directory: Path) -> None:
    path = pack_directory / "reference.py"
    path.write_text(
        path.read_text()
        + "\ndef spot_check(rng, inputs, outputs):\n    rows = rng.integers(0, int(inputs['N']), 50)\n"
        + "    return {'y': (rows, reference(inputs['x'][rows], 50, inputs['factor']), None)}\n"
    )
    assert "in 0 of 20" in errors(pack_directory)["spot-check"]


def test_a_pack_without_accepted_kernel(pack_directory: Path) -> None:
    (pack_directory / "submissions" / "accepted" / "one.cu").unlink()
    assert "kernel-missing" in errors(pack_directory)
    solutions = pack_directory.parent.parent / "reference_solutions" / "scale"
    solutions.mkdir(parents=True)
    (solutions / "plain.cu").write_text("// right\n")
    assert verify_pack(pack_directory).ok


def test_kernels_are_judged_and_their_verdicts_compared(pack_directory: Path) -> None:
    seen: list[SubmissionCheck] = []

    def judge(source: bytes, pack: Pack) -> Judgement:
        assert source.startswith(b"// right")
        device = DeviceInfo("emulator", "emulator", "emulator", "8.0")
        return Judgement(Verdict.ACCEPTED, pack.slug, pack.version, device, BuildReport(True, 0.0))

    verification = verify_pack(pack_directory, judge, on_submission=seen.append)
    assert not verification.ok
    assert tuple(seen) == verification.submissions
    complaints = {check.submission.path.parent.name: check.complaint for check in seen}
    assert complaints["accepted"] is None
    assert "got AC, expected WA" in str(complaints["wrong_answer"])
    assert [finding.code for finding in verification.findings] == ["verdict"]


def test_a_kernel_for_another_architecture_is_left_out_with_a_note(pack_directory: Path) -> None:
    (pack_directory / "submissions" / "accepted" / "hopper.cu").write_text("// gpujudge: arch=sm_90a\n")
    judged: list[bytes] = []

    def judge(source: bytes, pack: Pack) -> Judgement:
        judged.append(source)
        verdict = Verdict.ACCEPTED if len(judged) == 1 else Verdict.WRONG_ANSWER
        device = DeviceInfo("emulator", "emulator", "emulator", "8.0")
        return Judgement(verdict, pack.slug, pack.version, device, BuildReport(True, 0.0))

    verification = verify_pack(pack_directory, judge, target=Target("emulator", "compute_80"))
    assert judged
    assert not any(b"sm_90a" in source for source in judged)
    [note] = [finding for finding in verification.findings if finding.code == "kernel-not-judged"]
    assert note.file.name == "hopper.cu"
    assert "needs sm_90a" in note.message
    for target in (Target("cuda", "sm_90"), Target("emulator", "compute_80", "compute_90a")):
        judged.clear()
        verify_pack(pack_directory, judge, target=target)
        assert any(b"sm_90a" in source for source in judged)


def test_a_kernel_that_is_accepted_with_a_warning_is_an_error(pack_directory: Path) -> None:
    def judge(source: bytes, pack: Pack) -> Judgement:
        assert source
        device = DeviceInfo("emulator", "emulator", "emulator", "8.0")
        race = MemoryFault("race on shared memory", "race on shared memory at kernel.cu:7")
        cases = tuple(
            CaseJudgement(case.id, case.group, Verdict.ACCEPTED, 0.0, memory_errors=(race,) * (case.id == "prime"))
            for case in pack.cases
        )
        return Judgement(Verdict.ACCEPTED, pack.slug, pack.version, device, BuildReport(True, 0.0), cases)

    (pack_directory / "submissions" / "wrong_answer" / "one.cu").unlink()
    (finding,) = verify_pack(pack_directory, judge).findings
    assert (finding.code, finding.severity) == ("kernel-warning", Severity.ERROR)
    assert "the case prime: race on shared memory at kernel.cu:7" in finding.message
    assert finding.file.parent.name == "accepted"


def test_files_of_data(pack_directory: Path, edit: Edit) -> None:
    def declare(rows: int) -> Path:
        values = np.random.default_rng(1).uniform(-1, 1, rows).astype(np.float32)
        np.save(pack_directory / "measured.npy", values)
        digest = hashlib.sha256((pack_directory / "measured.npy").read_bytes()).hexdigest()
        return edit(before.pop(), before_and(f'data = {{ kind = "file", file = "measured.npy", sha256 = "{digest}" }}'))

    def before_and(text: str) -> str:
        before.append(text)
        return text

    before = ['data = { kind = "uniform", low = -1, high = 1 }']
    edit("max = 100_000_000", "max = 200_000")
    edit("axes = { N = 1_100_000 }", "axes = { N = 70_000 }")
    edit("axes = { N = 100_000_000 }\n", "axes = { N = 200_000 }\n")
    edit("[bench]", '[waived]\nbench-short = "a file has no more rows"\n\n[bench]')
    np.save(pack_directory / "old.npy", np.zeros(3))
    found = {finding.code: str(finding) for finding in verify_pack(declare(200_001)).findings}
    assert "old.npy: no input comes from it" in found.pop("file-unused")
    assert set(found) <= {"bench-short", "bench-cached"}
    (pack_directory / "old.npy").unlink()
    found = {finding.code: str(finding) for finding in verify_pack(declare(200_000)).findings}
    assert "benchmarks.big" in found.pop("file-rows")
    assert set(found) <= {"bench-short", "bench-cached"}
