"""A worker process for tests: the real one, with the judge of tests. ``python -m ... {build,device,sweeper} DIARY``."""

import sys
from functools import partial
from pathlib import Path

from store.logs import configure_logging
from store.settings import Settings
from tests.fake_judge import EMULATOR, FakeJudge, FakePack
from workers.app import make_app, serve
from workers.build import build_one
from workers.context import make_context
from workers.device import Presence, run_or_audit_one
from workers.main import run_sweeper
from workers.shift import Shift


def main(kind: str, diary: str) -> None:
    settings = Settings()
    configure_logging(settings, process=kind)
    pack = FakePack()
    context = make_context(settings, judge=FakeJudge(Path(diary)), packs={pack.slug: pack})  # type: ignore[dict-item]
    if kind == "build":
        serve(make_app(settings), Shift(context, partial(build_one, context)), device_key=None)
    elif kind == "device":
        Presence(context, EMULATOR).start()
        serve(make_app(settings), Shift(context, partial(run_or_audit_one, context, EMULATOR)), device_key="emulator")
    else:
        run_sweeper(context)
    context.engine.dispose()


if __name__ == "__main__":
    main(*sys.argv[1:])
