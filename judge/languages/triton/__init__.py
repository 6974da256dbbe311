"""Triton: kernels in Python, compiled ahead in a jail for what ``solve`` launches."""

from __future__ import annotations

from judge.languages.base import Language
from judge.languages.triton.language import TritonLanguage


def make_language() -> Language:
    """Returns the language ``triton``."""
    return TritonLanguage()
