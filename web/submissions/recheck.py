"""The check of an accepted submission on the emulator, for its page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from judge.recheck import RecheckOutcome, findings_in_words
from store.models import RecheckRequest
from web.submissions.presenter import FaultView, present_fault

_TITLES = {
    RecheckOutcome.CLEAN: "Clean on the emulator",
    RecheckOutcome.WARNED: "Warning by the emulator",
    RecheckOutcome.FOUND: "Wrong on the emulator",
    RecheckOutcome.UNCHECKED: "Unchecked by the emulator",
}
_WHAT_WAS_SOUGHT = "races, accesses outside of buffers and reads of what nobody wrote"


@dataclass(frozen=True, slots=True)
class RecheckView:
    """The check as the page shows it. ``outcome`` is ``waiting`` until it is made; ``at`` is when it was."""

    outcome: str
    title: str
    text: str
    detail: str = ""
    findings: tuple[FaultView, ...] = ()
    at: datetime | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether the check has not been made yet."""
        return self.at is None


def present_recheck(request: RecheckRequest, *, withheld: bool) -> RecheckView:
    """Returns the view of a check. ``withheld``: what is found keeps the submission from counting as audited."""
    result = request.result
    if result is None:
        text = f"It runs once more on the emulator, which looks for {_WHAT_WAS_SOUGHT}: a GPU may hide them."
        return RecheckView("waiting", "To be checked on the emulator", text)
    text = f"{result.headline[:1].upper()}{result.headline[1:]}."
    if result.outcome is RecheckOutcome.CLEAN:
        cases = f"{result.cases} case{'s' if result.cases != 1 else ''}"
        text = f"In {cases} it found none of these: {_WHAT_WAS_SOUGHT}."
    title = _TITLES[result.outcome]
    if result.outcome is RecheckOutcome.FOUND:
        if result.findings:
            title, what = "Right by luck on this GPU", findings_in_words(result.findings)
            text = f"{what[:1].upper()}{what[1:]}."
        text += " It was accepted, but another GPU, driver or moment may give another answer."
        if withheld:
            text += " Until a clean version takes its place on the board, it does not count as audited."
    return RecheckView(
        result.outcome.value,
        title,
        text,
        f"{result.detail[:1].upper()}{result.detail[1:]}",
        tuple(present_fault(fault) for fault in result.findings),
        request.ended_at,
    )
