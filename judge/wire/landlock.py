"""Landlock: restricts by path what a process may open. The runner applies it once its device is up.

Only the standard library is imported. The restriction binds the calling thread and the threads it starts, but not the
device's existing threads: it is an additional wall, not one to rely on. Open files stay open. Kernels have Landlock
from 5.13 on, where it is switched on.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

# From linux/landlock.h and asm/unistd_64.h.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH, _PR_SET_NO_NEW_PRIVS = 1, 1, 38
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_REMOVE_FOLDER, _REMOVE_FILE, _MAKE_FOLDER, _MAKE_FILE, _TRUNCATE = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 14
#: The rights that each version of the interface added; 16 (of the fifth) is left out: devices need their ioctls.
_RIGHTS_OF_VERSION = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14}


def version() -> int:
    """Returns the version of the kernel's interface, 0 where there is none."""
    found = int(_libc().syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG))
    return max(found, 0)


def restrict(readable: Iterable[str], usable: Iterable[str] = (), folders: Iterable[str] = ()) -> bool:
    """Lets this thread use what is below these paths, and no other files.

    It may read and execute what is below ``readable``, read and write ``usable``, and make, write and remove files
    below ``folders``.

    Returns False, with nothing done, where the kernel has no Landlock. Raises OSError where the kernel refuses.
    """
    have = version()
    if have < 1:
        return False
    handled = sum(rights for since, rights in _RIGHTS_OF_VERSION.items() if since <= have)
    libc = _libc()
    rules = struct.pack("<Q", handled)
    ruleset = _checked(libc.syscall(_CREATE_RULESET, rules, len(rules), 0), "landlock_create_ruleset")
    try:
        for path in readable:
            _allow(libc, ruleset, path, _EXECUTE | _READ_FILE | _READ_DIR)
        for path in usable:
            _allow(libc, ruleset, path, _READ_FILE | _WRITE_FILE)
        for path in folders:
            changing = _WRITE_FILE | _TRUNCATE | _MAKE_FILE | _REMOVE_FILE | _MAKE_FOLDER | _REMOVE_FOLDER
            _allow(libc, ruleset, path, (_READ_FILE | _READ_DIR | changing) & handled)
        _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(PR_SET_NO_NEW_PRIVS)")
        _checked(libc.syscall(_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    finally:
        os.close(ruleset)
    return True


def restrict_runner() -> bool:
    """Allows a runner whose device is up its needs: code, libraries, files that drivers read, GPU nodes.

    It allows no ``/proc``, and no writing.
    """
    folders = ["/usr", "/lib", "/lib32", "/lib64", "/bin", "/etc", "/sys", sys.prefix, sys.base_prefix, *sys.path]
    folders += os.environ.get("LD_LIBRARY_PATH", "").split(":")
    nodes = [str(path) for path in Path("/dev").iterdir() if path.name.startswith("nvidia")]
    return restrict(
        [folder for folder in folders if folder.startswith("/")],
        [*nodes, "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"],
    )


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not stat.S_ISDIR(os.fstat(handle).st_mode):
                rights &= ~_READ_DIR
            rule = struct.pack("<Qi", rights, handle)
            _checked(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0), f"landlock_add_rule({path})")
        finally:
            os.close(handle)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result
