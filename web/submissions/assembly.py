"""The page of a submission's machine code, beside its source.

A build worker makes it when somebody asks. Until then the page loads itself again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flask import Blueprint, Response, jsonify, render_template, request, url_for
from flask import redirect as redirect_to
from werkzeug.wrappers import Response as BaseResponse

from emulator.model import Gpu, gpu_names, load_gpu, occupancy_of
from judge.compile.architecture import gpu_architecture
from judge.compile.assembly import LISTINGS, Assembly, FunctionAssembly
from judge.compile.assembly_json import from_json
from judge.judgement import Judgement
from judge.languages.registry import BUILTIN_LANGUAGES
from store.assemblies import TooManyWaitingError, find_assembly, read_content, request_assembly
from store.draft_assemblies import WantedAssembly, find_draft_assembly, request_draft_assembly
from store.queue.intake import encode_source
from store.submissions import get_submission
from web.accounts.visitor import login_required, require_visitor
from web.challenges.shown import find_pack, shown_packs
from web.problems import Problem
from web.rate_limits import count_draft_assembly, limit_submissions
from web.services import reader, services, transaction
from web.source import highlight_lines
from web.submissions.accepting import SOURCE_BYTES, chosen_language
from web.submissions.languages import language_of
from web.submissions.views import own_submission

blueprint = Blueprint("assembly", __name__)

DEFAULT_ARCHITECTURE = "sm_90"
#: Nobody reads more of one kernel on a page, and a browser should not have to show it.
MOST_INSTRUCTIONS = 4000
#: The number of colors that tell neighboring lines apart (web/static/js/machine_code.js).
TINTS = 6
#: What occupancy is stated for where a kernel has no launch bounds.
BLOCK_THREADS = 256


class ShownInstruction(NamedTuple):
    """An instruction as the page shows it. ``first``: it is the first one on the page for its line."""

    line: int | None
    text: str
    is_label: bool
    first: bool

    @property
    def tint(self) -> int:
        """The number of the line's color, which the editor gives to the line, too."""
        return 0 if self.line is None else self.line % TINTS


@dataclass(frozen=True, slots=True)
class ShownFunction:
    """A kernel, or a device function, as the page shows it. ``left_out`` counts instructions beyond its limit."""

    name: str
    is_kernel: bool
    figures: tuple[tuple[str, str], ...]
    listing: Sequence[ShownInstruction]
    left_out: int


@blueprint.get("/submissions/<public_id>/assembly")
@login_required
def show(public_id: str) -> str:
    """Renders the machine code (or with ``view`` another listing) for ``arch``, or offers to make it."""
    submission = own_submission(public_id)
    known = architectures(submission.judgement)
    arch = request.args.get("arch") or _default(submission.judgement)
    if arch not in known:
        raise Problem(404, "unknown_architecture", f"There is no architecture “{arch[:40]}” here.", nearest=known)
    asked = find_assembly(reader(), submission, arch)
    content = None if asked is None else read_content(asked)
    assembly = Assembly(arch, ()) if content is None else from_json(content)
    view = request.args.get("view", "")
    view = view if view in assembly.kinds else "sass"
    return render_template(
        "submissions/assembly.html",
        submission=submission,
        pack=shown_packs().get(submission.challenge),
        known=known,
        arch=arch,
        view=view,
        asked=asked,
        working=asked is not None and asked.ended_at is None,
        kinds={kind: LISTINGS[kind] for kind in reversed(assembly.kinds)},
        made=content is not None,
        functions=_shown(assembly, view, arch),
        lines=highlight_lines(submission.source, language_of(submission).grammar),
    )


@blueprint.post("/challenges/<slug>/assembly")
@login_required
def draft(slug: str) -> Response:
    """Returns the machine code of what the visitor is writing, for the editor's script, which asks until it is there.

    The answer is JSON: ``working`` is true until it is made or refused, ``html`` shows what there is, and ``lines``
    are the lines of the source that have machine code, in order.
    """
    pack = find_pack(slug)
    source = encode_source(request.form.get("source", ""))
    if len(source) > SOURCE_BYTES:
        raise Problem(413, "too_large", f"A source has {SOURCE_BYTES:,} bytes at most.")
    known = architectures(None)
    arch, view = request.form.get("arch") or DEFAULT_ARCHITECTURE, request.form.get("view", "ptx")
    if arch not in known:
        raise Problem(422, "invalid", f"arch is one of {', '.join(known)}.")
    language = chosen_language(pack, request.form.get("language") or None)
    kinds = {kind: LISTINGS[kind] for kind in BUILTIN_LANGUAGES.of(language).listings}
    view = view if view in kinds else "ptx"
    wanted = WantedAssembly(require_visitor().id, slug, pack.digest, language, arch, source)
    asked = find_draft_assembly(reader(), wanted)
    if asked is None:
        count_draft_assembly()
        with transaction() as writer:
            request_draft_assembly(writer, wanted, now=services().clock())
        services().ring_builders()
    content = None if asked is None else read_content(asked)
    functions = [] if content is None else _shown(from_json(content), view, arch)
    html = render_template(
        "submissions/_machine_code.html",
        known=known,
        arch=arch,
        kinds=kinds,
        view=view,
        functions=functions,
        made=content is not None,
        problem=None if asked is None else asked.problem,
    )
    lines = sorted({each.line for function in functions for each in function.listing if each.line})
    return jsonify(working=asked is None or asked.ended_at is None, html=html, lines=lines)


@blueprint.post("/submissions/<public_id>/assembly")
@login_required
@limit_submissions
def make(public_id: str) -> BaseResponse:
    """Asks for the machine code, and shows the page that waits for it."""
    submission = own_submission(public_id)
    known = architectures(submission.judgement)
    arch = request.form.get("arch", "")
    if arch not in known:
        raise Problem(422, "invalid", f"arch is one of {', '.join(known)}.")
    try:
        with transaction() as writer:
            found = get_submission(writer, public_id)
            assert found is not None
            request_assembly(writer, found, arch, now=services().clock())
    except TooManyWaitingError:
        raise Problem(429, "too_many", "Some of yours are being made: try again when they are there.") from None
    services().ring_builders()
    return redirect_to(url_for("assembly.show", public_id=public_id, arch=arch), 303)


def architectures(judgement: Judgement | None) -> dict[str, str]:
    """Returns the GPUs that machine code is offered for: names by architecture, the submission's own among them."""
    names: dict[str, list[str]] = {}
    for gpu in sorted(_gpus(), key=lambda gpu: float(gpu.compute_capability)):
        names.setdefault(gpu_architecture(gpu.compute_capability), []).append(gpu.name.removeprefix("NVIDIA "))
    if judgement is not None and judgement.device.kind == "cuda":
        names.setdefault(gpu_architecture(judgement.device.compute_capability), [judgement.device.name])
    return {arch: ", ".join(gpus) for arch, gpus in names.items()}


def _default(judgement: Judgement | None) -> str:
    if judgement is not None and judgement.device.kind == "cuda":
        return gpu_architecture(judgement.device.compute_capability)
    return DEFAULT_ARCHITECTURE


def _gpus() -> list[Gpu]:
    return [load_gpu(name) for name in gpu_names()]


def _shown(assembly: Assembly, view: str, arch: str) -> list[ShownFunction]:
    shown, seen = [], set[int | None]()
    for function in assembly.functions:
        listing = function.listing(view)
        rows = []
        for each in listing[:MOST_INSTRUCTIONS]:
            rows.append(ShownInstruction(each.line, each.text, each.is_label, each.line not in seen))
            seen.add(each.line)
        if rows:
            left_out = len(listing) - len(rows)
            shown.append(ShownFunction(function.name, function.is_kernel, _figures(function, arch), rows, left_out))
    return shown


def _figures(function: FunctionAssembly, arch: str) -> tuple[tuple[str, str], ...]:
    """Returns labels and values: what ptxas allots to the kernel, and how many of its warps fit."""
    resources = function.resources
    if resources is None:
        return ()
    spilled = resources.spill_stores_bytes + resources.spill_loads_bytes
    figures = [
        ("registers a thread", f"{resources.registers}"),
        ("shared memory a block", f"{resources.shared_bytes:,} B"),
        ("spilled", f"{spilled:,} B"),
    ]
    fitting = [gpu for gpu in _gpus() if gpu_architecture(gpu.compute_capability) == arch]
    if fitting:
        threads = function.block_threads or BLOCK_THREADS
        occupancy = occupancy_of(fitting[-1], threads, resources.registers, resources.shared_bytes)
        label = f"occupancy in blocks of {threads}, limited by {occupancy.limiter}"
        figures.append((label, f"{100 * occupancy.ratio:.0f} %"))
    return tuple(figures)
