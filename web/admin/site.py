"""The operators' pages of the site: the notices that every page shows, and settings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, get_args

from flask import Blueprint, render_template, request, url_for
from werkzeug.utils import redirect
from werkzeug.wrappers import Response

from store.operation.changed_settings import change_setting, changed_settings, reset_setting
from store.people.notices import NoticeError, end_notice, list_notices, post_notice
from web.admin.acting import acting
from web.admin.forms import NoticeForm
from web.problems import Problem, sentence, unknown
from web.services import reader, services
from web.settings import SettingError, SiteSettings, check_setting, site_setting_names
from web.site import site_settings


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting on the page. ``choices`` is empty where any text may be given; ``value`` is what its field holds."""

    name: str
    description: str
    value: Any
    environment: Any
    is_changed: bool
    choices: tuple[str, ...]
    error: str = ""


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule("/site", view_func=site)
    blueprint.add_url_rule("/notices", view_func=post, methods=["POST"])
    blueprint.add_url_rule("/notices/<int(max=2147483647):number>/end", view_func=end, methods=["POST"])
    blueprint.add_url_rule("/settings/<name>", view_func=change, methods=["POST"])
    blueprint.add_url_rule("/settings/<name>/reset", view_func=reset, methods=["POST"])


def site() -> str:
    """Renders the notices and the settings."""
    return _page(NoticeForm(formdata=None))


def post() -> Response | tuple[str, int]:
    """Posts a notice; what cannot be posted stays in the form, with the reason at its field."""
    form = NoticeForm()
    if not form.validate_on_submit():
        return _page(form), 422
    try:
        with acting("The notice is posted.") as (writer, actor):
            post_notice(
                writer,
                actor,
                form.text.data,
                kind=form.kind.data,
                now=services().clock(),
                starts_at=_utc(form.starts_at.data),
                ends_at=_utc(form.ends_at.data),
            )
    except NoticeError as error:
        form[error.field].errors = (sentence(str(error)),)
        return _page(form), 422
    return _back()


def end(number: int) -> Response:
    """Takes a notice off the pages."""
    with acting("The notice has ended.") as (writer, actor):
        if end_notice(writer, actor, number, now=services().clock()) is None:
            raise Problem(404, "not_found", "There is no such notice, or it has ended already.")
    return _back()


def change(name: str) -> Response | tuple[str, int]:
    """Gives a setting the form's value, from the next request on."""
    require_setting(name)
    given = request.form.get("value", "").strip()
    try:
        value = check_setting(name, given)
    except SettingError as error:
        return _page(NoticeForm(formdata=None), wrong=(name, given, sentence(str(error)))), 422
    with acting(f"The setting {name} is changed.") as (writer, actor):
        change_setting(writer, actor, name, value, now=services().clock())
    return _back()


def reset(name: str) -> Response:
    """Gives a setting the environment's value again."""
    require_setting(name)
    with acting(f"The setting {name} is that of the environment.") as (writer, actor):
        reset_setting(writer, actor, name, now=services().clock())
    return _back()


def _page(form: NoticeForm, *, wrong: tuple[str, str, str] | None = None) -> str:
    return render_template(
        "admin/site.html",
        form=form,
        notices=list_notices(reader()),
        now=services().clock(),
        settings=setting_rows(wrong),
    )


def setting_rows(wrong: tuple[str, str, str] | None = None) -> list[SettingRow]:
    """Returns a row for each setting. ``wrong`` is the name, the refused value and the reason of one."""
    stored, rows = changed_settings(reader()), []
    for name, field in SiteSettings.model_fields.items():
        value, error = getattr(site_settings(), name), ""
        if wrong is not None and wrong[0] == name:
            _, value, error = wrong
        row = SettingRow(
            name=name,
            description=field.description or "",
            value=value,
            environment=getattr(services().settings, name),
            is_changed=name in stored,
            choices=get_args(field.annotation),
            error=error,
        )
        rows.append(row)
    return rows


def require_setting(name: str) -> None:
    """Raises Problem 404, with the nearest names, unless there is such a setting."""
    if name not in site_setting_names():
        raise unknown("setting", name, site_setting_names())


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=UTC)


def _back() -> Response:
    return redirect(url_for("admin.site"), 303)
