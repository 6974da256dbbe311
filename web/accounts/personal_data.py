"""The export of all of one's data, and the closing of an account."""

from __future__ import annotations

import tempfile

from flask import Blueprint, flash, redirect, send_file, session, url_for
from flask_login import logout_user
from werkzeug.wrappers import Response

from store.models import User
from store.people.personal_data import close_account, write_export
from web.accounts.account_page import account_page
from web.accounts.credentials import check_credentials
from web.accounts.forms import CloseForm
from web.accounts.visitor import login_required, require_visitor
from web.rate_limits import limit_log_ins
from web.services import reader, services, transaction

#: A larger archive is written to disk.
_MEMORY_BYTES = 8 << 20


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the blueprint of accounts."""
    blueprint.add_url_rule("/export", view_func=export_data)
    blueprint.add_url_rule("/close", view_func=close, methods=["POST"])


@login_required
def export_data() -> Response:
    """Sends an archive of all that is stored of the visitor."""
    visitor = require_visitor()
    file = tempfile.SpooledTemporaryFile(max_size=_MEMORY_BYTES)  # noqa: SIM115  # the response closes it
    write_export(reader(), user=reader().get_one(User, visitor.id), file=file)
    file.seek(0)
    name = f"gpujudge-{visitor.username}.zip"
    return send_file(file, mimetype="application/zip", as_attachment=True, download_name=name)


@login_required
@limit_log_ins
def close() -> Response | tuple[str, int]:
    """Closes the account for good. Needs its name, and the password if there is one."""
    form, visitor = CloseForm(), require_visitor()
    if not form.validate_on_submit():
        return account_page(close_form=form), 422
    if form.confirm_name.data.strip().casefold() != visitor.username.casefold():
        form.confirm_name.errors = (f"Type {visitor.username} to close this account.",)
        return account_page(close_form=form), 422
    user = reader().get_one(User, visitor.id)
    if user.password_hash is not None and check_credentials(visitor.username, form.close_password.data) is None:
        form.close_password.errors = ("That is not your password.",)
        return account_page(close_form=form), 422
    with transaction() as writer:
        close_account(writer, user=writer.get_one(User, visitor.id), now=services().clock())
    logout_user()
    session.clear()
    flash("Your account is closed, and your sources are deleted.", "success")
    return redirect(url_for("challenges.index"))
