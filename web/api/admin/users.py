"""API endpoints for operators: accounts."""

from __future__ import annotations

from store.models import Role, User
from store.operation.administration import make_reset_link, restore_user, search_users, set_role, suspend_user
from store.people.merging import merge_user
from web.accounts.recovery import base_url
from web.admin.users import require_user
from web.api.admin import schemas
from web.api.admin.acting import TAG, acting
from web.api.auth import admin_token_required
from web.api.spec import operation
from web.problems import Problem
from web.services import reader, services


@admin_token_required
@operation(schemas.UserList, 422, tag=TAG)
def admin_list_users(query: schemas.UserQuery) -> schemas.UserList:
    """Finds users by a part of their names or addresses."""
    return schemas.UserList(users=[_user(user) for user in search_users(reader(), query.q)])


@admin_token_required
@operation(schemas.OperatedUser, 400, 404, 409, 413, 415, 422, tag=TAG)
def admin_update_role(username: str, json: schemas.RoleRequest) -> schemas.OperatedUser:
    """Gives a user a role."""
    with acting() as (writer, actor):
        user = require_user(writer, username)
        set_role(writer, actor, user, Role(json.role), now=services().clock())
        return _user(user)


@admin_token_required
@operation(schemas.OperatedUser, 400, 404, 409, 413, 415, 422, tag=TAG)
def admin_suspend_user(username: str, json: schemas.Reason) -> schemas.OperatedUser:
    """Suspends an account: its sessions end, and its tokens and password do nothing until it is restored."""
    with acting() as (writer, actor):
        user = require_user(writer, username)
        suspend_user(writer, actor, user, json.reason, now=services().clock())
        return _user(user)


@admin_token_required
@operation(schemas.OperatedUser, 404, tag=TAG)
def admin_restore_user(username: str) -> schemas.OperatedUser:
    """Ends a suspension."""
    with acting() as (writer, actor):
        user = require_user(writer, username)
        restore_user(writer, actor, user, now=services().clock())
        return _user(user)


@admin_token_required
@operation(schemas.ResetLink, 400, 404, 409, 413, 415, 422, tag=TAG)
def admin_create_reset_link(username: str, json: schemas.ResetLinkRequest) -> schemas.ResetLink:
    """Makes a link by which a user chooses a new password."""
    with acting() as (writer, actor):
        user = require_user(writer, username)
        text = make_reset_link(writer, actor, user, second_factor=json.second_factor, now=services().clock())
    return schemas.ResetLink(url=f"{base_url()}/account/reset/{text}")


@admin_token_required
@operation(schemas.Merged, 400, 404, 409, 413, 415, 422, tag=TAG)
def admin_merge_users(username: str, json: schemas.MergeRequest) -> schemas.Merged:
    """Merges an account into another one of the same person, and closes it. This cannot be undone.

    Submissions with their places, drafts and memberships go over; password, address, tokens and sessions go.
    """
    if json.sure.casefold() != username.casefold():
        raise Problem(422, "invalid", "sure repeats the name of the account that ends: this cannot be undone.")
    with acting() as (writer, actor):
        user, into = require_user(writer, username), require_user(writer, json.into)
        went = merge_user(writer, actor, user, into, now=services().clock())
        return schemas.Merged(
            username=into.username,
            submissions=went.submissions,
            boards=went.boards,
            drafts=went.drafts,
            classes=went.classes,
            contests=went.contests,
        )


def _user(user: User) -> schemas.OperatedUser:
    return schemas.OperatedUser(
        username=user.username,
        email=user.email,
        role=user.role,
        state="closed" if not user.is_active else "suspended" if user.suspended_at else "active",
        suspension=user.suspension,
        created_at=user.created_at,
    )
