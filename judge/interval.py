"""How the ends of an interval are written, wherever they are shown, and what is said of cards that differ."""

from __future__ import annotations

import math

#: What a share of the roofline is of, wherever one is shown.
ROOFLINE = "of what this GPU can do for this task"


def interval_digits(low: float, high: float) -> int:
    """The number of significant digits that tell the two ends apart: from 4 to 7."""
    if not 0 < low < high:
        return 4
    return min(max(math.ceil(math.log10(high / (high - low))) + 1, 4), 7)


def cards_in_words(cards: int, spread: float | None, timed_again: int = 0) -> str:
    """Returns a sentence about the cards on which a board's entries were timed; empty for one card.

    ``spread`` is by how much they differ (0.08: 8 %; None: not known), ``timed_again`` how many of the first entries an
    audit timed on one card.
    """
    if cards < 2:
        return ""
    differ = f"that differ by up to {100 * spread:.2g} % here" if spread else "that do not differ here"
    if spread is None:
        differ = "whose difference here is not known yet"
    first = {2: "two", 3: "three"}.get(timed_again)
    return f"Timed on {cards} cards {differ}{f'; the first {first} were timed again on one card' if first else ''}."
