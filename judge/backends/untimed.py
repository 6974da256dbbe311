"""A score without a time: calls each benchmark once and checks what is checked of a timed call."""

from __future__ import annotations

from judge.backends.scoring import Score, ScoringJob
from judge.judgement import CaseJudgement
from judge.packs.data.inputs import make_inputs
from judge.packs.judging import spot_check
from judge.packs.pack import Case
from judge.supervisor.case_report import case_judgement
from judge.supervisor.layout import lay_out
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.verdict_rules import outcome_of_call, outcome_of_ending
from judge.verdict import Verdict


class UntimedScorer:
    """Calls the benchmarks in the process of the functional cases."""

    def __init__(self, job: ScoringJob) -> None:
        self._job = job

    def prepare(self) -> None:
        """Starts nothing: the process is there."""

    def score(self) -> Score:
        """Judges the benchmarks up to the first that is not accepted. There is no measurement."""
        judged: list[CaseJudgement] = []
        for case in self._job.benchmarks:
            judged.append(self._judge(case))
            if judged[-1].verdict is not Verdict.ACCEPTED:
                break
        return Score(tuple(judged), None)

    def close(self) -> None:
        """Does nothing: whoever made the runner of the cases closes it."""

    def _judge(self, case: Case) -> CaseJudgement:
        pack, runner, bounds = self._job.pack, self._job.case_runner, self._job.factory.bounds
        inputs = make_inputs(pack, case, self._job.seed)
        layout = lay_out(pack, case, inputs)
        try:
            session = runner.session()
            layout.put_inputs(session.runner.inputs, inputs)
            layout.clear_outputs(session.runner.outputs)
            record = session.call(layout.request)
        except RunnerEnded as ended:
            runner.discard_session()
            return case_judgement(case, outcome_of_ending(ended.ending, bounds.call_s), 0.0)
        except RequestRefused as refused:
            return case_judgement(case, runner.outcome_of_refused_request(refused), 0.0)
        outputs = layout.take_outputs(session.runner.outputs)
        outcome = outcome_of_call(
            record.ran,
            record.fetched,
            [argument.name for argument in pack.arguments],
            bounds.call_s,
            lambda: spot_check(pack, case, inputs, outputs, self._job.seed),
            reads_are_errors=pack.emulator.reads_are_errors,
        )
        return case_judgement(case, outcome, record.wall_s)
