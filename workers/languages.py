"""Says which languages this worker can build, so that the site offers them, and which it leaves to other workers."""

from __future__ import annotations

from judge.languages.registry import BUILTIN_LANGUAGES
from store.languages import overdue_languages, tell_languages
from workers.context import WorkerContext


def tell_own_languages(context: WorkerContext) -> None:
    """Records the languages that this worker builds, unless one has done so lately. Raises SQLAlchemyError."""
    names, now = [name for name in BUILTIN_LANGUAGES if name not in context.lacking], context.clock()
    with context.reads() as session:
        overdue = overdue_languages(session, names, now=now)
    if overdue:
        with context.sessions.begin() as session:
            tell_languages(session, overdue, owner=context.owner, now=now)
