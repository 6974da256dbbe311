"""The submission pages. Only the owner sees a submission; everybody else gets 404."""

from __future__ import annotations

from dataclasses import dataclass, replace

from flask import Blueprint, Response, jsonify, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from judge.packs.steps import read_steps
from judge.recheck import RecheckOutcome
from judge.tracks.loader import builtin_tracks
from judge.verdict import Verdict
from store.boards.audits import find_audit
from store.boards.board_key import BoardKey
from store.boards.listing import board_has_rechecks
from store.boards.rechecks import find_recheck
from store.boards.standings import ListedScore, Standing, find_history, find_standing, listed_scores
from store.models import FINAL_STATES, Role, Submission, User
from store.operation.administration import WITHDRAWN, NotPossibleError, earlier_judgements, withdraw_from_board
from store.queue.turns import expected_wait, queue_position
from store.submissions import cancel_submission, get_submission, list_submissions, sent_values
from store.teaching.comments import find_comment
from store.teaching.contest_sources import is_held_by, is_opened_to
from store.teaching.contests import contests_missed, contests_of
from store.teaching.rights import is_taught_by
from web.accounts.visitor import login_required, require_visitor
from web.challenges.shown import find_pack, shown_packs
from web.errors import wants_json
from web.leaderboard.boards import withholds_audited
from web.leaderboard.values import read_values
from web.problems import Problem
from web.rate_limits import limit_submissions
from web.services import reader, services, transaction
from web.solutions.reading import find_access
from web.submissions.accepting import accept_submission
from web.submissions.forms import SubmissionForm
from web.submissions.languages import ending
from web.submissions.libraries import beside_libraries
from web.submissions.line_comments import Draft, note_read, present_comments
from web.submissions.links import links_of
from web.submissions.may_profile import may_profile
from web.submissions.presenter import editor_heat, editor_notes, present_report, present_source
from web.submissions.recheck import RecheckView, present_recheck
from web.submissions.roofline import RooflineView, comparable_steps, present_roofline
from web.submissions.scores import AuditView, present_audit
from web.submissions.standing import HistoryView, StandingView, present_history, present_score, present_standing
from web.submissions.streaming import Streamed, events_response
from web.submissions.track_goal import present_goal
from web.tracks.progress import PlaceInTrack, find_place, read_done

blueprint = Blueprint("submissions", __name__)
PAGE = 30


@blueprint.post("/challenges/<slug>/submissions")
@login_required
@limit_submissions
def create(slug: str) -> Response | BaseResponse:
    """Creates a submission. Answers the editor's script with JSON, and a plain form with a redirect."""
    find_pack(slug)
    form = SubmissionForm()
    if not form.validate_on_submit():
        errors = [f"{name}: {error}" for name, texts in form.errors.items() for error in texts]
        raise Problem(422, "invalid", " ".join(errors))
    source, language = form.source_sent()
    accepted = accept_submission(
        services(),
        user_id=require_visitor().id,
        challenge=slug,
        device=form.device.data or "",
        mode="run" if form.mode.data == "run" else "submit",
        source=source,
        language=language,
        custom_input=form.input_sent(),
        idempotency_key=form.idempotency_key.data or None,
    )
    links = links_of(accepted.submission)
    if wants_json():
        return make_response(links, 201)
    return redirect(links["url"], 303)


@blueprint.get("/submissions")
@login_required
def index() -> str:
    """Renders the visitor's submissions that fit the filters, newest first; of one challenge with the history."""
    visitor = require_visitor()
    filters = {name: request.args.get(name) or None for name in ("challenge", "device", "verdict")}
    found = list_submissions(
        reader(),
        user=reader().get_one(User, visitor.id),
        limit=PAGE + 1,
        before=request.args.get("before"),
        challenge=filters["challenge"],
        device=filters["device"],
        verdict=filters["verdict"],
    )
    return render_template(
        "submissions/index.html",
        submissions=found[:PAGE],
        older=found[PAGE - 1].public_id if len(found) > PAGE else None,
        filters=filters,
        scores={key: present_score(score) for key, score in listed_scores(reader(), found[:PAGE]).items()},
        history=_history(visitor.id, filters["challenge"], filters["device"]),
        choices=sent_values(reader(), user_id=visitor.id) | {"verdict": [verdict.value for verdict in Verdict]},
        packs=shown_packs(),
    )


def _history(user_id: int, challenge: str | None, device: str | None) -> HistoryView | None:
    """Returns the visitor's times on the board of a challenge that was sent to last; None without a challenge."""
    found = None if challenge is None else find_history(reader(), user_id=user_id, challenge=challenge, device=device)
    return None if found is None else present_history(found)


@blueprint.get("/submissions/<public_id>")
@login_required
def show(public_id: str) -> str:
    """Renders a submission: its progress while it is judged, then the report.

    ``?line=`` opens the form of a comment at a line, ``?edit=`` that of one of the visitor's comments.
    """
    return submission_page(public_id, _draft(visible_submission(public_id)))


def _draft(submission: Submission) -> Draft | None:
    line, number = request.args.get("line", type=int), request.args.get("edit", type=int)
    if line is not None:
        return Draft(line)
    found = None if number is None or not 0 < number < 2**31 else find_comment(reader(), submission, number)
    if found is None or found.author_id != require_visitor().id:
        return None
    return Draft(found.line, found.id, found.text)


def submission_page(public_id: str, draft: Draft | None) -> str:
    """Renders the page of a submission, with the form of a comment if there is a draft of one."""
    new = note_read(visible_submission(public_id))
    submission = visible_submission(public_id)
    position = queue_position(reader(), submission)
    standing = _standing(submission)
    return render_template(
        "submissions/show.html",
        **report_context(submission, standing),
        **_placed(submission, standing),
        place=None if position is None else _place(submission, position),
        lines=present_source(submission, find_recheck(reader(), submission)),
        comments=present_comments(submission, draft, new),
        recheck_url=_recheck_url(submission),
        earlier=earlier_judgements(reader(), submission),
        own=submission.user_id == require_visitor().id,
        others=_to_compare(submission),
        contests=contests_of(reader(), submission),
        missed=contests_missed(reader(), submission),
        withdrawn=submission.off_board == WITHDRAWN,
        profiles=may_profile(submission),
        in_track=_place_in_track(submission),
    )


@blueprint.get("/submissions/<public_id>/report")
@login_required
def report(public_id: str) -> str:
    """Renders the report alone, for a page that was open during judging."""
    submission = visible_submission(public_id)
    standing = _standing(submission)
    return render_template(
        "submissions/_report.html",
        **report_context(submission, standing),
        **_placed(submission, standing),
        inline=True,
        in_track=_place_in_track(submission),
        own=submission.user_id == require_visitor().id,
        recheck_url=_recheck_url(submission),
        notes=editor_notes(submission, find_recheck(reader(), submission)),
        heat=editor_heat(submission),
    )


@blueprint.get("/submissions/<public_id>/recheck")
@login_required
def recheck(public_id: str) -> str:
    """Renders the part of the report on the check on the emulator, for a page that was open before it was made."""
    submission = visible_submission(public_id)
    shown = present_checked(submission).recheck
    if shown is None:
        raise Problem(404, "not_found", "It is not checked on the emulator.")
    return render_template("submissions/_recheck.html", recheck=shown, recheck_url=_recheck_url(submission))


@blueprint.get("/submissions/<public_id>/kernel.cu")
@login_required
def source(public_id: str) -> Response:
    """Returns the source, byte for byte, as a download."""
    submission = visible_submission(public_id)
    response = Response(submission.source_bytes, mimetype="application/octet-stream")
    response.headers["Content-Disposition"] = f'attachment; filename="{public_id}{ending(submission)}"'
    return response


@blueprint.get("/submissions/<public_id>/events")
@login_required
def events(public_id: str) -> Response | Streamed:
    """Streams the events after number ``after``, or lists them if the client asks for JSON."""
    submission = visible_submission(public_id)
    after = request.headers.get("Last-Event-ID", type=int) or request.args.get("after", 0, type=int)
    return events_response(submission, min(max(after, 0), submission.last_event_seq))


@blueprint.post("/submissions/<public_id>/cancel")
@login_required
def cancel(public_id: str) -> Response | BaseResponse:
    """Cancels a submission. Does nothing if it has already ended."""
    own_submission(public_id)
    with transaction() as writer:
        submission = get_submission(writer, public_id)
        cancelled = submission is not None and cancel_submission(writer, submission, now=services().clock())
    if wants_json():
        return jsonify(cancelled=cancelled)
    return redirect(url_for("submissions.show", public_id=public_id), 303)


@blueprint.post("/submissions/<public_id>/withdraw")
@login_required
def withdraw(public_id: str) -> BaseResponse:
    """Takes the visitor's submission off its board, if it is right by luck."""
    own_submission(public_id)
    with transaction() as writer:
        submission = get_submission(writer, public_id)
        assert submission is not None
        try:
            withdraw_from_board(writer, submission, now=services().clock())
        except NotPossibleError as error:
            raise Problem(409, "not_possible", f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
    return redirect(url_for("submissions.show", public_id=public_id), 303)


def visible_submission(public_id: str) -> Submission:
    """Returns the visitor's submission, one that a contest has opened, or a member's of the visitor's class or contest.

    An operator gets anybody's. Raises Problem 404 for any other.
    """
    submission, visitor = get_submission(reader(), public_id), require_visitor()
    is_teacher = visitor.role.includes(Role.TEACHER)
    if submission is not None and (
        submission.user_id == visitor.id
        or visitor.role.includes(Role.OPERATOR)
        or (is_teacher and is_held_by(reader(), submission, user_id=visitor.id))
        or is_opened_to(reader(), submission, user_id=visitor.id, now=services().clock())
        or is_taught_by(reader(), submission, user_id=visitor.id, as_owner=is_teacher)
    ):
        return submission
    raise Problem(404, "not_found", "You have no such submission.")


def own_submission(public_id: str) -> Submission:
    """Returns the visitor's submission. Raises Problem 404 for any other."""
    submission = get_submission(reader(), public_id)
    if submission is None or submission.user_id != require_visitor().id:
        raise Problem(404, "not_found", "You have no such submission.")
    return submission


def _recheck_url(submission: Submission) -> str:
    return url_for("submissions.recheck", public_id=submission.public_id)


@dataclass(frozen=True, slots=True)
class CheckedAgain:
    """The checks of an accepted submission after its judgement; None where there were none."""

    audit: AuditView | None
    recheck: RecheckView | None


def present_checked(submission: Submission) -> CheckedAgain:
    """Returns the views of a submission's audit and of its check on the emulator."""
    audit, check = find_audit(reader(), submission), find_recheck(reader(), submission)
    withheld = (
        check is not None
        and check.outcome == RecheckOutcome.FOUND
        and withholds_audited(has_rechecks=board_has_rechecks(reader(), submission))
    )
    return CheckedAgain(
        None if audit is None else present_audit(audit, withheld=withheld),
        None if check is None else present_recheck(check, withheld=withheld),
    )


def report_context(submission: Submission, standing: Standing | None) -> dict[str, object]:
    """Returns the context of the report's template for a submission that stands there on its board."""
    checked = present_checked(submission)
    return {
        "audit": checked.audit,
        "recheck": checked.recheck,
        "submission": submission,
        "pack": shown_packs().get(submission.challenge),
        "working": submission.state not in FINAL_STATES,
        "fastest": standing is not None and standing.is_best,
        "track_goal": None if submission.judgement is None else present_goal(submission.judgement),
        "report": None
        if submission.judgement is None
        else present_report(
            submission.judgement, submission.source, submission.language, beside_libraries(reader(), submission)
        ),
    }


def _placed(submission: Submission, standing: Standing | None) -> dict[str, StandingView | RooflineView | None]:
    """Returns where a timed submission stands on its board and under the roofline; nothing for others."""
    judgement, pack = submission.judgement, shown_packs().get(submission.challenge)
    if judgement is None or judgement.measurement is None:
        return {}
    current = pack if pack is not None and pack.major == submission.pack_major else None
    open_to_visitor = current is not None and find_access(reader(), current, require_visitor()).is_open
    steps = read_steps(current) if current is not None and open_to_visitor else ()
    before = [] if standing is None else [one for one in standing.own if one.submission_public_id != standing.public_id]
    return {
        "standing": None
        if standing is None
        else present_standing(
            standing,
            read_values(
                services(), reader(), replace(BoardKey.of(submission), metric=standing.metric), users=standing.users
            ),
            judgement.measurement,
            None if current is None else current.medals_for(judgement.measurement.metric),
        ),
        "roofline": present_roofline(
            judgement.measurement,
            "fp32" if pack is None else pack.bench.arithmetic,
            [one.value for one in before],
            comparable_steps(judgement.measurement, steps),
        ),
    }


def _standing(submission: Submission) -> Standing | None:
    return find_standing(reader(), submission, frozen=_sees_frozen(submission))


def _sees_frozen(submission: Submission) -> bool:
    """Returns whether the visitor may know what else its user sent while standings are frozen."""
    visitor = require_visitor()
    return submission.user_id == visitor.id or visitor.role.includes(Role.OPERATOR)


def _place_in_track(submission: Submission) -> PlaceInTrack | None:
    done = read_done(reader(), user_id=require_visitor().id)
    return find_place(builtin_tracks(), submission.challenge, shown_packs(), done)


def _to_compare(submission: Submission) -> list[tuple[str, str]]:
    """Returns the ids and names of others of the same user and challenge.

    Those with a score come first, on the same device before others, the best before the next; then the newest.
    """
    mine = list_submissions(reader(), user=submission.user, challenge=submission.challenge, limit=PAGE)
    sees_frozen = _sees_frozen(submission)
    others = [each for each in mine if each.id != submission.id and (sees_frozen or not each.frozen)]
    scores = listed_scores(reader(), others)
    scored = [each for each in others if each.id in scores]
    scored.sort(key=lambda each: (each.device_key != submission.device_key, each.device_key, scores[each.id].value))
    ordered = [*scored, *(each for each in others if each.id not in scores)]
    return [(each.public_id, _to_choose(each, scores.get(each.id))) for each in ordered]


def _to_choose(submission: Submission, score: ListedScore | None) -> str:
    """Returns how a list of submissions names one: ``6.19 µs, submission, emulator, 2026-11-28 07:22``."""
    result = submission.verdict or submission.state if score is None else present_score(score).text
    kind = "run" if submission.mode == "run" else "submission"
    return f"{result}, {kind}, {submission.device_key}, {submission.created_at:%Y-%m-%d %H:%M}"


def _place(submission: Submission, position: int) -> str:
    """Describes the place in the queue, and about how long it will wait."""
    wait_s = expected_wait(reader(), submission.device_key)(position)
    place = f"In the queue, {position - 1} ahead" if position > 1 else "Next in the queue"
    return place if wait_s is None or wait_s < 2 else f"{place}, about {wait_s:.0f} s"
