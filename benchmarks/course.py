"""Simulates a course from its roster to the grades, and measures its pages meanwhile.

    python -m benchmarks.course [--students 200]

A learning platform, which signs its messages, connects its course to a class. The teacher imports the roster and makes
an assignment; every student opens the course, gets an account, and submits: all but each tenth, each third with a wrong
kernel first. The judgements are written as workers would write them, without a judge. Then the points go to the
platform, and the grades are exported as Canvas imports them. Checks that every grade is what was earned, everywhere.

After each tenth student the teacher and the student open pages of the class, within this process. Prints median and
95th percentile of each in milliseconds, of processor time and of wall time.
"""

from __future__ import annotations

import argparse
import csv
import gc
import io
import logging
import os
import platform as machine
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog
from flask.testing import FlaskClient

from store.clock import utc_now
from store.settings import Settings
from tests.services.lti_platform import CLAIM, GRADES, INSTRUCTOR, LEARNER, LtiPlatform
from tests.web_site import H200, KERNEL, Site, accepted, make_site, post, timed, wrong
from workers.context import make_context
from workers.lti import exchange_due

CLASS, ASSIGNMENT = "/classes/1", "/classes/1/assignments/1"
#: What the teacher opens, and what a student does.
_TAUGHT = (CLASS, f"{CLASS}/matrix", ASSIGNMENT, f"{CLASS}/roster", f"{CLASS}/grades/canvas.csv")
_OWN = (CLASS, ASSIGNMENT, "/challenges/vector-add")
_POINTS = 20.0


@dataclass(frozen=True)
class Course:
    """The outcome of a course: the points in Canvas's file by SIS id, and those at the platform by its id.

    ``earned`` are those that each student should have, by number. ``times`` are by page: processor and wall time in ms.
    """

    earned: dict[int, float]
    canvas: dict[str, str]
    sent: dict[str, float]
    times: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))


def simulate(folder: Path, students: int) -> Course:
    """Runs a course with a number of students, whose files lie below ``folder``."""
    often = "1000000 per minute"
    site = make_site(folder / "site", address_rate=often, log_in_rate=often, class_rate=often)
    site.add_device(H200)
    school = LtiPlatform()
    try:
        return _run(site, school, students)
    finally:
        school.close()


def _run(site: Site, school: LtiPlatform, students: int) -> Course:
    school.register(site, makes_teachers=True)
    teacher = site.app.test_client()
    _enter(teacher, school, "euler", INSTRUCTOR)
    _sent(teacher, "/lti/connect", {"group": "new", "title": "CUDA"})
    rows = [f"Student {n},s{n}@school.example,{1000 + n},{'AB'[n % 2]}" for n in range(students)]
    roster = io.BytesIO("\n".join(["name,e-mail,SIS id,section", *rows]).encode())
    answer = post(teacher, f"{CLASS}/roster", {"file": (roster, "list.csv")}, content_type="multipart/form-data")
    assert answer.status_code == 303, answer.text
    now = utc_now()
    opens, due = now + timedelta(minutes=-1), now + timedelta(days=7)
    _sent(
        teacher,
        f"{CLASS}/assignments/new",
        {
            "title": "Sums", "challenges": "vector-add", "opens_at": f"{max(opens, now):%Y-%m-%dT%H:%M}",
            "due_at": f"{due:%Y-%m-%dT%H:%M}", "counts": "accepted", "device": "", "points": str(_POINTS),
            "weight": "1", "taken": "best",
        },
    )  # fmt: skip
    # As the platform opens a link to the assignment, with its column in the gradebook.
    column = {**school.claims("", "")[GRADES], "lineitem": f"{school.url}/lineitems/1"}
    link = {f"{CLAIM}custom": {"assignment": "1"}, GRADES: column}
    course = Course({}, {}, {})
    gc.collect()
    gc.freeze()
    for number in range(students):
        student = site.app.test_client()
        _enter(student, school, f"s{number}", LEARNER, link)
        course.earned[number] = _work(site, student, number)
        if number % 10 == 0:
            for client, who, pages in ((teacher, "teacher", _TAUGHT), (student, "student", _OWN)):
                for page in pages:
                    course.times[f"{who} {page}"].append(_time(client, page))
    text = teacher.get(f"{CLASS}/grades/canvas.csv").text
    course.canvas.update({row["SIS User ID"]: row["Sums"] for row in csv.DictReader(io.StringIO(text))})
    context = make_context(Settings(data_dir=site.services.settings.data_dir), packs=dict(site.services.all_packs))
    later = utc_now() + timedelta(minutes=2)
    exchange_due(replace(context, clock=lambda: later))
    course.sent.update({said["userId"]: said["scoreGiven"] for _, said in school.scores})
    return course


def _enter(
    client: FlaskClient, school: LtiPlatform, name: str, role: str, link: Mapping[str, Any] | None = None
) -> None:
    """Opens the course at the platform as somebody without an account here, who gets one of the same name."""
    answer = school.launch(client, name, role, **(link or {}))
    assert answer.status_code == 303, answer.text
    _sent(client, str(answer.location), {"username": name})


def _sent(client: FlaskClient, page: str, data: dict[str, str]) -> str:
    answer = post(client, page, data)
    assert answer.status_code == 303, answer.text
    return str(answer.location)


def _work(site: Site, student: FlaskClient, number: int) -> float:
    """Submits what a student does, has it judged, and returns the points for it."""
    if number % 10 == 9:
        return 0.0
    for right in (False, True) if number % 3 == 0 else (True,):
        data = {"source": f"// {number}, {right}\n{KERNEL}", "device": H200.key, "mode": "submit"}
        answer = post(student, "/challenges/vector-add/submissions", data, page="/challenges/vector-add")
        assert answer.status_code == 303, answer.text
        cases = accepted("n-1") if right else (wrong("n-1"),)
        site.work(device=H200, cases=cases, measurement=timed(1e-4 + 1e-7 * number) if right else None)
    return _POINTS


def _time(client: FlaskClient, page: str) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    answer = client.get(page)
    took = 1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - wall)
    assert answer.status_code == 200, (page, answer.status_code)
    return took


def check(course: Course) -> None:
    """Raises AssertionError unless every grade is what was earned, in Canvas's file and at the platform."""
    for number, points in course.earned.items():
        assert float(course.canvas[str(1000 + number)]) == points, number
        # Whoever has sent nothing has no points there.
        assert course.sent.get(f"s{number}", 0.0) == points, number
    assert len(course.canvas) == len(course.earned) + 1, "a row a student, beneath that of the points possible"


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=200, help="of the course (default: %(default)s)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gpujudge-course-") as folder:
        course = simulate(Path(folder), arguments.students)
    check(course)
    print(f"{len(course.earned)} students; every grade is right in Canvas's file and at the platform")
    print(f"{len(os.sched_getaffinity(0))} cores, {machine.platform()}; processor time, then wall time, in ms:")
    print("  median     p95  median     p95")
    for page, taken in course.times.items():
        figures = []
        for ordered in (sorted(cpu for cpu, _ in taken), sorted(wall for _, wall in taken)):
            figures += [ordered[len(ordered) // 2], ordered[int(0.95 * (len(ordered) - 1))]]
        print("".join(f"{figure:8.1f}" for figure in figures), f" {page}", flush=True)


if __name__ == "__main__":
    main()
