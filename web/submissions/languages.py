"""The language of a stored submission, for pages."""

from __future__ import annotations

from judge.languages.base import Language
from judge.languages.registry import BUILTIN_LANGUAGES
from store.models import Submission


def language_of(submission: Submission) -> Language:
    """Returns the language that a submission is in."""
    return BUILTIN_LANGUAGES.of(submission.language)


def ending(submission: Submission) -> str:
    """Returns the ending of a file that holds the source of a submission."""
    return language_of(submission).suffixes[0]
