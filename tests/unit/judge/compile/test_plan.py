from __future__ import annotations

from judge.compile.plan import Files, Plan, build_script, parse_dryrun, whole_plan

DRYRUN = r"""
#$ _CUDART_=cudart
#$ TOP=/cuda/bin/..
#$ CICC_PATH=/cuda/nvvm/bin
#$ PATH=/cuda/bin:/usr/bin
#$ INCLUDES="-I/cuda/include"
#$ gcc -std=c++17 -E -x c++ -fPIC -include "cuda_runtime.h" "kernel.cu" -o "kernel.cpp4.ii"
#$ cudafe++ --gen_module_id_file --module_id_file_name "kernel.module_id" "kernel.cpp4.ii"
#$ gcc -std=c++17 -D__CUDA_ARCH__=800 -E -x c++ "kernel.cu" -o "kernel.cpp1.ii"
#$ "$CICC_PATH/cicc" --module_id_file_name "kernel.module_id" "kernel.cpp1.ii" -o "kernel.ptx"
#$ fatbinary --create="kernel.fatbin" --embedded-fatbin="kernel.fatbin.c"
#$ gcc -std=c++17 -c -x c++ "kernel.cudafe1.cpp" -o "kernel.o"
"""
FILES = Files(
    placing="true",
    names=("kernel.cu", "inc/a+b.cuh"),
    library=5,
    symbols=6,
    definitions=7,
    resources=8,
    signals=9,
    streams=10,
    call_lines=11,
)


def script(plan: Plan) -> str:
    return build_script(
        plan, FILES, cuda="/cuda", runtime="/cuda/lib/libcudart.so.13", libraries=["cublas"], ptxas_arch="sm_80"
    )


def test_the_halves_are_told_apart() -> None:
    plan = parse_dryrun(DRYRUN)
    assert plan is not None
    assert [command.split()[0] for command in plan.host] == ["gcc", "cudafe++"]
    assert [command.split()[0] for command in plan.device] == ["gcc", '"$CICC_PATH/cicc"', "fatbinary"]
    assert plan.compile_.endswith('-o "kernel.o"')
    assert "--gen_module_id_file" not in plan.host[1]
    assert dict(plan.environment) == {"CICC_PATH": "/cuda/nvvm/bin", "PATH": "/cuda/bin:/usr/bin"}


def test_an_unknown_form_is_left_to_nvcc() -> None:
    assert parse_dryrun("") is None
    assert parse_dryrun(DRYRUN.replace("cudafe++ ", "cudafe99 ")) is None
    assert parse_dryrun(DRYRUN.replace("--gen_module_id_file ", "")) is None
    assert parse_dryrun(DRYRUN.replace("#$ fatbinary", "#$ mystery")) is None


def test_the_script_of_the_halves_runs_one_behind_the_other() -> None:
    plan = parse_dryrun(DRYRUN)
    assert plan is not None
    lines = script(plan).splitlines()
    device = next(number for number, line in enumerate(lines) if line.endswith(">device.log 2>&1 &"))
    host = next(number for number, line in enumerate(lines) if "cudafe++" in line)
    compile_ = next(number for number, line in enumerate(lines) if plan.compile_.removeprefix("gcc ") in line)
    assert device < host < compile_
    assert any("-lcublas" in line for line in lines)


def test_only_the_emulators_script_asks_for_the_lines_of_calls() -> None:
    plan = parse_dryrun(DRYRUN)
    assert plan is not None
    gpus = build_script(plan, FILES, cuda="/cuda", runtime="-lcudart_static", libraries=[], ptxas_arch=None)
    assert "/proc/self/fd/11" in script(plan)
    assert " -g1 " in script(plan)
    assert r"(kernel[.]cu|inc\/a[+]b[.]cuh):[0-9]" in script(plan)
    assert "/proc/self/fd/11" not in gpus
    assert " -g1" not in gpus


def test_the_whole_plan_is_one_command() -> None:
    text = script(whole_plan("/cuda/bin/nvcc", ["-O3", "-gencode", "arch=compute_80,code=[compute_80,sm_80]"]))
    assert "'arch=compute_80,code=[compute_80,sm_80]' -c kernel.cu -o kernel.o" in text
    assert "device.log" not in text
