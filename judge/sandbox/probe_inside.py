"""The script that ``probe`` runs inside a jail.

``probe_inside.py ATTEMPT`` tries one thing and reports what happened.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import mmap
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_CLONE_NEWUSER, _CLONE_NEWNS, _PR_SET_TIMERSLACK = 0x10000000, 0x00020000, 29
_libc = ctypes.CDLL(None, use_errno=True)


_PRIVATE = (
    "/etc/passwd",
    "/etc/shadow",
    "/etc/hostname",
    "/home",
    "/var",
    "/run",
    "/sys/class",
    "/boot",
    "/.dockerenv",
    "/proc/1/root/etc/passwd",
    "/proc/1/environ",
)
_FIXED = ("/x", "/etc/x", "/usr/x", "/dev/x", "/proc/sys/kernel/hostname")


def surroundings() -> None:
    """Reports this process's user, what it can read and write, and its environment."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    print(
        json.dumps(
            {
                "uid": os.getuid(),
                "capabilities": int(status["CapEff"], 16) | int(status["CapPrm"], 16),
                "no_new_privs": status["NoNewPrivs"].strip() == "1",
                "readable": [path for path in _PRIVATE if _readable(path)],
                "writable": [path for path in (*_FIXED, f"{sys.base_prefix}/x") if _writable(path)],
                "etc": [path.name for path in Path("/etc").iterdir()],
                "environment": list(os.environ),
                "tmp_bytes": _fill("/tmp/fill"),  # noqa: S108 (the jail's own)
                "processes": sum(path.name.isdigit() for path in Path("/proc").iterdir()),
            }
        )
    )


def network(port: str) -> None:
    """Reports which addresses answer: the host's loopback, where the probe listens on ``port``, and two outside."""
    addresses = [("127.0.0.1", int(port)), ("192.0.2.1", 80), ("1.1.1.1", 53)]
    interfaces = [line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]]
    reached = [f"{host}:{at}" for host, at in addresses if _reaches((host, at))]
    print(json.dumps({"reached": reached, "interfaces": interfaces}))


def _readable(path: str) -> bool:
    try:
        return any(Path(path).iterdir()) if Path(path).is_dir() else bool(Path(path).read_bytes())
    except OSError:
        return False


def _writable(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
    except OSError:
        return False
    return True


def _reaches(address: tuple[str, int]) -> bool:
    try:
        with socket.create_connection(address, timeout=0.5):
            return True
    except OSError:
        return False


def _fill(path: str) -> int:
    written = 0
    with contextlib.suppress(OSError), Path(path).open("wb", buffering=0) as file:
        while written < 64 << 20:
            written += file.write(bytes(1 << 20))
    with contextlib.suppress(OSError):
        Path(path).unlink()
    return written


def system_calls() -> None:
    """Makes each attempt in a child process and reports how it ended."""
    from judge.runner import seccomp

    parent = os.getpid()

    def after(*locks: Callable[[], None]) -> Callable[[Callable[[], object]], Callable[[], object]]:
        def wrap(attempt: Callable[[], object]) -> Callable[[], object]:
            def run() -> object:
                for lock in locks:
                    lock()
                return attempt()

            return run

        return wrap

    locked = after(seccomp.lock_before_load)
    settled = after(seccomp.lock_before_load, seccomp.lock_scheduling)
    loaded = after(seccomp.lock_before_load, seccomp.lock_after_load)

    attempts: dict[str, Callable[[], object]] = {
        "ptrace": lambda: _libc.ptrace(0, 0, 0, 0),
        "process_vm_readv": lambda: _call(_libc.syscall, 310, parent, None, 0, None, 0, 0),
        "unshare": lambda: _call(_libc.unshare, _CLONE_NEWUSER),
        "setns": lambda: _call(_libc.syscall, 308, 0, 0),
        "mount": lambda: _call(_libc.mount, b"none", b"/tmp", b"tmpfs", 0, None),
        "io_uring": lambda: _call(_libc.syscall, 425, 1, None),
        "bpf": lambda: _call(_libc.syscall, 321, 0, None, 0),
        "keyctl": lambda: _call(_libc.syscall, 250, 0, 0, 0),
        "userfaultfd": lambda: _call(_libc.syscall, 323, 0),
        "new namespace by clone": lambda: _call(_libc.syscall, 56, _CLONE_NEWNS | signal.SIGCHLD, 0, 0, 0, 0),
        "internet socket": lambda: socket.socket(socket.AF_INET),
        "fork once locked": locked(os.fork),
        "exec once locked": locked(lambda: os.execv("/bin/true", ["true"])),
        "socket once locked": locked(lambda: socket.socket(socket.AF_INET)),
        "kill of others once locked": locked(lambda: os.kill(parent, signal.SIGTERM)),
        "own memory file once locked": locked(lambda: os.open("/proc/self/mem", os.O_RDWR)),
        "thread once locked": locked(_start_thread),
        "anonymous code once locked": locked(lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)),
        "file in memory once locked": locked(lambda: os.memfd_create("code")),
        "other processor once settled": settled(lambda: os.sched_setaffinity(0, os.sched_getaffinity(0))),
        "priority once settled": settled(lambda: os.nice(1)),
        "timer slack once settled": settled(lambda: _call(_libc.prctl, _PR_SET_TIMERSLACK, 1, 0, 0, 0)),
        "code from a file once loaded": loaded(_map_code),
    }
    print(json.dumps({name: _outcome(attempt) for name, attempt in attempts.items()}))


def _call(function: Any, *arguments: Any) -> None:
    if function(*arguments) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _map_code() -> None:
    with Path(sys.executable).open("rb") as file:
        mmap.mmap(file.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)


def files_once_restricted() -> None:
    """Reports which files can be opened before and after Landlock; null where the kernel has none."""
    from judge.wire import landlock

    wanted = ("/proc/self/maps", "/proc/self/mem", "/tmp/x", "/dev/shm/x", "/usr/x")  # noqa: S108 (the jail's own)
    before = [path for path in wanted if _readable(path) or _writable(path)]
    if not landlock.restrict_runner():
        print("null")
        return
    after = [path for path in wanted if _readable(path) or _writable(path)]
    library = _readable(next(str(path) for path in Path("/usr/lib").rglob("libc.so.6")))
    print(json.dumps({"before": before, "after": after, "library": library}))


def _start_thread() -> None:
    try:
        threading.Thread(target=lambda: None).start()
    except RuntimeError:  # Python's word for any failure of pthread_create
        raise OSError(errno.EPERM, "no thread") from None


def _outcome(attempt: Callable[[], object]) -> str:
    """Returns the signal that killed the attempt (``SIGSYS``), its error (``EPERM``), or ``allowed``."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            attempt()
            said = "allowed"
        except OSError as error:
            said = errno.errorcode.get(error.errno or 0, str(error))
        except BaseException as error:
            said = repr(error)
        os.write(write_end, said.encode())
        os._exit(0)
    os.close(write_end)
    _, status = os.waitpid(child, 0)
    with os.fdopen(read_end) as reader:
        said = reader.read()
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else said


def burn() -> None:
    """Uses a processor until it is stopped."""
    while True:
        pass


def fork_bomb() -> None:
    """Forks until refused and prints the number of processes."""
    made = 1
    with contextlib.suppress(OSError):
        while made < 4096:
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
            made += 1
    print(made, flush=True)
    os._exit(0)


def fill_memory() -> None:
    """Allocates and writes memory until stopped, printing the bytes so far."""
    taken: list[bytes] = []
    try:
        while len(taken) < 128:
            taken.append(b"x" * (16 << 20))
            print(len(taken) * (16 << 20), flush=True)
    except MemoryError:
        print("MemoryError", flush=True)


def leave_behind(_token: str) -> None:
    """Starts a daemon with a session of its own, and waits."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            print("ready", flush=True)
            time.sleep(60)
        os._exit(0)
    time.sleep(60)


def gpu_nodes() -> None:
    """Reports the device nodes of GPUs inside."""
    print(json.dumps([path.name for path in Path("/dev").iterdir() if path.name.startswith(("nvidia", "dri", "kfd"))]))


def start_cuda() -> None:
    """Prints the result of cuInit and the number of devices."""
    cuda = ctypes.CDLL("libcuda.so.1")
    count = ctypes.c_int(-1)
    result = cuda.cuInit(0)
    cuda.cuDeviceGetCount(ctypes.byref(count))
    print(result, count.value, flush=True)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
