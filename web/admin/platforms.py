"""The operators' page of learning platforms that are connected by LTI 1.3."""

from __future__ import annotations

from flask import Blueprint, render_template, request, url_for
from werkzeug.utils import redirect
from werkzeug.wrappers import Response

from store.models import LtiPlatform
from store.teaching.lti_platforms import PlatformError, list_platforms, remove_platform, save_platform
from web.accounts.recovery import base_url
from web.admin.acting import acting
from web.admin.forms import PlatformForm
from web.problems import Problem, sentence
from web.services import reader, services

_NUMBER = "<int(max=2147483647):number>"


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule("/platforms", view_func=platforms, methods=["GET", "POST"])
    blueprint.add_url_rule(f"/platforms/{_NUMBER}", view_func=platform, methods=["GET", "POST"])
    blueprint.add_url_rule(f"/platforms/{_NUMBER}/remove", view_func=remove, methods=["POST"])


def platforms() -> str | Response | tuple[str, int]:
    """Renders the platforms, or registers one."""
    form = PlatformForm()
    return _save(form, None) if request.method == "POST" else _page(form, None)


def platform(number: int) -> str | Response | tuple[str, int]:
    """Renders a platform's registration, or changes it."""
    row = reader().get(LtiPlatform, number)
    if row is None:
        raise Problem(404, "not_found", "There is no such platform.")
    form = PlatformForm(obj=row)
    return _save(form, row) if request.method == "POST" else _page(form, row)


def remove(number: int) -> Response:
    """Removes a platform. Its courses are no longer connected; classes and accounts stay."""
    with acting("The platform is removed.") as (writer, actor):
        if remove_platform(writer, actor, number, now=services().clock()) is None:
            raise Problem(404, "not_found", "There is no such platform.")
    return redirect(url_for("admin.platforms"), 303)


def _save(form: PlatformForm, row: LtiPlatform | None) -> str | Response | tuple[str, int]:
    if not form.validate_on_submit():
        return _page(form, row), 422
    number = None if row is None else row.id
    try:
        with acting("The platform is saved.") as (writer, actor):
            save_platform(writer, actor, form.details(), number=number, now=services().clock())
    except PlatformError as error:
        form[error.field].errors = (sentence(str(error)),)
        return _page(form, None if number is None else reader().get(LtiPlatform, number)), 422
    return redirect(url_for("admin.platforms"), 303)


def _page(form: PlatformForm, row: LtiPlatform | None) -> str:
    address = base_url()
    return render_template(
        "admin/platforms.html",
        form=form,
        platform=row,
        platforms=list_platforms(reader()),
        addresses={
            "Log-in (OpenID Connect initiation)": f"{address}{url_for('lti_platform.log_in')}",
            "Launch, redirect and deep linking": f"{address}{url_for('lti_platform.launch')}",
            "Public keys (JWK set)": f"{address}{url_for('lti_platform.keys')}",
        },
    )
