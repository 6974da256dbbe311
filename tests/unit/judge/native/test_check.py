"""The native library works out the bounds that the NumPy of ``judge.check`` does, and accepts what it accepts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from judge.check.compare import compare
from judge.check.tolerance import Expected, Tolerance, ToleranceKind
from judge.native import library
from judge.native.library import NativeLibrary

pytestmark = pytest.mark.cxx

Doubles = npt.NDArray[np.float64]
SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=40)
DOUBLES = arrays.arrays(np.float64, SHAPES)
SAME = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def by_both(native: NativeLibrary, work: Any) -> tuple[Any, Any]:
    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore", invalid="ignore"):
        patch.setattr(library, "_loaded", native)
        with_it = work()
        patch.setattr(library, "_loaded", None)
        return with_it, work()


@given(
    DOUBLES,
    st.booleans(),
    st.sampled_from(["elementwise", "sum", "dot", "softmax"]),
    st.sampled_from([1.0, 3.0, 1e7]),
    st.sampled_from([np.float16, np.float32, np.float64]),
)
@SAME
def test_bounds(
    native: NativeLibrary, values: Doubles, given_magnitude: bool, kind: ToleranceKind, terms: float, output: Any
) -> None:
    magnitude = np.abs(values[..., ::-1] if values.ndim else values) if given_magnitude else None
    tolerance = Tolerance(kind, np.dtype(np.float32), terms)
    for wanted in (values, values.T):
        scale = None if magnitude is None else magnitude if wanted is values else magnitude.T
        found, defined = by_both(native, lambda w=wanted, s=scale: tolerance.bound(w, s, np.dtype(output)))
        np.testing.assert_array_equal(found, defined, strict=True)


@given(DOUBLES, st.data())
@SAME
def test_comparisons(native: NativeLibrary, values: Doubles, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([np.float16, np.float32, np.float64]))
    bound = data.draw(arrays.arrays(np.float64, values.shape, elements=st.sampled_from([0.0, 1e-3, 1.0, np.inf])))
    step = data.draw(st.sampled_from([0.0, 0.0, 5e-4, 1e-3, np.nan, np.inf]))
    with np.errstate(over="ignore", invalid="ignore"):
        actual = np.asarray(values + step).astype(dtype)
        wanted = values if data.draw(st.booleans()) else actual.astype(np.float64)
    found, defined = by_both(native, lambda: compare("y", Expected(wanted, bound), actual))
    assert found == defined


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("wrong", [2.0, np.nan, np.inf, -np.inf])
def test_one_that_is_not_near(native: NativeLibrary, dtype: type[np.generic], wrong: float) -> None:
    values, bound, actual = np.zeros(1001), np.ones(1001), np.ones(1001, dtype)
    bound[500] = np.inf
    assert native.all_near(values, bound, actual)
    for place in (0, 499, 500, 1000):
        actual[place] = wrong
        assert native.all_near(values, bound, actual) == (wrong == 2.0 and place == 500)
        actual[place] = 1


def test_what_does_not_belong_together_is_refused(native: NativeLibrary) -> None:
    with pytest.raises(ValueError, match="shape"):
        native.bounds(np.ones(3), np.ones(2), 0.0, 1.0, 1.0, 0.0)
    with pytest.raises(ValueError, match="shape"):
        native.all_near(np.ones(3), np.ones(2), np.ones(3))
