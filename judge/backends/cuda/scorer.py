"""A GPU's score: times measured in fresh processes, by the protocol of ``judge.bench``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager

from judge.backends.scoring import Ahead, Score, ScoringJob
from judge.bench.timing.submission_timer import SubmissionTimer
from judge.packs.pack import Case
from judge.supervisor.case_report import case_judgement


class MeasuredScorer:
    """Times the benchmarks with the timer that ``open_timer`` opens and the job's ``ending`` closes.

    ``begin`` begins what the timing needs, if that was not done before the submission was built.
    """

    def __init__(
        self,
        job: ScoringJob,
        begin: Callable[[], Ahead],
        open_timer: Callable[[Ahead | None], AbstractContextManager[SubmissionTimer]],
    ) -> None:
        self._job = job
        self._ahead = job.ahead
        self._begin = begin
        self._open_timer = open_timer

    def prepare(self) -> None:
        """Starts the processes while the other cases are judged, which are not timed."""
        if self._ahead is None:
            self._ahead = self._begin()
            self._job.ending.callback(self._ahead.close)

    def score(self) -> Score:
        """Times the benchmarks while the process of the functional cases ends."""
        job = self._job
        calls: Counter[str] = Counter()

        def on_calls(case: Case, made: int) -> None:
            calls[case.id] += made
            job.on_timed(case, calls[case.id], 0)

        timer = job.ending.enter_context(self._open_timer(self._ahead))
        ended = timer.bench.background.submit(job.case_runner.end_session)
        [(results, measurement)] = timer.time([job.artifact], on_calls, far_s=job.far_s)
        ended.result()
        judged = tuple(case_judgement(result.case, result.outcome, result.wall_s) for result in results)
        return Score(judged, measurement)

    def close(self) -> None:
        """Does nothing: ``ending`` closes the timer."""
