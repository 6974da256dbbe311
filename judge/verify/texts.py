"""Checks a pack's texts: the statement, the starter, the descriptions, and open TODOs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judge.packs.form.statement import StatementError, read_statement
from judge.packs.pack import Pack
from judge.verify.findings import Finding, error, warning
from judge.verify.kernels import solutions_folder

_TODO = re.compile(r"\bTODO\b:?\s*(.*)")
_HINT = re.compile(r"^\s*\d+[.)]\s", re.MULTILINE)
_FENCED = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def check_todo(pack: Pack) -> Iterator[Finding]:
    """Yields the author's open tasks: each line of the pack and its accepted kernels that says TODO."""
    texts = [pack.directory / name for name in ("challenge.toml", "reference.py", "statement.md")]
    for file in (*texts, *sorted(solutions_folder(pack).glob("*.cu"))):
        for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if found := _TODO.search(line):
                yield error("todo", file, f"line {number}", found[1].rstrip('")') or "is not done yet")


def check_texts(pack: Pack) -> Iterator[Finding]:
    """Yields the faults of the statement and of a starter that the pack has as a file."""
    starter = pack.directory / "starter.cu"
    if starter.is_file() and starter.read_text(encoding="utf-8") != pack.starter():
        yield error("starter", starter, "", "differs from the generated one; delete it: it is made from the arguments")
    file = pack.directory / "statement.md"
    try:
        statement = read_statement(pack)
    except StatementError as problem:
        yield error("statement-placeholder", file, "", str(problem))
        return
    if _FENCED.sub("", statement).replace(r"\$", "").count("$") % 2:
        yield error("statement-maths", file, "", "has an odd number of $ signs, so that a formula does not end")
    template = file.read_text(encoding="utf-8")
    for placeholder in ("signature", "constraints"):
        if not re.search(r"\{\{\s*" + placeholder + r"\s*\}\}", template):
            yield warning("statement-section", file, "", f"does not show {{{{{placeholder}}}}}")
    if "example" not in template.lower():
        yield warning("statement-example", file, "", "has no example; work a small one by hand")
    _, found, hints = template.partition("\n## Hints")
    if not found:
        return
    if not 2 <= len(_HINT.findall(hints)) <= 8:
        yield warning("statement-hints", file, "## Hints", "should have a numbered list of two to four hints")
