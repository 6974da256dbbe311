"""The entry point of ``gpujudge``: runs a command, and ends with an exit code and one message, whatever happens.

No traceback is ever shown, unless GPUJUDGE_TRACEBACK is set. Imports nothing of ours before it can report an error.
"""

from __future__ import annotations

import gc
import os
import sys

#: Imports make many objects and hardly any garbage: looking for it every 700 objects takes a twentieth of a judgement.
_NEW_OBJECTS = 50_000
#: Nobody reads what is written. Typer ends with the same.
_CLOSED_PIPE = 1
_INTERRUPTED = 130
#: The commands that judge.
_JUDGING = {"judge", "compare"}


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    gc.set_threshold(_NEW_OBJECTS)
    # Pydantic would look for plugins in the metadata of everything that is installed.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        code = _run(sys.argv[1:])
        _flush()
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        code = _CLOSED_PIPE
    except OSError as error:  # of the flush: a full disk
        _discard_output()
        code = _complain(f"error: cannot write the output: {error.strerror or error}")
    if code == _INTERRUPTED:
        _ignore_interrupts()
    # Python's end would search all that was imported for garbage.
    gc.freeze()
    sys.exit(code)


def _run(argv: list[str]) -> int:
    try:
        if sys.stdout is None:
            return _complain("error: stdout is closed: where should the output go?")
        _start_ahead(argv)
        from cli.app import app
        from cli.console import start_afresh

        start_afresh()
        code = app(argv, prog_name="gpujudge", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        raise
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            _ignore_interrupts()
        if isinstance(error, SystemExit):
            return error.code if isinstance(error.code, int) else 1
        if os.environ.get("GPUJUDGE_TRACEBACK"):
            raise
        from cli.report import report

        return report(error, argv)


def _start_ahead(argv: list[str]) -> None:
    """Starts the slowest steps of a judgement on another processor, before this one imports anything else."""
    # A batch judges in processes of its own.
    others = {"--help", "-h", "--jsonl", "--stream"}
    if not _JUDGING.intersection(argv[:1]) or others.intersection(argv):
        return
    from cli.extras import is_installed

    if not is_installed("numpy"):
        return
    # Here NumPy multiplies no matrices, and its threads would wait for some in a busy loop.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from judge.packs.isolation.fork_server import start_early

    start_early()


def _complain(message: str) -> int:
    """Prints to stderr, which may be closed or full as well."""
    if sys.stderr is not None:
        try:
            sys.stderr.write(f"{message}\n")
            sys.stderr.flush()
        except OSError:
            pass
    return 1


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _discard_output() -> None:
    """Discards the buffers' content: Python would complain of it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)


def _ignore_interrupts() -> None:
    """A second Ctrl-C while the process ends would print a traceback."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    main()
