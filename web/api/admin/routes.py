"""API endpoints for operators: what the pages under ``/admin`` do, by a token with the scope ``admin``.

Each action is recorded in the operators' log, and answers with what it changed. One that is not possible answers 409.
"""

from __future__ import annotations

from flask import Blueprint

from web.api.admin import devices, site, submissions, users


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    for method, rule, view in (
        ("GET", "/queue", devices.show_queue),
        ("GET", "/devices", devices.show_devices),
        ("GET", "/devices/<key>/calibrations", devices.show_calibrations),
        ("POST", "/devices/<key>/hold", devices.hold),
        ("POST", "/devices/<key>/release", devices.release),
        ("GET", "/users", users.show_users),
        ("POST", "/users/<username>/role", users.change_role),
        ("POST", "/users/<username>/suspend", users.suspend),
        ("POST", "/users/<username>/restore", users.restore),
        ("POST", "/users/<username>/reset-link", users.reset_link),
        ("POST", "/users/<username>/merge", users.merge),
        ("GET", "/submissions", submissions.show_submissions),
        ("POST", "/submissions/<public_id>/cancel", submissions.cancel_submission),
        ("POST", "/submissions/<public_id>/rejudge", submissions.rejudge_submission),
        ("POST", "/submissions/<public_id>/off-board", submissions.off_board),
        ("POST", "/submissions/<public_id>/on-board", submissions.on_board),
        ("GET", "/challenges", submissions.show_challenges),
        ("POST", "/challenges/<slug>/rejudge", submissions.rejudge_challenge),
        ("GET", "/notices", site.show_notices),
        ("POST", "/notices", site.make_notice),
        ("POST", "/notices/<int(max=2147483647):number>/end", site.stop_notice),
        ("GET", "/settings", site.show_settings),
        ("PUT", "/settings/<name>", site.put_setting),
        ("DELETE", "/settings/<name>", site.delete_setting),
        ("GET", "/log", site.show_log),
    ):
        blueprint.add_url_rule(f"/admin{rule}", f"admin_{view.__name__}", view, methods=[method])
