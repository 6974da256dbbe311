"""Profiles a submission on a GPU with Nsight Compute, and puts the model's figures beside the measured ones.

The submission runs in a jail of its own under the profiler, and the report is read in another one, without a GPU. The
device is held meanwhile, and no call is timed on this machine; when somebody wants to time one, the profile is given
up (Cancelled), since it can be made again. What it says is shown to people and ranks nothing.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from emulator.model import gpu_names, load_gpu
from judge import pipeline
from judge.backends.base import Backend
from judge.backends.registry import BUILTIN_BACKENDS, Backends
from judge.bench.timed_calls import beside_no_timed_call
from judge.compile.artifact import Artifact
from judge.gpu.nsight.measured import read_case
from judge.gpu.nsight.problems import why_no_profile
from judge.gpu.nsight.report import read_report
from judge.gpu.nsight.tool import MOST_LAUNCHES, NoProfile, Nsight, find_nsight, profile_command
from judge.judgement import DeviceInfo
from judge.kinds import KINDS
from judge.languages.registry import BUILTIN_LANGUAGES, Languages
from judge.measurements import ModelledCase
from judge.packs.data.inputs import make_inputs
from judge.packs.isolation.client import PROCESSES
from judge.packs.pack import Case, Pack
from judge.profile import MeasuredCase, Profile
from judge.settings import JudgeSettings
from judge.supervisor.factory import region_bytes, session_factory
from judge.supervisor.layout import lay_out
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.profiled_runner import REPORT_BYTES, ProfiledLauncher
from judge.wire.messages import Watch, kernel_time_factor
from records import dataclass

#: How long starting under the profiler, one call, and the profiler's report may take, in seconds.
START_S, CALL_S, REPORT_S = 60.0, 120.0, 60.0
_NICENESS = 10

Cancel = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Profiled:
    """A profile, and the report of Nsight Compute on its first case: a file that is not to be trusted."""

    profile: Profile
    report: bytes


@dataclass(frozen=True, slots=True)
class _Task:
    """A submission to profile, and the device."""

    source: bytes
    pack: Pack
    artifact: Artifact
    device: DeviceInfo
    seed: int
    settings: JudgeSettings
    backend: Backend
    tool: Nsight
    cancelled: Cancel


def profile(
    source: bytes,
    pack: Pack,
    device: DeviceInfo,
    seed: int,
    settings: JudgeSettings,
    *,
    case_id: str | None = None,
    cancelled: Cancel = lambda: False,
    say: Callable[[str], None] = lambda _: None,
    backends: Backends = BUILTIN_BACKENDS,
    languages: Languages = BUILTIN_LANGUAGES,
) -> Profiled:
    """Returns the profile of a source on ``case_id``, by default the device's first benchmark.

    Raises NoProfile where there can be none, InternalError for faults of the judge, and Cancelled.
    """
    backend = backends.of(device.kind)
    if not backend.is_profiled:
        raise NoProfile(f"{device.name} is not profiled: only {_profiled_kinds(backends)} are")
    tool = find_nsight()
    case = _case(pack, device, case_id)
    model_kind = KINDS[device.kind].rechecked_on or device.kind
    beside = backends.of(model_kind).benchmarks_of_run(pack)
    PROCESSES.start()
    say("building")
    language = languages.of(pack.build.language)
    report, artifact = language.build(source, pack, backend.target(device), settings)
    if artifact is None:
        raise NoProfile(f"it does not compile: {language.headline(report)}")
    task = _Task(source, pack, artifact, device, seed, settings, backend, tool, cancelled)
    measured: list[MeasuredCase] = []
    first = b""
    for each in {each.id: each for each in (case, *beside)}.values():
        say(f"profiling {each.id}")
        with _device_alone(task) as interrupted:
            taken = _taken(dataclasses.replace(task, cancelled=interrupted), each)
        first = first or taken
        say(f"reading the report on {each.id}")
        measured.append(read_case(each.id, dict(each.axes), read_report(taken, tool, settings), MOST_LAUNCHES))
    say("modelling")
    modelled, gpu, why = _modelled(task, model_kind, backends, languages) if beside else (None, "", "")
    found = Profile(
        gpu=device.name, tool=tool.name, cases=tuple(measured), modelled=modelled, modelled_gpu=gpu, not_modelled=why
    )
    return Profiled(found, first)


def _profiled_kinds(backends: Backends) -> str:
    return ", ".join(backend.kind for backend in backends if backend.is_profiled) or "none"


def _case(pack: Pack, device: DeviceInfo, case_id: str | None) -> Case:
    known = {case.id: case for case in (*pack.benchmarks_for(device.kind), *pack.benchmarks, *pack.cases)}
    if case_id is None and not pack.benchmarks_for(device.kind):
        raise NoProfile(f"{pack.slug} has no benchmark for {device.name}: name a case")
    if case_id is not None and case_id not in known:
        raise NoProfile(f"{pack.slug} has no case {case_id!r}: it has {', '.join(known)}")
    return next(iter(known.values())) if case_id is None else known[case_id]


@contextlib.contextmanager
def _device_alone(task: _Task) -> Iterator[Cancel]:
    """Holds the device beside no timed call. Yields what says that the profile is to be given up. Raises Cancelled."""
    with (
        task.backend.hold(task.device, task.settings, cancelled=task.cancelled),
        beside_no_timed_call(task.settings.locks, cancelled=task.cancelled) as is_wanted,
    ):
        yield lambda: is_wanted() or task.cancelled()


def _taken(task: _Task, case: Case) -> bytes:
    """Returns the report on a call. Raises NoProfile, InternalError and Cancelled."""
    spec = task.backend.runner_spec(task.device, task.settings)
    launcher = ProfiledLauncher(spec, task.settings, profile_command(task.tool), task.tool.folder)
    with contextlib.closing(launcher):
        # A session's thread has to outlive it, and what the thread starts has its priority.
        with ThreadPoolExecutor(1, thread_name_prefix="profile", initializer=_step_back) as pool:
            trouble = pool.submit(_call, task, case, launcher).result()
        report = launcher.report
        if report is None:
            raise NoProfile(f"the report is larger than {REPORT_BYTES >> 20} MiB: profile a case with fewer launches")
        if trouble or not report:
            raise why_no_profile(launcher.log, trouble)
        return report


def _step_back() -> None:
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


def _call(task: _Task, case: Case, launcher: ProfiledLauncher) -> str:
    """Calls ``solve`` once under the profiler. Returns what went wrong, in words."""
    pack, settings = task.pack, task.settings
    regions = region_bytes(pack, [case])
    bounds = task.backend.bounds(pack, settings, sum(regions))
    spec = task.backend.runner_spec(task.device, settings)
    factory = session_factory(pack, regions, spec, bounds, settings, launcher, cancelled=task.cancelled)
    factory = dataclasses.replace(
        factory,
        request=dataclasses.replace(factory.request, lock=False),
        bounds=dataclasses.replace(
            factory.bounds, start_s=START_S, call_s=CALL_S / kernel_time_factor(Watch.PROFILE), total_s=2 * CALL_S
        ),
    )
    inputs = make_inputs(pack, case, task.seed)
    layout = lay_out(pack, case, inputs)
    session = factory.start()
    try:
        session.load(task.artifact)
        layout.put_inputs(session.runner.inputs, inputs)
        layout.clear_outputs(session.runner.outputs)
        record = session.call(dataclasses.replace(layout.request, watch=Watch.PROFILE))
        session.runner.leave(REPORT_S)
    except RunnerEnded as ended:
        if ended.ending.timed_out:
            limit_s = CALL_S if session.loaded else START_S
            return f"it did not end within {limit_s:.0f} s under the profiler, during {ended.ending.during.name}"
        said = ended.ending.output.strip().splitlines()
        return f"it ended under the profiler, during {ended.ending.during.name}: {said[-1] if said else 'no word why'}"
    except RequestRefused as refused:
        return refused.reply.message or "the runner could not go on"
    finally:
        session.finish()
    return record.ran.message if record.ran.code else ""


def _modelled(task: _Task, kind: str, backends: Backends, languages: Languages) -> tuple[ModelledCase | None, str, str]:
    """Returns the model's figures for its own benchmark, the GPU that it models, and why there are none."""
    known = {load_gpu(name).name: name for name in gpu_names()}
    gpu = next((name for title, name in known.items() if task.device.name.startswith(title)), None)
    settings = task.settings if gpu is None else dataclasses.replace(task.settings, emulator_gpu=gpu)
    title = load_gpu(settings.emulator_gpu).name
    device = next(iter(backends.of(kind).discover(settings).devices), None)
    if device is None:
        return None, title, "the emulator does not run on this machine"
    judged = pipeline.judge(
        task.source,
        task.pack,
        device,
        task.seed,
        settings,
        mode=pipeline.Mode.RUN,
        cancelled=task.cancelled,
        backends=backends,
        languages=languages,
    )
    cases = judged.unranked.cases if judged.unranked is not None else ()
    modelled = next((case for case in cases if isinstance(case, ModelledCase)), None)
    if modelled is None:
        return None, title, judged.message or "the emulator has no time for it"
    return modelled, title, ""
