"""The page of a submission's profile on its GPU, beside the figures of the emulator's model.

An idle worker of the device makes it when the submission's owner asks. Until then the page loads itself again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flask import Blueprint, Response, render_template, url_for
from flask import redirect as redirect_to
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from judge.compile.source_files import OwnLines, own_lines
from judge.measurements import ModelledCase, ModelledKernel
from judge.profile import PARTS, MeasuredCase, MeasuredKernel, MeasuredLine, Profile
from store.models import Submission
from store.profiles import TooManyWaitingError, find_profile, request_profile
from store.submissions import get_submission
from web.accounts.visitor import login_required
from web.challenges.shown import shown_packs
from web.formatting import percent, seconds, significant, size, whole
from web.pictures.memory_chart import memory_chart
from web.problems import Problem
from web.rate_limits import limit_submissions
from web.services import reader, services, transaction
from web.source import highlight_lines
from web.submissions.languages import language_of
from web.submissions.may_profile import may_profile
from web.submissions.modelled_time import without_ones
from web.submissions.views import own_submission

blueprint = Blueprint("profile", __name__)

_SHOWN_KERNELS, _SHOWN_LINES, _SHOWN_STATES = 6, 20, 6
#: Lines with a smaller share of the samples are left out.
_LEAST_SHARE = 0.005


@dataclass(frozen=True, slots=True)
class Bar:
    """A share of a whole, with its name; ``width`` is in per cent."""

    name: str
    value: str
    width: float


@dataclass(frozen=True, slots=True)
class ProfiledKernelView:
    """A kernel: its time and shape, how busy each part was, the memories, and what a warp waited for."""

    name: str
    shape: str
    time: str
    limiter: str
    busy: tuple[Bar, ...]
    states: tuple[Bar, ...]
    memory: Markup
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ProfiledLineView:
    """A source line with its share of the samples, and the model's share of the time where it is known.

    ``number`` is the line of the shown text, None for a line of another file.
    """

    number: int | None
    location: str
    code: Markup
    share: str
    bar_width: float
    modelled: str
    waits: str
    lanes: str
    sectors: str
    wavefronts: str


@dataclass(frozen=True, slots=True)
class ProfiledCaseView:
    """A profiled call. ``beside`` has a row for each kernel with the model's figures, empty where there are none."""

    name: str
    time: str
    left_out: bool
    kernels: tuple[ProfiledKernelView, ...]
    lines: tuple[ProfiledLineView, ...]
    beside: tuple[tuple[str, ...], ...]


@blueprint.get("/submissions/<public_id>/profile")
@login_required
def show(public_id: str) -> str:
    """Renders the profile, or offers to make it."""
    submission = _profiled(public_id)
    asked = find_profile(reader(), submission)
    made = None if asked is None else asked.result
    lines = highlight_lines(submission.source, language_of(submission).grammar)
    own = own_lines(submission.source_bytes, language_of(submission).file_name)
    return render_template(
        "submissions/profile.html",
        submission=submission,
        pack=shown_packs().get(submission.challenge),
        asked=asked,
        working=asked is not None and asked.ended_at is None,
        profile=made,
        cases=() if made is None else _cases(made, lines, own),
        lines=lines,
    )


@blueprint.post("/submissions/<public_id>/profile")
@login_required
@limit_submissions
def make(public_id: str) -> BaseResponse:
    """Asks for the profile, and shows the page that waits for it."""
    _profiled(public_id)
    try:
        with transaction() as writer:
            found = get_submission(writer, public_id)
            assert found is not None
            request_profile(writer, found, now=services().clock())
    except TooManyWaitingError:
        raise Problem(429, "too_many", "Some of yours are being made: try again when they are there.") from None
    return redirect_to(url_for("profile.show", public_id=public_id), 303)


@blueprint.get("/submissions/<public_id>/profile.ncu-rep")
@login_required
def report(public_id: str) -> Response:
    """Returns the profiler's report as a download: bytes that the submission could have written."""
    asked = find_profile(reader(), _profiled(public_id), with_report=True)
    if asked is None or asked.report is None:
        raise Problem(404, "not_found", "There is no profile of this submission.")
    response = Response(asked.report, mimetype="application/octet-stream")
    response.headers["Content-Disposition"] = f'attachment; filename="{public_id}.ncu-rep"'
    return response


def _profiled(public_id: str) -> Submission:
    submission = own_submission(public_id)
    if not may_profile(submission):
        raise Problem(
            404, "not_found", "This submission is not profiled: only what a GPU accepted is, where the site lets you."
        )
    return submission


def _cases(profile: Profile, code: Sequence[Markup], own: OwnLines) -> tuple[ProfiledCaseView, ...]:
    return tuple(
        _case(case, profile.modelled if case is profile.beside_model else None, code, own) for case in profile.cases
    )


def _case(case: MeasuredCase, modelled: ModelledCase | None, code: Sequence[Markup], own: OwnLines) -> ProfiledCaseView:
    shares = {} if modelled is None else {(line.file, line.line): line.share for line in modelled.lines}
    by_model = {} if modelled is None else {kernel.kernel: kernel for kernel in modelled.kernels}
    shown = [line for line in case.lines if line.share >= _LEAST_SHARE][:_SHOWN_LINES]
    kernels = case.kernels[:_SHOWN_KERNELS]
    return ProfiledCaseView(
        name=case.name,
        time=seconds(case.seconds),
        left_out=case.left_out,
        kernels=tuple(_kernel(kernel) for kernel in kernels),
        lines=tuple(_line(line, shares.get((line.file, line.line)), code, own) for line in shown),
        beside=() if modelled is None else tuple(_beside(kernel, by_model.get(kernel.kernel)) for kernel in kernels),
    )


def _kernel(kernel: MeasuredKernel) -> ProfiledKernelView:
    shape = " of ".join("×".join(map(whole, without_ones(each))) for each in (kernel.grid, kernel.block))
    most = max(kernel.states.values(), default=0.0)
    facts = (
        ("warps that fit", _percent(kernel.occupancy)),
        ("warps that were there", _percent(kernel.reached_occupancy)),
        ("active lanes", _percent(kernel.active_lanes)),
        ("registers a thread", "" if kernel.registers is None else str(kernel.registers)),
        ("shared memory a block", "" if kernel.shared_bytes is None else size(kernel.shared_bytes)),
    )
    return ProfiledKernelView(
        name=kernel.kernel,
        shape=f"{kernel.launches} × {shape}" if kernel.launches > 1 else shape,
        time=seconds(kernel.seconds),
        limiter=kernel.limiter,
        busy=tuple(
            Bar(name, percent(kernel.busy[name]), _width(kernel.busy[name])) for name in PARTS if name in kernel.busy
        ),
        states=tuple(
            Bar(name, significant(clocks), _width(clocks / most if most else 0.0))
            for name, clocks in list(kernel.states.items())[:_SHOWN_STATES]
        ),
        memory=memory_chart(kernel.memory),
        facts=tuple((name, value) for name, value in facts if value),
    )


def _line(line: MeasuredLine, modelled: float | None, code: Sequence[Markup], own: OwnLines) -> ProfiledLineView:
    place = own.locate(line.file, line.line)
    number = place if place is not None and place <= len(code) else None
    waits = [f"{name} {percent(share)}" for name, share in list(line.states.items())[:3] if share >= 0.05]
    return ProfiledLineView(
        number=number,
        location=f"{line.file.rpartition('/')[2]}:{line.line}" if line.file else "no line known",
        code=code[number - 1].strip() if number is not None else Markup(""),
        share=percent(line.share),
        bar_width=_width(line.share),
        modelled="" if modelled is None else percent(modelled),
        waits=", ".join(waits),
        lanes=_percent(line.active_lanes),
        sectors=_multiple(line.global_sectors, line.global_sectors_ideal),
        wavefronts=_multiple(line.shared_wavefronts, line.shared_wavefronts_ideal),
    )


def _beside(kernel: MeasuredKernel, model: ModelledKernel | None) -> tuple[str, ...]:
    """Returns a row: the kernel, then time, limiter, occupancy and DRAM traffic, measured and modelled by turns."""
    moved = [number for name, number in kernel.memory.items() if name.startswith("DRAM")]
    measured = (
        seconds(kernel.seconds),
        kernel.limiter or "–",
        _percent(kernel.occupancy) or "–",
        size(round(sum(moved) * kernel.launches)) if moved else "–",
    )
    if model is None:
        modelled: tuple[str, ...] = ("–",) * len(measured)
    else:
        modelled = (seconds(model.seconds), model.limiter, percent(model.occupancy), size(model.dram_bytes))
    return (kernel.kernel, *(cell for pair in zip(measured, modelled, strict=True) for cell in pair))


def _percent(share: float | None) -> str:
    return "" if share is None else percent(share)


def _width(share: float) -> float:
    return round(100 * min(max(share, 0.0), 1.0), 1)


def _multiple(count: int, ideal: int) -> str:
    return f"{significant(count / ideal, 2)}×" if count and ideal else ""
