"""The page of a class's roster: the teacher's list is uploaded there, and who of it is in the class is shown."""

from __future__ import annotations

from flask import Blueprint, flash, redirect, render_template, url_for
from werkzeug.wrappers import Response

from store.models import Class
from store.teaching import classes
from store.teaching.rights import Right
from store.teaching.roster import list_roster
from web.accounts.visitor import login_required
from web.classes.access import NUMBER, taught_class
from web.classes.changes import take_list
from web.classes.forms import RosterForm
from web.classes.roster_file import MOST_ROWS, RosterError, read_roster
from web.services import reader


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule(f"/{NUMBER}/roster", view_func=roster, methods=["GET", "POST"])


@login_required
def roster(number: int) -> str | Response | tuple[str, int]:
    """Renders the roster, or makes it that of an uploaded list: all of it or, where anything is wrong, nothing."""
    group, form = taught_class(number, Right.ENROLL), RosterForm()
    if not form.is_submitted():
        return _page(group, form)
    if not form.validate():
        return _page(group, form), 422
    try:
        people = read_roster(form.file.data.read())
    except RosterError as error:
        form.file.errors = (str(error),)
        return _page(group, form), 422
    change = take_list(number, people)
    flash(
        f"The list is taken over: {change.new} new, {change.changed} changed, {change.joined} joined the class, "
        f"{change.left} no longer on the list.",
        "success",
    )
    return redirect(url_for("classes.roster", number=number), 303)


def _page(group: Class, form: RosterForm) -> str:
    entries = list_roster(reader(), group)
    members = {member.user_id: member for member in classes.list_members(reader(), group)}
    named = {each.user_id for each in entries}
    return render_template(
        "classes/roster.html",
        group=group,
        form=form,
        listed=[each for each in entries if each.left_at is None],
        left=[each for each in entries if each.left_at is not None],
        others=[member for user_id, member in members.items() if user_id not in named],
        members=members,
        most_rows=MOST_ROWS,
        link=url_for("classes.join", code=group.code, _external=True),
    )
