"""Verifies packs before anybody submits to them.

``verifier.py`` runs the checks, each of which is a module: ``texts`` (statement), ``coverage`` (sizes), ``cases``
(references and inputs), ``answer_mutants`` and ``spot_mutants`` (wrong answers that must be noticed), ``benchmarks``,
and ``kernels`` (what is judged).
"""

from judge.packs.submissions import ListedSubmission, listed_submissions
from judge.verify.findings import Finding, Severity
from judge.verify.kernels import SubmissionCheck
from judge.verify.verifier import Effort, Verification, verify_pack

__all__ = [
    "Effort",
    "Finding",
    "ListedSubmission",
    "Severity",
    "SubmissionCheck",
    "Verification",
    "listed_submissions",
    "verify_pack",
]
