"""The contests' pages. Everybody may read them; teachers make contests, and change their own."""

from __future__ import annotations

import csv
import hmac
import io
from collections.abc import Sequence

from flask import Blueprint, Response, flash, jsonify, redirect, render_template, request, url_for
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as BaseResponse

from store.models import Contest, ContestTeam, Role
from store.operation.operator_log import Actor, record_action
from store.operation.webhooks import latest_messages
from store.teaching import contests
from store.teaching.contest_audits import AuditedResult, audited_results, has_failed, unsettle_contests
from store.teaching.contest_standings import Row
from store.teaching.freezes import lock_freezes, renew_frozen
from web.accounts.visitor import Visitor, login_required, require_visitor, signed_in
from web.contests.forms import ContestForm, JoinForm, written_targets
from web.contests.standings import PAGE, read_standings
from web.devices import device_choices
from web.paging import page_asked_for
from web.problems import Problem, sentence
from web.services import reader, services, transaction
from web.statement import render_statement

blueprint = Blueprint("contests", __name__, url_prefix="/contests")


def may_make_contests(visitor: Visitor | None) -> bool:
    """Returns whether the visitor may make a contest."""
    return visitor is not None and visitor.role.includes(Role.TEACHER)


def may_manage(visitor: Visitor | None, contest: Contest) -> bool:
    """Returns whether the visitor may change this contest and see through its freeze."""
    if visitor is None or not visitor.role.includes(Role.TEACHER):
        return False
    return contest.owner_id == visitor.id or visitor.role.includes(Role.OPERATOR)


@blueprint.get("/")
def index() -> str:
    """Renders the contests: those that run, those to come, those that have ended."""
    now = services().clock()
    found = contests.list_contests(reader())
    return render_template(
        "contests/index.html",
        running=[contest for contest in found if contest.starts_at <= now < contest.ends_at],
        coming=sorted((each for each in found if each.starts_at > now), key=lambda each: each.starts_at),
        past=[contest for contest in found if contest.ends_at <= now],
        may_make=may_make_contests(signed_in()),
    )


@blueprint.get("/<slug>")
def show(slug: str) -> str:
    """Renders a contest: what it is, its challenges, its standings."""
    return _page(_find(slug), JoinForm())


def _page(contest: Contest, join_form: JoinForm) -> str:
    visitor, now = signed_in(), services().clock()
    team = contests.team_of(reader(), contest, user_id=None if visitor is None else visitor.id)
    entrant = team.name if team is not None else None if visitor is None else visitor.username
    rows = _standings(contest)
    own = next((number for number, row in enumerate(rows) if row.username == entrant), None)
    pages = max(1, -(-len(rows) // PAGE))
    page = min(page_asked_for(), pages)
    return render_template(
        "contests/show.html",
        contest=contest,
        join_form=join_form,
        team=team,
        team_members=[] if team is None else [user.username for user in contests.team_members(reader(), team)],
        entrant=entrant,
        description=render_statement(contest.description),
        rows=rows[(page - 1) * PAGE : page * PAGE],
        own=None if own is None else rows[own],
        own_page=None if own is None else 1 + own // PAGE,
        entrants=len(rows),
        page=page,
        pages=pages,
        packs=services().packs,
        now=now,
        frozen=contests.is_frozen(contest, now),
        members=contests.count_members(reader(), contest),
        member=visitor is not None and contests.is_member(reader(), contest, user_id=visitor.id),
        manages=may_manage(visitor, contest),
        timed_again=_timed_again(contest),
        audits_failed=has_failed(reader(), contest),
    )


@blueprint.get("/<slug>/screen")
def screen(slug: str) -> str:
    """Renders the standings for a projector. The page loads itself again."""
    contest, now = _find(slug), services().clock()
    rows = _standings(contest, anonymous=True)
    return render_template(
        "contests/screen.html",
        contest=contest,
        rows=rows[:PAGE],
        entrants=len(rows),
        packs=services().packs,
        now=now,
        frozen=contests.is_frozen(contest, now),
    )


@blueprint.get("/<slug>/standings.csv")
def export_csv(slug: str) -> Response:
    """Returns the standings as CSV: for each challenge the result and the place."""
    contest = _find(slug)
    text = io.StringIO()
    writer = csv.writer(text)
    columns = [f"{slug} {what}" for slug in contest.slugs for what in ("result", "place")]
    writer.writerow(["rank", _entrants(contest), "total", *columns])
    for row in _standings(contest):
        cells = [("", "") if cell is None else (cell.result.value, cell.place) for cell in row.cells]
        writer.writerow([row.rank, row.username, row.total, *(value for cell in cells for value in cell)])
    response = Response(text.getvalue(), mimetype="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{contest.slug}.csv"'
    return response


@blueprint.get("/<slug>/standings.json")
def export_json(slug: str) -> Response:
    """Returns the standings as JSON."""
    contest, now = _find(slug), services().clock()
    return jsonify(
        contest=contest.slug,
        title=contest.title,
        starts_at=contest.starts_at.isoformat(),
        ends_at=contest.ends_at.isoformat(),
        frozen=contests.is_frozen(contest, now),
        settled_at=None if contest.settled_at is None else contest.settled_at.isoformat(),
        scoring=contest.scoring,
        targets_s=contest.targets,
        standings=[
            {
                "rank": row.rank,
                _entrants(contest): row.username,
                "total": row.total,
                "results": {
                    challenge: {
                        "value": cell.result.value,
                        "metric": cell.result.scale,
                        "place": cell.place,
                        "audited": cell.result.audited,
                    }
                    for challenge, cell in zip(contest.slugs, row.cells, strict=True)
                    if cell is not None
                },
            }
            for row in _standings(contest)
        ],
    )


@blueprint.post("/<slug>/join")
@login_required
def join(slug: str) -> BaseResponse | tuple[str, int]:
    """Makes the visitor a member, with the code where one is needed."""
    contest, visitor, now, form = _find(slug), require_visitor(), services().clock(), JoinForm()
    if contest.ends_at <= now:
        raise Problem(409, "ended", "This contest has ended.")
    if not form.validate_on_submit():
        return _page(contest, form), 422
    given = (form.code.data or "").strip()
    if contest.code is not None and not hmac.compare_digest(given.encode(), contest.code.encode()):
        form.code.errors = ("That is not the code of this contest. Whoever invited you knows it.",)
        return _page(contest, form), 422
    try:
        with transaction() as writer:
            contests.join(writer, contest, user_id=visitor.id, now=now, team=_team(writer, contest, visitor, form))
            renew_frozen(writer, now=now)
    except contests.TeamError as error:
        (form.team_code if form.team_code.data else form.team_name).errors = (sentence(str(error)),)
        return _page(contest, form), 422
    flash("You are taking part. Your submissions to these challenges between the start and the end count.", "success")
    return redirect(url_for("contests.show", slug=slug), 303)


def _team(writer: Session, contest: Contest, visitor: Visitor, form: JoinForm) -> ContestTeam | None:
    """Returns the team that the form names, made if it is new; None where there are none, or for a member."""
    if contest.team_size is None or contests.is_member(writer, contest, user_id=visitor.id):
        return None
    if code := (form.team_code.data or "").strip():
        return contests.find_team(writer, contest, code)
    return contests.make_team(writer, contest, form.team_name.data or "")


@blueprint.post("/<slug>/leave")
@login_required
def leave(slug: str) -> BaseResponse:
    """Takes the visitor out of the contest."""
    contest, visitor = _find(slug), require_visitor()
    if contest.ends_at <= services().clock():
        raise Problem(409, "ended", "This contest has ended: its standings stay.")
    with transaction() as writer:
        contests.leave(writer, contest, user_id=visitor.id)
        renew_frozen(writer, now=services().clock())
    flash("You have left the contest. Your submissions stay, and count again if you rejoin.", "success")
    return redirect(url_for("contests.show", slug=slug), 303)


@blueprint.route("/new", methods=["GET", "POST"])
@login_required
def make() -> str | BaseResponse | tuple[str, int]:
    """Makes a contest."""
    visitor = require_visitor()
    if not may_make_contests(visitor):
        raise Problem(404, "not_found", "There is nothing here.")
    form = _form(None)
    now = services().clock()
    contest = Contest(owner_id=visitor.id, created_at=now)
    return _save(form, contest, "contest made") if request.method == "POST" else _form_page(form, None)


@blueprint.route("/<slug>/edit", methods=["GET", "POST"])
@login_required
def edit(slug: str) -> str | BaseResponse | tuple[str, int]:
    """Changes a contest, also while it runs: results are counted anew by what it says then."""
    contest = _find(slug)
    if not may_manage(require_visitor(), contest):
        raise Problem(404, "not_found", "There is nothing here.")
    form = _form(contest)
    return _save(form, contest, "contest changed") if request.method == "POST" else _form_page(form, contest)


def _save(form: ContestForm, contest: Contest, action: str) -> BaseResponse | tuple[str, int]:
    visitor, new = require_visitor(), contest.id is None
    if not form.validate_on_submit():
        return _form_page(form, None if new else contest), 422
    try:
        with transaction() as writer:
            lock_freezes(writer)
            row = contest if new else writer.get_one(Contest, contest.id)
            form.apply(row)
            contests.set_challenges(row, form.slugs, form.target_times())
            writer.add(row)
            writer.flush()
            unsettle_contests(writer, [row])
            renew_frozen(writer, now=services().clock())
            actor = Actor(visitor.username, visitor.id, request.remote_addr or "")
            record_action(writer, actor, action, f"contest {row.slug}", now=services().clock(), title=row.title)
            slug = row.slug
    except IntegrityError:
        named = contests.find_contest(reader(), form.slug.data)
        if named is None or named.id == contest.id:
            raise
        form.slug.errors = ("Another contest has this address.",)
        return _form_page(form, None if new else contest), 422
    flash("The contest is saved.", "success")
    return redirect(url_for("contests.show", slug=slug), 303)


def _form(contest: Contest | None) -> ContestForm:
    devices = {device.key: device.name for device in device_choices(reader(), services().settings, services().clock)}
    given: dict[str, object] = {}
    if contest is not None:
        devices |= {key: devices.get(key, key) for key in contest.device_keys}
        given["data"] = {
            **{name: getattr(contest, name) for name in ("title", "slug", "description", "scoring", "revealed")},
            "opens_sources": contest.opens_sources,
            "closes_solutions": contest.closes_solutions,
            "team_size": contest.team_size,
            "code": contest.code or "",
            "webhook_url": contest.webhook_url or "",
            "challenges": " ".join(contest.slugs),
            "targets": written_targets(contest),
            "devices": list(contest.device_keys),
            **{name: getattr(contest, name) for name in ("starts_at", "ends_at", "frozen_at")},
        }
    private = services().settings.webhook_private
    return ContestForm(services().packs.keys(), list(devices.items()), private_webhooks=private, **given)


def _form_page(form: ContestForm, contest: Contest | None) -> str:
    return render_template(
        "contests/edit.html",
        form=form,
        contest=contest,
        messages=[] if contest is None else latest_messages(reader(), contest),
    )


def _standings(contest: Contest, *, anonymous: bool = False) -> list[Row]:
    visitor = None if anonymous else signed_in()
    viewer_id = None if visitor is None else visitor.id
    return read_standings(services(), reader(), contest, viewer_id=viewer_id, whole=may_manage(visitor, contest))


def _timed_again(contest: Contest) -> Sequence[AuditedResult]:
    """Returns the results that were timed again at the end, unless the standings are frozen for the visitor."""
    hidden = contests.is_frozen(contest, services().clock()) and not may_manage(signed_in(), contest)
    return [] if hidden else audited_results(reader(), contest)


def _entrants(contest: Contest) -> str:
    return "user" if contest.team_size is None else "team"


def _find(slug: str) -> Contest:
    contest = contests.find_contest(reader(), slug)
    if contest is None:
        raise Problem(404, "not_found", f"There is no contest “{slug[:64]}”.")
    return contest
