"""Defines the base of all tables and the states that submissions and jobs share. All times are in UTC."""

from __future__ import annotations

import enum

from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase


class State(enum.StrEnum):
    """The states of submissions and jobs.

    A submission and its job have the same state, except that a job whose attempts all failed is ``dead`` while its
    submission is ``done``.
    """

    QUEUED = "queued"
    BUILDING = "building"
    BUILT = "built"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    DEAD = "dead"


#: The states that a job never leaves.
FINAL_STATES = frozenset({State.DONE, State.CANCELLED, State.DEAD})


class Base(DeclarativeBase):
    """The base of all tables; it names constraints by a rule, so that migrations can refer to them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
