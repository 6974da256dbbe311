"""The checks of ``gpujudge doctor``: what judging needs, tried for real, with a remedy for each failure."""

from __future__ import annotations

import importlib
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cli import stack
from cli.errors import CliError
from records import dataclass

if TYPE_CHECKING:
    from judge.probe import Probe
    from judge.settings import JudgeSettings
    from store.settings import Settings
    from web.settings import WebSettings

_DISK_BYTES = 2 << 30
_CHALLENGES = Path(__file__).resolve().parent.parent / "challenges"
#: A right answer to vector-add.
_KERNEL = b"""__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}
extern "C" void solve(const float* A, const float* B, float* C, int N) { add<<<(N + 255) / 256, 256>>>(A, B, C, N); }
"""


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check. If a ``required`` one fails, kernels cannot be judged.

    ``toolchain`` marks checks of the compilers: their failure prevents judging but is no security risk. A ``warning``
    prevents nothing, and is shown with its remedy.
    """

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    required: bool = True
    toolchain: bool = False
    warning: bool = False


def essential_checks(settings: JudgeSettings) -> Iterator[Check]:
    """Checks the compilers and the walls of the jail, which every judgement needs."""
    yield from _attempt("nvcc and g++", lambda: [_toolchain(settings)])
    yield from _attempt("jail", lambda: _jail(settings, "walls"))


def judge_checks(settings: JudgeSettings) -> Iterator[Check]:
    """Checks everything that the engine needs, and then judges a kernel, unless something is lacking already."""
    kinds = importlib.import_module("judge.kinds").KINDS
    # What needs no GPU judges the kernel.
    needed = {name for name, kind in kinds.items() if not kind.is_real}
    lacks = False
    for check in _parts(settings):
        yield check
        lacks |= not check.ok and (check.required or check.name in needed)
    if not lacks:
        yield from _attempt("judging", lambda: [_judging(settings)])


def _parts(settings: JudgeSettings) -> Iterator[Check]:
    version = platform.python_version()
    yield Check("Python", sys.version_info >= (3, 11), f"{version} in {sys.prefix}", "Python 3.11 or newer is needed.")
    yield from _attempt("nvcc and g++", lambda: [_toolchain(settings)])
    yield from _attempt("jail", lambda: _jail(settings, "probes"))
    yield from _attempt("languages", _languages, required=False)
    yield from _devices(settings)
    yield from _attempt("data folder", lambda: [_data_folder(settings.data_dir)])
    yield from _attempt("disk", lambda: [_disk(settings.data_dir)])


def _judging(settings: JudgeSettings) -> Check:
    """Judges a kernel on the emulator as any other is judged: what no part shows by itself shows here."""
    pipeline = importlib.import_module("judge.pipeline")
    accepted = importlib.import_module("judge.verdict").Verdict.ACCEPTED
    threads = importlib.import_module("judge.processors").emulator_threads(settings)
    pack = importlib.import_module("judge.packs.collection.loader").load_pack(_CHALLENGES / "vector-add")
    device = importlib.import_module("judge.backends.registry").BUILTIN_BACKENDS.find_device("emulator", settings)
    judgement = pipeline.judge(_KERNEL, pack, device, 1, settings)
    how = f"a kernel was judged in {judgement.wall_s:.1f} s, by the emulator on up to {threads} threads"
    if judgement.verdict is accepted:
        return Check("judging", True, how)
    detail = f"a right kernel got {judgement.verdict} on the emulator ({threads} threads): {judgement.message}"
    return Check("judging", False, detail, "Try GPUJUDGE_EMULATOR_THREADS=1, and look at the limits of this user.")


def server_checks(settings: WebSettings) -> Iterator[Check]:
    """Checks the port, the database, the broker and the packs."""
    yield from _attempt("port", lambda: [_port(settings)])
    yield from _attempt("database", lambda: [_database(settings)])
    yield from _attempt("broker", lambda: [_broker(settings)])
    yield from _attempt("challenges", lambda: _packs(settings))


def _attempt(name: str, run_checks: Callable[[], Iterable[Check]], *, required: bool = True) -> Iterator[Check]:
    """Runs checks and yields their results. An exception becomes a failed check, so that the others still run."""
    try:
        yield from run_checks()
    except Exception as error:
        yield Check(name, False, f"could not be checked: {type(error).__name__}: {error}", required=required)


def _toolchain(settings: JudgeSettings) -> Check:
    module = importlib.import_module("judge.compile.toolchain")
    missing = importlib.import_module("judge.errors").ToolchainMissing
    try:
        found = module.find_toolchain(settings.nvcc)
    except missing as error:
        return Check("nvcc and g++", False, error.message, error.remedy, toolchain=True)
    return Check("nvcc and g++", True, f"CUDA {found.version} in {found.root}; {found.gxx_version}")


def _jail(settings: JudgeSettings, which: str) -> Iterator[Check]:
    if settings.jail == "off":
        detail = "switched off by GPUJUDGE_JAIL=off: submissions can do whatever you can"
        yield Check(
            "jail", True, detail, "Judge your own code only, or unset GPUJUDGE_JAIL.", required=False, warning=True
        )
        return
    yield from map(_of_probe, getattr(importlib.import_module("judge.sandbox.probe"), which)())


def _languages() -> Iterator[Check]:
    """Says of each language that needs more than nvcc whether that is installed."""
    languages = importlib.import_module("judge.languages.registry").BUILTIN_LANGUAGES
    for language in map(languages.of, languages):
        if language.installing:
            lacks = language.missing()
            detail = f"{lacks.partition(':')[0]}: its submissions are not built here" if lacks else "installed"
            yield Check(language.title, not lacks, detail, f"To have it: {language.installing}.", required=False)


def _devices(settings: JudgeSettings) -> Iterator[Check]:
    """Lets each kind of device try what it needs here."""
    for backend in importlib.import_module("judge.backends.registry").BUILTIN_BACKENDS:
        yield from _attempt(backend.kind, partial(_probed, backend.probe, settings), required=False)


def _probed(probe: Callable[[JudgeSettings], Iterable[Probe]], settings: JudgeSettings) -> Iterator[Check]:
    yield from map(_of_probe, probe(settings))


def _of_probe(probe: Probe) -> Check:
    return Check(probe.name, probe.ok, probe.detail, probe.remedy, probe.required)


def _data_folder(data_dir: Path) -> Check:
    """Writes a file there, or where the folder would be made."""
    existing = next(path for path in (data_dir, *data_dir.parents) if path.exists())
    remedy = "Make it yours (chown), or set GPUJUDGE_DATA_DIR."
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        return Check("data folder", False, f"{existing} cannot be written: {error.strerror}", remedy)
    state = "can be written" if existing == data_dir else f"will be made in {existing}"
    return Check("data folder", True, f"{data_dir} {state}")


def _port(settings: WebSettings) -> Check:
    """Tries to listen where ``up`` would. A server that runs here has the port, and that is well."""
    where = f"{settings.host}:{settings.port}"
    try:
        stack.listen(settings.host, settings.port).close()
    except CliError as error:
        if _is_up(settings.data_dir):
            return Check(
                "port", True, f"{where} is that of the server which runs with this data folder", required=False
            )
        return Check("port", False, error.message, f"{error.hint} Or set GPUJUDGE_PORT.", required=False, warning=True)
    return Check("port", True, f"{where} is free", required=False)


def _is_up(data_dir: Path) -> bool:
    if not (data_dir / "up.lock").exists():
        return False
    try:
        with stack.lock_data_dir(data_dir):
            return False
    except CliError:
        return True


def _disk(data_dir: Path) -> Check:
    existing = next(path for path in (data_dir, *data_dir.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    return Check(
        "disk",
        free >= _DISK_BYTES,
        f"{free / (1 << 30):.1f} GiB free for {data_dir}",
        "Free some, or set GPUJUDGE_DATA_DIR.",
    )


def _database(settings: Settings) -> Check:
    database = importlib.import_module("store.database")
    migrate = importlib.import_module("store.migrate")
    url = settings.sqlalchemy_url
    where = url.render_as_string(hide_password=True)
    if url.get_backend_name() == "sqlite" and url.database and not Path(url.database).exists():
        return Check("database", True, f"{where} will be made by `gpujudge up`")
    engine = None
    try:
        engine = database.make_engine(settings)
        revision = migrate.current_revision(engine)
    except Exception as error:  # each database driver raises its own exceptions; any of them is a failed check
        detail = str(getattr(error, "orig", error)).strip().splitlines()[0]
        remedy = getattr(error, "remedy", "Start it, or correct GPUJUDGE_DATABASE_URL.")
        return Check("database", False, f"{where}: {detail}", remedy)
    finally:
        if engine is not None:
            engine.dispose()
    state, head = migrate.schema_state(revision), migrate.head_revision()
    if state is migrate.SchemaState.NEWER:
        detail = f"{where} is at revision {revision}, which a newer gpujudge made: this one knows {head} and older"
        remedy = "Install that version, or restore the backup from before the upgrade. `gpujudge up` cannot use it."
        return Check("database", False, detail, remedy)
    if state is migrate.SchemaState.OLDER:
        at = f"is at revision {revision}, older than this version's {head}"
        detail = f"{where} {'has no tables of gpujudge' if revision is None else at}"
        return Check("database", False, detail, "gpujudge db upgrade (`gpujudge up` does it by itself)")
    return Check("database", True, f"{where} at revision {revision}")


def _broker(settings: Settings) -> Check:
    if settings.redis_url is None:
        return Check("broker", True, f"files in {settings.data_dir / 'broker'}")
    redis = importlib.import_module("redis")
    try:
        with redis.Redis.from_url(settings.redis_url, socket_connect_timeout=3, socket_timeout=3) as client:
            version = client.info("server")["redis_version"]
    except (redis.RedisError, OSError, ValueError) as error:
        return Check("broker", False, str(error), "Start Redis, or correct GPUJUDGE_REDIS_URL.")
    return Check("broker", True, f"Redis {version}")


def _packs(settings: Settings) -> Iterator[Check]:
    registry = importlib.import_module("judge.packs.collection.registry").Registry.load(settings.pack_paths)
    count = len(registry.packs)
    yield Check("challenges", count > 0, f"{count} found", "Set GPUJUDGE_PACK_PATHS to folders of challenges.")
    for problem in registry.problems:
        yield Check(f"challenge {problem.file.parent.name}", False, str(problem), "gpujudge pack verify tells more.")
