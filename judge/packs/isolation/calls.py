"""Marks the functions that run a pack's code, so that they run in a process of the pack."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Callable, Iterator
from typing import Concatenate, ParamSpec, TypeVar

from judge.packs import sizes
from judge.packs.isolation.client import PROCESSES
from judge.packs.pack import Case, Pack

_P = ParamSpec("_P")
_R = TypeVar("_R")

_here = threading.local()


def runs_pack_code(
    function: Callable[Concatenate[Pack, Case, _P], _R],
) -> Callable[Concatenate[Pack, Case, _P], _R]:
    """Makes a function of a module run in a process of its pack wherever the pack's code is not local.

    Its arguments and its result must be data that can be pickled; arrays are passed in shared memory, and the function
    gets them read-only. Raises PackError where the pack's code fails, ends its process or takes too long.
    """

    @functools.wraps(function)
    def call(pack: Pack, case: Case, /, *arguments: _P.args, **keywords: _P.kwargs) -> _R:
        if pack.reference.is_local:
            return function(pack, case, *arguments, **keywords)
        size = sum(sizes.buffer_bytes(case, argument) for argument in pack.arguments)
        result: _R = PROCESSES.call(
            pack,
            call,
            (pack, case, *arguments),
            dict(keywords),
            argument_bytes=size,
            product_threads=getattr(_here, "product_threads", 0) or len(os.sched_getaffinity(0)),
        )
        return result

    return call


@contextlib.contextmanager
def product_threads(threads: int) -> Iterator[None]:
    """Lets each matrix product of this thread's calls use ``threads`` threads while inside."""
    before = getattr(_here, "product_threads", 0)
    _here.product_threads = threads
    try:
        yield
    finally:
        _here.product_threads = before
