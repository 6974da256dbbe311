"""The hostile kernels in ``kernels/<family>/``, as they are read from their files.

A file begins with what it is about, one line a fact, and goes on with the source that somebody would send:

    // idea: what the cheat hopes for (in Python, comments begin with #)
    // challenge: vector-add
    // devices: emulator, cuda          on which it makes sense
    // verdict: TI or SV                the verdicts that are right, on every device ...
    // verdict on emulator: AC          ... or on one of them
    // caught by: the defence that catches it, or what makes it come to nothing
    // honest: controls/own_streams.cu  what it must not be faster than, if not the challenge's plain solution
    // open on cuda: why it still works, where it does

``AC`` among the verdicts says that the trick may come to nothing; a time that is better than the honest kernel's is
never right. ``#include "common/x.cuh"`` is replaced by that file of ``kernels/``.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

from judge.judgement import Judgement
from judge.languages.registry import BUILTIN_LANGUAGES
from judge.verdict import Verdict

FOLDER = Path(__file__).parent / "kernels"
CONTROLS = "controls"
_ROOT = Path(__file__).parents[2]
_FACT = re.compile(r"(?://|#) ([a-z][a-z ]*): (.+)")
_INCLUDE = re.compile(r'^#include "(common/\w+\.cuh)"\n', re.MULTILINE)
_DEVICES = ("emulator", "cuda")
_FACTS = {"idea", "challenge", "devices", "caught by", "honest"} | {
    f"{what}{where}" for what in ("verdict", "open") for where in ("", " on emulator", " on cuda")
}


@dataclass(frozen=True, slots=True)
class Hostile:
    """One file. ``source`` is what is sent to the judge, and ``honest`` what it is compared with."""

    family: str
    name: str
    facts: dict[str, str]
    source: bytes
    suffix: str = ".cu"

    def __str__(self) -> str:
        return f"{self.family}/{self.name}"

    @property
    def challenge(self) -> str:
        return self.facts["challenge"]

    @property
    def language(self) -> str:
        found = BUILTIN_LANGUAGES.of_file(self.suffix)
        assert found is not None
        return found.name

    @property
    def devices(self) -> tuple[str, ...]:
        return tuple(self.facts["devices"].split(", "))

    @property
    def honest(self) -> Path:
        """A file of an honest kernel that does the same work in the same way."""
        named = self.facts.get("honest")
        return FOLDER / named if named else _ROOT / "reference_solutions" / self.challenge / f"plain{self.suffix}"

    @property
    def honest_source(self) -> bytes:
        return inlined(self.honest.read_text(encoding="utf-8"))

    def verdicts(self, device: str) -> frozenset[Verdict]:
        text = self.facts.get(f"verdict on {device}") or self.facts["verdict"]
        return frozenset(Verdict(word) for word in text.split(" or "))

    def is_open(self, device: str) -> str:
        """Why it is known to work still; empty where it does not."""
        return self.facts.get(f"open on {device}") or self.facts.get("open", "")

    def complaint(self, judgement: Judgement, device: str, honest_s: float | None, slack: float) -> str:
        """The faults of a judgement; empty when it is as it has to be.

        ``honest_s`` is the honest kernel's time; less than it, by more than the share ``slack``, is never right.
        """
        allowed = self.verdicts(device)
        words = f"{judgement.verdict.value} ({judgement.message})"
        if judgement.verdict not in allowed:
            return f"{words} where {' or '.join(sorted(verdict.value for verdict in allowed))} is right"
        score = judgement.measurement
        if judgement.verdict is not Verdict.ACCEPTED:
            return f"{words} with a time" if score is not None else ""
        if score is None:
            # What cannot be counted says so, and has no place on a board.
            told = any(case.message.startswith("no time: ") for case in judgement.cases)
            return "" if told else f"{words} without a time"
        if honest_s is not None and score.value < (1 - slack) * honest_s:
            return f"{words} with {score.value:.4g} s, where the honest kernel has {honest_s:.4g} s"
        return ""


def inlined(source: str) -> bytes:
    """The source with the files of ``common/`` in their places, each once."""
    seen: set[str] = set()

    def text(found: re.Match[str]) -> str:
        if found[1] in seen:
            return ""
        seen.add(found[1])
        return _INCLUDE.sub(text, (FOLDER / found[1]).read_text(encoding="utf-8"))

    return _INCLUDE.sub(text, source).encode()


def read(path: Path) -> Hostile:
    """Raises ValueError for a header that says too little, or what nobody reads."""
    source = path.read_text(encoding="utf-8")
    comment = "#" if path.suffix == ".py" else "//"
    facts: dict[str, str] = {}
    last = ""
    for line in source.splitlines():
        if not line.startswith(comment):
            break
        if found := _FACT.fullmatch(line):
            last = found[1]
            facts[last] = found[2].strip()
        elif last:
            facts[last] += " " + line.removeprefix(comment).strip()
    missing = {"idea", "challenge", "devices", "verdict", "caught by"} - facts.keys()
    unknown = facts.keys() - _FACTS
    if missing or unknown:
        raise ValueError(f"{path}: lacks {sorted(missing)}, and nobody knows {sorted(unknown)}")
    hostile = Hostile(path.parent.name, path.stem, facts, inlined(source), path.suffix)
    if not set(hostile.devices) <= set(_DEVICES):
        raise ValueError(f"{path}: devices are {_DEVICES}")
    for device in _DEVICES:
        hostile.verdicts(device)
    return hostile


@functools.cache
def everything() -> tuple[Hostile, ...]:
    """All of them, by family and name."""
    paths = sorted(
        path for path in FOLDER.glob("*/*") if path.suffix in (".cu", ".py") and path.parent.name != "common"
    )
    return tuple(read(path) for path in paths)


def on(device: str) -> list[Hostile]:
    """Those that make sense on a kind of device."""
    return [hostile for hostile in everything() if device in hostile.devices]
