"""The page that compares two submissions: their sources line by line, and their figures side by side."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flask import Blueprint, render_template, request
from markupsafe import Markup

from judge.judgement import Judgement
from judge.measurements import ModelledCase
from web.accounts.visitor import login_required
from web.challenges.shown import shown_packs
from web.formatting import interval, percent, seconds, significant, whole
from web.problems import Problem
from web.source import highlight_lines
from web.submissions.languages import language_of
from web.submissions.views import visible_submission

blueprint = Blueprint("comparison", __name__)

#: Lines that are shown around each change.
CONTEXT = 3
#: Longer sources are not compared: it would take seconds.
MOST_LINES = 5000


@dataclass(frozen=True, slots=True)
class Side:
    """A line of one of the two sources; ``number`` is None where the other one has a line too many."""

    number: int | None = None
    html: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """Two lines side by side: ``same``, ``changed``, ``removed`` or ``added``; or a gap of ``skipped`` same lines."""

    kind: str
    left: Side = Side()
    right: Side = Side()
    skipped: int = 0


@blueprint.get("/submissions/<public_id>/compare")
@login_required
def show(public_id: str) -> str:
    """Renders the differences from the submission ``with`` to this one."""
    other_id = request.args.get("with", "")
    if not other_id:
        raise Problem(422, "invalid", "Say with which submission: ?with=ID.")
    submission, other = visible_submission(public_id), visible_submission(other_id)
    return render_template(
        "submissions/compare.html",
        pair=(other, submission),
        packs=shown_packs(),
        figures=compare_figures(other.judgement, submission.judgement),
        rows=compare_sources(
            other.source, submission.source, (language_of(other).grammar, language_of(submission).grammar)
        ),
    )


def compare_sources(left: str, right: str, grammars: tuple[str, str] = ("cuda", "cuda")) -> list[Row] | None:
    """Returns the rows that differ, with a few same lines around them; None for sources that are too long."""
    before, after = left.splitlines(), right.splitlines()
    if max(len(before), len(after)) > MOST_LINES:
        return None
    shown = [_sides(highlight_lines(text, grammar)) for text, grammar in zip((left, right), grammars, strict=True)]
    matcher = difflib.SequenceMatcher(None, [line.rstrip() for line in before], [line.rstrip() for line in after])
    rows: list[Row] = []
    seen = 0
    for group in matcher.get_grouped_opcodes(CONTEXT):
        if group[0][1] > seen:
            rows.append(Row("gap", skipped=group[0][1] - seen))
        for tag, from_left, to_left, from_right, to_right in group:
            rows += _rows(tag, shown[0][from_left:to_left], shown[1][from_right:to_right])
        seen = group[-1][2]
    if rows and len(before) > seen:
        rows.append(Row("gap", skipped=len(before) - seen))
    return rows


def _sides(lines: Sequence[Markup]) -> list[Side]:
    return [Side(number, html) for number, html in enumerate(lines, start=1)]


def _rows(tag: str, left: Sequence[Side], right: Sequence[Side]) -> Iterator[Row]:
    kinds = {"equal": "same", "replace": "changed", "delete": "removed", "insert": "added"}
    for at in range(max(len(left), len(right))):
        has_left, has_right = at < len(left), at < len(right)
        kind = kinds[tag] if has_left and has_right else "removed" if has_left else "added"
        yield Row(kind, left[at] if has_left else Side(), right[at] if has_right else Side())


def compare_figures(left: Judgement | None, right: Judgement | None) -> list[tuple[str, str, str, bool]]:
    """Returns labels, the two values, and whether they differ; without what neither has."""
    found = [_figures(left), _figures(right)]
    labels = list(dict.fromkeys([*found[0], *found[1]]))
    rows = [(label, found[0].get(label, "–"), found[1].get(label, "–")) for label in labels]
    return [(label, before, after, before != after) for label, before, after in rows]


def _figures(judgement: Judgement | None) -> dict[str, str]:
    if judgement is None:
        return {}
    figures = {"Verdict": judgement.verdict.value}
    measured = judgement.measurement
    if measured is not None:
        figures["Time"] = seconds(measured.value, 4)
        if ends := interval(measured.low, measured.high):
            figures["95 % interval"] = ends
        if measured.roofline_share is not None:
            figures["Share of the roofline"] = percent(measured.roofline_share)
        if measured.gb_per_s is not None:
            figures["Memory throughput"] = f"{significant(measured.gb_per_s)} GB/s"
        modelled = [case for case in measured.cases if isinstance(case, ModelledCase)]
        if len(modelled) == len(measured.cases) == 1:
            figures["Limited by"] = modelled[0].limiter
            figures["Warp instructions"] = whole(modelled[0].warp_instructions)
            figures["Launches"] = whole(modelled[0].launches)
    kernels = judgement.build.kernels
    if kernels:
        figures["Kernels"] = whole(len(kernels))
        figures["Registers of a thread"] = whole(max(kernel.registers for kernel in kernels))
        figures["Shared memory of a block"] = f"{max(kernel.shared_bytes for kernel in kernels):,} B"
        spilled = sum(kernel.spill_stores_bytes + kernel.spill_loads_bytes for kernel in kernels)
        figures["Spilled"] = f"{spilled:,} B"
    passed = sum(case.verdict.value == "AC" for case in judgement.cases)
    if judgement.cases:
        figures["Cases accepted"] = f"{passed} of {len(judgement.cases)}"
    return figures
