"""deploy/monitoring/: every metric, label and verdict that rules and dashboard name is exported."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from store.clock import utc_now
from store.models import Job
from store.queue.sweeping import record_sweep
from tests.builds import ROOT
from tests.web_site import KERNEL, Site, post

FOLDER = ROOT / "deploy/monitoring"
#: Prometheus adds these itself.
TARGET = {"instance", "job"}


def _rules() -> list[dict[str, Any]]:
    [group] = yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"]
    return list(group["rules"])


def _expressions() -> list[str]:
    dashboard = json.loads((FOLDER / "grafana-dashboard.json").read_text())
    panels = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    return panels + [rule["expr"] for rule in _rules()]


@pytest.fixture
def exported(site: Site) -> dict[str, list[dict[str, str]]]:
    """The labels of each sample that a site exports which has a waiting job and a lease that ran out."""
    site.add_device()
    page = "/challenges/vector-add"
    client = site.visitor()
    for _ in range(2):
        data = {"source": KERNEL, "device": "emulator", "mode": "submit"}
        assert post(client, f"{page}/submissions", data, page=page).status_code < 400
    with site.database() as session:
        record_sweep(session, now=utc_now(), owner="a sweeper")
        job = session.get_one(Job, 1)
        job.state, job.lease_token = "building", "a token"
        job.lease_until = utc_now() - timedelta(minutes=1)
    found: dict[str, list[dict[str, str]]] = {}
    for family in text_string_to_metric_families(client.get("/metrics").text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append(dict(sample.labels))
    return found


def test_what_they_name_is_exported(exported: dict[str, list[dict[str, str]]]) -> None:
    named: set[str] = set()
    for expression in _expressions():
        labels = set()
        for name, matchers in re.findall(r"\b(gpujudge_\w+)(?:\{([^}]*)\})?", expression):
            assert name in exported, expression
            named.add(name)
            labels |= set(exported[name][0])
            for label, operator, value in re.findall(r'(\w+)(=~|=)"([^"]*)"', matchers):
                assert label in exported[name][0], expression
                if label == "verdict":
                    wanted = set(value.split("|")) if operator == "=~" else {value}
                    assert wanted <= {one["verdict"] for one in exported[name]}, expression
        for grouping in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression):
            assert set(re.findall(r"\w+", grouping)) <= labels | TARGET, expression
    assert {
        "gpujudge_oldest_wait_seconds", "gpujudge_lease_overdue_seconds", "gpujudge_judged_total",
        "gpujudge_device_online", "gpujudge_sweep_age_seconds", "gpujudge_http_requests_total",
    } <= named  # fmt: skip


def test_each_rule_says_what_to_do() -> None:
    rules = _rules()
    assert len({rule["alert"] for rule in rules}) == len(rules)
    for rule in rules:
        assert set(rule["annotations"]) == {"summary", "action"}, rule["alert"]
        assert rule["labels"]["severity"] in ("page", "warn")
        assert rule["expr"].count("(") == rule["expr"].count(")")


def test_the_panels_do_not_overlap() -> None:
    panels = json.loads((FOLDER / "grafana-dashboard.json").read_text())["panels"]
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not taken & cells
        taken |= cells
    assert len({panel["id"] for panel in panels}) == len(panels)
