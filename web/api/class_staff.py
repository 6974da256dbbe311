"""API endpoints that change a class and say who teaches it or is in it, with the rights of the pages."""

from __future__ import annotations

from typing import Any

from flask import Blueprint

from store.teaching.rights import Right
from web.api import class_schemas as schemas
from web.api.auth import submit_token_required
from web.api.classes import TAG, show_full, summarize
from web.api.spec import operation
from web.classes import changes
from web.classes.access import NUMBER, members_seen, taught_class, visible_class
from web.classes.changes import (
    appoint,
    change_class,
    dismiss,
    renew_code,
    staff_form,
)
from web.classes.forms import ClassForm, DeleteClassForm
from web.form_fields import filled_in, refuse_invalid

_BODY = (400, 404, 409, 413, 415, 422)


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    for method, rule, view in (
        ("PATCH", "", update_class),
        ("DELETE", "", delete_class),
        ("POST", "/code", renew_class_code),
        ("POST", "/leave", leave_class),
        ("DELETE", "/members/<username>", remove_member),
        ("PUT", "/staff/<username>", save_teacher),
        ("DELETE", "/staff/<username>", remove_teacher),
    ):
        blueprint.add_url_rule(f"/classes/{NUMBER}{rule}", view_func=view, methods=[method])


@submit_token_required
@operation(schemas.ShownClass, *_BODY, tag=TAG)
def update_class(number: int, json: schemas.ClassChange) -> schemas.ShownClass:
    """Changes the title, the description or the dropped assignments of a class."""
    group = taught_class(number, Right.CHANGE)
    begun: dict[str, Any] = {"title": group.title, "description": group.description, "drops": group.drops}
    form = ClassForm(formdata=filled_in({**begun, **json.model_dump(exclude_none=True)}), meta={"csrf": False})
    refuse_invalid(form)
    change_class(number, form)
    return show_full(visible_class(number))


@submit_token_required
@operation(schemas.ClassSummary, 404, 422, tag=TAG)
def delete_class(number: int, query: schemas.DeletionQuery) -> schemas.ClassSummary:
    """Deletes a class whose title ``confirm_title`` repeats, with its assignments. Submissions stay with authors."""
    group = taught_class(number, Right.OWN)
    form = DeleteClassForm(group.title, formdata=filled_in(query.model_dump()), meta={"csrf": False})
    refuse_invalid(form)
    summary = summarize(group, len(members_seen(group)))
    changes.delete_class(number)
    return summary


@submit_token_required
@operation(schemas.ShownClass, 404, tag=TAG)
def renew_class_code(number: int) -> schemas.ShownClass:
    """Gives a class another code: the old one and its link open nothing more."""
    renew_code(number)
    return show_full(visible_class(number))


@submit_token_required
@operation(schemas.ClassSummary, 404, tag=TAG)
def leave_class(number: int) -> schemas.ClassSummary:
    """Takes the token's owner out of a class: its teachers no longer see their work."""
    group = visible_class(number)
    summary = summarize(group, len(members_seen(group)))
    changes.leave_class(number)
    return summary


@submit_token_required
@operation(schemas.Removed, 404, tag=TAG)
def remove_member(number: int, username: str) -> schemas.Removed:
    """Takes a member out of a class. With its code they can join again."""
    changes.remove_member(number, username)
    return schemas.Removed(username=username)


@submit_token_required
@operation(schemas.ShownClass, *_BODY, tag=TAG)
def save_teacher(number: int, username: str, json: schemas.StaffRole) -> schemas.ShownClass:
    """Makes a user a teacher or an assistant of a class, or gives them another role or section."""
    group = taught_class(number, Right.OWN)
    form = staff_form(group, formdata=filled_in({**json.model_dump(), "username": username}), meta={"csrf": False})
    refuse_invalid(form)
    appoint(number, form)
    return show_full(visible_class(number))


@submit_token_required
@operation(schemas.Removed, 404, tag=TAG)
def remove_teacher(number: int, username: str) -> schemas.Removed:
    """Takes a teacher's or an assistant's rights in a class away."""
    dismiss(number, username)
    return schemas.Removed(username=username)
