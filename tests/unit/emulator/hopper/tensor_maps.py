"""Cases of tensor maps of im2col, and of maps that kernels make or change."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tests.unit.emulator.hopper.copies import (
    DTYPES,
    FILL,
    HEAD,
    STORE,
    WAIT,
    WINDOW,
    TensorCopy,
    differs,
    parameters_of,
    swizzled,
)
from tests.unit.emulator.hopper.device import Array, Device, im2col_map, tensor_map

#: What PTX calls ``.elemtype``.
_ELEMENT_TYPES = {"u8": 0, "u16": 1, "u32": 2, "f16": 6, "f32": 7}
#: How a kernel comes by its map: of zeros in shared memory, from where it copies it; by changes to one of the host's,
#: in global memory, or in shared memory again.
WAYS = ("zeros", "global", "shared")


@dataclass(frozen=True)
class Im2colCopy:
    """Pixels of a tensor from ``start`` on. Sizes have the channels first and the images last."""

    kind: str
    sizes: tuple[int, ...]
    channels: int
    pixels: int
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    start: tuple[int, ...]
    offsets: tuple[int, ...]
    steps: tuple[int, ...] = ()
    swizzle: int = 0

    def __str__(self) -> str:
        parts = (self.kind, self.sizes, self.pixels, self.lower, self.upper, self.start, self.offsets, self.steps)
        return "-".join(str(x).replace(" ", "") for x in (*parts, self.swizzle))

    @property
    def rank(self) -> int:
        return len(self.sizes)

    def tensor(self) -> Array:
        count = int(np.prod(self.sizes))
        return (np.arange(count) * 7 % 251 + 1).astype(DTYPES[self.kind]).reshape(self.sizes[::-1])

    @property
    def strides(self) -> tuple[int, ...]:
        size = np.dtype(DTYPES[self.kind]).itemsize
        return tuple(int(np.prod(self.sizes[:d])) * size for d in range(1, self.rank))

    def _pixels(self) -> Iterator[tuple[int, ...]]:
        """Where each image's pixels lie, without offsets: of one image after another, the width first."""
        steps = self.steps[1:-1] if self.steps else (1,) * (self.rank - 2)
        spans = [
            range(low, size + high, step)
            for low, high, size, step in zip(self.lower, self.upper, self.sizes[1:-1], steps, strict=True)
        ]
        for image in itertools.count(self.start[-1]):
            for outer_first in itertools.product(*spans[::-1]):
                yield (*outer_first[::-1], image)

    def places(self) -> list[tuple[int, tuple[int, ...]]]:
        """(number of the pixel in the column, its place in the tensor, outermost first) of those in the tensor."""
        pixels = itertools.dropwhile(lambda place: place != self.start[1:], self._pixels())
        found = []
        for number, (*place, image) in enumerate(itertools.islice(pixels, self.pixels)):
            moved = *(p + o for p, o in zip(place, self.offsets, strict=True)), image
            if all(0 <= p < size for p, size in zip(moved, self.sizes[1:], strict=True)):
                found.append((number, moved[::-1]))
        return found

    def made(self, device: Device, address: int) -> int:
        corners = self.lower, self.upper
        box = corners, self.channels, self.pixels
        return im2col_map(
            device, address, self.kind, self.sizes, self.strides, *box, steps=self.steps, swizzle=self.swizzle
        )


def im2col_copies() -> list[Im2colCopy]:
    """Filters of several sizes at each of their places; the first pixels lie in the box of pixels."""
    found = [
        Im2colCopy("f32", (8, 12, 3), 4, 16, (0,), (0,), (4, 3, 0), (0,)),
        Im2colCopy("f32", (8, 12, 3), 8, 30, (-2,), (-2,), (0, -2, 1), (4,)),
        Im2colCopy("u8", (32, 5, 4, 2), 16, 24, (0, 0), (0, 0), (16, 1, 2, 0), (0, 0)),
        Im2colCopy("f16", (64, 4, 4, 2), 64, 16, (0, 0), (0, 0), (0, 0, 0, 1), (0, 0), swizzle=3),
        Im2colCopy("f16", (40, 6, 5, 2), 16, 20, (-1, -1), (-1, -1), (32, -1, -1, 0), (0, 1)),
        Im2colCopy("u32", (4, 9, 7, 3), 4, 40, (-1, -2), (0, -2), (0, 1, 2, 1), (1, 4), steps=(1, 2, 1, 1)),
        Im2colCopy("u32", (4, 9, 8, 2), 4, 50, (0, -1), (-2, -1), (0, 0, -1, 0), (2, 0), steps=(1, 3, 2, 1)),
        Im2colCopy("f16", (16, 4, 3, 3, 2), 16, 40, (-1, 0, -1), (-1, -1, -1), (0, 1, 0, 1, 0), (2, 1, 0)),
        Im2colCopy("f32", (8, 3, 3, 4, 2), 8, 25, (0, 0, 0), (0, 0, 0), (0, 2, 2, 3, 0), (0, 0, 0), swizzle=1),
    ]
    filters = itertools.product(range(3), range(3))
    found += [
        Im2colCopy("f16", (32, 5, 5, 2), 32, 32, (-1, -1), (-1, -1), (0, -1, 0, 0), offsets, swizzle=2)
        for offsets in filters
    ]
    return found


def im2col_stores() -> list[Im2colCopy]:
    return [
        Im2colCopy("f32", (8, 12, 3), 4, 16, (0,), (0,), (4, 3, 0), (0,)),
        Im2colCopy("f16", (64, 4, 4, 2), 64, 16, (0, 0), (0, 0), (0, 1, 2, 1), (0, 0), swizzle=3),
        Im2colCopy("u32", (4, 9, 7, 3), 4, 40, (0, 1), (-1, -2), (0, 2, 1, 1), (0, 0), steps=(1, 2, 1, 1)),
        Im2colCopy("f16", (16, 4, 3, 3, 2), 16, 40, (0, 0, 0), (0, -1, 0), (0, 1, 0, 1, 0), (0, 0, 0)),
    ]


def _listed(prefix: str, values: tuple[int, ...]) -> tuple[str, str]:
    """Returns (moves of the values into registers, the registers)."""
    names = [f"%{prefix}{n}" for n in range(len(values))]
    kind = "s32" if prefix == "c" else "u16"
    return "".join(f"mov.{kind} {n}, {x};" for n, x in zip(names, values, strict=True)), ", ".join(names)


def run_im2col_load(device: Device, case: Im2colCopy) -> str:
    tensor = case.tensor()
    box = np.zeros((case.pixels, case.channels), tensor.dtype)
    first = case.start[0]
    for number, place in case.places():
        row = tensor[place][first : first + case.channels]
        box[number, : len(row)] = row
    expected = swizzled(box.reshape(-1).view(np.uint8), case.swizzle)
    size = -(-len(expected) // 128) * 128
    (moves, names), (more, offsets) = _listed("c", case.start), _listed("h", case.offsets)
    text = (
        HEAD.format(parameters=parameters_of("out", "map"))
        + f""".reg .b16 %h<3>; ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [map]; {moves} {more}
        @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {len(expected)};
        @%p1 cp.async.bulk.prefetch.tensor.{case.rank}d.L2.global.im2col [%rd2, {{{names}}}], {{{offsets}}};
        @%p1 cp.async.bulk.tensor.{case.rank}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
            [%base], [%rd2, {{{names}}}], [%bar], {{{offsets}}};
        {WAIT}"""
        + STORE.format(size=size)
    )
    out = np.zeros(size, np.uint8)
    target = device.upload(out)
    device.launch(text, 1, 32, WINDOW, target, case.made(device, device.upload(tensor)))
    return differs(case, device.download(target, out)[: len(expected)], expected)


def run_im2col_store(device: Device, case: Im2colCopy) -> str:
    before = case.tensor()
    box = (np.arange(case.pixels * case.channels) * 5 % 97).astype(before.dtype).reshape(case.pixels, case.channels)
    expected = before.copy()
    first = case.start[0]
    for number, place in case.places():
        row = expected[place][first : first + case.channels]
        row[:] = box[number, : len(row)]
    data = swizzled(box.reshape(-1).view(np.uint8), case.swizzle)
    size = -(-len(data) // 128) * 128
    data = np.concatenate([data, np.zeros(size - len(data), np.uint8)])
    moves, names = _listed("c", case.start)
    text = (
        HEAD.format(parameters=parameters_of("from", "map"))
        + "ld.param.u64 %rd1, [from];"
        + FILL.format(size=size)
        + f"""ld.param.u64 %rd2, [map]; {moves}
        @%p1 cp.async.bulk.tensor.{case.rank}d.global.shared::cta.im2col_no_offs.bulk_group
            [%rd2, {{{names}}}], [%base];
        @%p1 cp.async.bulk.commit_group;
        @%p1 cp.async.bulk.wait_group 0;
        ret;
    }}"""
    )
    target = device.upload(before)
    device.launch(text, 1, 32, WINDOW, device.upload(data), case.made(device, target))
    return differs(case, device.download(target, before), expected)


def _replacements(case: TensorCopy, space: str, where: str) -> str:
    """All fields; the tensor's address is in %rd4."""
    steps = case.steps or (1,) * case.rank

    def each(field: str, values: tuple[int, ...], size: int = 32) -> str:
        register = "%rd5" if size == 64 else "%r2"
        return "".join(
            f"@%p1 mov.b{size} {register}, {value};"
            f"@%p1 tensormap.replace.tile.{field}.{space}.b1024.b{size} [{where}], {d}, {register};"
            for d, value in enumerate(values)
        )

    def one(field: str, value: int) -> str:
        return f"@%p1 tensormap.replace.tile.{field}.{space}.b1024.b32 [{where}], {value};"

    return (
        f"@%p1 tensormap.replace.tile.global_address.{space}.b1024.b64 [{where}], %rd4;"
        + one("rank", case.rank - 1)
        + each("box_dim", case.box)
        + each("global_dim", case.sizes)
        + each("global_stride", case.strides, 64)
        + each("element_stride", steps)
        + one("elemtype", _ELEMENT_TYPES[case.kind])
        + one("interleave_layout", 0)
        + one("swizzle_mode", case.swizzle)
        + one("fill_mode", 0)
    )


_ZEROS = "shl.b32 %r3, %r1, 2; add.u32 %r3, %base, %r3; mov.b32 %r4, 0; st.shared.b32 [%r3], %r4; bar.warp.sync -1;"
#: The map at %rd2, word by word.
_BROUGHT = """shl.b32 %r3, %r1, 2; cvt.u64.u32 %rd9, %r3; add.u64 %rd9, %rd2, %rd9; ld.global.b32 %r4, [%rd9];
        add.u32 %r3, %base, %r3; st.shared.b32 [%r3], %r4; bar.warp.sync -1;"""


def _change(case: TensorCopy, way: str) -> str:
    if way == "global":
        return (
            _replacements(case, "global", "%rd2")
            + "fence.proxy.tensormap::generic.release.gpu; bar.warp.sync -1;"
            + "fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;"
        )
    copy = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
    return (
        (_ZEROS if way == "zeros" else _BROUGHT)
        + _replacements(case, "shared::cta", "%base")
        + f"bar.warp.sync -1; {copy} [%rd2], [%base], 128;"
        + "fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128; bar.sync 0;"
    )


def run_made_map(device: Device, case: TensorCopy, way: str) -> str:
    """The map becomes that of the case: of zeros, or of a map of something else."""
    tensor = case.tensor()
    box = np.zeros(case.box_shape, tensor.dtype)
    for index, at in case.places():
        box[index] = tensor[at]
    expected = swizzled(box.reshape(-1).view(np.uint8), case.swizzle)
    size = -(-len(expected) // 128) * 128
    moves, names = _listed("c", case.start)
    text = (
        HEAD.format(parameters=parameters_of("out", "map", "tensor"))
        + f"""ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [map]; ld.param.u64 %rd4, [tensor];
        {_change(case, way)} {moves}
        @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {len(expected)};
        @%p1 cp.async.bulk.tensor.{case.rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
            [%base], [%rd2, {{{names}}}], [%bar];
        {WAIT}"""
        + STORE.format(size=size)
    )
    source = device.upload(tensor)
    other = tensor_map(device, device.upload(np.zeros(64, np.uint16)), "u16", (16, 4), (32,), (8, 2))
    out = np.zeros(size, np.uint8)
    target = device.upload(out)
    device.launch(text, 1, 32, WINDOW, target, other, source)
    return differs(case, device.download(target, out)[: len(expected)], expected)


def illegal_maps() -> list[str]:
    return ["rank", "box_dim", "address", "place", "nothing", "kind"]


def run_illegal_map(device: Device, case: str) -> None:
    """A kernel asks for what no map can be, or changes what is none, or uses a map of another kind."""
    changes = {
        "rank": "tensormap.replace.tile.rank.global.b1024.b32 [%rd2], 5;",
        "box_dim": "mov.b32 %r2, 257; tensormap.replace.tile.box_dim.global.b1024.b32 [%rd2], 0, %r2;",
        "address": "add.u64 %rd4, %rd2, 8; tensormap.replace.tile.global_address.global.b1024.b64 [%rd2], %rd4;",
        "place": "add.u32 %r2, %base, 64; tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r2], 1;",
        "nothing": "mov.b32 %r2, 7; st.global.b32 [%rd2], %r2; tensormap.replace.tile.rank.global.b1024.b32 [%rd2], 1;",
        "kind": """mov.b32 %c0, 0; mov.b16 %h0, 0;
            cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
            [%base], [%rd2, {%c0, %c0, %c0}], [%bar], {%h0};""",
    }
    text = (
        HEAD.format(parameters=parameters_of("map"))
        + f".reg .b16 %h<3>; ld.param.u64 %rd2, [map]; {changes[case]} ret; }}"
    )
    sizes = (16, 4, 2)
    tensor = device.upload(np.zeros(128, np.uint16))
    device.launch(text, 1, 1, WINDOW, tensor_map(device, tensor, "u16", sizes, (32, 128), (8, 2, 1)))
