"""Renders the account page, which several modules change a part of."""

from __future__ import annotations

from typing import Any

from flask import render_template, request

from store.models import User
from store.people import accounts, identities, sessions
from web.accounts.forms import CloseForm, EmailForm, PasswordForm, SecondFactorOffForm, TokenForm
from web.accounts.visitor import require_visitor
from web.services import reader, services
from web.site import site_settings

#: The page's forms, by their names in the template.
_FORMS: dict[str, Any] = {
    "token_form": TokenForm,
    "password_form": PasswordForm,
    "email_form": EmailForm,
    "factor_form": SecondFactorOffForm,
    "close_form": CloseForm,
}


def account_page(**given: Any) -> str:
    """Renders the account page. ``given`` are forms with errors, which take the place of empty ones."""
    visitor, now = require_visitor(), services().clock()
    user = reader().get_one(User, visitor.id)
    empty = {name: form(formdata=None) for name, form in _FORMS.items() if name not in given}
    return render_template(
        "accounts/settings.html",
        account=user,
        email_mode=site_settings().email,
        tokens=accounts.list_tokens(reader(), user=user),
        sessions=sessions.list_sessions(reader(), user_id=visitor.id, now=now),
        identities=identities.list_identities(reader(), user_id=user.id),
        here_id=visitor.session_id,
        now=now,
        server=request.url_root.rstrip("/"),
        **empty,
        **given,
    )
