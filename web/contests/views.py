"""The contests' pages. Everybody may read them; teachers make contests, and change their own."""

from __future__ import annotations

import csv
import io

from flask import Blueprint, Response, flash, jsonify, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from store.models import Contest
from store.operation.webhooks import latest_messages
from store.teaching import contests
from store.teaching.contest_audits import has_failed
from web.accounts.visitor import login_required, signed_in
from web.challenges.shown import is_hidden, shown_packs
from web.challenges.uploading import register_uploads
from web.contests import entries, trial
from web.contests.access import (
    find_contest,
    managed_contest,
    may_make_contests,
    may_manage,
    opened_to,
    require_maker,
    shown_slugs,
    standings_seen,
    timed_again,
)
from web.contests.forms import ContestForm, JoinForm
from web.contests.saving import (
    TakenError,
    contest_form,
    delete_contest,
    leave_contest,
    record_pack,
    save_contest,
    take_part,
    values_of,
    values_of_copy,
)
from web.contests.standings import PAGE
from web.paging import page_asked_for
from web.problems import sentence
from web.services import reader, services
from web.statement import render_statement

blueprint = Blueprint("contests", __name__, url_prefix="/contests")
trial.register(blueprint)
entries.register(blueprint)
register_uploads(blueprint, "/<slug>", managed_contest, record_pack)


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
    return _page(find_contest(slug), JoinForm())


def _page(contest: Contest, join_form: JoinForm) -> str:
    visitor, now = signed_in(), services().clock()
    team = contests.team_of(reader(), contest, user_id=None if visitor is None else visitor.id)
    entrant = team.name if team is not None else None if visitor is None else visitor.username
    rows, slugs = standings_seen(contest), shown_slugs(contest)
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
        packs=shown_packs(),
        slugs=slugs,
        now=now,
        frozen=contests.is_frozen(contest, now),
        members=contests.count_members(reader(), contest),
        member=visitor is not None and contests.is_member(reader(), contest, user_id=visitor.id),
        manages=may_manage(visitor, contest),
        opened=opened_to(contest),
        timed_again=timed_again(contest),
        audits_failed=has_failed(reader(), contest),
    )


@blueprint.get("/<slug>/screen")
def screen(slug: str) -> str:
    """Renders the standings for a projector. The page loads itself again."""
    contest, now = find_contest(slug), services().clock()
    rows, slugs = standings_seen(contest, anonymous=True), shown_slugs(contest, anonymous=True)
    return render_template(
        "contests/screen.html",
        contest=contest,
        rows=rows[:PAGE],
        entrants=len(rows),
        packs=shown_packs(),
        slugs=slugs,
        now=now,
        frozen=contests.is_frozen(contest, now),
    )


@blueprint.get("/<slug>/standings.csv")
def export_csv(slug: str) -> Response:
    """Returns the standings as CSV: for each challenge the result and the place."""
    contest = find_contest(slug)
    text = io.StringIO()
    writer = csv.writer(text)
    columns = [f"{slug} {what}" for slug in shown_slugs(contest) for what in ("result", "place")]
    writer.writerow(["rank", _entrants(contest), "total", *columns])
    for row in standings_seen(contest):
        cells = [("", "") if cell is None else (cell.result.value, cell.place) for cell in row.cells]
        writer.writerow([row.rank, row.username, row.total, *(value for cell in cells for value in cell)])
    response = Response(text.getvalue(), mimetype="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{contest.slug}.csv"'
    return response


@blueprint.get("/<slug>/standings.json")
def export_json(slug: str) -> Response:
    """Returns the standings as JSON."""
    contest, now = find_contest(slug), services().clock()
    return jsonify(
        contest=contest.slug,
        title=contest.title,
        starts_at=contest.starts_at.isoformat(),
        ends_at=contest.ends_at.isoformat(),
        frozen=contests.is_frozen(contest, now),
        settled_at=None if contest.settled_at is None else contest.settled_at.isoformat(),
        scoring=contest.scoring,
        targets_s={slug: target for slug, target in contest.targets.items() if not is_hidden(slug)},
        standings=[
            {
                "rank": row.rank,
                _entrants(contest): row.username,
                "total": row.total,
                "tries": dict(zip(shown_slugs(contest), row.tries, strict=True)),
                "results": {
                    challenge: {
                        "value": cell.result.value,
                        "metric": cell.result.scale,
                        "place": cell.place,
                        "audited": cell.result.audited,
                    }
                    for challenge, cell in zip(shown_slugs(contest), row.cells, strict=True)
                    if cell is not None
                },
            }
            for row in standings_seen(contest)
        ],
    )


@blueprint.post("/<slug>/join")
@login_required
def join(slug: str) -> BaseResponse | tuple[str, int]:
    """Makes the visitor a member, with the code where one is needed."""
    contest, form = find_contest(slug), JoinForm()
    if contest.ends_at > services().clock() and not form.validate_on_submit():
        return _page(contest, form), 422
    try:
        take_part(contest, form.entry())
    except contests.EntryError as error:
        form[error.field].errors = (sentence(str(error)),)
        return _page(contest, form), 422
    flash("You are taking part. Your submissions to these challenges between the start and the end count.", "success")
    return redirect(url_for("contests.show", slug=slug), 303)


@blueprint.post("/<slug>/leave")
@login_required
def leave(slug: str) -> BaseResponse:
    """Takes the visitor out of the contest."""
    leave_contest(find_contest(slug))
    flash("You have left the contest. Your submissions stay, and count again if you rejoin.", "success")
    return redirect(url_for("contests.show", slug=slug), 303)


@blueprint.route("/new", methods=["GET", "POST"])
@login_required
def make() -> str | BaseResponse | tuple[str, int]:
    """Makes a contest; ``?copy=`` names one whose values the form begins with."""
    require_maker()
    copied = request.args.get("copy")
    values = None if copied is None else values_of_copy(managed_contest(copied))
    form = contest_form(None, values)
    return _save(form, None) if request.method == "POST" else _form_page(form, None)


@blueprint.route("/<slug>/edit", methods=["GET", "POST"])
@login_required
def edit(slug: str) -> str | BaseResponse | tuple[str, int]:
    """Changes a contest, also while it runs: results are counted anew by what it says then."""
    contest = managed_contest(slug)
    form = contest_form(contest, values_of(contest))
    return _save(form, contest) if request.method == "POST" else _form_page(form, contest)


@blueprint.post("/<slug>/delete")
@login_required
def delete(slug: str) -> BaseResponse:
    """Deletes a contest in which nobody takes part."""
    contest = managed_contest(slug)
    title = contest.title
    delete_contest(contest)
    flash(f"The contest “{title}” is deleted.", "success")
    return redirect(url_for("contests.index"), 303)


def _save(form: ContestForm, contest: Contest | None) -> BaseResponse | tuple[str, int]:
    if not form.validate_on_submit():
        return _form_page(form, contest), 422
    number = None if contest is None else contest.id
    try:
        slug = save_contest(form, contest)
    except TakenError:
        form.slug.errors = ("Another contest has this address.",)
        return _form_page(form, None if number is None else reader().get_one(Contest, number)), 422
    flash("The contest is saved.", "success")
    return redirect(url_for("contests.show", slug=slug), 303)


def _form_page(form: ContestForm, contest: Contest | None) -> str:
    return render_template(
        "contests/edit.html",
        form=form,
        contest=contest,
        members=0 if contest is None else contests.count_members(reader(), contest),
        messages=[] if contest is None else latest_messages(reader(), contest),
    )


def _entrants(contest: Contest) -> str:
    return "user" if contest.team_size is None else "team"
