"""Writes an outcome as part of a judgement: what was wrong, what the case printed and, of public ones, its arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from emulator.wording import CUDA, Wording
from judge.check.mismatch import without_imprecision
from judge.check.shown import show_array
from judge.judgement import CaseJudgement, Mismatch, ShownArray
from judge.packs.judging import Checker
from judge.packs.pack import Case, Pack
from judge.packs.sizes import shape as shape_of
from judge.supervisor.case_preparer import PreparedCase
from judge.supervisor.layout import Array
from judge.supervisor.output_drain import CUT
from judge.supervisor.verdict_rules import Outcome
from judge.verdict import Verdict, combine_verdicts

#: The characters of what a case prints that are kept.
_OUTPUT_CHARACTERS = 8 << 10


def first_mismatch(
    check: Checker, outputs: dict[str, Array], launches: int | None = None, wording: Wording = CUDA
) -> Mismatch | None:
    """Returns the first wrong output; None if all are right.

    ``launches`` is how many kernels the call launched; None where nobody counted them.
    """
    mismatch = check(outputs)
    if mismatch is None or launches != 0 or outputs[mismatch.output].any():
        return mismatch
    # A launch that was refused leaves no other trace: its error stays in the submission's own CUDA runtime.
    name = mismatch.output
    # A single 0 may well be the answer of a kernel that ran.
    one = outputs[name].size == 1
    hint = "it is also 0 if no kernel was launched" if one else f"all of {name} is 0: was the kernel launched?"
    return dataclasses.replace(mismatch, message=f"{mismatch.message}; {hint} ({wording.not_launched})")


def shown_arrays(pack: Pack, prepared_case: PreparedCase, outputs: dict[str, Array] | None) -> tuple[ShownArray, ...]:
    """Returns the arguments of a public case for people: inputs, then each output as expected and as it is."""
    if prepared_case.answers is None:
        return ()
    shown = [show_array(name, "input", value) for name, value in prepared_case.inputs.items()]
    for output in pack.outputs:
        shape = shape_of(prepared_case.case, output)
        shown.append(show_array(output.name, "expected", prepared_case.answers[output.name].reshape(shape)))
        if outputs is not None:
            shown.append(show_array(output.name, "got", outputs[output.name].reshape(shape)))
    return tuple(shown)


def case_judgement(
    case: Case, outcome: Outcome, wall_s: float, printed: str = "", shown: tuple[ShownArray, ...] = ()
) -> CaseJudgement:
    """Returns an outcome as part of a judgement, with what the program printed if the case is public."""
    kept, was_cut, count = printed.partition(CUT)
    more = len(kept) - _OUTPUT_CHARACTERS
    rest = f"{was_cut}{count}" if was_cut else f"\n… {more:,} more characters" if more > 0 else ""
    cut = kept[:_OUTPUT_CHARACTERS] + rest
    return CaseJudgement(
        id=case.id,
        group=case.group,
        verdict=outcome.verdict,
        wall_s=wall_s,
        message=outcome.message,
        mismatch=outcome.mismatch,
        memory_errors=outcome.memory_errors,
        description="" if outcome.verdict is Verdict.ACCEPTED else case.description,
        sizes=dict(case.axes),
        output=cut if case.is_public else "",
        shown=shown,
    )


def with_larger_error_first(judged: Sequence[CaseJudgement]) -> tuple[list[CaseJudgement], str]:
    """Returns judged cases, and the message of the first whose verdict is the worst, for the whole judgement.

    Where one case is wrong by more than roundings, small errors in those before it are most likely the same mistake's,
    unless the code shows why it is imprecise: they are not called imprecise, and the larger error is told first.
    """
    verdict = combine_verdicts(case.verdict for case in judged)
    worst = [case for case in judged if case.verdict is verdict]
    message = next((case.message for case in worst), "")
    larger = next((case for case in worst if case.mismatch is not None and case.mismatch.imprecise is None), None)
    if larger is None or not _is_imprecise_without_cause(worst[0]):
        return list(judged), message
    return [_not_imprecise(case) if _is_imprecise_without_cause(case) else case for case in judged], larger.message


def _is_imprecise_without_cause(case: CaseJudgement) -> bool:
    mismatch = case.mismatch
    return mismatch is not None and mismatch.imprecise is not None and case.message.startswith(mismatch.message)


def _not_imprecise(case: CaseJudgement) -> CaseJudgement:
    assert case.mismatch is not None
    mismatch = without_imprecision(case.mismatch)
    message = mismatch.message + case.message.removeprefix(case.mismatch.message)
    return dataclasses.replace(case, message=message, mismatch=mismatch)
