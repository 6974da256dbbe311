"""The jail that compilers run in, and the files in memory by which sources go in and results come out."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import posixpath
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence

from judge.compile.source_files import MAIN, SUPPLIED, split_files
from judge.compile.toolchain import INSIDE, Toolchain
from judge.errors import InternalError
from judge.sandbox.bind import Bind
from judge.sandbox.launch import Output, run_to_end
from judge.sandbox.policy import Policy, build_policy
from judge.settings import JudgeSettings

HOST_PATH = "/usr/local/bin:/usr/bin:/bin"


def compiler_policy(
    toolchain: Toolchain, settings: JudgeSettings, folder: str, *, binds: Sequence[Bind] = ()
) -> Policy:
    """Returns the jail of a compiler that works in ``folder``. ``binds`` are shown beside the toolkit."""
    inside = INSIDE if settings.jail != "off" else str(toolchain.root)
    env = {"PATH": f"{inside}/bin:{HOST_PATH}", "TMPDIR": folder}
    policy = build_policy(settings.build, binds=[Bind(toolchain.root, INSIDE), *binds], env=env, jail=settings.jail)
    return dataclasses.replace(policy, cwd=folder)


@contextlib.contextmanager
def workplace(settings: JudgeSettings) -> Iterator[str]:
    """Yields the folder to compile in: the jail's own tmpfs, or a temporary folder without a jail."""
    if settings.jail != "off":
        yield "/tmp"  # noqa: S108 (the jail's own)
        return
    folder = tempfile.mkdtemp(prefix="gpujudge-build-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_script(policy: Policy, script: str, settings: JudgeSettings, descriptors: Sequence[int]) -> Output:
    """Runs a shell script of the judge's own in the jail, with the build's limits and these descriptors open."""
    with contextlib.ExitStack() as stack:
        script_fd = memory_file(stack, "script", script.encode())
        return run_to_end(
            policy,
            ["/bin/sh", f"/proc/self/fd/{script_fd}"],
            wall_s=settings.build.wall_s,
            output_bytes=4 * settings.build.log_bytes,
            pass_fds=(*descriptors, script_fd),
        )


def require_work(output: Output) -> None:
    """Raises InternalError where a compiler ran out of time because the machine let it wait, not because it worked."""
    spent_s = output.exit.wall_s
    if output.starved:
        raise InternalError(
            f"the machine is too busy: the compiler had no processor for most of {spent_s:.0f} s",
            "run fewer workers on this machine, or move other work elsewhere",
        )
    if output.idled:
        raise InternalError(
            f"the compiler computed for {output.exit.cpu_s or 0:.0f} s of {spent_s:.0f} s and waited for the rest",
            "is a disk slow, or was the compiler stopped? see dmesg",
        )


def memory_file(stack: contextlib.ExitStack, name: str, data: bytes) -> int:
    """Returns a descriptor of ``data`` in memory, at its beginning. ``stack`` closes it."""
    fd = os.memfd_create(f"build-{name}")
    stack.callback(os.close, fd)
    with os.fdopen(os.dup(fd), "wb") as handle:
        handle.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def place_sources(stack: contextlib.ExitStack, source: bytes, header: str) -> tuple[tuple[int, ...], str]:
    """Returns descriptors, and the command that makes files of them: those of the source, and the judge's header."""
    main, *headers = split_files(source)
    given = {MAIN: main.content, SUPPLIED: header.encode(), **{file.name: file.content for file in headers}}
    descriptors = tuple(memory_file(stack, "source", content) for content in given.values())
    folders = sorted({posixpath.dirname(name) for name in given} - {""})
    commands = [f"mkdir -p {shlex.quote(folder)}" for folder in folders]
    commands += [f"cat /proc/self/fd/{fd} >{shlex.quote(name)}" for fd, name in zip(descriptors, given, strict=True)]
    return descriptors, " && ".join(commands)


def contents(fd: int, limit_bytes: int) -> bytes:
    """Returns the content of a descriptor, without moving in it."""
    return os.pread(fd, min(limit_bytes, os.fstat(fd).st_size), 0)
