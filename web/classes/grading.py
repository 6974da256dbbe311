"""Teachers' results for the members' work: the grades as CSV, and which sources are alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flask import Blueprint, Response, render_template, request

from judge.compile.likeness import MOST_OWNERS, Pair, find_pairs
from store.models import Assignment, Class, ClassMember
from store.teaching import classes
from store.teaching.grades import graded_sources
from store.teaching.points import Grade
from store.teaching.rights import Right
from store.teaching.roster import entries_by_user, section_of
from web.accounts.visitor import login_required
from web.challenges.shown import shown_packs
from web.classes.access import NUMBER, find_assignment, gradebook, members_seen, pending, taught_class
from web.classes.assignments import PATH
from web.classes.csv_files import csv_file
from web.formatting import points as shown_points
from web.problems import Problem
from web.services import reader, release_reader, services

#: The most pairs on the page.
MOST_PAIRS = 50


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule(f"/{NUMBER}/grades.csv", view_func=login_required(class_grades))
    blueprint.add_url_rule(f"{PATH}/grades.csv", view_func=login_required(assignment_grades))
    blueprint.add_url_rule(f"{PATH}/similarity", view_func=similarity)


def class_grades(number: int) -> Response:
    """Returns for each member and assignment how many challenges count, the points, and the total in percent.

    Cells that an attempt may change which is not judged yet are empty.
    """
    group, now = taught_class(number, Right.SEE_WORK), services().clock()
    found = classes.list_assignments(reader(), group)
    book, roster = gradebook(group, found), entries_by_user(reader(), group)
    counts = [f"{each.title} (of {len(each.slugs)})" for each in found]
    points = [f"{each.title} points (of {shown_points(each.points)})" for each in found]
    rows: list[list[object]] = [["name", "user", "section", *counts, *points, "total %"]]
    members = members_seen(group)
    for member in members:
        who, total = member.user_id, book.total(found, member.user_id, drops=group.drops, now=now)
        row: list[object] = [member.known_as, member.user.username, section_of(roster, who)]
        waiting = [book.is_waiting(each, who) for each in found]
        row += ["" if waits else book.counted(each, who) for each, waits in zip(found, waiting, strict=True)]
        row += [
            "" if waits else shown_points(book.points(each, who)) for each, waits in zip(found, waiting, strict=True)
        ]
        rows.append([*row, "" if total.share is None else f"{100 * total.share:.2f}"])
    return csv_file(rows, f"class-{number}.csv", pending(book, [each.user_id for each in members]))


def assignment_grades(number: int, assignment_id: int) -> Response:
    """Returns for each member and challenge whether it counts or was late, its points, and the submission graded.

    Cells that an attempt may change which is not judged yet are empty, and the grade says that it is being judged.
    """
    group = taught_class(number, Right.SEE_WORK)
    found = find_assignment(group, assignment_id)
    book, roster = gradebook(group, [found]), entries_by_user(reader(), group)
    columns = [f"{slug} {what}" for slug in found.slugs for what in ("grade", "at", "submission", "points")]
    rows: list[list[object]] = [["name", "user", "section", "due", "counted", "points", *columns]]
    members = members_seen(group)
    for member in members:
        who = member.user_id
        row: list[object] = [member.known_as, member.user.username, section_of(roster, who)]
        sums = (book.counted(found, who), shown_points(book.points(found, who)))
        row += [book.due_at(found, who).isoformat(), *(("", "") if book.is_waiting(found, who) else sums)]
        for grade in book.grades(found, who):
            if grade.waiting:
                row += ["being judged", "", "", ""]
                continue
            attempt = grade.attempt
            sent = ("", "", "") if attempt is None else (outcome(grade), attempt.at.isoformat(), attempt.public_id)
            row += [*sent, shown_points(grade.points)]
        rows.append(row)
    return csv_file(
        rows, f"class-{number}-assignment-{assignment_id}.csv", pending(book, [each.user_id for each in members])
    )


@login_required
def similarity(number: int, assignment_id: int) -> str:
    """Renders which of the sources that the grades of a challenge name are alike."""
    group = taught_class(number, Right.SEE_WORK)
    found = find_assignment(group, assignment_id)
    challenge = chosen_challenge(found, request.args.get("challenge"))
    alike = compare_sources(group, found, challenge)
    return render_template(
        "classes/similarity.html",
        group=group,
        assignment=found,
        challenge=challenge,
        packs=shown_packs(),
        compared=alike.compared,
        pairs=alike.pairs,
        left_out=alike.left_out,
        authors=alike.authors,
        most_owners=MOST_OWNERS,
    )


@dataclass(frozen=True, slots=True)
class Alike:
    """The pairs of graded sources that are most alike, and the members who sent them, by submission."""

    compared: int
    pairs: Sequence[Pair]
    left_out: int
    authors: Mapping[str, ClassMember]


def compare_sources(group: Class, assignment: Assignment, challenge: str) -> Alike:
    """Compares the sources that the grades of a challenge name, of the members whom the visitor sees."""
    book, authors = gradebook(group, [assignment]), {}
    for member in members_seen(group):
        attempt = book.grade(assignment, member.user_id, challenge).attempt
        if attempt is not None:
            authors[attempt.public_id] = member
    sources = graded_sources(reader(), list(authors))
    release_reader()  # comparing is slow
    pack = shown_packs().get(challenge)
    pairs = find_pairs(sources, given=[] if pack is None else [pack.starter()])
    return Alike(len(sources), pairs[:MOST_PAIRS], max(len(pairs) - MOST_PAIRS, 0), authors)


def chosen_challenge(assignment: Assignment, asked: str | None) -> str:
    """Returns the challenge that a request asks for, the first without one. Raises Problem 404."""
    challenge = next(iter(assignment.slugs), "") if asked is None else asked
    if challenge not in assignment.slugs:
        raise Problem(404, "not_found", "This assignment has no such challenge.")
    return challenge


def outcome(grade: Grade) -> str:
    """Returns the outcome of the attempt that a grade is for."""
    if grade.reached:
        return "late" if grade.days_late else "counts"
    assert grade.attempt is not None
    return "accepted" if grade.attempt.accepted else grade.attempt.verdict or ""
