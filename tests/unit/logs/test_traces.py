"""Ids of traces, and of the steps within one."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from logs.traces import Traces, TraceSettings, trace_id_of

OUTER = f"00-{'a1' * 16}-{'b2' * 8}-01"


def test_a_step_has_the_id_of_its_trace_and_one_of_its_own() -> None:
    traces = Traces()
    first = traces.begin("request")
    second = traces.begin("build", parent=first.traceparent)
    assert trace_id_of(second.traceparent) == first.trace_id
    assert second.span_id != first.span_id
    assert traces.begin("request").trace_id != first.trace_id


@pytest.mark.parametrize("text", ["", "x", OUTER[:-1], OUTER.replace("a", "g"), f"00-{'0' * 32}-{'b2' * 8}-01"])
def test_what_is_no_context_begins_a_new_trace(text: str) -> None:
    assert trace_id_of(text) is None
    assert Traces().begin("request", parent=text).trace_id not in text or not text


def test_an_address_without_http_is_refused() -> None:
    with pytest.raises(ValidationError, match="http://collector"):
        TraceSettings(traces_url="collector:4317")
