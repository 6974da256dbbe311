"""Reads tracks from their folders: ``SLUG/track.toml``, and for each lesson ``CHALLENGE.md``, ``.svg`` and a kernel."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from judge.errors import InternalError
from judge.languages.base import Language
from judge.languages.registry import BUILTIN_LANGUAGES, DEFAULT_LANGUAGE, check_language
from judge.tracks.goal import parse_goal
from judge.tracks.track import Step, Track, Tracks

Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
Sentence = Annotated[str, Field(min_length=10, max_length=600)]


def _check_goal(text: str) -> str:
    parse_goal(text)
    return text


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StepModel(_Strict):
    """A challenge: what it teaches, the goal, and why the goal shows that it was learnt."""

    challenge: Slug
    teaches: Sentence
    goal: Annotated[str, AfterValidator(_check_goal)]
    why: Sentence


class TrackModel(_Strict):
    """The whole file. ``order`` is the place among the tracks, ``language`` that of the lessons' kernels."""

    title: str = Field(min_length=1, max_length=60)
    order: int = Field(ge=1)
    language: Annotated[str, AfterValidator(check_language)] = DEFAULT_LANGUAGE
    summary: Sentence
    reason: Sentence
    steps: tuple[StepModel, ...] = Field(min_length=1)


class TrackError(InternalError):
    """A broken track: ``key`` of ``file``, and the ``reason``."""

    def __init__(self, file: Path, key: str, reason: str) -> None:
        self.file, self.key, self.reason = file, key, reason
        super().__init__(f"{file}: {key}: {reason}" if key else f"{file}: {reason}")


def load_tracks(folder: Path) -> Tracks:
    """Returns the tracks below ``folder``. Raises TrackError for the first thing that is wrong."""
    tracks = sorted((_load(path) for path in folder.glob("*/track.toml")), key=lambda track: track.order)
    seen: dict[str, str] = {}
    for track in tracks:
        for step in track.steps:
            if other := seen.get(step.challenge):
                file = folder / track.slug / "track.toml"
                raise TrackError(file, "steps", f"{step.challenge} is in {other}, too; leave it out of one of them")
            seen[step.challenge] = track.slug
    return Tracks(tuple(tracks))


@functools.cache
def builtin_tracks() -> Tracks:
    """Returns the tracks that come with gpujudge. Reads them once."""
    return load_tracks(Path(__file__).resolve().parents[2] / "tracks")


def _load(file: Path) -> Track:
    try:
        model = TrackModel.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise TrackError(file, "", f"is not valid TOML: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise TrackError(file, key, first["msg"].removeprefix("Value error, ")) from None
    language = BUILTIN_LANGUAGES.of(model.language)
    return Track(
        slug=file.parent.name,
        title=model.title,
        order=model.order,
        summary=model.summary,
        reason=model.reason,
        steps=tuple(
            Step(
                step.challenge,
                step.teaches,
                parse_goal(step.goal),
                step.why,
                _lesson(file, step.challenge, language),
                language,
            )
            for step in model.steps
        ),
    )


def _lesson(file: Path, challenge: str, language: Language) -> Path | None:
    """Returns the lesson's path without suffix; None where there is none. A lesson has all three files."""
    suffixes = (".md", ".svg", language.suffixes[0])
    parts = [file.parent / f"{challenge}{suffix}" for suffix in suffixes]
    missing = [part.name for part in parts if not part.is_file()]
    if len(missing) == len(parts):
        return None
    if missing:
        raise TrackError(
            file.parent / missing[0],
            "",
            f"is missing; a lesson is a {suffixes[0]}, a {suffixes[1]} and a {suffixes[2]} file",
        )
    return file.parent / challenge
