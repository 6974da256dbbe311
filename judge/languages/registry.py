"""Registers the languages and looks them up by name. A new language is a file beside this one and a line here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from judge.errors import InternalError

if TYPE_CHECKING:
    from judge.languages.base import Language

#: By name, the module that offers ``make_language()``. It is imported at the first use.
_MODULES = {"cuda": "judge.languages.cuda", "triton": "judge.languages.triton"}
DEFAULT_LANGUAGE = "cuda"


class UnknownLanguage(InternalError):
    """No language of that name is registered."""


class Languages:
    """The languages that one process builds. Immutable: ``with_language`` returns another set."""

    def __init__(self, makers: Mapping[str, Callable[[], Language]]) -> None:
        self._makers = MappingProxyType(dict(makers))

    def of(self, name: str) -> Language:
        """Returns the language of that name. Raises UnknownLanguage."""
        maker = self._makers.get(name)
        if maker is None:
            raise UnknownLanguage(self.unknown(name))
        return maker()

    def of_file(self, name: str) -> Language | None:
        """Returns the language of a file by its ending; None where it is that of none."""
        return next((each for each in map(self.of, self) if name.lower().endswith(each.suffixes)), None)

    def unknown(self, name: str) -> str:
        """Returns the message about a name that is not among these."""
        return f"'{name}' is not a language of submissions; the languages are: {', '.join(self)}"

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def with_language(self, language: Language) -> Languages:
        """Returns these and one more, which takes the place of another of its name."""
        return Languages({**self._makers, language.name: lambda: language})


def _make(module: str) -> Language:
    language: Language = importlib.import_module(module).make_language()
    return language


BUILTIN_LANGUAGES = Languages({name: partial(_make, module) for name, module in _MODULES.items()})


def check_language(name: str) -> str:
    """Returns the name of a built-in language. Raises ValueError, with those that there are, for any other."""
    if name not in BUILTIN_LANGUAGES:
        raise ValueError(BUILTIN_LANGUAGES.unknown(name))
    return name
