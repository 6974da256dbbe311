"""Defines the log of what operators did, and the judgements that rejudging replaced."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from judge.judgement import Judgement
from judge.judgement_json import read_judgement
from store.columns import BigKey, JudgementPart, PlainJson, UtcDateTime
from store.models.base import Base


class OperatorAction(Base):
    """An action of an operator. Rows are only added.

    ``actor`` names who did it also after the account has gone; ``user_id`` is None for whoever used a command on the
    server's machine. ``target`` says on what, such as ``user ada`` or ``submission 4k2x9q``.
    """

    __tablename__ = "operator_actions"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    actor: Mapped[str] = mapped_column(String(100))
    #: Where the request came from; empty for a command.
    address: Mapped[str] = mapped_column(String(64))
    action: Mapped[str] = mapped_column(String(40))
    target: Mapped[str] = mapped_column(String(200), index=True)
    details: Mapped[dict[str, Any]] = mapped_column(PlainJson)


class EarlierJudgement(Base):
    """A judgement of a submission that was judged again. ``number`` counts them from 1."""

    __tablename__ = "earlier_judgements"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    verdict: Mapped[str] = mapped_column(String(4))
    pack_version: Mapped[str] = mapped_column(String(40))
    judgement: Mapped[Judgement] = mapped_column(JudgementPart(read_judgement))
    finished_at: Mapped[datetime] = mapped_column(UtcDateTime)
    replaced_at: Mapped[datetime] = mapped_column(UtcDateTime)
    reason: Mapped[str] = mapped_column(String(300))
