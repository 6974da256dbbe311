"""Keeps an application's templates, routes and challenges for the process: tests make hundreds of applications.

All are made from the same texts each time, and took more than half of what a test of the site took.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from werkzeug.routing import Rule

from judge.packs.collection import live
from judge.packs.collection.registry import Registry
from store.settings import builtin_packs


class _Templates(BytecodeCache):
    """Keeps templates' code by name and source."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], types.CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._kept.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._kept[bucket.key, bucket.checksum] = bucket.code


_templates = _Templates()


def keep_templates(app: Flask) -> None:
    """Has an application take the code of templates that another one compiled."""
    app.jinja_env.bytecode_cache = _templates


def keep_routes() -> None:
    """Has rules take the functions that build URLs from another rule of the same text, in this process from now on."""
    compile_builder = Rule._compile_builder
    kept: dict[tuple[Any, ...], Callable[..., tuple[str, str]]] = {}

    def compile_once(self: Rule, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        if self.defaults:
            return compile_builder(self, append_unknown)
        # The function gets the rule as an argument, and is made of nothing else.
        key = (self.rule, *self._trace, append_unknown)
        if key not in kept:
            kept[key] = compile_builder(self, append_unknown)
        return kept[key]

    Rule._compile_builder = compile_once  # type: ignore[method-assign]


def keep_packs() -> None:
    """Has the built-in challenges read once, in this process from now on: no test changes their files."""
    builtin = (builtin_packs(),)
    read_state, load = live._files_state, Registry.load
    kept = functools.cache(lambda: (read_state(builtin), load(builtin)))

    def state(paths: Sequence[Path]) -> Any:
        return kept()[0] if tuple(paths) == builtin else read_state(paths)

    def load_once(_: type[Registry], paths: Iterable[Path], **options: Any) -> Registry:
        paths = tuple(paths)
        return kept()[1] if paths == builtin and not options else load(paths, **options)

    for_good = pytest.MonkeyPatch()
    for_good.setattr(live, "_files_state", state)
    for_good.setattr(Registry, "load", classmethod(load_once))
