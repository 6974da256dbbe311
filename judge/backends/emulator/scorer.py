"""The emulator's score: times modelled from the counts of the benchmarks' kernels."""

from __future__ import annotations

import dataclasses

from emulator.model import MODEL_VERSION, load_gpu
from emulator.replay.recording import Transfers
from judge.backends.scoring import Score, ScoringJob
from judge.bench.measurement import TimedCase, modelled_fingerprint, modelled_score
from judge.bench.modelled import modelled_call
from judge.bench.plausibility import modelled_roofline_s, why_count_implausible, why_model_implausible
from judge.judgement import CaseJudgement
from judge.packs.pack import Case
from judge.packs.sizes import case_bytes, case_flops
from judge.supervisor.case_report import case_judgement
from judge.supervisor.emulator_replay import EmulatorReplayer, ReplayedCall
from judge.supervisor.verdict_rules import Outcome
from judge.verdict import Verdict
from judge.wire.messages import NATIVE_LOADER, Watch

#: What an interpreter takes for a call of ``solve`` and for each launch, on a busy machine, in nanoseconds. On an idle
#: one a launch takes 14 µs.
_INTERPRETER_NS, _INTERPRETED_LAUNCH_NS = 1_000_000, 100_000


class ModelledScorer:
    """Runs each benchmark once, then replays it without the submission's host code, so that counts never vary."""

    def __init__(self, job: ScoringJob) -> None:
        self._job = job
        self._replays = EmulatorReplayer(job.factory, job.pack, job.artifact, job.seed)

    def prepare(self) -> None:
        """Starts the runners of the first replay, and makes its inputs, while the cases are judged."""
        self._replays.prepare(self._job.benchmarks[0])

    def score(self) -> Score:
        """Judges the benchmarks, and models their times for the GPU of the settings."""
        job = self._job
        judged: list[CaseJudgement] = []
        timed: list[TimedCase] = []
        for case in job.benchmarks:
            judgement, call = self._judge(case)
            judged.append(judgement)
            if judgement.verdict is not Verdict.ACCEPTED or call.report is None:
                break
            found = self._model(case, call)
            if isinstance(found, str):
                judged[-1] = case_judgement(case, Outcome(Verdict.TIMING_NOT_TRUSTED, found), judgement.wall_s)
                break
            timed.append(found)
            job.on_timed(case, 1, 1)
        if len(timed) < len(job.benchmarks):
            return Score(tuple(judged), None)
        made_with = modelled_fingerprint(job.pack, job.artifact, job.device)
        score = modelled_score(
            job.pack, timed, gpu=job.settings.emulator_gpu, model=MODEL_VERSION, fingerprint=made_with
        )
        return Score(tuple(judged), score)

    def close(self) -> None:
        """Ends all work under way."""
        self._replays.close()

    def _judge(self, case: Case) -> tuple[CaseJudgement, ReplayedCall]:
        """Judges the replay of the call.

        If the replay is not right, or a call that it was recorded from, the submission's own run decides. If that is
        right, it is accepted without a time where a replay cannot have what it uses. Otherwise a call that was right
        is replayed once more before its time is not trusted. A wrong call is wrong because of a race, or as it says.
        """
        call = self._replays.judge(case)
        if _is_doubtful(call):
            for answer in self._job.case_runner.judge_cases([case]):
                if answer.judgement.verdict is not Verdict.ACCEPTED:
                    return answer.judgement, call
                if call.uncountable and call.wrong is None:
                    return dataclasses.replace(answer.judgement, message=f"no time: {call.uncountable}"), call
            if call.wrong is None:
                call = self._replays.judge(case)
        if _is_doubtful(call):
            for answer in self._job.case_runner.judge_cases([case], Watch.CHECKS):
                race = next((fault for fault in answer.judgement.memory_errors if fault.other is not None), None)
                if race is not None:
                    wrong = f"its outputs depend on the order of warps and blocks: {race.message}"
                    return case_judgement(case, Outcome(Verdict.WRONG_ANSWER, wrong), call.wall_s), call
        return case_judgement(case, call.wrong or call.outcome, call.wall_s), call

    def _model(self, case: Case, call: ReplayedCall) -> TimedCase | str:
        """Returns the modelled time of an accepted call, or why it is not believed."""
        job, report = self._job, call.report
        if report is None:
            return "the runner gave no counts of the call"
        gpu = load_gpu(job.settings.emulator_gpu)
        task = case_bytes(job.pack, case), case_flops(job.pack, case)
        transfers = call.transfers
        if job.artifact.loader != NATIVE_LOADER:
            transfers = _without_interpreter(transfers, report.launches)
        modelled = modelled_call(report, job.build, gpu, transfers, language=job.pack.build.language)
        doubt = why_count_implausible(
            float(report.warp_instructions), *task, _copied_bytes(transfers), _host_s(transfers)
        )
        doubt = doubt or why_model_implausible(modelled.seconds, *task, gpu)
        return doubt or TimedCase(
            case, ((modelled.seconds,),), modelled_roofline_s(job.pack, case, gpu), details=modelled.details
        )


def _is_doubtful(call: ReplayedCall) -> bool:
    """Returns whether the submission's own run has to decide."""
    return call.wrong is not None or call.outcome.verdict is Verdict.TIMING_NOT_TRUSTED


def _without_interpreter(transfers: Transfers, launches: int) -> Transfers:
    """Returns the transfers without the host's time if an interpreter takes as long to ask for the launches.

    The processor's clock would tell more of the machine's load than of the kernel.
    """
    allowed_ns = _INTERPRETER_NS + launches * _INTERPRETED_LAUNCH_NS
    if transfers.host_ns + transfers.overlapped_host_ns > allowed_ns:
        return transfers
    return dataclasses.replace(transfers, host_ns=0, overlapped_host_ns=0)


def _copied_bytes(transfers: Transfers) -> float:
    """Returns the bytes that were moved without a kernel, all of which take time."""
    on_device = 2.0 * transfers.copied_bytes + transfers.filled_bytes
    return on_device + transfers.written_bytes + transfers.read_bytes


def _host_s(transfers: Transfers) -> float:
    return 1e-9 * (transfers.host_ns + transfers.overlapped_host_ns)
