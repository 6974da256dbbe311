"""API endpoints for operators: what the pages under ``/admin`` do, by a token with the scope ``admin``.

Each action is recorded in the operators' log, and answers with what it changed. One that is not possible answers 409.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import Blueprint, request, url_for
from sqlalchemy.orm import Session

from judge.packs.ledger import efforts_on_record
from store.accounts import find_user
from store.administration import (
    NotPossibleError,
    cancel_for_operator,
    hold_device,
    make_reset_link,
    put_on_board,
    rejudge,
    rejudge_many,
    release_device,
    restore_user,
    search_users,
    set_role,
    suspend_user,
    take_off_board,
)
from store.changed_settings import change_setting, reset_setting
from store.devices import all_devices, count_work, list_calibrations, list_device_boards
from store.merging import merge_user
from store.models import Device, Notice, OperatorAction, Role, Submission, User
from store.notices import NoticeError, end_notice, list_notices, post_notice
from store.operator_log import Actor, list_actions
from store.queue_listing import list_queue
from store.submissions import search_submissions
from web.accounts.recovery import base_url
from web.admin.devices import find_device
from web.admin.site import require_setting, setting_rows
from web.admin.submissions import BATCH, find_submission
from web.admin.users import require_user
from web.api import admin_schemas as schemas
from web.api.auth import admin_token_required, api_visitor
from web.api.spec import next_page, operation
from web.problems import Problem, sentence
from web.services import reader, services, transaction
from web.settings import SettingError, check_setting
from web.submissions.accepting import find_pack

TAG = "operators"


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    for method, rule, view in (
        ("GET", "/queue", show_queue),
        ("GET", "/devices", show_devices),
        ("GET", "/devices/<key>/calibrations", show_calibrations),
        ("POST", "/devices/<key>/hold", hold),
        ("POST", "/devices/<key>/release", release),
        ("GET", "/users", show_users),
        ("POST", "/users/<username>/role", change_role),
        ("POST", "/users/<username>/suspend", suspend),
        ("POST", "/users/<username>/restore", restore),
        ("POST", "/users/<username>/reset-link", reset_link),
        ("POST", "/users/<username>/merge", merge),
        ("GET", "/submissions", show_submissions),
        ("POST", "/submissions/<public_id>/cancel", cancel_submission),
        ("POST", "/submissions/<public_id>/rejudge", rejudge_submission),
        ("POST", "/submissions/<public_id>/off-board", off_board),
        ("POST", "/submissions/<public_id>/on-board", on_board),
        ("GET", "/challenges", show_challenges),
        ("POST", "/challenges/<slug>/rejudge", rejudge_challenge),
        ("GET", "/notices", show_notices),
        ("POST", "/notices", make_notice),
        ("POST", "/notices/<int(max=2147483647):number>/end", stop_notice),
        ("GET", "/settings", show_settings),
        ("PUT", "/settings/<name>", put_setting),
        ("DELETE", "/settings/<name>", delete_setting),
        ("GET", "/log", show_log),
    ):
        blueprint.add_url_rule(f"/admin{rule}", f"admin_{view.__name__}", view, methods=[method])


@contextmanager
def acting() -> Iterator[tuple[Session, Actor]]:
    """Yields a write transaction and who acts in it. Raises Problem 409 if the action is not possible."""
    visitor = api_visitor()
    try:
        with transaction() as writer:
            yield writer, Actor(visitor.username, visitor.id, request.remote_addr or "")
    except NotPossibleError as error:
        raise Problem(409, "not_possible", sentence(str(error))) from None


@admin_token_required
@operation(schemas.Queue, tag=TAG)
def show_queue() -> schemas.Queue:
    """Lists what runs and what waits."""
    return schemas.Queue(
        jobs=[
            schemas.QueuedJob(
                id=job.public_id,
                user=job.username,
                challenge=job.challenge,
                device=job.device_key,
                mode=job.mode,
                state=job.state,
                created_at=job.created_at,
                since=job.since,
                worker=job.worker,
                last_error=job.last_error,
                failed=job.failed,
            )
            for job in list_queue(reader())
        ]
    )


@admin_token_required
@operation(schemas.OperatedDeviceList, tag=TAG)
def show_devices() -> schemas.OperatedDeviceList:
    """Lists the devices that a worker ever offered, and why one is held or a board of it out of service."""
    return schemas.OperatedDeviceList(devices=[_device(reader(), device) for device in all_devices(reader())])


@admin_token_required
@operation(schemas.CalibrationList, 404, tag=TAG)
def show_calibrations(key: str) -> schemas.CalibrationList:
    """Lists what the boards of a device were measured to be able to do, over time."""
    find_device(reader(), key)
    rows = [
        schemas.Calibration(
            board=row.board,
            measured_at=row.measured_at,
            driver=row.driver,
            read_bytes_per_s=row.read_bytes_per_s,
            copy_bytes_per_s=row.copy_bytes_per_s,
            rates=row.rates,
        )
        for row in list_calibrations(reader(), key)
    ]
    return schemas.CalibrationList(calibrations=rows)


@admin_token_required
@operation(schemas.OperatedDevice, 400, 404, 409, 413, 415, 422, tag=TAG)
def hold(key: str, json: schemas.Reason) -> schemas.OperatedDevice:
    """Lets a device finish what runs and take nothing new."""
    with acting() as (writer, actor):
        device = find_device(writer, key)
        hold_device(writer, actor, device, json.reason, now=services().clock())
        return _device(writer, device)


@admin_token_required
@operation(schemas.OperatedDevice, 404, tag=TAG)
def release(key: str) -> schemas.OperatedDevice:
    """Lets a held device take work again."""
    with acting() as (writer, actor):
        device = find_device(writer, key)
        release_device(writer, actor, device, now=services().clock())
        return _device(writer, device)


@admin_token_required
@operation(schemas.UserList, 422, tag=TAG)
def show_users(query: schemas.UserQuery) -> schemas.UserList:
    """Finds users by a part of their names or addresses."""
    return schemas.UserList(users=[_user(user) for user in search_users(reader(), query.q)])


@admin_token_required
@operation(schemas.OperatedUser, 400, 404, 409, 413, 415, 422, tag=TAG)
def change_role(username: str, json: schemas.RoleRequest) -> schemas.OperatedUser:
    """Gives a user a role."""
    with acting() as (writer, actor):
        user = require_user(writer, username)
        set_role(writer, actor, user, Role(json.role), now=services().clock())
        return _user(user)


@admin_token_required
@operation(schemas.OperatedUser, 400, 404, 409, 413, 415, 422, tag=TAG)
def suspend(username: str, json: schemas.Reason) -> schemas.OperatedUser:
    """Suspends an account: its sessions end, and its tokens and password do nothing until it is restored."""
    with acting() as (writer, actor):
        user = require_user(writer, username)
        suspend_user(writer, actor, user, json.reason, now=services().clock())
        return _user(user)


@admin_token_required
@operation(schemas.OperatedUser, 404, tag=TAG)
def restore(username: str) -> schemas.OperatedUser:
    """Ends a suspension."""
    with acting() as (writer, actor):
        user = require_user(writer, username)
        restore_user(writer, actor, user, now=services().clock())
        return _user(user)


@admin_token_required
@operation(schemas.ResetLink, 400, 404, 409, 413, 415, 422, tag=TAG)
def reset_link(username: str, json: schemas.ResetLinkRequest) -> schemas.ResetLink:
    """Makes a link by which a user chooses a new password."""
    with acting() as (writer, actor):
        user = require_user(writer, username)
        text = make_reset_link(writer, actor, user, second_factor=json.second_factor, now=services().clock())
    return schemas.ResetLink(url=f"{base_url()}/account/reset/{text}")


@admin_token_required
@operation(schemas.Merged, 400, 404, 409, 413, 415, 422, tag=TAG)
def merge(username: str, json: schemas.MergeRequest) -> schemas.Merged:
    """Merges an account into another one of the same person, and closes it. This cannot be undone.

    Submissions with their places, drafts and memberships go over; password, address, tokens and sessions go.
    """
    if json.sure.casefold() != username.casefold():
        raise Problem(422, "invalid", "sure repeats the name of the account that ends: this cannot be undone.")
    with acting() as (writer, actor):
        user, into = require_user(writer, username), require_user(writer, json.into)
        went = merge_user(writer, actor, user, into, now=services().clock())
        return schemas.Merged(
            username=into.username,
            submissions=went.submissions,
            boards=went.boards,
            drafts=went.drafts,
            classes=went.classes,
            contests=went.contests,
        )


@admin_token_required
@operation(schemas.OperatedSubmissionList, 422, tag=TAG)
def show_submissions(query: schemas.OperatedSubmissionQuery) -> schemas.OperatedSubmissionList:
    """Lists the submissions of all users that fit the query, newest first."""
    user = find_user(reader(), query.user) if query.user else None
    if query.user and user is None:
        return schemas.OperatedSubmissionList(submissions=[], next=None)
    found = search_submissions(
        reader(),
        user_id=None if user is None else user.id,
        challenge=query.challenge,
        verdict=query.verdict,
        before=query.before,
        limit=query.limit + 1,
    )
    page = found[: query.limit]
    return schemas.OperatedSubmissionList(
        submissions=[_submission(one) for one in page],
        next=next_page(before=page[-1].public_id) if len(found) > len(page) else None,
    )


@admin_token_required
@operation(schemas.OperatedSubmission, 404, 409, tag=TAG)
def cancel_submission(public_id: str) -> schemas.OperatedSubmission:
    """Cancels a submission that is not judged yet; one that runs ends when its worker next reports."""
    with acting() as (writer, actor):
        submission = find_submission(writer, public_id)
        if not cancel_for_operator(writer, actor, submission, now=services().clock()):
            raise NotPossibleError("it has ended already")
        writer.refresh(submission)
        return _submission(submission)


@admin_token_required
@operation(schemas.OperatedSubmission, 400, 404, 409, 413, 415, 422, tag=TAG)
def rejudge_submission(public_id: str, json: schemas.RejudgeRequest) -> schemas.OperatedSubmission:
    """Judges a submission again. The earlier judgement is kept."""
    with acting() as (writer, actor):
        submission = find_submission(writer, public_id)
        rejudge(writer, actor, submission, json.reason, now=services().clock(), same_version=json.same_version)
        answer = _submission(submission)
    services().ring_builders()
    return answer


@admin_token_required
@operation(schemas.OperatedSubmission, 400, 404, 409, 413, 415, 422, tag=TAG)
def off_board(public_id: str, json: schemas.Reason) -> schemas.OperatedSubmission:
    """Takes a submission off its board."""
    with acting() as (writer, actor):
        submission = find_submission(writer, public_id)
        take_off_board(writer, actor, submission, json.reason, now=services().clock())
        return _submission(submission)


@admin_token_required
@operation(schemas.OperatedSubmission, 404, tag=TAG)
def on_board(public_id: str) -> schemas.OperatedSubmission:
    """Puts a submission back on its board."""
    with acting() as (writer, actor):
        submission = find_submission(writer, public_id)
        put_on_board(writer, actor, submission, now=services().clock())
        return _submission(submission)


@admin_token_required
@operation(schemas.ServedChallengeList, tag=TAG)
def show_challenges() -> schemas.ServedChallengeList:
    """Lists the versions that are served, and what is wrong with challenges that did not load."""
    packs = services().packs
    verified = efforts_on_record(pack.directory for pack in packs.values())
    served = [
        schemas.ServedChallenge(
            slug=pack.slug, version=pack.version, digest=pack.digest, verified=verified.get(pack.directory)
        )
        for pack in packs.values()
    ]
    return schemas.ServedChallengeList(challenges=served, problems=[str(problem) for problem in packs.problems])


@admin_token_required
@operation(schemas.JudgedAgain, 400, 404, 409, 413, 415, 422, tag=TAG)
def rejudge_challenge(slug: str, json: schemas.RejudgeManyRequest) -> schemas.JudgedAgain:
    """Judges submissions to a challenge again: at most 100, the newest first."""
    digest = find_pack(services(), slug).digest
    with acting() as (writer, actor):
        count, more = rejudge_many(
            writer, actor, slug, json.reason, digest=digest, version=json.version, judged_before=json.judged_before,
            limit=BATCH, now=services().clock(),
        )  # fmt: skip
    services().ring_builders()
    return schemas.JudgedAgain(judged_again=count, more=more)


@admin_token_required
@operation(schemas.NoticeList, tag=TAG)
def show_notices() -> schemas.NoticeList:
    """Lists the newest fifty notices."""
    return schemas.NoticeList(notices=[_notice(notice) for notice in list_notices(reader())])


@admin_token_required
@operation(schemas.Notice, 400, 413, 415, 422, status=201, tag=TAG)
def make_notice(json: schemas.NoticeRequest) -> tuple[schemas.Notice, int]:
    """Shows a message on every page."""
    try:
        with acting() as (writer, actor):
            notice = post_notice(
                writer, actor, json.text, kind=json.kind, now=services().clock(), starts_at=json.starts_at,
                ends_at=json.ends_at,
            )  # fmt: skip
            return _notice(notice), 201
    except NoticeError as error:
        message = sentence(str(error))
        raise Problem(422, "invalid", message, fields={error.field: message}) from None


@admin_token_required
@operation(schemas.Notice, 404, tag=TAG)
def stop_notice(number: int) -> schemas.Notice:
    """Takes a notice off the pages."""
    with acting() as (writer, actor):
        notice = end_notice(writer, actor, number, now=services().clock())
        if notice is None:
            raise Problem(404, "not_found", "There is no such notice, or it has ended already.")
        return _notice(notice)


@admin_token_required
@operation(schemas.SettingList, tag=TAG)
def show_settings() -> schemas.SettingList:
    """Lists the settings that may change while the site runs."""
    rows = [
        schemas.Setting(
            name=row.name,
            description=row.description,
            value=row.value,
            environment=row.environment,
            changed=row.is_changed,
        )
        for row in setting_rows()
    ]
    return schemas.SettingList(settings=rows)


@admin_token_required
@operation(schemas.NewSetting, 400, 404, 413, 415, 422, tag=TAG)
def put_setting(name: str, json: schemas.SettingRequest) -> schemas.NewSetting:
    """Gives a setting a value, from the next request on."""
    require_setting(name)
    try:
        value = check_setting(name, json.value)
    except SettingError as error:
        message = sentence(str(error))
        raise Problem(422, "invalid", message, fields={"value": message}) from None
    with acting() as (writer, actor):
        change_setting(writer, actor, name, value, now=services().clock())
    return schemas.NewSetting(name=name, value=value)


@admin_token_required
@operation(schemas.NewSetting, 404, tag=TAG)
def delete_setting(name: str) -> schemas.NewSetting:
    """Gives a setting the environment's value again."""
    require_setting(name)
    with acting() as (writer, actor):
        reset_setting(writer, actor, name, now=services().clock())
    return schemas.NewSetting(name=name, value=getattr(services().settings, name))


@admin_token_required
@operation(schemas.ActionList, 422, tag=TAG)
def show_log(query: schemas.LogQuery) -> schemas.ActionList:
    """Lists what operators and teachers did, the latest first."""
    found = list_actions(reader(), target=query.target, before=query.before, limit=query.limit + 1)
    page = found[: query.limit]
    return schemas.ActionList(
        actions=[_action(row) for row in page],
        next=next_page(before=page[-1].id) if len(found) > len(page) else None,
    )


def _device(session: Session, device: Device) -> schemas.OperatedDevice:
    running, waiting = count_work(session).get(device.key, (0, 0))
    boards = [
        schemas.OperatedBoard(
            board=row.board,
            driver=row.driver,
            last_seen_at=row.last_seen_at,
            problem=row.problem,
            problem_since=row.problem_since,
        )
        for row in list_device_boards(session, device.key)
    ]
    return schemas.OperatedDevice(
        key=device.key,
        kind=device.kind,
        name=device.name,
        compute_capability=device.compute_capability,
        last_seen_at=device.last_seen_at,
        judging_s=device.judging_s,
        held=device.held,
        running=running,
        waiting=waiting,
        boards=boards,
    )


def _user(user: User) -> schemas.OperatedUser:
    return schemas.OperatedUser(
        username=user.username,
        email=user.email,
        role=user.role,
        state="closed" if not user.is_active else "suspended" if user.suspended_at else "active",
        suspension=user.suspension,
        created_at=user.created_at,
    )


def _submission(submission: Submission) -> schemas.OperatedSubmission:
    return schemas.OperatedSubmission(
        id=submission.public_id,
        user=submission.user.username,
        challenge=submission.challenge,
        pack_version=submission.pack_version,
        device=submission.device_key,
        mode=submission.mode,
        state=submission.state,
        verdict=submission.verdict,
        off_board=submission.off_board,
        created_at=submission.created_at,
        finished_at=submission.finished_at,
        url=url_for("submissions.show", public_id=submission.public_id, _external=True),
    )


def _notice(notice: Notice) -> schemas.Notice:
    return schemas.Notice(
        id=notice.id, text=notice.text, kind=notice.kind, starts_at=notice.starts_at, ends_at=notice.ends_at
    )


def _action(row: OperatorAction) -> schemas.Action:
    return schemas.Action(
        id=row.id,
        at=row.at,
        actor=row.actor,
        action=row.action,
        target=row.target,
        details=row.details,
        address=row.address,
    )
