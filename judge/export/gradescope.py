"""Writes the autograder of a challenge for Gradescope: a folder whose contents are zipped and uploaded there.

Gradescope runs ``setup.sh`` once, as root, when the autograder is uploaded, and ``run_autograder`` for each submission.
"""

from __future__ import annotations

import json
from pathlib import Path

from judge.languages.registry import BUILTIN_LANGUAGES
from judge.packs.pack import Pack
from judge.verdict import Verdict

_USER = "gpujudge"
_SETUP = """\
#!/bin/sh
# Installs the judge. Gradescope runs this once, as root, on Ubuntu; 24.04 has the Python that it needs.
set -eu
here=/autograder/source
apt-get update
apt-get install -y --no-install-recommends bubblewrap g++ python3 python3-venv
id {user} >/dev/null 2>&1 || useradd --create-home {user}
python3 -m venv /autograder/venv
/autograder/venv/bin/pip install "$here/{wheel}[judge,nvcc]"
mkdir -p /autograder/data
chown {user}: /autograder/data
# What is built once is built now, not for the first student; and a judge that cannot work here fails the upload.
runuser -u {user} -- /autograder/venv/bin/gpujudge judge "$here/{name}" --challenge {slug} --packs "$here/challenges" \\
    --device emulator --data-dir /autograder/data --samples-only && code=0 || code=$?
case $code in {judged}) ;; *) echo "error: gpujudge cannot judge here (exit code $code)" >&2; exit 1 ;; esac
"""
_RUN = """\
#!/bin/sh
# Judges one submission and writes results/results.json, in the folder that this file lies in.
root=$(cd "$(dirname "$0")" && pwd)
exec "$root/venv/bin/python" "$root/source/grade.py" "$root"
"""
_README = """\
# {title} for Gradescope

Zip the contents of this folder, not the folder itself, and upload the file as the autograder of a programming
assignment of {points:g} points:

    cd {folder} && zip -r ../{slug}.zip .

Choose Ubuntu 24.04 as the base image, and at least 2 CPUs and 4 GB of memory. Students submit one file, {name}.

A submission is judged on the emulator. Accepted, it gets all points, else none. Students see the verdict of each case,
and what is wrong in the public ones; the modelled time of accepted kernels is on the assignment's leaderboard.

Submissions run in a jail (bubblewrap), which needs user namespaces. Where the container forbids them, `setup.sh` fails
with the reason, and nothing is judged without a jail.

`challenges/` has the challenge with its hidden cases: do not give this folder to students.
"""


def autograder(pack: Pack, *, wheel: Path, points: float, folder: str) -> dict[str, bytes]:
    """Returns the autograder's files by their paths. ``wheel`` is gpujudge's own, which goes along."""
    language = BUILTIN_LANGUAGES.of(pack.build.language)
    name = f"kernel{language.suffixes[0]}"
    settings = {
        "challenge": pack.slug, "points": points, "suffixes": list(language.suffixes), "name": name, "user": _USER,
    }  # fmt: skip
    # The starter is judged at the setup: any verdict on it will do, but for those that say that nothing was judged.
    ends = (each.exit_code for each in Verdict if each not in (Verdict.INTERNAL_ERROR, Verdict.COMPILE_ERROR))
    judged = "|".join(map(str, sorted(ends)))
    setup = _SETUP.format(user=_USER, wheel=wheel.name, name=name, slug=pack.slug, judged=judged)
    readme = _README.format(title=pack.title, points=points, folder=folder, slug=pack.slug, name=name)
    files = {
        "setup.sh": setup.encode(),
        "run_autograder": _RUN.encode(),
        "grade.py": (Path(__file__).parent / "gradescope_run.py").read_bytes(),
        "autograder.json": json.dumps(settings, indent=1).encode(),
        "README.md": readme.encode(),
        name: pack.starter().encode(),
        wheel.name: wheel.read_bytes(),
    }
    for path in sorted(pack.directory.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            files[f"challenges/{pack.slug}/{path.relative_to(pack.directory)}"] = path.read_bytes()
    return files


#: Those that Gradescope executes.
EXECUTABLE = frozenset({"setup.sh", "run_autograder"})
