"""Reads all times of a board for its picture, on the board's page and on those of its submissions."""

from __future__ import annotations

from sqlalchemy.orm import Session

from store.boards.board_key import BoardKey
from store.boards.leaderboards import board_values
from web.services import Services

#: Boards with as many people have a picture of their times.
LEAST_USERS, MOST_USERS = 5, 10_000
#: The times of a board with more people than this are kept for a short time (``web.kept``).
_MANY_USERS = 1_000


def read_values(services: Services, session: Session, key: BoardKey, *, users: int) -> tuple[float, ...]:
    """Returns each user's best time on a board, ascending, now or a short time ago.

    Returns nothing where too few or too many ``users`` are on the board for a picture.
    """
    if not LEAST_USERS <= users <= MOST_USERS:
        return ()
    return services.kept.read(
        ("values", key),
        lambda given: board_values(given, key),
        session=session,
        clock=services.clock,
        is_dear=lambda found: len(found) > _MANY_USERS,
    )
