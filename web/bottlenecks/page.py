"""The pages on causes of slowness: text, a kernel that suffers from it, and the same without, for one challenge."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent / "pages"
KERNELS = ("before", "after")


@dataclass(frozen=True, slots=True)
class BottleneckPage:
    """A cause of slowness. ``slug`` is its key in ``emulator.model.why.TOPICS``, ``challenge`` what its kernels solve.

    ``before_us`` and ``after_us`` are the modelled times of the kernels on an H200, in microseconds; a test holds them
    to what the emulator says.
    """

    slug: str
    title: str
    summary: str
    challenge: str
    before_us: float
    after_us: float

    def text(self) -> str:
        """Returns the page in CommonMark."""
        return (_FOLDER / self.slug / "text.md").read_text(encoding="utf-8")

    def kernel(self, which: str) -> str:
        """Returns the source of the kernel ``before`` or ``after``."""
        return (_FOLDER / self.slug / f"{which}.cu").read_text(encoding="utf-8")


PAGES = (
    BottleneckPage(
        "coalescing",
        "Uncoalesced accesses",
        "Neighboring threads should use neighboring addresses.",
        "matrix-add",
        before_us=7.9,
        after_us=5.6,
    ),
    BottleneckPage(
        "bank-conflicts",
        "Bank conflicts",
        "Threads of a warp that meet in one bank of shared memory wait for each other.",
        "transpose",
        before_us=6.9,
        after_us=6.3,
    ),
    BottleneckPage(
        "divergence",
        "Divergence",
        "A warp goes through every branch that one of its threads takes.",
        "black-scholes",
        before_us=8.6,
        after_us=7.0,
    ),
    BottleneckPage(
        "occupancy",
        "Low occupancy",
        "Too few warps fit on a multiprocessor to have one ready at any time.",
        "relu",
        before_us=9.4,
        after_us=5.6,
    ),
    BottleneckPage(
        "latency",
        "Latency",
        "Warps wait for memory while nothing else is under way.",
        "relu",
        before_us=11.3,
        after_us=6.0,
    ),
    BottleneckPage(
        "atomics",
        "Contended atomics",
        "Atomic operations on one address queue up.",
        "histogram",
        before_us=14.6,
        after_us=9.8,
    ),
    BottleneckPage(
        "tail",
        "Idle multiprocessors and tails",
        "A launch with too few blocks, or a few too many, leaves most of the GPU waiting.",
        "vector-add",
        before_us=575,
        after_us=9.5,
    ),
    BottleneckPage(
        "launch-overhead",
        "Launch overhead",
        "A launch takes microseconds, however little it does.",
        "matrix-add",
        before_us=1653,
        after_us=5.6,
    ),
)


def find_page(slug: str) -> BottleneckPage | None:
    """Returns the page about a cause, or None."""
    return next((page for page in PAGES if page.slug == slug), None)


def find_kernel(challenge: str, name: str) -> str | None:
    """Returns the source that ``name`` (such as ``tail/before``) stands for, if it solves the challenge, or None."""
    slug, _, which = name.partition("/")
    page = find_page(slug)
    return page.kernel(which) if page and page.challenge == challenge and which in KERNELS else None
