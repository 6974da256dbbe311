"""Decides which user names may be taken: neither reserved ones nor ones that look like somebody else's."""

from __future__ import annotations

import re

USERNAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{1,31}")
#: What a closed account is called: this, and its number.
DELETED_PREFIX = "deleted-"

_RESERVED = (
    *("about", "account", "admin", "administrator", "anonymous", "api", "contest", "deleted", "everybody", "gpujudge"),
    *("guest", "help", "info", "judge", "mail", "me", "moderator", "mod", "nobody", "none", "null", "official"),
    *("operator", "owner", "postmaster", "root", "security", "staff", "superuser", "support", "sysadmin", "system"),
    *("teacher", "undefined", "user", "webmaster"),
)
#: Characters that fonts draw alike, after names are folded to lower case. Pairs come before single ones.
_ALIKE = (("rn", "m"), ("vv", "w"), ("1", "l"), ("i", "l"), ("0", "o"))


def skeleton(username: str) -> str:
    """Returns a text that is the same for names that look the same: that of ``Ad4m1n`` is that of ``ad4min``.

    Follows Unicode's UTS 39 for the characters that a name may have.
    """
    text = username.casefold()
    for seen, stands_for in _ALIKE:
        text = text.replace(seen, stands_for)
    return text


_RESERVED_SKELETONS = frozenset(skeleton(name) for name in _RESERVED)


def is_reserved(username: str) -> bool:
    """Returns whether a name is reserved, or looks like a reserved one."""
    bare = re.sub(r"[_.-]", "", username)
    return skeleton(bare) in _RESERVED_SKELETONS or username.casefold().startswith(DELETED_PREFIX)
