"""API endpoints for operators: notices, settings and the operators' log."""

from __future__ import annotations

from store.models import Notice, OperatorAction
from store.operation.changed_settings import change_setting, reset_setting
from store.operation.operator_log import list_actions
from store.people.notices import NoticeError, end_notice, list_notices, post_notice
from web.admin.site import require_setting, setting_rows
from web.api.admin import schemas
from web.api.admin.acting import TAG, acting
from web.api.auth import admin_token_required
from web.api.spec import next_page, operation
from web.problems import Problem, sentence
from web.services import reader, services
from web.settings import SettingError, check_setting


@admin_token_required
@operation(schemas.NoticeList, tag=TAG)
def admin_list_notices() -> schemas.NoticeList:
    """Lists the newest fifty notices."""
    return schemas.NoticeList(notices=[_notice(notice) for notice in list_notices(reader())])


@admin_token_required
@operation(schemas.Notice, 400, 413, 415, 422, status=201, tag=TAG)
def admin_create_notice(json: schemas.NoticeRequest) -> tuple[schemas.Notice, int]:
    """Shows a message on every page."""
    try:
        with acting() as (writer, actor):
            notice = post_notice(
                writer,
                actor,
                json.text,
                kind=json.kind,
                now=services().clock(),
                starts_at=json.starts_at,
                ends_at=json.ends_at,
            )
            return _notice(notice), 201
    except NoticeError as error:
        message = sentence(str(error))
        raise Problem(422, "invalid", message, fields={error.field: message}) from None


@admin_token_required
@operation(schemas.Notice, 404, tag=TAG)
def admin_end_notice(number: int) -> schemas.Notice:
    """Takes a notice off the pages."""
    with acting() as (writer, actor):
        notice = end_notice(writer, actor, number, now=services().clock())
        if notice is None:
            raise Problem(404, "not_found", "There is no such notice, or it has ended already.")
        return _notice(notice)


@admin_token_required
@operation(schemas.SettingList, tag=TAG)
def admin_list_settings() -> schemas.SettingList:
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
def admin_update_setting(name: str, json: schemas.SettingRequest) -> schemas.NewSetting:
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
def admin_reset_setting(name: str) -> schemas.NewSetting:
    """Gives a setting the environment's value again."""
    require_setting(name)
    with acting() as (writer, actor):
        reset_setting(writer, actor, name, now=services().clock())
    return schemas.NewSetting(name=name, value=getattr(services().settings, name))


@admin_token_required
@operation(schemas.ActionList, 422, tag=TAG)
def admin_list_actions(query: schemas.LogQuery) -> schemas.ActionList:
    """Lists what operators and teachers did, the latest first."""
    found = list_actions(reader(), target=query.target, before=query.before, limit=query.limit + 1)
    page = found[: query.limit]
    return schemas.ActionList(
        actions=[_action(row) for row in page],
        next=next_page(before=page[-1].id) if len(found) > len(page) else None,
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
