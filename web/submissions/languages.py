"""The language of a stored submission, for pages."""

from __future__ import annotations

from judge.languages.base import Language
from judge.languages.registry import BUILTIN_LANGUAGES
from store.languages import built_languages
from store.models import Submission
from web.services import reader


def language_of(submission: Submission) -> Language:
    """Returns the language that a submission is in."""
    return BUILTIN_LANGUAGES.of(submission.language)


def missing(language: Language) -> str:
    """Returns the parts for a language that the build machines lack, and the remedy; empty if nothing.

    Before a worker has run it is what this machine lacks.
    """
    built = built_languages(reader()) if language.installing else None
    if built is None:
        return language.missing()
    if language.name in built:
        return ""
    return f"No worker of this site builds {language.title}: {language.installing}, then restart the workers"


def ending(submission: Submission) -> str:
    """Returns the ending of a file that holds the source of a submission."""
    return language_of(submission).suffixes[0]
