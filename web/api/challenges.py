"""API endpoints for challenges and devices. They need no token."""

from __future__ import annotations

from typing import Any

from flask import Blueprint
from flask import Response as FlaskResponse

from judge.languages.registry import BUILTIN_LANGUAGES
from judge.packs.pack import Pack
from web.api import schemas
from web.api.spec import operation, revalidated
from web.challenges.hints import shown_statement
from web.challenges.search import search
from web.challenges.shown import find_pack, shown_packs
from web.devices import device_choices
from web.services import reader, services
from web.submissions.accepting import SOURCE_BYTES, chosen_language
from web.submissions.languages import missing

TAG = "challenges"


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    blueprint.add_url_rule("/challenges", view_func=list_challenges)
    blueprint.add_url_rule("/challenges/<slug>", view_func=get_challenge)
    blueprint.add_url_rule("/challenges/<slug>/starter", view_func=get_starter)
    blueprint.add_url_rule("/devices", view_func=list_devices)


@revalidated
@operation(schemas.ChallengeList, 304, 422, token=False, tag=TAG)
def list_challenges(query: schemas.ChallengeQuery) -> schemas.ChallengeList:
    """Lists all challenges, or those that ``q`` finds, the best first."""
    packs = shown_packs()
    found = search(query.q, packs) if query.q.strip() else packs
    return schemas.ChallengeList(challenges=[schemas.ChallengeSummary(**_summary(packs[slug])) for slug in found])


@revalidated
@operation(schemas.Challenge, 304, 404, token=False, tag=TAG)
def get_challenge(slug: str) -> schemas.Challenge:
    """Returns one challenge with its statement, starter, signature, limits and cases.

    While a class has an assignment that hides the hints, the statement has none.
    """
    pack = find_pack(slug)
    return schemas.Challenge(
        **_summary(pack),
        statement=shown_statement(pack, None)[0],
        starter=pack.in_language(pack.languages[0]).starter(),
        languages=[_language(pack, name) for name in pack.languages],
        signature=pack.prototype(),
        limits=schemas.ChallengeLimits(
            wall_s=pack.limits.wall_s, memory_mib=pack.limits.memory_mib, source_bytes=SOURCE_BYTES
        ),
        cases=[
            schemas.ChallengeCase(id=case.id, group=case.group, axes=case.axes)
            for case in (*pack.cases, *pack.benchmarks)
        ],
    )


@revalidated
@operation("text/plain", 304, 404, 422, token=False, tag=TAG)
def get_starter(slug: str, query: schemas.StarterQuery) -> FlaskResponse:
    """Returns the starter as text, in the language asked for or the challenge's first."""
    pack = find_pack(slug)
    return FlaskResponse(pack.in_language(chosen_language(pack, query.language)).starter(), mimetype="text/plain")


@operation(schemas.DeviceList, token=False, tag=TAG)
def list_devices() -> schemas.DeviceList:
    """Lists the devices that accept submissions."""
    choices = device_choices(reader(), services().settings, services().clock)
    return schemas.DeviceList(
        devices=[
            schemas.Device(
                key=device.key,
                kind=device.kind,
                name=device.name,
                compute_capability=device.compute_capability,
                online=device.online,
            )
            for device in choices
        ]
    )


def _language(pack: Pack, name: str) -> schemas.Language:
    language = BUILTIN_LANGUAGES.of(name)
    return schemas.Language(
        name=name,
        title=language.title,
        suffix=language.suffixes[0],
        comment=language.comment,
        starter=language.starter(pack),
        missing=missing(language),
    )


def _summary(pack: Pack) -> dict[str, Any]:
    return {
        "slug": pack.slug,
        "title": pack.title,
        "version": pack.version,
        "difficulty": pack.difficulty,
        "tags": list(pack.tags),
        "aliases": list(pack.aliases),
    }
