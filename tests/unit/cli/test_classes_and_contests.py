"""The commands ``class`` and ``contest``."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import httpx

from judge.packs.collection.uploads import read_upload
from tests.unit.cli.conftest import Cli, FakeServer

CLASS: dict[str, Any] = {
    "number": 3, "title": "CUDA", "role": "owner", "members": 1, "description": "Bring *tea*.", "drops": 0,
    "code": "abcde23456", "teachers": [{"username": "tom", "role": "assistant", "section": "B"}], "total": None,
}  # fmt: skip
ASSIGNMENT: dict[str, Any] = {
    "id": 7, "title": "Sums", "challenges": ["vector-add", "softmax"], "device": None,
    "opens_at": "2027-03-01T08:00:00+00:00", "due_at": "2027-03-08T08:00:00+00:00", "counts": "accepted",
    "least_percent": 0, "points": 100.0, "weight": 1.0, "accepted_percent": 50, "late_percent": 100, "taken": "best",
    "own_points": 50.0, "own_counted": 1,
}  # fmt: skip
GRADES: dict[str, Any] = {
    "waiting": 0, "judged_again": 0,
    "grades": [
        {
            "username": "ada", "known_as": "Lovelace", "section": "A", "total": 0.875,
            "assignments": [{"assignment": 7, "title": "Sums", "points": 87.5, "of": 100.0, "challenges": []}],
        }
    ]
}  # fmt: skip
CONTEST: dict[str, Any] = {
    "contest": "friday", "title": "Friday", "state": "running", "starts_at": "2027-03-01T18:00:00+00:00",
    "ends_at": "2027-03-01T20:00:00+00:00", "description": "", "challenges": ["vector-add"], "devices": ["emulator"],
    "scoring": "targets", "targets_s": {"vector-add": 1.2e-4}, "frozen_at": None, "frozen": False, "team_size": None,
    "needs_code": True, "members": 2, "takes_part": False, "team": None, "settings": None,
}  # fmt: skip
STANDINGS = {
    "contest": "friday", "scoring": "targets", "frozen": True, "settled_at": None, "entrants": 2, "page": 1,
    "pages": 1, "next": None,
    "standings": [
        {
            "rank": 1, "name": "ada", "total": 80.0,
            "results": {"vector-add": {"value": 1.5e-4, "metric": "time_s", "place": 1, "audited": False}},
        },
        {"rank": 2, "name": "bob", "total": 0.0, "results": {}},
    ],
}  # fmt: skip


def lines(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()]


def test_classes_are_listed_and_shown(cli: Cli, server: FakeServer) -> None:
    server.routes = {
        "GET classes": {"classes": [CLASS]},
        "GET classes/3": CLASS,
        "GET classes/3/assignments": {"assignments": [ASSIGNMENT]},
    }
    assert lines(cli("class", "list").stdout)[1] == ["3", "CUDA", "owner", "1"]
    shown = cli("class", "show", "3").stdout
    assert "tom (assistant, section B)" in shown
    assert "Code to join: abcde23456" in shown
    assert "50 of 100" in shown
    assert cli("class", "show", "3", "--json").json == {**CLASS, "assignments": [ASSIGNMENT]}
    assert lines(cli("class", "assignments", "3").stdout)[1][:3] == ["7", "Sums", "vector-add softmax"]
    server.routes["GET classes"] = {"classes": []}
    assert "class join CODE" in cli("class", "list").stderr


def test_grades_are_a_table_json_or_csv(cli: Cli, server: FakeServer) -> None:
    server.routes = {
        "GET classes/3/grades": GRADES,
        "GET classes/3/grades.csv": httpx.Response(200, content=b"name,user\nLovelace,ada\n"),
    }
    assert lines(cli("class", "grades", "3").stdout)[1] == ["Lovelace", "ada", "A", "87.5", "87.5 %"]
    assert cli("class", "grades", "3", "--json").json == GRADES
    judged = {"waiting": 2, "judged_again": 1}
    server.routes["GET classes/3/grades"] = {**GRADES, **judged}
    assert "2 submissions are being judged, 1 of them again" in cli("class", "grades", "3").stderr
    server.routes["GET classes/3/grades.csv"] = httpx.Response(
        200, content=b"name,user\nLovelace,ada\n", headers={"Gpujudge-Being-Judged": "1"}
    )
    assert "1 submission is being judged" in cli("class", "grades", "3", "--csv", "plain").stderr
    assert cli("class", "grades", "3", "-a", "7", "--csv", "canvas").stdout == "name,user\nLovelace,ada\n"
    assert dict(server.requests[-1].url.params) == {"form": "canvas", "assignment": "7"}
    assert cli("class", "grades", "3", "--csv", "plain", "--json").exit_code == 2


def test_a_class_is_made_copied_and_joined(cli: Cli, server: FakeServer, tmp_path: Path) -> None:
    server.routes = {"POST classes": CLASS, "POST classes/join": CLASS}
    (tmp_path / "about.md").write_text("Tea & kernels\n")
    assert "by the code abcde23456" in cli("class", "create", "CUDA", "--description", "about.md").stderr
    cli("class", "copy", "3", "Autumn", "--opens", "2027-09-01 08:00")
    assert server.bodies("POST classes") == [
        {"title": "CUDA", "drops": 0, "description": "Tea & kernels\n"},
        {"title": "Autumn", "copy_of": 3, "opens_at": "2027-09-01T08:00:00+00:00"},
    ]
    assert "class 3, CUDA" in cli("class", "join", "abcde23456", "--as", "Ada").stderr
    assert server.bodies("POST classes/join") == [{"code": "abcde23456", "known_as": "Ada"}]
    assert cli("class", "join", "abcde23456").exit_code == 2


def test_a_class_is_changed_and_its_people_too(cli: Cli, server: FakeServer) -> None:
    summary = {"number": 3, "title": "CUDA", "role": "member", "members": None}
    server.routes = {
        "PATCH classes/3": CLASS, "DELETE classes/3": summary, "POST classes/3/code": CLASS, "GET classes/3": CLASS,
        "POST classes/3/leave": summary, "DELETE classes/3/members/bob": {"username": "bob"},
        "PUT classes/3/staff/bob": CLASS, "DELETE classes/3/staff/bob": {"username": "bob"},
    }  # fmt: skip
    assert cli("class", "edit", "3").exit_code == 2
    assert cli("class", "edit", "3", "--title", "CUDA", "--drops", "0").exit_code == 0
    assert server.bodies("PATCH classes/3") == [{"title": "CUDA", "drops": 0}]
    assert cli("class", "delete", "3").exit_code == 2
    assert cli("class", "delete", "3", "--title", "CUDA").exit_code == 0
    assert dict(server.requests[-1].url.params) == {"confirm_title": "CUDA"}
    assert "abcde23456" in cli("class", "new-code", "3").stderr
    assert "You left class 3" in cli("class", "leave", "3").stderr
    assert "new-code 3" in cli("class", "remove", "3", "bob").stderr
    assert lines(cli("class", "staff", "list", "3").stdout)[1] == ["tom", "assistant", "B"]
    assert "an assistant" in cli("class", "staff", "set", "3", "bob", "--section", "B").stderr
    assert "a teacher" in cli("class", "staff", "set", "3", "bob", "--teacher").stderr
    assert server.bodies("PUT classes/3/staff/bob") == [
        {"role": "assistant", "section": "B"},
        {"role": "teacher", "section": ""},
    ]
    assert cli("class", "staff", "remove", "3", "bob", "--json").json == {"username": "bob"}


CELL: dict[str, Any] = {
    "tries": 3, "verdict": "WA", "time_s": None, "points": None, "begun": True, "late": True, "stuck": "Case n-1",
}  # fmt: skip
MATRIX: dict[str, Any] = {
    "columns": [{"assignment": 7, "title": "Sums", "challenge": "vector-add"}], "waiting": 1, "judged_again": 0,
    "filters": {"stuck": 1, "not_begun": 1, "late": 1},
    "rows": [
        {"username": "ada", "known_as": "Lovelace", "section": "A", "total": 0.5, "cells": [CELL]},
        {"username": "bob", "known_as": "Bob", "section": "", "total": None,
         "cells": [{**CELL, "tries": 0, "verdict": None, "begun": False, "late": False, "stuck": ""}]},
    ],
}  # fmt: skip


def test_the_work_of_members_is_printed(cli: Cli, server: FakeServer) -> None:
    author = {"username": "ada", "known_as": "Lovelace", "submission": "s1"}
    work = {
        "username": "ada", "known_as": "Lovelace", "challenge": "vector-add", "due_at": "2027-03-08T08:00:00+00:00",
        "points": 50.0, "of": 100.0,
        "attempts": [{"submission": "s1", "at": "2027-03-08T08:00:00+00:00", "verdict": "AC", "value": 2e-5,
                      "reached": True, "late": True, "graded": True}],
    }  # fmt: skip
    alike = {
        "challenge": "vector-add", "compared": 2, "left_out": 0,
        "pairs": [{"left": author, "right": {**author, "known_as": "Bob", "submission": "s2"}, "share": 0.9,
                   "passages": 12}],
    }  # fmt: skip
    server.routes = {
        "GET classes/3/matrix": MATRIX,
        "GET classes/3/assignments/7/attempts/ada": work,
        "GET classes/3/assignments/7/similarity": alike,
    }
    shown = cli("class", "matrix", "3")
    assert lines(shown.stdout) == [
        ["name", "user", "section", "total", "7: vector-add"],
        ["Lovelace", "ada", "A", "50.0 %", "... WA 3x late stuck"],
        ["Bob", "bob", "", "", "not begun"],
    ]
    assert "1 submission is being judged" in shown.stderr
    assert "1 stuck, 1 not begun, 1 late" in shown.stderr
    assert lines(cli("class", "matrix", "3", "--show", "stuck", "--section", "A").stdout)[1][-1] == "Case n-1"
    assert dict(server.requests[-1].url.params) == {"show": "stuck", "section": "A"}
    fault = {"challenge": "vector-add", "verdict": "WA", "message": "Case n-1", "lines": [12, 14], "usernames": ["ada"]}
    server.routes["GET classes/3/matrix"] = {**MATRIX, "faults": [{"assignment": 7, **fault}]}
    shown = cli("class", "matrix", "3", "--show", "stuck").stdout
    assert lines(shown)[1] == ["vector-add", "WA", "Case n-1", "12, 14", "ada"]
    server.routes["GET classes/3/matrix"] = MATRIX
    [_, row] = lines(cli("class", "attempts", "3", "7", "ada").stdout)
    assert (row[0], row[1], row[-1]) == ("s1", "2027-03-08 08:00 late", "graded")
    assert lines(cli("class", "similar", "3", "7").stdout)[1] == ["90 %", "Lovelace", "s1", "Bob", "s2", "12"]
    assert cli("class", "matrix", "3", "--json").json == MATRIX


def test_a_pack_is_uploaded_as_a_folder_and_its_report_awaited(cli: Cli, server: FakeServer, tmp_path: Path) -> None:
    folder = tmp_path / "sums"
    folder.mkdir()
    files = ["challenge.toml", "reference.py", "statement.md"]
    for name in files:
        (folder / name).write_text("")
    waiting: dict[str, Any] = {
        "challenge": "class-3-sums", "title": None, "version": None, "waits": True, "progress": None,
        "accepted": None, "findings": [],
    }  # fmt: skip
    finding = {"severity": "error", "where": "challenge.toml", "message": "no kernel is accepted"}
    refused = {**waiting, "waits": False, "accepted": False, "findings": [finding]}
    server.routes = {
        "POST classes/3/challenges": httpx.Response(202, json=waiting),
        "GET classes/3/challenges": {"challenges": [refused]},
        "DELETE classes/3/challenges/class-3-sums": refused,
    }
    done = cli("class", "pack", "upload", "3", "sums")
    assert done.exit_code == 1
    assert "error: challenge.toml: no kernel is accepted" in done.stdout
    [body] = server.bodies("POST classes/3/challenges")
    assert body["name"] == "sums.tar.gz"
    pack = read_upload(base64.b64decode(body["archive"]), body["name"])
    assert (pack.name, sorted(pack.files)) == ("sums", files)
    assert cli("class", "pack", "upload", "3", "sums", "--no-wait").exit_code == 0
    assert cli("class", "pack", "upload", "3", "nothing").exit_code == 2
    assert lines(cli("class", "pack", "list", "3").stdout)[1][3:] == ["refused", "1"]
    assert cli("class", "pack", "report", "3", "class-3-sums").stdout.startswith("error: challenge.toml")
    assert cli("class", "pack", "report", "3", "class-3-other").exit_code == 2
    assert "Deleted class-3-sums" in cli("class", "pack", "delete", "3", "class-3-sums").stderr


def test_the_platform_of_a_class_is_shown_asked_and_left(cli: Cli, server: FakeServer) -> None:
    link = {"assignment": 7, "title": "Sums", "outcome": "", "attempts": 2, "due_at": None}
    course = {"platform": "School", "course": "CUDA", "roster_read_at": "2027-03-01T08:00:00+00:00",
              "roster_outcome": "40 students", "roster_attempts": 1, "links": [link]}  # fmt: skip
    path = "classes/3/platform"
    server.routes = {
        f"GET {path}": course,
        f"POST {path}/exchange": httpx.Response(202, json=course),
        f"DELETE {path}": course,
    }
    shown = cli("class", "platform", "show", "3")
    assert "read at 2027-03-01 08:00 UTC, 1 failed since. 40 students" in shown.stderr
    assert lines(shown.stdout)[1] == ["7", "Sums", "not sent yet", "2", "ended"]
    assert "within seconds" in cli("class", "platform", "exchange", "3").stderr
    assert "no course" in cli("class", "platform", "disconnect", "3").stderr


def test_a_dry_run_is_started_and_shown(cli: Cli, server: FakeServer) -> None:
    run = {"challenge": "vector-add", "device": "emulator", "submission": "s1", "state": "done", "verdict": "AC",
           "created_at": "2027-03-01T08:00:00+00:00"}  # fmt: skip
    server.routes = {
        "POST contests/friday/trial": httpx.Response(202, json={"sent": 2, "refused": []}),
        "GET contests/friday/trial": {"runs": [run]},
    }
    assert "2 runs are on the way" in cli("contest", "trial", "start", "friday").stderr
    assert lines(cli("contest", "trial", "show", "friday").stdout)[1] == ["vector-add", "emulator", "s1", "AC"]
    refused = [{"first": "softmax on emulator", "message": "The device is gone."}]
    server.routes["POST contests/friday/trial"] = httpx.Response(202, json={"sent": 0, "refused": refused})
    failed = cli("contest", "trial", "start", "friday")
    assert (failed.exit_code, "softmax on emulator: The device is gone." in failed.stderr) == (1, True)


def test_a_roster_is_printed_and_imported(cli: Cli, server: FakeServer, tmp_path: Path) -> None:
    entry = {
        "name": "Ada",
        "email": "ada@example.org",
        "sis_id": "7",
        "section": "A",
        "username": None,
        "member": False,
    }
    change = {"new": 1, "changed": 0, "joined": 0, "left": 2}
    server.routes = {"GET classes/3/roster": {"entries": [entry]}, "PUT classes/3/roster": change}
    assert lines(cli("class", "roster", "3").stdout)[1] == ["Ada", "ada@example.org", "7", "A", "", "invited"]
    (tmp_path / "list.csv").write_text("\ufeffname,e-mail\nAda,ada@example.org\n")
    assert "1 new" in cli("class", "roster", "3", "list.csv").stderr
    assert server.bodies("PUT classes/3/roster") == [{"csv": "name,e-mail\nAda,ada@example.org\n"}]
    (tmp_path / "latin.csv").write_bytes(b"name,e-mail\n\xe4,a@b.c\n")
    assert "line 2 of latin.csv is not UTF-8" in cli("class", "roster", "3", "latin.csv").stderr


def test_assignments_are_made_changed_extended_and_deleted(cli: Cli, server: FakeServer) -> None:
    due = "2027-03-09T08:00:00+00:00"
    server.routes = {
        "POST classes/3/assignments": ASSIGNMENT, "PATCH classes/3/assignments/7": ASSIGNMENT,
        "DELETE classes/3/assignments/7": ASSIGNMENT,
        "POST classes/3/assignments/7/extensions": {"usernames": ["ada", "bob"], "due_at": due},
    }  # fmt: skip
    made = cli(
        "class", "assignment", "create", "3", "Sums", "-c", "vector-add", "-c", "softmax", "--due", "2027-03-08 08:00",
        "--counts", "best", "--least", "80", "--no-hints",
    )  # fmt: skip
    assert "Made assignment 7, Sums, due 2027-03-08 08:00 UTC." in made.stderr
    cli("class", "assignment", "edit", "3", "7", "--points", "20", "--any-device")
    assert server.bodies("POST classes/3/assignments") == [
        {
            "title": "Sums", "challenges": ["vector-add", "softmax"], "due_at": "2027-03-08T08:00:00+00:00",
            "counts": "best", "least_percent": 80, "shows_hints": False,
        }
    ]  # fmt: skip
    assert server.bodies("PATCH classes/3/assignments/7") == [{"points": 20.0, "device": None}]
    assert "say what to change" in cli("class", "assignment", "edit", "3", "7").stderr
    extended = cli("class", "assignment", "extend", "3", "7", "ada", "bob", "--due", "2027-03-09 08:00")
    assert "A deadline at 2027-03-09 08:00 UTC holds for ada, bob." in extended.stderr
    assert server.bodies("POST classes/3/assignments/7/extensions") == [
        {"usernames": ["ada", "bob"], "section": "", "due_at": due}
    ]
    assert cli("class", "assignment", "extend", "3", "7").exit_code == 2
    assert "Deleted assignment 7" in cli("class", "assignment", "delete", "3", "7").stderr


def test_comments_are_printed_and_written(cli: Cli, server: FakeServer) -> None:
    comment = {
        "number": 5, "line": 2, "author": "euler", "text": "Why?\nSay so.",
        "created_at": "2027-03-01T08:00:00+00:00", "changed_at": None, "unread": True,
    }  # fmt: skip
    server.routes = {
        "GET submissions/abc/comments": {"comments": [comment], "may_begin": False, "may_answer": True},
        "POST submissions/abc/comments": comment, "PATCH submissions/abc/comments/5": comment,
        "DELETE submissions/abc/comments/5": comment,
    }  # fmt: skip
    assert cli("comment", "list", "abc").stdout.splitlines() == [
        "line 2: euler, 2027-03-01 08:00 UTC, comment 5, new", "    Why?", "    Say so.",
    ]  # fmt: skip
    assert "Added comment 5 at line 2." in cli("comment", "add", "abc", "2", "Why?").stderr
    assert server.bodies("POST submissions/abc/comments") == [{"line": 2, "text": "Why?"}]
    assert "Changed comment 5" in cli("comment", "edit", "abc", "5", "Because").stderr
    assert server.bodies("PATCH submissions/abc/comments/5") == [{"text": "Because"}]
    assert "Deleted comment 5" in cli("comment", "delete", "abc", "5").stderr


def test_an_organizer_lists_what_counts(cli: Cli, server: FakeServer) -> None:
    row = {
        "id": "abc", "username": "ada", "challenge": "vector-add", "device": "emulator", "state": "done",
        "verdict": "AC", "value": 1.5e-4, "frozen": True, "created_at": "2027-03-01T19:00:00+00:00", "url": "",
    }  # fmt: skip
    server.routes = {"GET contests/friday/submissions": {"submissions": [row], "next": None}}
    printed = lines(cli("contest", "submissions", "friday", "--user", "ada").stdout)[1]
    assert printed == ["abc", "ada", "vector-add", "AC, frozen", "150 µs", "emulator", "2027-03-01 19:00"]
    assert dict(server.requests[-1].url.params) == {"limit": "50", "user": "ada"}
    assert cli("contest", "submissions", "friday", "--json").json == {"submissions": [row]}


def test_contests_are_listed_and_shown(cli: Cli, server: FakeServer) -> None:
    server.routes = {
        "GET contests": {"contests": [CONTEST]},
        "GET contests/friday": CONTEST,
        "GET contests/friday/standings": STANDINGS,
    }
    assert lines(cli("contest", "list").stdout)[1][:3] == ["friday", "Friday", "running"]
    shown = cli("contest", "show", "friday")
    assert "vector-add (120 µs)" in shown.stdout
    assert "register friday --code CODE" in shown.stderr
    table = cli("contest", "standings", "friday")
    assert lines(table.stdout)[1:] == [["1", "ada", "80.00", "150 µs (1.)"], ["2", "bob", "0.00", ""]]
    assert "Frozen" in table.stderr
    assert cli("contest", "standings", "friday", "--json").json == STANDINGS


def test_a_contest_is_made_changed_copied_and_deleted(cli: Cli, server: FakeServer) -> None:
    server.routes = {
        "POST contests": CONTEST,
        "PATCH contests/friday": CONTEST,
        "DELETE contests/friday": CONTEST,
    }
    cli(
        *("contest", "create", "friday", "-c", "vector-add", "-c", "softmax", "-d", "emulator", "--code", "tea"),
        *("--starts", "2027-03-01 18:00", "--ends", "2027-03-01 20:00", "--target", "vector-add=120us"),
    )
    cli("contest", "copy", "friday", "next", "--starts", "2027-03-08 18:00", "--ends", "2027-03-08 20:00")
    made, copied = server.bodies("POST contests")
    assert made == {
        "slug": "friday", "title": "friday", "challenges": ["vector-add", "softmax"], "devices": ["emulator"],
        "code": "tea", "starts_at": "2027-03-01T18:00:00+00:00", "ends_at": "2027-03-01T20:00:00+00:00",
        "targets": ["vector-add=120us"],
    }  # fmt: skip
    assert (copied["slug"], copied["copy_of"]) == ("next", "friday")
    cli("contest", "edit", "friday", "--code", "", "--no-freeze", "--reveal")
    assert server.bodies("PATCH contests/friday") == [{"code": "", "revealed": True, "frozen_at": None}]
    assert "say what to change" in cli("contest", "edit", "friday").stderr
    assert "Deleted friday" in cli("contest", "delete", "friday").stderr


def test_one_takes_part_alone_or_in_a_team(cli: Cli, server: FakeServer) -> None:
    server.routes = {
        "POST contests/friday/join": {**CONTEST, "team": "The Warps"},
        "POST contests/friday/leave": CONTEST,
    }
    told = cli("contest", "register", "friday", "--code", "tea", "--team", "The Warps")
    assert "in the team The Warps" in told.stderr
    assert server.bodies("POST contests/friday/join") == [{"code": "tea", "team_name": "The Warps", "team_code": ""}]
    assert cli("contest", "register", "friday", "--team", "A", "--team-code", "b").exit_code == 2
    assert "You have left friday" in cli("contest", "leave", "friday").stderr


def test_what_the_server_refuses_is_told(cli: Cli, server: FakeServer) -> None:
    told = {"detail": "As assistant of this class you may not do this: ask its owner.", "nearest": []}
    server.routes = {"GET classes/3/roster": httpx.Response(404, json=told)}
    ended = cli("class", "roster", "3", "--json")
    assert ended.exit_code != 0
    assert json.loads(ended.stdout)["error"]["message"] == told["detail"]
