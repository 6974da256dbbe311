"""How the ends of an interval are written, wherever they are shown."""

from __future__ import annotations

import math

#: What a share of the roofline is of, wherever one is shown.
ROOFLINE = "of what this GPU can do for this task"


def interval_digits(low: float, high: float) -> int:
    """The number of significant digits that tell the two ends apart: from 4 to 7."""
    if not 0 < low < high:
        return 4
    return min(max(math.ceil(math.log10(high / (high - low))) + 1, 4), 7)
