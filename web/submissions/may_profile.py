"""The right to have a submission profiled on a GPU: a setting of the site, since a profiler needs a weaker jail."""

from __future__ import annotations

from judge.kinds import KINDS
from judge.verdict import Verdict
from store.models import Role, Submission
from web.accounts.visitor import require_visitor
from web.site import site_settings

_MAY_ASK = {"operators": Role.OPERATOR, "teachers": Role.TEACHER, "everybody": Role.USER}


def may_profile(submission: Submission) -> bool:
    """Returns whether the visitor may have it profiled: it is theirs, a GPU accepted it, and the site lets them."""
    kind = None if submission.judgement is None else KINDS.get(submission.judgement.device.kind)
    visitor = require_visitor()
    return (
        submission.user_id == visitor.id
        and submission.verdict == Verdict.ACCEPTED
        and kind is not None
        and kind.is_real
        and visitor.role.includes(_MAY_ASK[site_settings().profiles])
    )
