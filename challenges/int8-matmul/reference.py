"""The quantised matrix product in NumPy: integers, then the single-precision steps of the statement in their order."""

import numpy as np

_RANDOM_ROWS = 40
_SUSPICIOUS_ROWS = 24
#: Up to so many rows all are checked: rounding hides small errors from the random signs.
_ALL_ROWS = 512


def reference(A, B, M, N, K, scale_A, scale_B, scale_C, zero_point_A, zero_point_B, zero_point_C):
    # Products of whole numbers are exact in float64 (no sum here comes near 2^53), where NumPy has a fast product.
    sums = (A.astype(np.float64) - int(zero_point_A)) @ (B.astype(np.float64) - int(zero_point_B))
    scaled = sums.astype(np.int64).astype(np.float32) * scale_A * scale_B / scale_C
    return np.clip(np.rint(scaled).astype(np.int64) + int(zero_point_C), -128, 127)


def mistake(inputs, outputs):
    """Signed bytes read as unsigned ones."""
    got, right = outputs["C"], reference(**inputs)
    # Where all is at the end of the range, it may have come there in other ways.
    if np.count_nonzero(got != right) < 4 or (got == got[0, 0]).all():
        return None
    # Where the other matrix has no negative numbers, the outputs do not say how it is read.
    for names in (["A"], ["B"], ["A", "B"]):
        unsigned = {name: inputs[name].view(np.uint8) for name in names}
        if (got == reference(**{**inputs, **unsigned})).all():
            words = " and ".join(names)
            return f"the bytes of {words} seem to be read as unsigned: int8_t is signed, so the byte 255 stands for -1"
    return None


def spot_check(rng, inputs, outputs):
    """Random rows, and those where the output times random signs is furthest from A times B times them (Freivalds)."""
    count = len(outputs["C"])
    if count <= _ALL_ROWS:
        rows = np.arange(count)
    else:
        rows = np.union1d(rng.choice(count, _RANDOM_ROWS, replace=False), _suspicious(rng, inputs, outputs["C"]))
    return {"C": (rows, reference(**{**inputs, "A": inputs["A"][rows]}), None)}


def _suspicious(rng, inputs, result):
    signs = rng.choice(np.array([-1.0, 1.0], np.float32), (result.shape[1], 2))
    left, right = (inputs[name].astype(np.float32) - np.float32(inputs[f"zero_point_{name}"]) for name in ("A", "B"))
    expected = left @ (right @ signs) * (inputs["scale_A"] * inputs["scale_B"] / inputs["scale_C"])
    got = (result.astype(np.float32) - np.float32(inputs["zero_point_C"])) @ signs
    return np.argsort(np.abs(got - expected).max(axis=1))[-_SUSPICIOUS_ROWS:]
