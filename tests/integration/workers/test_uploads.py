"""Uploaded packs are verified by the engine: a good one is served, and one whose code reaches out is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session

from judge.packs.pack import Pack
from judge.wire import landlock
from store.clock import utc_now
from store.models import Class, PrivatePack
from store.settings import builtin_packs
from store.teaching.private_packs import claim_upload, put_upload
from tests.integration.workers.conftest import MakeFleet
from tests.unit.judge.packs.collection.test_uploads import zipped
from workers.context import WorkerContext, make_context
from workers.uploads import verify_upload_one

pytestmark = pytest.mark.skipif(landlock.version() < 1, reason="this kernel has no Landlock")


def upload(make_fleet: MakeFleet, packs: dict[str, Pack], *, reference: bytes = b"", kernel: bytes) -> WorkerContext:
    """Returns the context of a worker for whom an upload waits, whose reference ends with some code."""
    context = make_context(make_fleet().settings, packs=packs)
    home = builtin_packs() / "vector-add"
    files = {name: (home / name).read_bytes() for name in ("challenge.toml", "reference.py", "statement.md")}
    files["reference.py"] += reference
    files["submissions/accepted/plain.cu"] = kernel
    with context.sessions.begin() as session:
        group = Class(title="Spring", description="", code="c", owner_id=None, created_at=utc_now())
        session.add(group)
        session.flush()
        put_upload(session, group, "sums", zipped(files), now=utc_now())
    return context


def outcome(context: WorkerContext) -> PrivatePack:
    with context.reads() as session:
        return session.query(PrivatePack).one()


@pytest.mark.jail
@pytest.mark.nvcc
@pytest.mark.slow(30)
@pytest.mark.exhaustive(costly=True)
def test_a_good_pack_is_served_and_judges(make_fleet: MakeFleet, packs: dict[str, Pack], library: Path) -> None:
    assert library.exists()
    kernel = builtin_packs().parent / "reference_solutions" / "vector-add" / "plain.cu"
    context = upload(make_fleet, packs, kernel=kernel.read_bytes())
    told = set[str]()

    def persist(write: Callable[[Session], Any]) -> Any:
        answer = WorkerContext.persist(context, write)
        told.add(outcome(context).progress or "")
        return answer

    object.__setattr__(context, "persist", persist)
    assert verify_upload_one(context)
    found = outcome(context)
    assert any("plain.cu" in each for each in told), told
    assert found.progress is None
    assert found.findings is not None
    assert re.search(r"of [1-9]\d* wrong kernels made of an accepted one, [1-9]", found.findings[-1]["message"])
    assert (found.accepted, found.waits, found.version) == (True, False, packs["vector-add"].version), found.findings
    assert found.digest is not None
    pack = make_context(context.settings).packs.find("class-1-sums", found.digest)
    assert (pack.slug, pack.confined) == ("class-1-sums", True)
    assert not verify_upload_one(context)


@pytest.mark.parametrize(
    "code", [b"\nopen('/etc/passwd')\n", b"\nimport socket\nsocket.socket()\n", b"\nimport os\nos.listdir('/proc')\n"]
)
def test_a_pack_whose_code_reaches_out_is_refused(make_fleet: MakeFleet, packs: dict[str, Pack], code: bytes) -> None:
    context = upload(make_fleet, packs, reference=code, kernel=b"// none")
    assert verify_upload_one(context)
    found = outcome(context)
    assert (found.accepted, found.digest) == (False, None)
    assert found.findings is not None
    assert any("PermissionError" in each["message"] for each in found.findings)
    assert not any("/tmp" in each["message"] + each["where"] for each in found.findings)


def test_one_that_takes_too_long_is_refused(make_fleet: MakeFleet, packs: dict[str, Pack]) -> None:
    context = upload(make_fleet, packs, kernel=b"// none")
    assert verify_upload_one(context, wall_s=0.0)
    found = outcome(context)
    assert found.accepted is False
    assert found.findings is not None
    assert "takes longer" in found.findings[0]["message"]


def test_a_worker_that_stops_hands_it_back(make_fleet: MakeFleet, packs: dict[str, Pack]) -> None:
    context = upload(make_fleet, packs, kernel=b"// none")
    context.stopping.set()
    assert not verify_upload_one(context)
    with context.sessions.begin() as session:
        assert claim_upload(session, now=utc_now(), lease_s=60) is not None


def test_an_upload_that_loses_its_workers_is_given_up(make_fleet: MakeFleet, packs: dict[str, Pack]) -> None:
    context = upload(make_fleet, packs, kernel=b"// none")
    for _ in range(3):
        with context.sessions.begin() as session:
            assert claim_upload(session, now=utc_now(), lease_s=-1) is not None
    with context.sessions.begin() as session:
        assert claim_upload(session, now=utc_now(), lease_s=60) is None
    assert outcome(context).accepted is False
