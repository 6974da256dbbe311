"""Says in one sentence what is wrong with a submission, from its first failed case."""

from __future__ import annotations

import re

from emulator.wording import wording_of
from judge.compile.source_files import OwnLines
from judge.judgement import OF_WHOLE_LAUNCHES, SAME_IN_ALL_ORDERS, CaseJudgement, MemoryFault
from judge.languages.base import Language
from web.submissions.diagnostics import fault_detail


def _told(case: CaseJudgement, message: str) -> MemoryFault | None:
    """Returns the fault that a message names as the likely cause: the first in it, but none named as another fault."""
    likely = message.partition(SAME_IN_ALL_ORDERS)[0]
    found = [(likely.find(fault.message), fault) for fault in case.memory_errors if fault.message]
    return min((each for each in found if each[0] >= 0), key=lambda each: each[0], default=(0, None))[1]


def race_headline(case: CaseJudgement | None, own: OwnLines, language: Language) -> str:
    """Returns a race that made a case fail in one sentence, with its lines and what to do; the case has the details."""
    fault = _told(case, case.message) if case is not None else None
    if fault is None or fault.other is None or fault.file not in own:
        return ""
    places = {own.locate(each.file, each.line) for each in (fault, fault.other)} - {None}
    lines = [own.in_words(line) for line in sorted(filter(None, places))]
    plain = [line.removeprefix("line ") for line in lines]
    where = "" if not lines else f", {' and '.join(lines)}"
    if len(lines) > 1 and lines != plain:
        where = f", lines {' and '.join(plain)}"
    # What one line of Triton loads, each thread of a program may load: a barrier would not help.
    one_line = language.name == "triton" and fault.line == fault.other.line
    one_block = fault.block == fault.other.block and not one_line
    blocks = f"{wording_of(language.name).block}s"
    remedy = f"add {language.barrier} between them" if one_block else f"{blocks} need atomics, or a second kernel"
    remedy = OF_WHOLE_LAUNCHES.get(fault.kind, remedy)
    return f"{fault.kind[:1].upper()}{fault.kind[1:]}{where}: {remedy}."


def fault_headline(case: CaseJudgement | None, message: str, own: OwnLines) -> str:
    """Returns the fault that ``message`` reports, as its line and the mistake; the case has thread and address."""
    told = None if case is None or case.message != message else _told(case, message)
    fault = told if told is not None and told.file in own else None
    line = None if fault is None else own.locate(fault.file, fault.line)
    if fault is None or line is None:
        return ""
    detail = re.sub(r"^address 0x[0-9a-f]+, ", "", fault_detail(fault))
    return f"{fault.kind[:1].upper()}{fault.kind[1:]}, {own.in_words(line)}: {detail}."


def sentence(text: str) -> str:
    """Returns the text with a capital letter, unless it begins with ``solve`` or with anything but a plain word."""
    begins = re.match(r"[a-z-]+(?=[ ,])", text)
    return text if begins is None or begins[0] == "solve" else text[:1].upper() + text[1:]
