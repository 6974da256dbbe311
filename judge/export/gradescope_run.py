"""Judges a submission to Gradescope. The autograder's folder has this file as ``grade.py``, beside ``autograder.json``.

It needs nothing but the standard library. Its argument is the folder that Gradescope calls ``/autograder``: it reads
``submission/`` there, and writes ``results/results.json`` whatever happens.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

#: A judgement ends by limits of its own long before.
TIMEOUT_S = 1800
_VISIBLE_GROUP = "sample"


def main(root: Path) -> None:
    """Writes the results for Gradescope."""
    settings = json.loads((root / "source/autograder.json").read_text())
    results = root / "results"
    results.mkdir(parents=True, exist_ok=True)
    (results / "results.json").write_text(json.dumps(grade(root, settings), indent=1))


def grade(root: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Returns the results of the submission."""
    found = chosen_file(root / "submission", settings)
    if isinstance(found, str):
        return _failed(found)
    with tempfile.TemporaryDirectory(prefix="gpujudge-") as name:
        work = Path(name)
        for each in (root / "submission").iterdir():
            # A link could name a file of the autograder.
            if each.is_file() and not each.is_symlink():
                shutil.copyfile(each, work / each.name)
        for each in (work, *work.iterdir()):
            each.chmod(0o755 if each.is_dir() else 0o644)
        command = [
            str(root / "venv/bin/gpujudge"), "judge", str(work / found.name), "--challenge", settings["challenge"],
            "--packs", str(root / "source/challenges"), "--device", "emulator", "--data-dir", str(root / "data"),
            "--json",
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                cwd=work,
                check=False,
                stdin=subprocess.DEVNULL,
                **_user(settings),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return _failed(f"The judge did not run: {error}. Tell your instructor.")
    try:
        judgement = json.loads(done.stdout)
        verdict = judgement["verdict"]
    except (ValueError, KeyError, TypeError):
        return _failed(f"The judge failed. Tell your instructor.\n{done.stderr[-2000:]}")
    return results_of(judgement, verdict, settings)


def chosen_file(folder: Path, settings: dict[str, Any]) -> Path | str:
    """Returns the kernel's file: the only one with an ending of its language, or that of its name. Else what to do."""
    suffixes, wanted = tuple(settings["suffixes"]), settings["name"]
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    found = [each for each in files if each.name.endswith(suffixes) and each.is_file() and not each.is_symlink()]
    named = [each for each in found if each.name == wanted]
    if named or len(found) == 1:
        return (named or found)[0]
    if not found:
        return f"Nothing to judge was submitted. Submit the file {wanted}, not in a folder."
    return f"Several files could be meant: {', '.join(each.name for each in found)}. Name the kernel's {wanted}."


def results_of(judgement: dict[str, Any], verdict: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Returns a judgement as Gradescope takes it. Of hidden cases it shows the verdict alone, and of inputs nothing."""
    accepted = verdict == "AC"
    lines = [f"Verdict: {verdict}", judgement.get("message") or ""]
    if verdict == "IE":
        lines.append("This is no fault of yours: tell your instructor.")
    log = (judgement.get("build") or {}).get("log") or ""
    measured = judgement.get("measurement") or {}
    if measured.get("value") is not None:
        lines.append(f"Modelled time on {measured.get('gpu') or 'the modelled GPU'}: {measured['value'] * 1e6:.3g} µs")
    results: dict[str, Any] = {
        "score": settings["points"] if accepted else 0.0,
        "output": "\n".join([*filter(None, lines), *([log[-8000:]] if log else [])]),
        "output_format": "text",
        "stdout_visibility": "hidden",
        "tests": [_test(number, case) for number, case in enumerate(judgement.get("cases") or (), start=1)],
    }
    if accepted and measured.get("value") is not None:
        row = {"name": "Modelled time, µs", "value": round(measured["value"] * 1e6, 4), "order": "asc"}
        results["leaderboard"] = [row]
    return results


def _test(number: int, case: dict[str, Any]) -> dict[str, Any]:
    shown = case["group"] == _VISIBLE_GROUP
    return {
        "name": f"Case {number}: {case['id']}" if shown else f"Case {number} ({case['group']})",
        "status": "passed" if case["verdict"] == "AC" else "failed",
        "output": f"{case['verdict']}. {case['message'] if shown else ''}".strip(),
        "visibility": "visible",
    }


def _failed(message: str) -> dict[str, Any]:
    return {"score": 0.0, "output": message, "output_format": "text", "tests": []}


def _user(settings: dict[str, Any]) -> dict[str, Any]:
    """Returns who judges: an unprivileged user whom ``setup.sh`` made, where this is root and there is one."""
    if os.geteuid() != 0:
        return {}
    try:
        found = pwd.getpwnam(settings["user"])
    except KeyError:
        return {}
    home = {**os.environ, "HOME": found.pw_dir}
    return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": [], "env": home}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
