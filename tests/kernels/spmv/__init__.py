"""y = A x for a sparse matrix by rows (CSR) in fp32: ``solve(starts, columns, values, x, y, rows)``.

Rows have one to some hundred entries, most of them few; columns are near the diagonal, more or less.
"""

from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, generator, normal, rounding

SMALL = {"rows": 333}
MODEL = {"rows": 200_000}


def case(rows: int) -> Case:
    random = generator(9)
    lengths = np.minimum(1 + random.geometric(1 / 32, rows), 400)
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    entries = int(starts[-1])
    row = np.repeat(np.arange(rows), lengths)
    columns = ((row + random.integers(-2000, 2000, entries)) % rows).astype(np.int32)
    values, x = normal(entries, 9, 1), normal(rows, 9, 2)
    products = values.astype(np.float64) * x[columns]
    expected = np.add.reduceat(products, starts[:-1])
    magnitude = np.add.reduceat(np.abs(products), starts[:-1])
    out = Output(expected, np.float32, rounding(int(lengths.max()), magnitude))
    return Case((starts, columns, values, x, out, c_int(rows)))
