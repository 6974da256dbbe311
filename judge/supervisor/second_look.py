"""Runs a case again with all checks, and adds its findings to a wrong answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from judge.check.mismatch import imprecision, without_imprecision, without_questions
from judge.compile.source_files import MAIN, own_lines, split_files
from judge.judgement import SAME_IN_ALL_ORDERS, MemoryFault
from judge.supervisor.fault_claims import (
    BUILD_FOLDER,
    NOTES,
    OUT_OF_BOUNDS,
    UNDEFINED_SHUFFLE,
    fault_of,
    file_name,
    in_terms_of_source,
    racing_reads,
)
from judge.supervisor.likely_causes import has_one_order, in_order
from judge.supervisor.verdict_rules import Outcome
from judge.wire.messages import MAX_FAULTS, FetchReply, ReportClaim

_OUTSIDE_ITS_PART = "access outside its part of shared memory"


def with_checks(
    wrong: Outcome,
    fetched: FetchReply,
    source: str = "",
    *,
    is_same_in_all_orders: Callable[[], bool] = lambda: False,
    call_lines: Sequence[tuple[int, int]] = (),
    file_name: str = MAIN,
) -> Outcome:
    """Returns a wrong answer with what the emulator found when it ran the case again with racecheck and initcheck.

    A line that leaves its part of shared memory comes first in the message, then a race: the likeliest causes. A race
    between warps comes last where ``is_same_in_all_orders`` finds that the answer does not depend on their order,
    unless it has a line read what nothing has written yet (``racing_reads``).
    ``call_lines`` and ``file_name`` are as in ``outcome_of_call``.
    """
    report = in_terms_of_source(fetched.report or ReportClaim())
    early = {(read.file, read.line) for read in map(fault_of, racing_reads(fetched.report or report))}
    own = own_lines(source, file_name)
    known = {(fault.kind, fault.file, fault.line) for fault in wrong.memory_errors}
    found = [
        *lines_outside_their_part(fetched, source),
        *in_order([fault_of(claim, call_lines, own) for claim in report.faults]),
    ]
    new = tuple(fault for fault in found if (fault.kind, fault.file, fault.line) not in known)
    # The case may have run with these checks the first time; of what was found then, the message names some.
    unsaid = [each for each in found if each in new or not each.kind.startswith(OUT_OF_BOUNDS)]
    told_already = {(f.kind, f.file, f.line) for f in wrong.memory_errors if f.message and f.message in wrong.message}
    unsaid = [each for each in unsaid if (each.kind, each.file, each.line) not in told_already]
    if not unsaid:
        return wrong
    likely = next((fault for fault in unsaid if fault.kind == _OUTSIDE_ITS_PART), None)
    races = [fault for fault in unsaid if fault.other is not None]
    race = next((fault for fault in races if early & _lines_of(fault)), races[0] if races else None)
    rest = [fault for fault in unsaid if fault.other is None and fault.kind != UNDEFINED_SHUFFLE]
    rest.sort(key=lambda fault: fault.kind in NOTES)
    told = [] if likely is None else [likely.message]
    is_cause = likely is not None
    if race is not None and not early and not has_one_order(race) and is_same_in_all_orders():
        told += [rest[0].message] if rest and likely is None else []
        told.append(f"{SAME_IN_ALL_ORDERS}{race.message}")
    elif race is not None:
        told.append(race.message)
        is_cause = True
    if not told:
        first = (rest or unsaid)[0]
        told, is_cause = [first.message], first.kind not in NOTES
    if is_cause and wrong.mismatch is not None and wrong.mismatch.imprecise is not None:
        wrong = not_imprecise(wrong)
        message = "; ".join(filter(None, (*told, without_questions(wrong.message))))
    else:
        said = without_questions(wrong.message) if is_cause else wrong.message
        message = "; ".join(filter(None, (said, *told)))
    return dataclasses.replace(wrong, message=message, memory_errors=(*wrong.memory_errors, *new)[:MAX_FAULTS])


def _lines_of(race: MemoryFault) -> set[tuple[str | None, int | None]]:
    other = race.other
    return {(race.file, race.line)} | (set() if other is None else {(other.file, other.line)})


def not_imprecise(wrong: Outcome) -> Outcome:
    """Returns a wrong answer with small errors whose cause is not rounding, without the headline that says it is."""
    mismatch = wrong.mismatch
    assert mismatch is not None
    begins = imprecision(mismatch.imprecise, has_cause=True)
    return dataclasses.replace(
        wrong, message=wrong.message.removeprefix(begins), mismatch=without_imprecision(mismatch)
    )


def lines_outside_their_part(fetched: FetchReply, source: str) -> tuple[MemoryFault, ...]:
    """Returns lines that leave the part of shared memory which they name: they may explain a failure, no more."""
    if fetched.report is None or not fetched.report.extents:
        return ()
    # Here, since few judgements need the patterns that it compiles.
    from emulator.runtime.report import SharedExtent
    from emulator.shared_parts import find_overruns

    extents = [SharedExtent(**dataclasses.asdict(claim)) for claim in fetched.report.extents]
    files = split_files(source.encode("utf-8", "replace"))
    overruns = find_overruns(
        extents, {BUILD_FOLDER + file.name: file.content.decode("utf-8", "replace") for file in files}
    )
    return tuple(
        MemoryFault(
            _OUTSIDE_ITS_PART,
            f"{_OUTSIDE_ITS_PART} at {each.message}",
            each.kernel,
            file_name(each.file),
            each.line,
            each.thread,
            each.block,
        )
        for each in overruns
    )
