"""Checks of e-mail addresses, and which of them are the same."""

from __future__ import annotations

import pytest

from store.people.email_addresses import address_fault, address_key


@pytest.mark.parametrize(
    "good", ["ada@example.org", "Ada.L+cuda@sub.example.org", "o'neil@example.org", f"a@{'b' * 100}.example.org"]
)
def test_usual_addresses_are_taken(good: str) -> None:
    assert address_fault(good) is None


@pytest.mark.parametrize(
    "bad",
    ["", "ada", "ada@", "@example.org", "a b@example.org", "a@b@c.org", "<a@b.org>", f"a@{'b.' * 120}org.example"],
)
def test_what_is_no_address_is_said(bad: str) -> None:
    assert (address_fault(bad) or "").endswith("is not an e-mail address.")


@pytest.mark.parametrize(
    ("odd", "code"),
    [("\uff41da@example.org", "FF41"), ("ada@ex\u0430mple.org", "0430"), ("ada\uff20example.org", "FF20"),
     ("a\u0301da@example.org", "0301"), ("ada\u200b@example.org", "200B"), ("ad\u212a@example.org", "212A")],
)  # fmt: skip
def test_the_letter_that_is_not_allowed_is_named(odd: str, code: str) -> None:
    fault = address_fault(odd)
    assert fault is not None
    assert f"(U+{code})" in fault


def test_only_ascii_case_is_ignored() -> None:
    assert address_key("Ada@Example.ORG") == address_key("ada@example.org")
    keys = {address_key(f"{local}@example.org") for local in ("ask", "as\u212a", "a\u017fk", "\uff41sk", "\u0430sk")}
    assert len(keys) == 5
