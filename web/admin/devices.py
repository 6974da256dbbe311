"""The operators' page of devices: how they are, what they were calibrated to over time; hold and release them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from flask import Blueprint, redirect, render_template, url_for
from markupsafe import Markup
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from store.devices import all_devices, count_work, list_calibrations, list_device_boards
from store.models import Device, DeviceBoard, DeviceCalibration
from store.operation.administration import hold_device, release_device
from web.admin.acting import acting, given_reason
from web.pictures.charts import course_chart
from web.problems import Problem
from web.services import reader, services


@dataclass(frozen=True, slots=True)
class BoardView:
    """A board with its calibrations, the oldest first, and a chart for each figure that was measured twice."""

    row: DeviceBoard
    calibrations: list[DeviceCalibration]
    rates: list[str]
    charts: list[tuple[str, Markup]]


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule("/devices", view_func=devices)
    blueprint.add_url_rule("/devices/<key>/hold", view_func=hold, methods=["POST"])
    blueprint.add_url_rule("/devices/<key>/release", view_func=release, methods=["POST"])


def devices() -> str:
    """Renders all devices: what they do, why one is out of service, and their calibrations."""
    found = all_devices(reader())
    return render_template(
        "admin/devices.html",
        devices=found,
        boards={device.key: board_views(device.key) for device in found},
        work=count_work(reader()),
        now=services().clock(),
        seen_s=services().settings.device_seen_s,
    )


def board_views(key: str) -> list[BoardView]:
    """Returns the boards of a device."""
    calibrations, views = list_calibrations(reader(), key), []
    for row in list_device_boards(reader(), key):
        own = [one for one in calibrations if one.board == row.board]
        rates = sorted({name for one in own for name in one.rates})
        charts = [
            ("Reading memory", _chart("reading memory", [(one.measured_at, one.read_bytes_per_s) for one in own], "B")),
            ("Copying memory", _chart("copying memory", [(one.measured_at, one.copy_bytes_per_s) for one in own], "B")),
        ]
        for name in rates:
            points = [(one.measured_at, one.rates[name]) for one in own if name in one.rates]
            charts.append((name, _chart(name, points, "op")))
        views.append(BoardView(row, own, rates, [(name, chart) for name, chart in charts if chart]))
    return views


def _chart(name: str, points: list[tuple[datetime, float]], unit: str) -> Markup:
    def label(value: float) -> str:
        return f"{value / 1e9:,.0f} GB/s" if unit == "B" else f"{value / 1e12:,.2f} Tera-op/s"

    return course_chart(points, label, f"{name} over {len(points)} calibrations")


def hold(key: str) -> Response:
    """Lets a device take nothing new."""
    reason = given_reason()
    with acting(f"{key} finishes what runs, and takes nothing new.") as (writer, actor):
        hold_device(writer, actor, find_device(writer, key), reason, now=services().clock())
    return redirect(url_for("admin.devices"), 303)


def release(key: str) -> Response:
    """Lets a device take work again."""
    with acting(f"{key} takes work again.") as (writer, actor):
        release_device(writer, actor, find_device(writer, key), now=services().clock())
    return redirect(url_for("admin.devices"), 303)


def find_device(session: Session, key: str) -> Device:
    """Returns the device. Raises Problem 404."""
    device = session.get(Device, key)
    if device is None:
        raise Problem(404, "not_found", f"No worker has offered a device “{key[:100]}”.")
    return device
