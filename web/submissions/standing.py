"""A submission's standing in words and pictures: its place, its medal, everybody's times, the user's own history."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from judge.judgement import Measurement
from judge.packs.pack import Medals
from store.standings import Standing
from web.charts import distribution_chart, history_chart
from web.formatting import seconds, significant, whole

#: Fewer users than this make no distribution worth a picture.
LEAST_USERS = 5


@dataclass(frozen=True, slots=True)
class StandingView:
    """What the page shows beside the time. Charts are empty where there is too little to draw."""

    place: str
    percentile: str
    change: str
    improved: bool
    behind: str
    medal: str
    distribution: Markup
    history: Markup
    #: The history as a table: when, the time, and the submission.
    scores: tuple[tuple[str, str, str], ...]


def present_standing(standing: Standing, measurement: Measurement, medals: Medals | None) -> StandingView:
    """Returns the view of a standing whose values are times in seconds, measured or modelled."""
    users = len(standing.others) + 1
    slower = sum(other > standing.value for other in standing.others)
    previous = standing.previous_best
    best = standing.leader
    values = [*standing.others, min(score.value for score in standing.own)] if standing.own else list(standing.others)
    return StandingView(
        place=f"{whole(standing.place)} of {whole(users)}",
        percentile=f"faster than {100 * slower / len(standing.others):.0f} %" if standing.others else "",
        change="" if previous is None else _change(standing.value, previous),
        improved=previous is not None and standing.value < previous,
        behind="the best on this board"
        if standing.value <= best
        else f"{significant(standing.value / best, 3)}× the best",
        medal="" if medals is None else medal_of(measurement.roofline_share, medals),
        distribution=Markup("")
        if users < LEAST_USERS
        else distribution_chart(values, standing.value, seconds, f"The best times of {whole(users)} people"),
        history=history_chart(
            [score.value for score in standing.own],
            next(
                (at for at, score in enumerate(standing.own) if score.submission_public_id == standing.public_id), None
            ),
            seconds,
            f"Your {whole(len(standing.own))} times on this board, oldest first",
        ),
        scores=tuple(
            (f"{score.created_at:%Y-%m-%d %H:%M}", seconds(score.value, 4), score.submission_public_id)
            for score in reversed(standing.own)
        ),
    )


def medal_of(share: float | None, medals: Medals) -> str:
    """Returns the medal (``gold``, ``silver``, ``bronze``) that a share of the roofline earns, or an empty string."""
    earned = [name for name in ("gold", "silver", "bronze") if share is not None and share >= getattr(medals, name)]
    return earned[0] if earned else ""


def _behind(value: float, best: float) -> str:
    return "the best on this board" if value <= best else f"{significant(value / best, 3)}× the best"


def _change(value: float, previous: float) -> str:
    if value < previous:
        return f"{significant(previous / value, 3)}× faster than your best before"
    if value > previous:
        return f"{significant(value / previous, 3)}× your best"
    return "as fast as your best before"
