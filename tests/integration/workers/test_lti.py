"""The exchange with a learning platform by HTTP: rosters and points, again after a failure, and nothing twice."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from judge.measurements import Measurement
from judge.packs.collection.archive import pack_contents
from judge.packs.collection.loader import load_pack
from store.clock import utc_now
from store.models import Assignment, Class, ClassMember, LtiCourse, LtiLink, LtiScore, RosterEntry, Submission
from store.models import LtiPlatform as Platform
from store.people.accounts import find_user
from store.people.identities import add_identity
from store.settings import Settings, builtin_packs
from store.teaching import classes
from store.teaching.lti_courses import Services, connect, link
from store.teaching.private_packs import VerifiedPack, claim_upload, finish_upload, put_upload
from tests.assignments import add_assignment
from tests.services.lti_platform import INSTRUCTOR, LEARNER, LtiPlatform
from tests.web_site import H200, KERNEL, Site, accepted, make_site, post, trusted, wrong
from workers.context import WorkerContext, make_context
from workers.lti import exchange_due

_SCOPE = "https://purl.imsglobal.org/spec/lti-ags/scope/"
_SCOPES = (f"{_SCOPE}score", f"{_SCOPE}lineitem")


@pytest.fixture
def platform() -> Iterator[LtiPlatform]:
    made = LtiPlatform()
    yield made
    made.close()


@pytest.fixture
def site(tmp_path: Path, platform: LtiPlatform) -> Site:
    """A class of ada and bob, connected to a course that links to an assignment of two challenges and 20 points."""
    site = make_site(tmp_path)
    site.add_device(H200)
    number = platform.register(site)
    now = site.services.clock()
    for name in ("ada", "bob"):
        site.add_user(name)
    with site.database() as session:
        group = Class(title="CUDA", description="", code="c", owner_id=None, created_at=now)
        session.add(group)
        session.flush()
        work = add_assignment(
            session, group.id, ["vector-add", "softmax"], now=now, opens_at=now - timedelta(hours=1), points=20.0
        )
        there = session.get_one(Platform, number)
        course = connect(
            session,
            there,
            group,
            deployment_id="1",
            context_id="7",
            title="CUDA",
            now=now,
            given=Services(f"{platform.url}/members", f"{platform.url}/lineitems", _SCOPES),
        )
        link(session, course, work, line_item_url=None, now=now)
        for name in ("ada", "bob"):
            user = find_user(session, name)
            assert user is not None
            classes.join(session, group, user_id=user.id, known_as=name, now=now)
        ada = find_user(session, "ada")
        assert ada is not None
        add_identity(session, user_id=ada.id, issuer=there.identity_issuer, subject="lms-ada", name="", now=now)
    return site


@pytest.fixture
def context(site: Site) -> WorkerContext:
    settings = Settings(data_dir=site.services.settings.data_dir)
    return make_context(settings, packs=dict(site.services.all_packs))


def later(context: WorkerContext, **span: float) -> WorkerContext:
    """Returns the worker at a later time."""
    at = utc_now() + timedelta(**span)
    clock: Callable[[], datetime] = lambda: at  # noqa: E731
    return dataclasses.replace(context, clock=clock)


def send(
    site: Site, username: str, challenge: str, *, good: bool = True, measurement: Measurement | None = None
) -> None:
    client = site.visitor(username)
    data = {"source": f"// {username}\n{KERNEL}", "device": H200.key, "mode": "submit"}
    assert (
        post(client, f"/challenges/{challenge}/submissions", data, page=f"/challenges/{challenge}").status_code == 303
    )
    site.work(device=H200, cases=accepted("n-1") if good else (wrong("n-1"),), measurement=measurement)


def given(platform: LtiPlatform) -> list[tuple[str, float]]:
    return [(said["userId"], said["scoreGiven"]) for _, said in platform.scores]


def test_points_are_sent_when_they_change_and_only_then(
    site: Site, platform: LtiPlatform, context: WorkerContext
) -> None:
    exchange_due(context)
    assert platform.scores == [], "who has sent nothing has no grade yet"
    send(site, "ada", "vector-add")
    send(site, "bob", "vector-add")
    exchange_due(later(context, minutes=2))
    assert given(platform) == [("lms-ada", 10.0)], "bob is not known there"
    where, said = platform.scores[0]
    assert where == f"/lineitems/{1}"
    assert (said["scoreMaximum"], said["activityProgress"], said["gradingProgress"]) == (
        20.0,
        "Submitted",
        "FullyGraded",
    )
    assert [(each["label"], each["resourceId"], each["scoreMaximum"]) for each in platform.columns] == [
        ("Sums", "assignment-1", 20.0)
    ]
    exchange_due(later(context, minutes=4))
    assert len(platform.scores) == 1
    send(site, "ada", "softmax")
    exchange_due(later(context, minutes=6))
    assert given(platform)[1:] == [("lms-ada", 20.0)]
    assert len(platform.columns) == 1
    with site.database() as session:
        session.query(Submission).filter_by(challenge="softmax").update({"off_board": "copied"})
    exchange_due(later(context, minutes=8))
    assert given(platform)[2:] == [("lms-ada", 10.0)], "what no longer counts is taken back"


@pytest.mark.parametrize(("share", "points"), [(0.3, 0.0), (0.6, 20.0)])
def test_a_private_challenge_s_medals_decide_as_on_the_page(
    site: Site, platform: LtiPlatform, context: WorkerContext, tmp_path: Path, share: float, points: float
) -> None:
    slug = serve_private_pack(site, tmp_path / "class-1-sums")
    with site.database() as session:
        work = session.query(Assignment).one()
        work.counts, work.accepted_percent = "gold", 0
        classes.set_challenges(work, [slug])
    send(site, "ada", slug, measurement=dataclasses.replace(trusted(), roofline_share=share))
    exchange_due(later(context, minutes=2))
    assert given(platform) == [("lms-ada", points)]


def serve_private_pack(site: Site, folder: Path) -> str:
    """Serves a pack of the class, whose gold medal asks for half of the roofline, and returns its slug."""
    shutil.copytree(builtin_packs() / "vector-add", folder)
    declared = "[bench.medals]\nbronze = 0.1\nsilver = 0.2\ngold = 0.5\n"
    (folder / "challenge.toml").write_text((folder / "challenge.toml").read_text() + declared)
    pack = load_pack(folder)
    contents = pack_contents(pack)
    assert contents is not None
    with site.database() as session:
        put_upload(session, session.query(Class).one(), "sums", b"", now=utc_now())
        lease = claim_upload(session, now=utc_now(), lease_s=60)
        assert lease is not None
        assert finish_upload(
            session, lease, [], VerifiedPack(pack.title, pack.version, pack.digest, contents), now=utc_now()
        )
        return lease.slug


def test_a_wrong_submission_is_a_zero_and_one_that_is_not_judged_waits(
    site: Site, platform: LtiPlatform, context: WorkerContext
) -> None:
    send(site, "ada", "vector-add", good=False)
    exchange_due(later(context, minutes=2))
    assert given(platform) == [("lms-ada", 0.0)]
    client = site.visitor("ada")
    data = {"source": KERNEL, "device": H200.key, "mode": "submit"}
    post(client, "/challenges/vector-add/submissions", data, page="/challenges/vector-add")
    exchange_due(later(context, minutes=4))
    assert len(platform.scores) == 1


@pytest.mark.parametrize("status", [500, 503, 401, 404])
def test_what_failed_is_sent_later(site: Site, platform: LtiPlatform, context: WorkerContext, status: int) -> None:
    send(site, "ada", "vector-add")
    platform.broken = status
    exchange_due(later(context, minutes=2))
    with site.database() as session:
        row, course = session.query(LtiLink).one(), session.query(LtiCourse).one()
        assert (row.attempts, row.outcome) == (1, f"the platform answered {status}")
        assert (course.roster_attempts, course.roster_outcome) == (1, f"the platform answered {status}")
    exchange_due(later(context, minutes=2))
    with site.database() as session:
        assert session.query(LtiLink).one().attempts == 1, "not before its time"
    exchange_due(later(context, minutes=3))
    platform.broken = 0
    exchange_due(later(context, hours=3))
    assert given(platform) == [("lms-ada", 10.0)]
    with site.database() as session:
        row = session.query(LtiLink).one()
        assert (row.attempts, row.outcome) == (0, "sent 1 grade")
        assert session.query(LtiScore).count() == 1


def test_a_platform_that_is_away_is_tried_for_days(site: Site, platform: LtiPlatform, context: WorkerContext) -> None:
    send(site, "ada", "vector-add")
    with site.database() as session:
        session.query(Platform).update({"auth_token_url": "http://127.0.0.1:9/token"})
    for hours in range(1, 60, 2):
        exchange_due(later(context, hours=hours))
    with site.database() as session:
        row = session.query(LtiLink).one()
        assert row.attempts == 30
        assert "did not answer" in row.outcome
        session.query(Platform).update({"auth_token_url": f"{platform.url}/token"})
    exchange_due(later(context, hours=62))
    assert given(platform) == [("lms-ada", 10.0)]


def test_a_process_that_is_lost_loses_nothing(site: Site, platform: LtiPlatform, context: WorkerContext) -> None:
    send(site, "ada", "vector-add")
    with site.database() as session:
        # Another process claimed the work, and died.
        session.query(LtiLink).update({"due_at": utc_now() + timedelta(minutes=5)})
    exchange_due(later(context, minutes=4))
    assert platform.scores == []
    exchange_due(later(context, minutes=6))
    assert given(platform) == [("lms-ada", 10.0)]


def test_whoever_left_the_course_holds_up_nobody(site: Site, platform: LtiPlatform, context: WorkerContext) -> None:
    send(site, "ada", "vector-add")
    send(site, "bob", "vector-add")
    with site.database() as session:
        bob = find_user(session, "bob")
        assert bob is not None
        issuer = session.query(Platform).one().identity_issuer
        add_identity(session, user_id=bob.id, issuer=issuer, subject="lms-bob", name="", now=utc_now())
    platform.unknown = {"lms-ada"}
    exchange_due(later(context, minutes=2))
    assert given(platform) == [("lms-bob", 10.0)]
    with site.database() as session:
        assert session.query(LtiLink).one().outcome == "the platform answered 404 for lms-ada"


def test_without_a_column_the_teacher_is_told_what_to_do(site: Site, context: WorkerContext) -> None:
    send(site, "ada", "vector-add")
    with site.database() as session:
        session.query(LtiCourse).update({"scopes": _SCOPE + "score"})
    exchange_due(later(context, minutes=2))
    with site.database() as session:
        assert "open the assignment there once" in session.query(LtiLink).one().outcome


def test_the_roster_is_that_of_the_platform(site: Site, platform: LtiPlatform, context: WorkerContext) -> None:
    def member(name: str, role: str = LEARNER, **more: object) -> dict[str, object]:
        return {
            "user_id": f"lms-{name}", "name": name.title(), "email": f"{name}@school.example", "roles": [role],
            "status": "Active", **more,
        }  # fmt: skip

    platform.page_of = 2
    platform.members = [
        member("gauss", lis_person_sourcedid="0815"), member("euler", INSTRUCTOR), member("noether", roles=["Learner"]),
        member("gone", status="Inactive"), member("hidden", email=None),
    ]  # fmt: skip
    with site.database() as session:
        bob = find_user(session, "bob")
        assert bob is not None
        bob.email = bob.email_key = "noether@school.example"
    exchange_due(context)
    with site.database() as session:
        rows = session.query(RosterEntry).order_by(RosterEntry.name).all()
        assert [(each.name, each.sis_id, each.lms_id) for each in rows] == [
            ("Gauss", "0815", "lms-gauss"),
            ("Noether", "", "lms-noether"),
        ]
        assert "2 of 3 students" in session.query(LtiCourse).one().roster_outcome
        assert session.query(ClassMember).filter_by(known_as="Noether").count() == 1, "the account has the address"
        rows[0].section = "A"
    send(site, "bob", "vector-add")
    platform.members = platform.members[:1]
    exchange_due(later(context, hours=7))
    assert given(platform) == [("lms-noether", 10.0)], "known by the roster, without a launch"
    with site.database() as session:
        left = {each.name: each.left_at is not None for each in session.query(RosterEntry)}
        assert left == {"Gauss": False, "Noether": True}
        assert session.query(RosterEntry).filter_by(name="Gauss").one().section == "A", "a section is kept"


def test_an_empty_answer_empties_no_roster(site: Site, platform: LtiPlatform, context: WorkerContext) -> None:
    platform.members = [
        {"user_id": "1", "name": "Gauss", "email": "g@school.example", "roles": [LEARNER], "status": "Active"}
    ]
    exchange_due(context)
    platform.members = []
    exchange_due(later(context, hours=7))
    with site.database() as session:
        assert session.query(RosterEntry).one().left_at is None
