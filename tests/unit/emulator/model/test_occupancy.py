import pytest

from emulator.model import load_gpu, occupancy_of


@pytest.mark.parametrize(
    ("threads", "registers", "shared_bytes", "blocks", "limiter"),
    [
        (256, 32, 0, 8, "threads"),
        (32, 16, 0, 32, "blocks"),
        (256, 64, 0, 4, "registers"),
        (256, 255, 0, 1, "registers"),
        (128, 32, 48 << 10, 4, "shared memory"),
        (1024, 64, 0, 1, "registers"),
    ],
)
def test_what_runs_out_first_decides(threads, registers, shared_bytes, blocks, limiter):
    found = occupancy_of(load_gpu("h200"), threads, registers, shared_bytes)
    assert (found.blocks, found.limiter) == (blocks, limiter)
    assert found.ratio == blocks * -(-threads // 32) * 32 / 2048


def test_registers_are_given_to_warps_in_units_of_256():
    # 33 registers of 32 threads take 1280, not 1056: 51 warps, of which 48 make whole blocks.
    assert occupancy_of(load_gpu("h200"), 256, 33, 0).blocks == 6


def test_a_block_that_ran_fits():
    assert occupancy_of(load_gpu("t4"), 1024, 255, 200 << 10).blocks == 1
