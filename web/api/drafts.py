"""API endpoints for drafts, which the editor of the website keeps, too."""

from __future__ import annotations

from flask import Blueprint

from store.drafts import latest_draft
from store.models import Draft
from web.api import draft_schemas as schemas
from web.api.auth import api_visitor, submit_token_required, token_required
from web.api.spec import operation
from web.challenges.drafts import store_draft
from web.challenges.shown import find_pack
from web.problems import Problem
from web.services import reader
from web.submissions.accepting import chosen_language

TAG = "drafts"


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    blueprint.add_url_rule("/challenges/<slug>/draft", view_func=get_draft)
    blueprint.add_url_rule("/challenges/<slug>/draft", view_func=save_draft, methods=["PUT"])


@token_required
@operation(schemas.Draft, 404, tag=TAG)
def get_draft(slug: str) -> schemas.Draft:
    """Returns the newest draft for a challenge."""
    find_pack(slug)
    return _answer(slug, latest_draft(reader(), user_id=api_visitor().id, challenge=slug))


@submit_token_required
@operation(schemas.Draft, 404, 409, 413, 422, tag=TAG)
def save_draft(slug: str, json: schemas.DraftSave) -> schemas.Draft:
    """Saves a draft; the one that it was written on stays in the history. 409 if it was saved elsewhere meanwhile."""
    language = chosen_language(find_pack(slug), json.language)
    saved = store_draft(api_visitor().id, slug, source=json.source, base=json.base, new_spell=True, language=language)
    if saved is None:
        raise Problem(409, "conflict", "The draft was saved elsewhere since that version: read it first.")
    return _answer(slug, saved)


def _answer(slug: str, draft: Draft | None) -> schemas.Draft:
    if draft is None:
        return schemas.Draft(challenge=slug, version=0, saved_at=None, source="", language=None)
    return schemas.Draft(
        challenge=slug, version=draft.version, saved_at=draft.saved_at, source=draft.source, language=draft.language
    )
