"""Refuses turns of phrase that readers stumble over, in documents, templates, messages and docstrings' first lines.

Of statements and lessons it checks the spelling.

``docs/style.md`` shows each rule with a better sentence. ``make lint`` runs this file; it needs no package.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Folders whose Python has docstrings of ours.
CODE = (
    "benchmarks",
    "cli",
    "emulator",
    "judge",
    "logs",
    "migrations",
    "records",
    "scripts",
    "store",
    "tests",
    "web",
    "workers",
)
#: Folders whose other strings are checked too, as messages. Digests of judgements hold those of the judge.
MESSAGES = ("cli", "store", "web", "workers")
#: Documents made from other texts (kernels' comments, the output of commands), and the page that shows bad turns.
LEFT_OUT = {"docs/ladders.md", "docs/terminal-session.md", "docs/style.md"}
#: Lines that may stay, as (file, a part of the line): the reason.
ALLOWED: dict[tuple[str, str], str] = {("docs/mutants.md", "nearest-neighbour"): "the slug of a challenge"}


@dataclass(frozen=True, slots=True)
class Rule:
    """A turn that is refused. ``pattern`` matches it, and ``advice`` gives the reason and a better turn."""

    pattern: re.Pattern[str]
    advice: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A refused turn. ``path`` is relative to the repository, ``line`` counts from 1."""

    path: str
    line: int
    turn: str
    advice: str

    def __str__(self) -> str:
        return f'{self.path}:{self.line}: "{self.turn}": {self.advice}'


#: Parts of words that are spelled otherwise in the US.
BRITISH = (
    "authoris|behaviour|centre|colour|favour|generalis|initialis|minimis|maximis|neighbour|normalis|optimis(?!t|m)|"
    "organis|parallelis(?!m)|quantis|randomis(?!m)|recognis|serialis|specialis|summaris|synchronis|utilis|vectoris"
)
SPELLING = Rule(
    re.compile(rf"\b\w*(?:{BRITISH})\w*", re.I),
    "spelling is that of the US: color, neighbor, behavior, normalize, synchronize, initialize",
)
RULES = (
    Rule(
        re.compile(
            r"\b(?:is|are|was|were|be|been|being)\s+told\b(?!\s+apart)|\btold\s+(?:of|about)\b|\btell(?:s|ing)?\s+of\b",
            re.I,
        ),
        'only people are told things; say who reports, names or shows what ("the page shows the fault")',
    ),
    Rule(re.compile(r"\bdear(?:er|est)?\b", re.I), 'a reader thinks of a letter; say "expensive", "slow" or "costly"'),
    Rule(
        re.compile(r"(?<!there\s)\b(?:is|are|was|were|be)\s+no\s+(?!longer\b|more\b|less\b|one\b|\w+er\s)\w+", re.I),
        'a negated noun reads as a riddle; negate the verb ("is not a kernel") or say "there is no"',
    ),
    Rule(
        re.compile(r"\bso\s+many\b(?!\s+\w+\s+that\b)", re.I),
        'the number is missing; name it or its parameter ("up to ``threads`` requests")',
    ),
    Rule(
        re.compile(r"(?<![#\[] )(?<![\[*(\x22])\bWhat\s[^.?!|<]*[.!](?!\w)"),
        'a clause as the subject hides who acts; begin with the noun ("The compiler\'s output is …")',
    ),
    SPELLING,
)
#: A clause in place of a noun or a verb, at the beginning of a docstring.
CLAUSE = Rule(
    re.compile(r"^(?:(?:Returns|Yields) what(?:ever)?|What|Who|Whoever|Whatever|That)\b(?!.*\?)[^.]*"),
    'a clause names nothing; begin with a noun (classes), or with a verb and a noun ("Returns the error")',
)

_STRING = re.compile(r'^([^\n"\'#]*)"""(.*?)"""', re.M | re.S)
_CODE = re.compile(r"^```.*?^```|``[^`]+``|`[^`\n]+`|\]\([^)]*\)|https?://\S+", re.M | re.S)


def docstrings(text: str) -> Iterator[tuple[int, str]]:
    """Yields the first line of each docstring in Python source, after the number of its line."""
    for found in _STRING.finditer(text):
        before, content = found.groups()
        if before.strip(" rR") == "" and content.strip():
            yield text.count("\n", 0, found.start(2)) + 1, content.split("\n", 1)[0]


def messages(text: str) -> Iterator[tuple[int, str]]:
    """Yields each string of several words in Python source but for docstrings, after the number of its line."""
    for node in ast.walk(ast.parse(text)):
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.Constant) or isinstance(node, ast.Expr):
                continue
            if isinstance(child.value, str) and " " in child.value:
                yield child.lineno, child.value


def refused(text: str, rules: tuple[Rule, ...] = RULES) -> Iterator[tuple[int, str, str]]:
    """Yields (line in ``text``, turn, advice) of each refused turn. Code in backticks and addresses do not count."""
    prose = _CODE.sub(lambda found: re.sub(r"[^\n]", "_", found[0]), text)
    for rule in rules:
        for found in rule.pattern.finditer(prose):
            yield prose.count("\n", 0, found.start()) + 1, " ".join(found[0].split())[:60], rule.advice


def findings(root: Path) -> Iterator[Finding]:
    """Yields the refused turns of the repository at ``root``, whether allowed or not."""
    for path in sorted([*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("web/templates/**/*.html")]):
        name = path.relative_to(root).as_posix()
        if name not in LEFT_OUT:
            for line, turn, advice in refused(path.read_text("utf-8")):
                yield Finding(name, line, turn, advice)
    for path in sorted([*root.glob("tracks/**/*.md"), *root.glob("challenges/*/*.md")]):
        for line, turn, advice in refused(path.read_text("utf-8"), (SPELLING,)):
            yield Finding(path.relative_to(root).as_posix(), line, turn, advice)
    for path in sorted(each for folder in CODE for each in (root / folder).rglob("*.py")):
        name = path.relative_to(root).as_posix()
        text = path.read_text("utf-8")
        for at, first in docstrings(text):
            for _, turn, advice in refused(first, (*RULES, CLAUSE)):
                yield Finding(name, at, turn, advice)
        for at, message in messages(text) if name.startswith(tuple(f"{folder}/" for folder in MESSAGES)) else ():
            for _, turn, advice in refused(message):
                yield Finding(name, at, turn, advice)


def main() -> int:
    """Prints the refused turns. Returns 1 if there are any, or if an exception in ``ALLOWED`` matches nothing."""
    unused = dict(ALLOWED)
    failed = False
    for finding in findings(ROOT):
        line = (ROOT / finding.path).read_text("utf-8").splitlines()[finding.line - 1]
        allowed = [key for key in ALLOWED if key[0] == finding.path and key[1] in line]
        for key in allowed:
            unused.pop(key, None)
        if not allowed:
            failed = True
            print(finding)
    for path, part in unused:
        failed = True
        print(f'scripts/check_style.py: ALLOWED names "{part}" in {path}, which nothing refuses: delete the entry')
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
