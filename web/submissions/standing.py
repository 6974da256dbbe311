"""A submission's standing in words and pictures: its place, its medal, everybody's times, the user's own history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from judge.measurements import Measurement
from judge.packs.medals import Medal, Medals
from store.boards.standings import History, ListedScore, Score, Standing
from web.formatting import seconds, significant, whole
from web.pictures.charts import distribution_chart, history_chart

#: A share of the roofline that is too small to say much.
_FAR = 0.05


@dataclass(frozen=True, slots=True)
class StandingView:
    """The panel beside the time. Charts are empty where there is too little to draw."""

    place: str
    percentile: str
    change: str
    improved: bool
    behind: str
    medal: Medal | None
    medals: str
    distribution: Markup
    history: Markup
    #: The history as a table: when, the time, and the submission.
    scores: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class HistoryView:
    """A user's times on one board: a picture, empty where there are fewer than two, and the same as a table."""

    device: str
    best: str
    chart: Markup
    scores: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class ScoreView:
    """A score in a list, and how it compares with the best before it."""

    text: str
    change: str
    improved: bool


def present_score(score: ListedScore) -> ScoreView:
    """Returns the view of a listed score."""
    text = seconds(score.value)
    if score.previous_best is None:
        return ScoreView(text, "", improved=False)
    ratio = score.value / score.previous_best - 1 if score.previous_best else 0.0
    change = "as before" if abs(ratio) < 0.0005 else f"{ratio:+.1%}".replace("-", "−").replace("%", " %")
    return ScoreView(text, change, improved=ratio <= -0.0005)


def present_history(history: History) -> HistoryView:
    """Returns the view of a user's times on one board."""
    device, values = history.device_key, [score.value for score in history.scores]
    title = f"Your {whole(len(values))} times on {device}, oldest first, with the best so far as a line"
    chart = history_chart(values, None, seconds, title)
    return HistoryView(device, seconds(min(values)), chart, _score_rows(history.scores))


def _score_rows(scores: Sequence[Score]) -> tuple[tuple[str, str, str], ...]:
    """Returns when, the time and the submission of each score, the newest first."""
    return tuple(
        (f"{score.created_at:%Y-%m-%d %H:%M}", seconds(score.value, 4), score.submission_public_id)
        for score in reversed(scores)
    )


def present_standing(
    standing: Standing, everybody: Sequence[float], measurement: Measurement, medals: Medals | None
) -> StandingView:
    """Returns the view of a standing whose values are times in seconds, measured or modelled.

    ``everybody`` are all times of the board, ascending; none for no picture of them.
    """
    users, others = standing.users, standing.users - 1
    previous = standing.previous_best
    best = standing.leader
    return StandingView(
        place=f"{whole(standing.place)} of {whole(users)}",
        percentile=f"faster than {100 * standing.slower / others:.0f} %" if standing.slower else "",
        change="" if previous is None else _change(standing.value, previous),
        improved=previous is not None and standing.value < previous,
        behind=behind(standing.value, best),
        medal=None if medals is None else medals.earned(measurement.roofline_share),
        medals=medals_in_words(medals) if measurement.roofline_share is not None else "",
        distribution=distribution_chart(
            everybody, standing.value, seconds, f"The best times of {whole(len(everybody))} people"
        ),
        history=history_chart(
            [score.value for score in standing.own],
            next(
                (at for at, score in enumerate(standing.own) if score.submission_public_id == standing.public_id), None
            ),
            seconds,
            f"Your {whole(len(standing.own))} times on this board, oldest first",
        ),
        scores=_score_rows(standing.own),
    )


def medals_in_words(medals: Medals | None) -> str:
    """Returns where each medal begins; empty where there are none.

    Where our best kernel is far from the roofline, its time says more than the shares, which would have many zeros.
    """
    if medals is None:
        return ""
    shares = (("gold", medals.gold), ("silver", medals.silver), ("bronze", medals.bronze))
    if medals.best is not None and medals.best < _FAR:
        times = ", ".join(f"{name} up to {significant(medals.best / share, 2)}×" for name, share in shares)
        return f"{times} the time of our best kernel, an empty launch left out"
    told = ", ".join(f"{name} from {significant(100 * share, 2)} %" for name, share in shares) + " of the roofline"
    return told if medals.best is None else f"{told}; our best kernel reaches {significant(100 * medals.best, 2)} %"


def behind(value: float, best: float) -> str:
    """Returns how a value compares with the best of its board, in words."""
    if value <= best:
        return "the best on this board"
    ratio = value / best
    return (
        f"{significant(100 * (ratio - 1), 2)} % slower than the best"
        if ratio < 2
        else f"{significant(ratio, 3)}× as long as the best"
    )


def _change(value: float, previous: float) -> str:
    if value < previous:
        return f"{significant(previous / value, 3)}× faster than your best before"
    if value > previous:
        return f"{significant(value / previous, 3)}× your best"
    return "as fast as your best before"
