"""The page of a submission's machine code: asked for, made by a worker, shown beside the source."""

from __future__ import annotations

import dataclasses
import re
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from judge.compile.assembly import Assembly, FunctionAssembly
from judge.compile.assembly_json import from_json, to_json
from judge.compile.listing import Instruction
from judge.judgement import KernelResources
from store.assemblies import LEASE_S, MOST_WAITING, claim_assembly, finish_assembly, refuse_assembly
from store.draft_assemblies import claim_draft_assembly, finish_draft_assembly, refuse_draft_assembly
from tests.web_site import KERNEL, Site, post

MADE = Assembly(
    "sm_80",
    (
        FunctionAssembly(
            "_Z3addPf",
            True,
            256,
            KernelResources("_Z3addPf", registers=40, shared_bytes=1024, spill_loads_bytes=8),
            (Instruction(".visible .entry _Z3addPf()"), Instruction("ld.global.f32 %f1, [%rd1];", 3)),
            (Instruction("LDG.E R0, [R2.64]", 3), Instruction(".L_x_0:"), Instruction("EXIT <b>", 4)),
        ),
    ),
)


def submit(client: FlaskClient) -> str:
    """Submits a kernel; returns the path of the page of its machine code."""
    data = {"source": KERNEL, "device": "emulator", "mode": "run"}
    answer = post(client, "/challenges/vector-add/submissions", data, page="/challenges/vector-add")
    assert answer.status_code == 303, answer.text
    return f"{answer.location}/assembly"


@pytest.fixture
def page(site: Site) -> tuple[FlaskClient, str]:
    client = site.visitor()
    return client, submit(client)


def finish(site: Site) -> None:
    now = site.services.clock()
    with site.database() as session:
        lease = claim_assembly(session, now=now)
        assert lease is not None
        assert finish_assembly(session, lease, to_json(MADE), now=now)


def test_json_round_trip() -> None:
    assert from_json(to_json(MADE)) == MADE


def test_it_is_asked_for_made_and_shown(site: Site, page: tuple[FlaskClient, str]) -> None:
    client, url = page
    assert "Nobody has asked for it yet" in client.get(f"{url}?arch=sm_80").text
    answer = post(client, url, {"arch": "sm_80"})
    assert (answer.status_code, answer.location) == (303, f"{url}?arch=sm_80")
    assert 'http-equiv="refresh"' in client.get(answer.location).text
    finish(site)
    text = client.get(answer.location).text
    assert 'http-equiv="refresh"' not in text
    assert '<li data-line="3" id="A3"><a href="#L3">3</a><code>LDG.E R0, [R2.64]</code></li>' in text
    assert "EXIT &lt;b&gt;" in text
    assert "1,024 B" in text
    assert "<dt>occupancy in blocks of 256, limited by registers</dt><dd>75 %</dd>" in text
    assert "ld.global.f32" in client.get(f"{url}?arch=sm_80&view=ptx").text
    # Of another GPU nobody has asked for it.
    assert "Nobody has asked" in client.get(f"{url}?arch=sm_75").text


def test_why_there_is_none_is_told_and_it_can_be_tried_again(site: Site, page: tuple[FlaskClient, str]) -> None:
    client, url = page
    post(client, url, {"arch": "sm_75"})
    now = site.services.clock()
    with site.database() as session:
        lease = claim_assembly(session, now=now)
        assert lease is not None
        assert refuse_assembly(session, lease, "kernel.cu(3): error: no bf16 here", now=now)
        # A second worker finds nothing, and a lost lease writes nothing.
        assert claim_assembly(session, now=now) is None
        assert not finish_assembly(session, lease, to_json(MADE), now=now)
    assert "error: no bf16 here" in client.get(f"{url}?arch=sm_75").text
    post(client, url, {"arch": "sm_75"})
    finish(site)
    assert "LDG.E" in client.get(f"{url}?arch=sm_75").text


def test_what_it_cannot_be_asked_for(site: Site, page: tuple[FlaskClient, str]) -> None:
    client, url = page
    assert client.get(f"{url}?arch=sm_12").status_code == 404
    assert post(client, url, {"arch": "sm_90; rm"}).status_code == 422
    other = site.visitor("bob")
    assert other.get(url).status_code == 404
    assert post(other, url, {"arch": "sm_80"}).status_code == 404
    for arch in ("sm_75", "sm_80", "sm_89", "sm_90")[:MOST_WAITING]:
        assert post(client, url, {"arch": arch}).status_code == 303
    assert post(client, submit(client), {"arch": "sm_75"}).status_code == 429


def drafted(client: FlaskClient, source: str, **more: str) -> TestResponse:
    """Asks for the machine code of a text in the editor."""
    return post(client, "/challenges/vector-add/assembly", {"source": source, **more}, page="/challenges/vector-add")


def write(client: FlaskClient, source: str, **more: str) -> dict[str, Any]:
    """Asks for the machine code of a text in the editor, which is not refused."""
    answer = drafted(client, source, **more)
    assert answer.status_code == 200, answer.text
    assert answer.json is not None
    return answer.json


def test_triton_has_its_own_code_too(site: Site) -> None:
    client, now = site.visitor(), site.services.clock()
    text = "import triton\n\n\ndef solve(A, B, C, N):\n    pass\n"
    cuda, triton = write(client, KERNEL)["html"], write(client, text, language="triton", view="ttgir")["html"]
    assert ("TTIR" in cuda, "TTIR" in triton) == (False, True)
    assert '<option value="ttgir" selected>TTGIR</option>' in triton
    code = (Instruction("  %x = tt.load %x_6, %inside", 4),)
    (function,) = MADE.functions
    made = dataclasses.replace(MADE, functions=(dataclasses.replace(function, ttir=code, ttgir=code),))
    with site.database() as session:
        lease = claim_draft_assembly(session, now=now)
        assert lease is not None
        assert finish_draft_assembly(session, lease, to_json(made), now=now)
    assert "  %x = tt.load" in write(client, text, language="triton", view="ttgir")["html"]
    url = submit(client)
    post(client, url, {"arch": "sm_80"})
    with site.database() as session:
        waiting = claim_assembly(session, now=now)
        assert waiting is not None
        assert finish_assembly(session, waiting, to_json(made), now=now)
    page = client.get(f"{url}?arch=sm_80&view=ttir").text
    assert re.findall(r'view=(\w+)">', page) == ["sass", "ptx", "ttgir", "ttir"]
    assert "tt.load" in page
    assert "tt.load" not in client.get(f"{url}?arch=sm_80&view=no").text


def test_what_is_being_written_has_machine_code(site: Site) -> None:
    ada, now = site.visitor(), site.services.clock()
    assert write(ada, "// 1")["working"]
    assert write(ada, KERNEL)["working"]
    with site.database() as session:
        lease = claim_draft_assembly(session, now=now)
        # The text before it was replaced: nobody makes it.
        assert claim_draft_assembly(session, now=now) is None
    assert lease is not None
    assert lease.wanted.source == KERNEL.encode()
    with site.database() as session:
        assert finish_draft_assembly(session, lease, to_json(MADE), now=now)
    made = write(ada, KERNEL)
    assert not made["working"]
    assert made["lines"] == [3]
    assert "ld.global.f32" in made["html"]
    assert 'data-line="3" class="tint-3"' in made["html"]
    assert write(ada, KERNEL)["lines"] == [3]
    # Another text begins anew, and so does another GPU; another user has a text of their own.
    assert write(ada, KERNEL, arch="sm_80")["working"]
    assert write(site.visitor("bob"), KERNEL)["working"]


def test_a_text_that_was_replaced_while_it_was_made_is_not_shown(site: Site) -> None:
    ada, now = site.visitor(), site.services.clock()
    write(ada, KERNEL)
    with site.database() as session:
        lease = claim_draft_assembly(session, now=now)
    assert lease is not None
    write(ada, "// 2")
    with site.database() as session:
        assert not finish_draft_assembly(session, lease, to_json(MADE), now=now)
        following = claim_draft_assembly(session, now=now)
        assert following is not None
        assert refuse_draft_assembly(session, following, "kernel.cu(1): error: no solve", now=now)
    refused = write(ada, "// 2")
    assert not refused["working"]
    assert "error: no solve" in refused["html"]


def test_a_text_whose_worker_was_lost_is_given_up(site: Site) -> None:
    ada, now = site.visitor(), site.services.clock()
    write(ada, KERNEL)
    with site.database() as session:
        assert claim_draft_assembly(session, now=now) is not None
        assert claim_draft_assembly(session, now=now + timedelta(seconds=LEASE_S + 1)) is None
    assert "The judge could not make it" in write(ada, KERNEL)["html"]


def test_what_cannot_be_compiled_for_is_refused(site: Site) -> None:
    ada, page = site.visitor(), "/challenges/vector-add"
    for sent, status in (({"arch": "sm_1"}, 422), ({"language": "fortran"}, 422), ({"source": "x" * 10**7}, 413)):
        assert post(ada, f"{page}/assembly", {"source": KERNEL, **sent}, page=page).status_code == status


def test_texts_are_limited_and_asking_for_one_again_is_not(site: Site) -> None:
    ada = site.visitor("ada")
    for number in range(60):
        assert drafted(ada, f"{KERNEL}// {number}").status_code == 200
    assert drafted(ada, f"{KERNEL}// 59").status_code == 200
    refused = drafted(ada, f"{KERNEL}// 60")
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) <= 60
    assert drafted(site.visitor("bo"), KERNEL).status_code == 200
