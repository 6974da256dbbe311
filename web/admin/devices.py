"""What operators do to devices: hold them, so that they take no work, and release them."""

from __future__ import annotations

from flask import Blueprint, redirect, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from store.administration import hold_device, release_device
from store.models import Device
from web.admin.acting import acting, given_reason
from web.problems import Problem
from web.services import services


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule("/devices/<key>/hold", view_func=hold, methods=["POST"])
    blueprint.add_url_rule("/devices/<key>/release", view_func=release, methods=["POST"])


def hold(key: str) -> Response:
    """Lets a device take nothing new."""
    reason = given_reason()
    with acting(f"{key} finishes what runs, and takes nothing new.") as (writer, actor):
        hold_device(writer, actor, find_device(writer, key), reason, now=services().clock())
    return redirect(url_for("admin.queue"), 303)


def release(key: str) -> Response:
    """Lets a device take work again."""
    with acting(f"{key} takes work again.") as (writer, actor):
        release_device(writer, actor, find_device(writer, key), now=services().clock())
    return redirect(url_for("admin.queue"), 303)


def find_device(session: Session, key: str) -> Device:
    """Returns the device. Raises Problem 404."""
    device = session.get(Device, key)
    if device is None:
        raise Problem(404, "not_found", f"No worker has offered a device “{key[:100]}”.")
    return device
