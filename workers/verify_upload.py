"""``python -m workers.verify_upload ARCHIVE SLUG``: verifies one uploaded pack as ``gpujudge pack verify`` does.

It prints lines of JSON: ``progress`` while it works, and what it found as the last one.

Its standard input is the engine's settings, as ``JudgeSettings.to_json`` makes them.

A process of its own: what is wrong with a pack that nobody vouches for, its size included, ends no worker. Its code
runs in the processes of packs, its kernels in jails.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from judge.backends.registry import BUILTIN_BACKENDS
from judge.errors import InternalError
from judge.judgement import DeviceInfo
from judge.kinds import KINDS
from judge.packs.collection.archive import pack_contents
from judge.packs.collection.loader import load_pack
from judge.packs.collection.uploads import read_upload
from judge.settings import JudgeSettings
from judge.verify.many_packs import Task, verify_one
from judge.verify.ptx_mutants import Fate

#: How long wrong kernels that are made of one kernel may be tried.
_MUTANTS_S = 240.0


def main(archive: Path, slug: str) -> None:
    """Prints the findings, and what is to be served, as one line of JSON. Raises InternalError.

    ``archive`` is the uploaded file, ``slug`` the folder's name.
    """
    # Submissions and timed calls go first.
    os.nice(10)
    settings = JudgeSettings.from_json(json.load(sys.stdin))
    with tempfile.TemporaryDirectory(prefix="gpujudge-upload-") as scratch:
        # Its own packs folder, in one of its own: medals and kernels of others lie beside those.
        folder = Path(scratch).resolve() / "packs" / slug
        folder.mkdir(parents=True)
        read_upload(archive.read_bytes(), "upload.zip").write(folder)
        print(json.dumps(verify(folder, settings, _tell)))


def verify(folder: Path, settings: JudgeSettings, say: Callable[[str], None]) -> dict[str, Any]:
    """Returns the findings and, if there is no error among them, what is to be served."""
    device = _device(settings)
    say("texts, sizes and wrong answers")
    task = Task("full", device, settings, confined=True, mutants_s=_MUTANTS_S)
    found = verify_one(folder, task, lambda text: say(text.removeprefix(f"{folder.name}: ")))
    findings = [
        {
            "severity": each["severity"],
            "where": ": ".join(filter(None, (_within(each["file"], folder), each["key"]))),
            "message": each["message"].replace(f"{folder}/", ""),
        }
        for each in found["findings"]
    ]
    if device is None:
        note = "its kernels were not judged: this worker has no emulator"
        findings.append({"severity": "note", "where": "", "message": note})
    findings.append({"severity": "note", "where": "", "message": _summary(found)})
    if not found["ok"]:
        return {"findings": findings, "pack": None}
    pack = load_pack(folder, confined=True)
    contents = pack_contents(pack)
    if contents is None:
        raise InternalError("the files of the pack changed while it was verified")
    served = {"title": pack.title, "version": pack.version, "digest": pack.digest}
    return {"findings": findings, "pack": served | {"contents": base64.b64encode(contents).decode()}}


def _tell(progress: str) -> None:
    print(json.dumps({"progress": " ".join(progress.split())}), flush=True)


def _summary(found: dict[str, Any]) -> str:
    """Returns how many wrong answers and wrong kernels were tried, and how many of them were noticed."""
    answers, fates = found["mutants"], [str(each["fate"]) for each in found["kernel_mutants"]]
    noticed = sum(each["killed"] for each in answers)
    told = f"{noticed} of {len(answers)} wrong answers are noticed; {len(found['submissions'])} kernels were judged"
    valid = [fate for fate in fates if fate != Fate.INVALID]
    if not valid:
        return f"{told}; no wrong kernel was made of one that is accepted"
    killed = valid.count(Fate.KILLED)
    same = f", and nothing tells {valid.count(Fate.EQUIVALENT)} from it" if Fate.EQUIVALENT in valid else ""
    return f"{told}; of {len(valid)} wrong kernels made of an accepted one, {killed} are refused{same}"


def _device(settings: JudgeSettings) -> DeviceInfo | None:
    """Returns the device that judges the kernels, of the kind that checks others; None where there is none."""
    kinds = sorted({kind.rechecked_on for kind in KINDS.values() if kind.rechecked_on is not None})
    for kind in kinds:
        try:
            backend = BUILTIN_BACKENDS.of(kind)
            backend.prepare(settings)
            return BUILTIN_BACKENDS.find_device(kind, settings)
        except InternalError:
            continue
    return None


def _within(file: str, folder: Path) -> str:
    return str(Path(file).relative_to(folder)) if Path(file).is_relative_to(folder) and Path(file) != folder else ""


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
