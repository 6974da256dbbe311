"""``pytest --emulate`` in a project of its own: which tests it has, how they fail, and what the settings do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builds import LIBRARIES

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.nvcc, pytest.mark.slow(30), pytest.mark.usefixtures("library")]

ADD = """\
#include <cstdio>
#include <cstdlib>
__global__ void add(float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += 1;
}
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : SIZE;
    float *a;
    cudaMalloc(&a, SIZE * sizeof(float));
    cudaMemset(a, 0, SIZE * sizeof(float));
    add<<<(n + 255) / 256, 256>>>(a, n);
    cudaDeviceSynchronize();
    cudaFree(a);
    printf("added %d\\n", n);
    return argc > 2;
}
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project whose tests compile with ``-DSIZE=1000``."""
    options = f"emulate_options = --cache {LIBRARIES}\nemulate_nvcc_flags = -DSIZE=1000\n"
    pytester.makefile(".ini", pytest=f"[pytest]\n{options}")
    return pytester


def _write(project: pytest.Pytester, name: str, text: str) -> Path:
    file = project.path / name
    file.write_text(text)
    return file


def test_without_the_option_nothing_is_collected(project: pytest.Pytester) -> None:
    _write(project, "test_add.cu", ADD)
    project.runpytest_subprocess().assert_outcomes()


def test_sources_are_tests_and_each_run_is_one(project: pytest.Pytester) -> None:
    _write(project, "test_add.cu", "// nvcc: -DUNUSED='1 + 1'\n// run: 10\n// run: 5000\n// run: 10 fail\n" + ADD)
    _write(project, "test_broken.cu", "int main() { return nothing; }\n")
    _write(project, "helper.cu", "no test, and no CUDA either\n")

    done = project.runpytest_subprocess("--emulate", "-v")

    done.assert_outcomes(passed=1, failed=3)
    done.stdout.fnmatch_lines(
        [
            "test_add.cu::10 PASSED*",
            "test_add.cu::5000 FAILED*",
            "test_add.cu::10 fail FAILED*",
            "test_broken.cu::main FAILED*",
        ]
    )
    text = done.stdout.str()
    assert "test_add.cu:9 in add, thread (" in text, "behind four comments"
    assert "out-of-bounds write of 4 bytes" in text
    assert "Captured stdout call" in text
    assert "added 5000" in text
    assert "the program ended with exit code 1" in text
    assert 'identifier "nothing" is undefined' in text
    assert "pytest_plugin.py" not in text


def test_the_fixture_runs_programs_and_other_tests_stay(project: pytest.Pytester) -> None:
    _write(project, "add.cu", ADD)
    project.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="module")
        def add(emulate):
            return emulate.build("add.cu")

        def test_output(emulate, add):
            assert emulate(add, 20).stdout == "added 20\\n"

        def test_findings(emulate, add):
            emulate(add, 5000)

        def test_examined(emulate, add):
            run = emulate(add, 5000, check=False, options=["--check=full"])
            assert run.exit_code == 0
            assert "out-of-bounds write" in {problem["kind"] for problem in run.problems}
            assert run.report["processes"][0]["launch_count"] == 1

        def test_source(emulate):
            assert emulate("add.cu", 7).stdout == "added 7\\n"

        def test_missing(emulate):
            emulate("./missing")
        """
    )

    done = project.runpytest_subprocess()

    done.assert_outcomes(passed=3, failed=2)
    text = done.stdout.str()
    assert "out-of-bounds write of 4 bytes at" in text
    assert "emulator: ./missing: no such file" in text
    assert "test_the_fixture_runs_programs_and_other_tests_stay.py:11" in text
    assert "pytest_plugin.py" not in text


def test_kinds_that_are_ignored(project: pytest.Pytester) -> None:
    _write(project, "test_leak.cu", "int main() { void *p; cudaMalloc(&p, 64); return 0; }\n")

    project.runpytest_subprocess("--emulate").assert_outcomes(failed=1)
    done = project.runpytest_subprocess("--emulate", "-o", "emulate_ignore=leaked memory")
    done.assert_outcomes(passed=1)


def test_other_names_and_a_compiler_that_is_not_there(project: pytest.Pytester) -> None:
    _write(project, "add_test.cu", ADD)

    done = project.runpytest_subprocess(
        "--emulate", "-o", "emulate_files=*_test.cu", "-o", "emulate_nvcc=/no/such/nvcc"
    )

    done.assert_outcomes(failed=1)
    assert "emulate_nvcc: /no/such/nvcc: No such file or directory" in done.stdout.str()


def test_a_toolkit_of_python_packages_is_linked_by_its_folder(project: pytest.Pytester) -> None:
    """Such a toolkit has no ``libcudart.so``, which nvcc asks for, and none of the folders where nvcc looks."""
    _write(project, "test_add.cu", ADD)
    for folder in ("cu13/bin", "cu13/lib"):
        (project.path / folder).mkdir(parents=True)
    (project.path / "cu13/lib/libcudart.so.13").touch()
    nvcc = _write(
        project, "cu13/bin/nvcc", "#!/bin/sh\nfor word; do case $word in -L*) ls ${word#-L}; esac; done; exit 1\n"
    )
    nvcc.chmod(0o755)

    done = project.runpytest_subprocess("--emulate", "-o", f"emulate_nvcc={nvcc}")

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["libcudart.so", "libcudart.so.13"])
