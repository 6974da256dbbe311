"""The operators' blueprint: who may ask, and the pages of queue, challenges and log."""

from __future__ import annotations

from flask import Blueprint, render_template, request

from judge.verify.ledger import efforts_on_record
from store.boards.rechecks import failed_rechecks, recheck_figures
from store.models import Role
from store.operation.operator_log import list_actions
from store.queue.queue_listing import list_queue
from web.accounts.visitor import signed_in
from web.admin import devices, platforms, site, submissions, users
from web.problems import Problem
from web.services import reader, services

blueprint = Blueprint("admin", __name__, url_prefix="/admin")
LOG_PAGE = 50


@blueprint.before_request
def require_operator() -> None:
    """Answers everybody but operators as if there were nothing."""
    visitor = signed_in()
    if visitor is None or not visitor.role.includes(Role.OPERATOR):
        raise Problem(404, "not_found", "There is nothing here.")


users.register(blueprint)
submissions.register(blueprint)
site.register(blueprint)
devices.register(blueprint)
platforms.register(blueprint)


@blueprint.get("/")
def queue() -> str:
    """Renders waiting and running work."""
    return render_template(
        "admin/queue.html",
        jobs=list_queue(reader()),
        rechecks=recheck_figures(reader(), now=services().clock()),
        failed_rechecks=failed_rechecks(reader()),
    )


@blueprint.get("/challenges")
def challenges() -> str:
    """Renders the challenges' versions, and what is wrong with those that did not load."""
    packs = services().all_packs
    before = submissions.read_moment(request.args.get("before", ""))
    return render_template(
        "admin/challenges.html",
        packs=packs.values(),
        verified=efforts_on_record(pack.directory for pack in packs.values()),
        problems=packs.problems,
        before=before.isoformat(),
    )


@blueprint.get("/log")
def log() -> str:
    """Renders the operators' actions, the latest first; of one ``target``, if that is given."""
    target = request.args.get("target") or None
    actions = list_actions(reader(), target=target, before=request.args.get("before", type=int), limit=LOG_PAGE + 1)
    older = actions[LOG_PAGE - 1].id if len(actions) > LOG_PAGE else None
    return render_template("admin/log.html", actions=actions[:LOG_PAGE], target=target, older=older)
