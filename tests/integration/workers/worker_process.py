"""A worker process for tests: the real one, with the judge of tests. ``python -m ... {build,device,sweeper} DIARY``."""

import dataclasses
import sys
from functools import partial
from pathlib import Path

from logs import LogSettings, configure_logging
from store.settings import Settings
from tests.fake_judge import EMULATOR, FakeJudge, FakePack
from workers.app import make_app, serve
from workers.assembly import build_or_assemble_one
from workers.context import make_context
from workers.device import Presence, run_or_audit_one
from workers.job_loop import JobLoop
from workers.lease_keeper import LeaseKeeper
from workers.main import run_sweeper


def main(kind: str, diary: str) -> None:
    settings = Settings()
    configure_logging(LogSettings(), process=kind)
    pack = FakePack()
    context = make_context(settings, judge=FakeJudge(Path(diary)), packs={pack.slug: pack}, process=kind)  # type: ignore[dict-item]
    if kind == "sweeper":
        run_sweeper(context)
        return
    with LeaseKeeper() as keeper:
        context = dataclasses.replace(context, keeper=keeper)
        if kind == "build":
            serve(make_app(settings), JobLoop(context, partial(build_or_assemble_one, context)), device_key=None)
        else:
            Presence(context, EMULATOR).start()
            work = partial(run_or_audit_one, context, EMULATOR)
            serve(make_app(settings), JobLoop(context, work), device_key="emulator")
    context.traces.close()
    context.engine.dispose()


if __name__ == "__main__":
    main(*sys.argv[1:])
