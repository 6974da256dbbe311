import pytest

from emulator.model import gpu_names, load_gpu


def test_there_are_five():
    assert gpu_names() == ("a100", "h100", "h200", "rtx4090", "t4")


@pytest.mark.parametrize("name", gpu_names())
def test_figures_are_complete_and_possible(name):
    gpu = load_gpu(name)
    assert {"int", "fp32", "fp64", "fp16", "special", "convert", "warp", "match"} == set(gpu.lanes_per_clock)
    assert {"f16", "bf16", "tf32", "f64", "int8", "int4", "b1"} == set(gpu.tensor_flops_per_clock)
    assert 0.7 < gpu.memory.dram_bytes_per_s / gpu.memory.dram_peak_bytes_per_s < 1
    latency = gpu.latency_cycles
    assert latency.issue < latency.shared < latency.l1 < latency.l2 < latency.dram


def test_fp32_peaks_are_those_of_the_data_sheets():
    for name, tflops in {"h200": 67, "h100": 67, "a100": 19.5, "rtx4090": 82.6}.items():
        gpu = load_gpu(name)
        assert 2 * gpu.lanes_per_clock["fp32"] * gpu.multiprocessors * gpu.clock_hz / 1e12 == pytest.approx(
            tflops, rel=0.01
        )


def test_an_unknown_name_is_told_those_there_are():
    with pytest.raises(ValueError, match=r"'h300'.*a100.*t4"):
        load_gpu("h300")
