"""Every form of the site, found by following its links, is sent with anything: no answer is a failure of ours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import HTTPException

from store.clock import utc_now
from store.models import Class, Contest, Role
from store.people.accounts import find_user
from store.teaching import classes, contests
from tests import sampling
from tests.assignments import add_assignment
from tests.web_site import KERNEL, PASSWORD, Site, accepted, make_site, on_emulator

#: Pages of one route that are looked at: their forms hardly differ.
PAGES_OF_A_ROUTE = 3
#: Of a form, whatever the visitor's role; more would send the same again.
TRIES = 40
ADA = {"username": "ada", "password": PASSWORD}
#: What people, scripts and attackers put in fields.
AWKWARD = (
    "", " ", "0", "-1", "1", "1e9", "99999999999999999999", "nan", "None", "null", "true", "on", "a" * 3000, "\x00",
    "\r\n", "a\nb", "\u202e", "İ", "ß", "ﬁ", "😀", "%s%n", "{{7*7}}", "<script>", "' OR 1=1 --", "../../etc/passwd",
    "//evil.example", "https://evil.example/", "javascript:alert(1)", "2026-11-24T12:00", "0001-01-01T00:00",
    "9999-12-31T23:59", "2026-02-30T25:61", "ada@example.org", "a@b", "vector-add", "vector-add, softmax", "emulator",
    "vector-add emulator 10 5", "\u0000", "sign_up", "operator", "ada", "teacher", "read", "open", "10 per minute",
)  # fmt: skip


@dataclass(frozen=True)
class Form:
    """A form of a page: its method, where it goes, and the values that each of its fields offers."""

    rule: str
    method: str
    path: str
    fields: dict[str, tuple[str, ...]] = field(compare=False)


class _Reader(HTMLParser):
    """Collects the links and the forms of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[tuple[str, str, dict[str, list[str]]]] = []
        self._fields: dict[str, list[str]] = {}
        self._named: dict[str, dict[str, list[str]]] = defaultdict(dict)
        self._select: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "form":
            self._fields = self._named[given["id"]] if "id" in given else {}
            self.forms.append((given.get("method", "get").upper(), given.get("action", ""), self._fields))
        elif tag in {"input", "textarea", "select", "button"} and given.get("name"):
            fields = self._named[given["form"]] if "form" in given else self._fields
            fields.setdefault(given["name"], []).append(given.get("value", "on"))
            self._select = given["name"] if tag == "select" else None
        elif tag == "option" and self._select is not None:
            self._fields[self._select].append(given.get("value", ""))


def find_forms(site: Site, client: FlaskClient, start: str) -> list[Form]:
    """Returns one form of each route, method and set of fields, of the pages that links lead to."""
    visited: dict[str, int] = defaultdict(int)
    known, waiting, forms = {start}, [start], dict[tuple[str, str, frozenset[str]], Form]()
    while waiting:
        at = waiting.pop()
        rule = _rule(site, at, "GET")
        if rule is None or visited[rule] >= PAGES_OF_A_ROUTE:
            continue
        visited[rule] += 1
        with client.get(at) as answer:
            assert answer.status_code < 500, at
            if answer.mimetype != "text/html" or answer.status_code != 200:
                continue
            page = _Reader()
            page.feed(answer.get_data(as_text=True))
        for method, action, fields in page.forms:
            target = urljoin(at, action or at)
            of = _rule(site, target, method)
            if of is not None:
                values = {name: tuple(dict.fromkeys(offered)) for name, offered in fields.items()}
                forms.setdefault((of, method, frozenset(values)), Form(of, method, target, values))
        for link in page.links:
            target = urljoin(at, link).partition("#")[0]
            if target.startswith("/") and target not in known:
                known.add(target)
                waiting.append(target)
    return list(forms.values())


def _rule(site: Site, path: str, method: str) -> str | None:
    try:
        matched = site.app.create_url_adapter(None)
        assert matched is not None
        return str(matched.match(urlsplit(path).path, method=method, return_rule=True)[0].rule)
    except HTTPException:
        return None


@pytest.fixture(scope="module")
def fuzzed_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site on which there is one of everything."""
    site = make_site(Path(tmp_path_factory.mktemp("forms")))
    site.app.config["WTF_CSRF_ENABLED"] = False
    site.app.config["SERVER_NAME"] = "localhost"
    site.add_device()
    site.add_user("ada")
    ada = _logged_in(site)
    for mode in ("submit", "submit", "run"):
        form = {"source": KERNEL, "device": "emulator", "mode": mode}
        ada.post("/challenges/vector-add/submissions", data=form)
        if mode == "submit":
            site.work(cases=accepted("a"), measurement=on_emulator())
    now, day = utc_now(), timedelta(days=1)
    with site.database() as session:
        user = find_user(session, "ada")
        assert user is not None
        user.role = Role.OPERATOR
        group = Class(title="Spring", description="", code=classes.new_code(), owner_id=user.id, created_at=now)
        contest = Contest(
            slug="friday",
            title="Friday",
            description="",
            starts_at=now - day,
            ends_at=now + day,
            scoring="points",
            devices="emulator",
            owner_id=user.id,
            created_at=now,
        )
        contests.set_challenges(contest, ["vector-add"])
        session.add_all([group, contest])
        session.flush()
        add_assignment(session, group.id, now=now, opens_at=now - day, due_at=now + day)
    site.add_user("eve")
    yield site
    site.services.engine.dispose()


def _logged_in(site: Site) -> FlaskClient:
    client = site.app.test_client()
    assert client.post("/account/log-in", data=ADA).status_code == 302
    return client


def _answers(fields: dict[str, tuple[str, ...]]) -> st.SearchStrategy[dict[str, list[str]]]:
    """Each field as the page offers it, with something awkward or any text in it, twice, or left out."""
    awkward = st.sampled_from(AWKWARD) | st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
    of_fields = {
        name: st.lists(st.sampled_from((*offered, "ada")) | awkward, min_size=0, max_size=2)
        for name, offered in fields.items()
        if name != "csrf_token"
    }
    return st.fixed_dictionaries(of_fields, optional={"more": st.lists(awkward, max_size=1)})


@pytest.mark.slow(40)
@pytest.mark.hypothesis
@pytest.mark.parametrize("role", ["nobody", "operator"])
def test_no_form_fails_whatever_is_sent(fuzzed_site: Site, role: str, subtests: pytest.Subtests) -> None:
    client = fuzzed_site.app.test_client() if role == "nobody" else _logged_in(fuzzed_site)
    forms = find_forms(fuzzed_site, client, "/")
    assert len({form.rule for form in forms}) >= (5 if role == "nobody" else 30)
    for form in forms:
        with subtests.test(f"{form.method} {form.rule}"):
            _sender(client, form)()
    # Whatever was stored can be shown, to the same visitor as before.
    assert len(find_forms(fuzzed_site, client, "/")) >= len(forms) / 2


def _sender(client: FlaskClient, form: Form) -> Callable[[], None]:
    @given(answers=_answers(form.fields))
    @settings(max_examples=sampling.examples(TRIES), derandomize=True, suppress_health_check=list(HealthCheck))
    def send(answers: dict[str, list[str]]) -> None:
        values = MultiDict((name, value) for name, several in answers.items() for value in several)
        if form.method == "GET":
            told = client.get(form.path.partition("?")[0], query_string=values)
        else:
            told = client.post(form.path, data=values)
        with told:
            assert told.status_code < 500, told.text
            where = urlsplit(told.headers.get("Location", ""))
            assert where.netloc in {"", "localhost"}, "leads to another site"
        if "/log-out" in form.rule or "/sessions/" in form.rule:
            client.post("/account/log-in", data=ADA)

    return send
