"""A locked process on a GPU writes in its own folder only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from judge.wire import landlock

_TRY = """
import os, socket, sys, tempfile
from pathlib import Path
from judge.packs.isolation.locks import lock_down_gpu
folder, elsewhere = Path(sys.argv[1]), Path(sys.argv[2])
lock_down_gpu(folder)
with tempfile.TemporaryDirectory(dir=folder) as made:
    Path(made, "compiled").write_text("code")
with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
    file.write(b"code")
os.rename(file.name, folder / "kept")
def refused(work):
    try:
        work()
    except OSError:
        return True
    return False
print([refused(work) for work in (
    (elsewhere / "file").touch, (elsewhere / "folder").mkdir, lambda: (elsewhere / "there").write_text("other"),
    (elsewhere / "there").unlink, socket.socket, lambda: os.execv("/bin/true", ["true"]), os.fork,
)], (elsewhere / "there").read_text())
"""


@pytest.mark.skipif(landlock.version() < 1, reason="this kernel has no Landlock")
def test_a_process_on_a_gpu_writes_in_its_folder_only(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (elsewhere / "there").write_text("as it was")
    command = [sys.executable, "-c", _TRY, str(folder), str(elsewhere)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split("] ") == [f"[{', '.join(['True'] * 7)}", "as it was\n"]
    assert (folder / "kept").read_text() == "code"
