"""Schemathesis: what the API answers to anything at all is in its document, and is never a failure of ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from store.models import Role
from store.people.accounts import create_token, find_user
from tests import sampling
from tests.web_site import KERNEL, Site, accepted, make_site, on_emulator

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def fuzzed_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = make_site(Path(tmp_path_factory.mktemp("fuzz")))
    site.add_device()
    site.add_user("ada")
    site.add_user("eve")
    yield site
    site.services.engine.dispose()


@pytest.fixture(scope="module")
def api(fuzzed_site: Site) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_wsgi("/api/v1/openapi.json", fuzzed_site.app)


@pytest.fixture(scope="module")
def token(fuzzed_site: Site) -> str:
    with fuzzed_site.database() as session:
        user, spare = (find_user(session, name) for name in ("ada", "eve"))
        assert user is not None
        assert spare is not None
        user.role = spare.role = Role.OPERATOR
        token = create_token(session, user=user, name="fuzz", scopes=("read", "submit", "admin"))[1]
    # Something to be found: one that is judged and ranked, one that waits.
    client = fuzzed_site.app.test_client()
    for measured in (True, False):
        body = {"challenge": "vector-add", "device": "emulator", "source": KERNEL}
        client.post("/api/v1/submissions", json=body, headers={"Authorization": f"Bearer {token}"})
        if measured:
            fuzzed_site.work(cases=accepted("a"), measurement=on_emulator())
    return token


@pytest.mark.slow(30)
@pytest.mark.hypothesis
def test_anything_is_answered_as_documented(
    api: schemathesis.BaseSchema, token: str, subtests: pytest.Subtests
) -> None:
    # Driven by Hypothesis directly: Schemathesis' own plugin relies on inner parts of older versions of pytest.
    operations = [result.ok() for result in api.get_all_operations()]
    assert len(operations) == 96
    for operation in operations:
        with subtests.test(operation.label):

            @given(case=operation.as_strategy())
            @settings(
                max_examples=sampling.examples(20),
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            )
            def answered(case: schemathesis.Case) -> None:
                # Called without a server in between, Schemathesis does not unpack what is compressed.
                headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}
                case.call_and_validate(headers=headers, checks=CHECKS)

            answered()
