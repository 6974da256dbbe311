"""API endpoints for operators: what the pages under ``/admin`` do, by a token with the scope ``admin``.

Each action is recorded in the operators' log, and answers with what it changed. One that is not possible answers 409.
"""

from __future__ import annotations

from flask import Blueprint

from web.api.admin import devices, site, submissions, users


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    for method, rule, view in (
        ("GET", "/queue", devices.admin_get_queue),
        ("GET", "/devices", devices.admin_list_devices),
        ("GET", "/devices/<key>/calibrations", devices.admin_list_calibrations),
        ("POST", "/devices/<key>/hold", devices.admin_hold_device),
        ("POST", "/devices/<key>/release", devices.admin_release_device),
        ("GET", "/users", users.admin_list_users),
        ("POST", "/users/<username>/role", users.admin_update_role),
        ("POST", "/users/<username>/suspend", users.admin_suspend_user),
        ("POST", "/users/<username>/restore", users.admin_restore_user),
        ("POST", "/users/<username>/reset-link", users.admin_create_reset_link),
        ("POST", "/users/<username>/merge", users.admin_merge_users),
        ("GET", "/submissions", submissions.admin_list_submissions),
        ("POST", "/submissions/<public_id>/cancel", submissions.admin_cancel_submission),
        ("POST", "/submissions/<public_id>/rejudge", submissions.admin_rejudge_submission),
        ("POST", "/submissions/<public_id>/off-board", submissions.admin_take_off_board),
        ("POST", "/submissions/<public_id>/on-board", submissions.admin_put_on_board),
        ("GET", "/challenges", submissions.admin_list_challenges),
        ("POST", "/challenges/<slug>/rejudge", submissions.admin_rejudge_challenge),
        ("GET", "/notices", site.admin_list_notices),
        ("POST", "/notices", site.admin_create_notice),
        ("POST", "/notices/<int(max=2147483647):number>/end", site.admin_end_notice),
        ("GET", "/settings", site.admin_list_settings),
        ("PUT", "/settings/<name>", site.admin_update_setting),
        ("DELETE", "/settings/<name>", site.admin_reset_setting),
        ("GET", "/log", site.admin_list_actions),
    ):
        blueprint.add_url_rule(f"/admin{rule}", f"admin_{view.__name__}", view, methods=[method])
