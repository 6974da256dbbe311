"""What the teacher makes of the members' work: the grades as CSV, and which sources are alike."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from flask import Blueprint, Response, render_template, request

from judge.compile.likeness import MOST_OWNERS, find_pairs
from store.teaching import classes
from store.teaching.grades import count_in_time, graded_sources
from web.accounts.visitor import login_required
from web.classes import access
from web.classes.access import NUMBER, find_assignment, taught_class
from web.classes.assignments import PATH
from web.problems import Problem
from web.services import reader, release_reader, services

#: So many pairs does the page show.
MOST_PAIRS = 50


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule(f"/{NUMBER}/grades.csv", view_func=class_grades)
    blueprint.add_url_rule(f"{PATH}/grades.csv", view_func=assignment_grades)
    blueprint.add_url_rule(f"{PATH}/similarity", view_func=similarity)


@login_required
def class_grades(number: int) -> Response:
    """Returns for each member and assignment how many challenges count."""
    group = taught_class(number)
    found = classes.list_assignments(reader(), group)
    graded = [access.assignment_grades(each) for each in found]
    rows: list[list[object]] = [["name", "user", *(f"{each.title} (of {len(each.slugs)})" for each in found)]]
    for member in classes.list_members(reader(), group):
        counted = (count_in_time(one, member.user_id) for one in graded)
        rows.append([member.known_as, member.user.username, *counted])
    return _csv(rows, f"class-{number}.csv")


@login_required
def assignment_grades(number: int, assignment_id: int) -> Response:
    """Returns for each member and challenge whether it counts or was late, when it arrived, and its submission."""
    group = taught_class(number)
    found = find_assignment(group, assignment_id)
    graded, extended = access.assignment_grades(found), classes.extensions(reader(), found)
    columns = [f"{slug} {what}" for slug in found.slugs for what in ("grade", "at", "submission")]
    rows: list[list[object]] = [["name", "user", "due", "counted", *columns]]
    for member in classes.list_members(reader(), group):
        row: list[object] = [member.known_as, member.user.username]
        row += [extended.get(member.user_id, found.due_at).isoformat(), count_in_time(graded, member.user_id)]
        for slug in found.slugs:
            grade = graded.get((member.user_id, slug))
            if grade is None:
                row += ["", "", ""]
            else:
                row += ["late" if grade.late else "counts", grade.at.isoformat(), grade.public_id]
        rows.append(row)
    return _csv(rows, f"class-{number}-assignment-{assignment_id}.csv")


@login_required
def similarity(number: int, assignment_id: int) -> str:
    """Renders which of the sources that the grades of a challenge name are alike."""
    group = taught_class(number)
    found = find_assignment(group, assignment_id)
    challenge = request.args.get("challenge", found.slugs[0])
    if challenge not in found.slugs:
        raise Problem(404, "not_found", "This assignment has no such challenge.")
    graded = access.assignment_grades(found)
    sources = graded_sources(reader(), graded, challenge)
    members = {member.user_id: member for member in classes.list_members(reader(), group)}
    authors = {grade.public_id: members[user] for (user, slug), grade in graded.items() if slug == challenge}
    release_reader()  # comparing is slow
    pack = services().packs.get(challenge)
    pairs = find_pairs(sources, given=[] if pack is None else [pack.starter()])
    return render_template(
        "classes/similarity.html",
        group=group,
        assignment=found,
        challenge=challenge,
        packs=services().packs,
        compared=len(sources),
        pairs=pairs[:MOST_PAIRS],
        left_out=max(len(pairs) - MOST_PAIRS, 0),
        authors=authors,
        most_owners=MOST_OWNERS,
    )


def _csv(rows: Iterable[Iterable[object]], name: str) -> Response:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    response = Response(text.getvalue(), mimetype="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
