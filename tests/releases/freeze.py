"""Keeps the forms in which this version leaves data on people's disks: ``python -m tests.releases.freeze``.

It writes a folder beside this file, which it refuses to change once it is there.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from judge import __version__
from judge.packs.collection.loader import load_pack
from store.database import make_engine
from store.migrate import head_revision, upgrade
from store.settings import Settings
from tests.builds import ROOT
from tests.releases import HOME, schema_of

PACKS = ("layer-norm", "nucleus-sample")
#: Accepted, wrong, and one that does not compile.
KERNELS = {
    "vector-add.cu": "C[i] = A[i] + B[i];",
    "wrong/vector-add.cu": "C[i] = A[i] - B[i];",
    "broken/vector-add.cu": "C[i] = A[i] + ;",
}
SOURCE = """#include "solve.h"

__global__ void add(const float* A, const float* B, float* C, int N) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {{ {} }}
}}

extern "C" void solve(const float* A, const float* B, float* C, int N) {{ add<<<(N + 255) / 256, 256>>>(A, B, C, N); }}
"""


def main() -> None:
    """Writes the folder of this version."""
    folder = HOME / f"v{__version__}"
    if folder.exists():
        sys.exit(f"{folder} is there: what was released does not change")
    with tempfile.TemporaryDirectory() as scratch:
        unfinished = Path(scratch) / "release"
        unfinished.mkdir()
        (unfinished / "schema.sql").write_text(_schema(Path(scratch) / "data"))
        (unfinished / "packs").mkdir()
        digests = {}
        for slug in PACKS:
            shutil.copytree(
                ROOT / "challenges" / slug, unfinished / "packs" / slug,
                ignore=shutil.ignore_patterns("submissions", "__pycache__"),
            )  # fmt: skip
            pack = load_pack(unfinished / "packs" / slug)
            digests[slug] = {"version": pack.version, "digest": pack.digest}
        (unfinished / "packs/digests.json").write_text(json.dumps(digests, indent=1) + "\n")
        _judge(Path(scratch) / "kernels", unfinished / "results.jsonl")
        shutil.copytree(unfinished, folder)
    print(f"wrote {folder.relative_to(ROOT)}")


def _schema(data_dir: Path) -> str:
    data_dir.mkdir()
    settings = Settings(data_dir=data_dir)
    upgrade(settings)
    engine = make_engine(settings)
    try:
        return f"-- revision {head_revision()}\n{schema_of(engine)}"
    finally:
        engine.dispose()


def _judge(kernels: Path, out: Path) -> None:
    for name, line in KERNELS.items():
        (kernels / name).parent.mkdir(parents=True, exist_ok=True)
        (kernels / name).write_text(SOURCE.format(line))
    gpujudge = Path(sys.executable).with_name("gpujudge")
    subprocess.run([gpujudge, "judge", ".", "--jsonl", out, "-c", "vector-add"], cwd=kernels, check=False)
    verdicts = {line["verdict"] for line in map(json.loads, out.read_text().splitlines())}
    if verdicts != {"AC", "WA", "CE"}:
        sys.exit(f"the verdicts are {verdicts}")


if __name__ == "__main__":
    main()
