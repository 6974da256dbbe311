from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from judge.judgement import BuildReport, DeviceInfo, Judgement
from judge.packs.pack import Pack
from judge.packs.verify import SubmissionCheck, verify_pack
from judge.verdict import Verdict

Edit = Callable[..., Path]


def findings(directory: Path) -> str:
    verification = verify_pack(directory)
    assert not verification.ok
    return "\n".join(map(str, verification.findings))


def test_a_good_pack_has_no_findings(pack_directory: Path) -> None:
    verification = verify_pack(pack_directory)
    assert verification.findings == ()
    assert verification.ok
    assert verification.pack is not None


def test_one_that_does_not_load(edit: Edit) -> None:
    verification = verify_pack(edit('difficulty = "easy"', ""))
    assert verification.pack is None
    assert "difficulty" in str(verification.findings[0])


def test_a_stale_starter(edit: Edit) -> None:
    assert "starter.cu" in findings(edit("void solve", "void  solve", "starter.cu"))


def test_placeholders_that_mean_nothing(edit: Edit) -> None:
    assert "{{M.max}} is not known" in findings(edit("{{N.max}}", "{{M.max}}", "statement.md"))


def test_a_reference_that_fails_on_one_case(edit: Edit) -> None:
    text = findings(edit("    return", "    assert N != 100, 'not a hundred'\n    return", "reference.py"))
    assert "cases.hidden: AssertionError: not a hundred" in text


@pytest.mark.parametrize(
    ("distribution", "guess"),
    [
        ('kind = "constant", value = 0', "zeros"),
        ('kind = "constant", value = 1', "the mean everywhere"),
    ],
)
def test_cases_that_a_guess_passes(edit: Edit, distribution: str, guess: str) -> None:
    own = f"axes = {{ N = 100 }}\ndistributions.x = {{ {distribution} }}"
    assert guess in findings(edit("axes = { N = 100 }", own))


def test_a_copy_that_passes(edit: Edit) -> None:
    text = findings(edit("axes = { N = 100 }", "axes = { N = 100 }\nparameters = { factor = 1 }"))
    assert "cases.hidden: accepts a trivial answer (a copy of x)" in text


def test_guessable_cases_may_be_guessed_but_not_left_out(edit: Edit) -> None:
    copy = edit("axes = { N = 100 }", "axes = { N = 100 }\nguessable = true\nparameters = { factor = 1 }")
    assert verify_pack(copy).ok
    assert "zeros" in findings(edit("parameters = { factor = 1 }", "parameters = { factor = 0 }"))


def test_inputs_that_do_not_follow_from_the_seed(pack_directory: Path, edit: Edit) -> None:
    edit('distribution = { kind = "uniform", low = -1, high = 1 }', "")
    path = pack_directory / "reference.py"
    path.write_text(
        path.read_text()
        + "\n_calls = 0\ndef make_inputs(rng, N, factor):\n    global _calls\n    _calls += 1\n"
        + "    return {'x': np.arange(1.0, N + 1) + _calls}\n"
    )
    assert "same seed makes different inputs" in findings(pack_directory)


def test_missing_submissions(pack_directory: Path) -> None:
    (pack_directory / "submissions" / "wrong_answer" / "one.cu").unlink()
    assert "wrong_answer: has no submission" in findings(pack_directory)


def test_submissions_are_judged_and_their_verdicts_compared(pack_directory: Path) -> None:
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
