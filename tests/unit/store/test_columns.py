"""Columns: instants and JSON that both databases take."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import postgresql, sqlite

from store.columns import UtcDateTime, plain_json


@pytest.mark.parametrize("dialect", [sqlite.dialect(), postgresql.dialect()])
def test_instants_come_back_as_they_were(dialect: object) -> None:
    column = UtcDateTime()
    elsewhere = datetime(2026, 5, 6, 1, 0, tzinfo=timezone(timedelta(hours=5)))
    kept = column.process_bind_param(elsewhere, dialect)  # type: ignore[arg-type]
    back = column.process_result_value(kept, dialect)  # type: ignore[arg-type]
    assert back == elsewhere
    assert back is not None
    assert back.tzinfo is UTC
    with pytest.raises(ValueError, match="naive"):
        column.process_bind_param(datetime(2026, 5, 6), dialect)  # type: ignore[arg-type]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=8,
)


@given(values)
def test_any_value_becomes_json_that_strict_readers_take(value: object) -> None:
    plain = plain_json(value)
    written = json.dumps(plain, allow_nan=False, ensure_ascii=False)
    assert "\\u0000" not in written
    written.encode("utf-8")
    assert plain_json(plain) == plain


def test_what_is_plain_is_left_alone() -> None:
    value = {"a": [1, 2.5, "äöü ∑", True, None], "b": {"c": "𝄞"}}
    assert plain_json(value) == value
