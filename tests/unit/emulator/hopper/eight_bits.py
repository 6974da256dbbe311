"""Cases of conversions between e4m3 or e5m2 and wider numbers."""

from __future__ import annotations

import numpy as np

from tests.unit.emulator.hopper.device import Array, Device

KINDS = ("e4m3", "e5m2")
_BLOCK = 128


def _decoded(kind: str) -> Array:
    """The numbers that the 256 patterns stand for."""
    bits = 3 if kind == "e4m3" else 2
    code = np.arange(256)
    exponent, fraction = code >> bits & (1 << 7 - bits) - 1, code & (1 << bits) - 1
    bias = (1 << 6 - bits) - 1
    value = np.where(exponent > 0, 1 + fraction / 2**bits, 2 * fraction / 2**bits) * 2.0 ** (exponent - bias)
    if kind == "e4m3":
        value[code & 0x7F == 0x7F] = np.nan
    else:
        value[code & 0x7F > 0x7C] = np.nan
        value[code & 0x7F == 0x7C] = np.inf
    decoded: Array = np.where(code & 0x80, -value, value)
    return decoded


def _encoded(kind: str, value: Array) -> Array:
    """To the nearest number, of two the one whose pattern is even; never to an infinity."""
    table = _decoded(kind)[:128]
    table = table[np.isfinite(table)]
    middles = (table[1:] + table[:-1]) / 2
    magnitude = np.abs(value)
    below = np.searchsorted(middles, magnitude, side="left")  # a middle counts as below itself …
    at = np.minimum(below, len(middles) - 1)
    code = below + ((middles[at] == magnitude) & (below % 2 == 1))  # … unless the pattern there is odd
    return np.where(np.isnan(value), 0x7F, code | np.signbit(value) * 0x80).astype(np.uint8)


def _numbers(kind: str, type_: type) -> Array:
    """The numbers of the type, what lies midway, and next to it; large ones, infinities, NaN."""
    table = np.sort(_decoded(kind)[:128][:-1])
    table = table[np.isfinite(table)]
    middles = (table[1:] + table[:-1]) / 2
    near: Array = np.concatenate([table, middles, [min(2 * table[-1], 60000), 1e-30]]).astype(type_)
    values = np.concatenate([near, np.nextafter(near, type_(np.inf)), np.nextafter(near, type_(0)), [np.inf]])
    values = np.concatenate([values, -values, [np.nan]]).astype(type_)
    return np.resize(values, -(-len(values) // (2 * _BLOCK)) * 2 * _BLOCK)


def _text(convert: str, in_: str, out: str) -> str:
    """Each thread converts the pair at its number."""
    word, half = ".reg .b32 %w;", ".reg .b16 %h;"
    load = {"f32": "ld.global.v2.f32 {%f1, %f2}, [%rd1];", "b32": "ld.global.b32 %w, [%rd1];"}
    load["b16"] = "ld.global.b16 %h, [%rd1];"
    size = {"f32": 8, "b32": 4, "b16": 2}
    register = "%h" if out == "b16" else "%w"
    return f"""
    .visible .entry k(.param .u64 from, .param .u64 to) {{
        .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f<4>; {word} {half}
        mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r1, %r2, %r3, %r1;
        ld.param.u64 %rd1, [from]; mad.wide.u32 %rd1, %r1, {size[in_]}, %rd1;
        ld.param.u64 %rd2, [to]; mad.wide.u32 %rd2, %r1, {size[out]}, %rd2;
        {load[in_]}
        {convert}
        st.global.{out} [%rd2], {register};
        ret;
    }}"""


def _differ(device: Device, text: str, given: Array, expected: Array) -> str:
    """Of pairs."""
    out = device.upload(np.zeros_like(expected))
    device.launch(text, len(given) // 2 // _BLOCK, _BLOCK, 0, device.upload(given), out)
    found = device.download(out, expected)
    wrong = np.flatnonzero(found != expected)
    return f"{given[wrong[0]]} becomes {found[wrong[0]]}, not {expected[wrong[0]]}" if len(wrong) else ""


def run_from_floats(device: Device, kind: str, *, relu: bool = False) -> str:
    """Returns how the device's result differs; empty where it does not. So do the others."""
    given = _numbers(kind, np.float32)
    values = np.where(given <= 0, np.float32(0), given) if relu else given
    flag = ".relu" if relu else ""
    text = _text(f"cvt.rn.satfinite{flag}.{kind}x2.f32 %h, %f2, %f1;", "f32", "b16")
    return _differ(device, text, given, _encoded(kind, values.astype(float)))


def run_from_halves(device: Device, kind: str) -> str:
    given = _numbers(kind, np.float16)
    text = _text(f"cvt.rn.satfinite.{kind}x2.f16x2 %h, %w;", "b32", "b16")
    return _differ(device, text, given, _encoded(kind, given.astype(float)))


def run_to_halves(device: Device, kind: str) -> str:
    given = np.arange(256, dtype=np.uint8)
    expected = _decoded(kind).astype(np.float16).view(np.uint16)
    expected[np.isnan(_decoded(kind))] = 0x7FFF
    return _differ(device, _text(f"cvt.rn.f16x2.{kind}x2 %w, %h;", "b16", "b32"), given, expected)
