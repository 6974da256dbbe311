from __future__ import annotations

import stat
from pathlib import Path

import pytest

from judge.compile import toolchain
from judge.errors import ToolchainMissing
from judge.sandbox.cgroup_hierarchy import own_identity


def make_nvcc(folder: Path, *, says: str | None = None) -> Path:
    """A program that answers ``--dryrun`` and ``--version`` as nvcc does."""
    nvcc = folder / "bin" / "nvcc"
    nvcc.parent.mkdir(parents=True)
    answer = says if says is not None else f"#$ TOP={folder}/bin/.."
    nvcc.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --version ]; then echo "Cuda compilation tools, release 13.7, V13.7.1"; exit; fi\n'
        f"echo '{answer}' >&2\n"
    )
    nvcc.chmod(nvcc.stat().st_mode | stat.S_IXUSR)
    return nvcc


def test_the_setting_decides(tmp_path: Path) -> None:
    found = toolchain.find_toolchain(make_nvcc(tmp_path / "cuda"))
    assert found.root == tmp_path / "cuda"
    assert found.version == "13.7"


def test_a_wrapper_is_followed_to_the_toolkit_it_calls(tmp_path: Path) -> None:
    make_nvcc(tmp_path / "real")
    wrapper = make_nvcc(tmp_path / "wrapper", says=f"#$ TOP={tmp_path}/real/bin/..")
    assert toolchain.find_toolchain(wrapper).root == tmp_path / "real"


@pytest.mark.parametrize("says", ["", "sh: nothing here"])
def test_one_that_does_not_work_is_not_taken(tmp_path: Path, says: str) -> None:
    nvcc = make_nvcc(tmp_path / "cuda", says=says)
    with pytest.raises(ToolchainMissing, match="no working nvcc") as caught:
        toolchain.find_toolchain(nvcc)
    assert str(nvcc) in caught.value.message
    assert "pip install" in caught.value.remedy


def test_none_at_all_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ToolchainMissing, match="no working nvcc"):
        toolchain.find_toolchain(tmp_path / "absent")


def test_path_comes_before_packages_and_those_before_usr_local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path = make_nvcc(tmp_path / "on-path")
    packaged = make_nvcc(tmp_path / "site" / "nvidia" / "cu13")
    paths = dict.fromkeys(("purelib", "platlib"), f"{tmp_path}/site")
    monkeypatch.setattr(toolchain.sysconfig, "get_paths", lambda: paths)
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.setenv("PATH", str(on_path.parent))
    order = list(dict.fromkeys(toolchain._candidates()))
    assert order == [on_path, packaged, Path("/usr/local/cuda/bin/nvcc")]


def test_libraries_by_their_full_names(tmp_path: Path) -> None:
    """The packages of the Python index have no ``libcudart.so``, only ``libcudart.so.13``."""
    found = toolchain.find_toolchain(make_nvcc(tmp_path / "cuda"))
    library = tmp_path / "cuda" / "lib" / "libcudart.so.13"
    library.parent.mkdir()
    library.touch()
    assert found.library("libcudart.so") == "lib/libcudart.so.13"
    with pytest.raises(ToolchainMissing, match=r"has no libcudart_static\.a"):
        found.library("libcudart_static.a")


def test_scratch_of_the_dead_is_removed_and_that_of_the_living_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    namespace = own_identity().split(".")[0]
    dead, living = tmp_path / f"gpujudge-nvcc-a.{namespace}.1.1", tmp_path / f"gpujudge-nvcc-b.{own_identity()}"
    for folder in (dead, living, tmp_path / "another"):
        folder.mkdir()
        (folder / "tmpxft").touch()
    assert toolchain.remove_scratch() == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["another", living.name])
