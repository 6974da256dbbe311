"""The launches of the judge's kernels, run by a host that has the memory of a device in a dictionary."""

from __future__ import annotations

import struct

import pytest

from judge.wire.digest import PIECE_BYTES, piece_digests, tree_digest
from judge.wire.elements import Element
from judge.wire.kernel_abi import ARGUMENTS, LAWS, digest_launches, piece_launch, recipe_launch
from judge.wire.recipe import Kind, Recipe


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 128 * PIECE_BYTES, 128 * PIECE_BYTES + 1])
def test_the_launches_of_a_digest_compute_the_tree_level_by_level(size: int) -> None:
    memory = {1: bytes(range(251)) * (size // 251 + 1)}
    memory[1] = memory[1][:size]

    def place(level: int) -> int:
        memory[len(memory) + 1] = bytes(level)
        return len(memory)

    for launch in digest_launches(1, size, place):
        source, count, target = (int(value) for value in launch.arguments)
        assert launch.blocks * launch.threads >= max(1, -(-count // PIECE_BYTES)), "a thread for each piece"
        assert len(memory[source]) == count
        made = piece_digests(memory[source])
        assert len(made) == len(memory[target])
        memory[target] = made
    assert memory[len(memory)] == tree_digest(memory[1])


def test_a_launch_has_what_its_layout_packs() -> None:
    recipe = Recipe(Kind.UNIFORM, Element.FLOAT32, (1, 2))
    for work in ("make", "compare", "plant", "unplant"):
        launch = recipe_launch(work, recipe, 64, 1 << 20, multiprocessors=4, beside=5, found=6)
        assert struct.unpack(ARGUMENTS[launch.kernel], struct.pack(ARGUMENTS[launch.kernel], *launch.arguments)) == (
            launch.arguments
        )
        assert (launch.arguments[:2], launch.arguments[-2:]) == ((64, 1 << 20), (5, 6))
    assert recipe_launch("make", recipe, 64, 1 << 30, multiprocessors=4).blocks == 128
    assert recipe_launch("make", recipe, 64, 1, multiprocessors=4).blocks == 1
    assert recipe_launch("plant", recipe, 64, 1 << 30, multiprocessors=4).blocks == 1
    assert piece_launch(0, 0, 1).blocks == 1


def test_nothing_is_planted_in_a_masked_input() -> None:
    works = {law: {name.split("_")[0] for name in ARGUMENTS if name.endswith(f"_{law}")} for law in LAWS}
    assert works.pop("masked") == {"make", "compare"}
    assert set(map(frozenset, works.values())) == {frozenset({"make", "compare", "plant", "unplant"})}
