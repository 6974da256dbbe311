"""The real worker process, with the judge of tests. ``python -m ... {build,device,gpu,sweeper} DIARY``."""

import dataclasses
import sys
from functools import partial
from pathlib import Path

from logs import LogSettings, configure_logging
from store.settings import Settings
from tests.fake_judge import EMULATOR, GPU, FakeJudge, FakePack
from workers.app import make_app, serve
from workers.context import make_context
from workers.device import Presence
from workers.job_loop import JobLoop
from workers.lease_keeper import LeaseKeeper
from workers.main import run_sweeper
from workers.turns import build_or_help_one, run_or_help_one


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
            serve(make_app(settings), JobLoop(context, partial(build_or_help_one, context)), device_key=None)
        else:
            device = GPU if kind == "gpu" else EMULATOR
            Presence(context, device).start()
            work = partial(run_or_help_one, context, device)
            serve(make_app(settings), JobLoop(context, work), device_key=device.key)
    context.traces.close()
    context.engine.dispose()


if __name__ == "__main__":
    main(*sys.argv[1:])
