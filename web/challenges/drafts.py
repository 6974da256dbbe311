"""A signed-in user's drafts: read and saved by the editor, with the earlier versions."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, make_response, request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from store.drafts import DraftConflictError, draft_versions, find_draft, latest_draft, save_draft
from store.models import Draft
from store.submissions import encode_source
from web.accounts.visitor import login_required, require_visitor
from web.challenges.shown import find_pack
from web.formatting import size
from web.problems import Problem
from web.services import reader, services, transaction
from web.submissions.accepting import SOURCE_BYTES, chosen_language


class DraftSave(BaseModel):
    """A save: ``base`` is the version it was written on, 0 for none; ``new_spell`` keeps that one in the history."""

    model_config = ConfigDict(extra="forbid", strict=True)

    source: str
    base: int = Field(ge=0, lt=2**31)
    new_spell: bool = False
    language: str | None = Field(default=None, max_length=32)


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the blueprint of challenges."""
    blueprint.add_url_rule("/challenges/<slug>/draft", view_func=show_draft)
    blueprint.add_url_rule("/challenges/<slug>/draft", view_func=save, methods=["PUT"])
    blueprint.add_url_rule("/challenges/<slug>/drafts", view_func=versions)
    blueprint.add_url_rule("/challenges/<slug>/drafts/<int:version>", view_func=show_version)


@login_required
def show_draft(slug: str) -> Response:
    """Returns the draft, or that in a language, as JSON; version 0 with an empty source where there is none."""
    pack = find_pack(slug)
    named = request.args.get("language") or None
    language = None if named is None else chosen_language(pack, named)
    draft = latest_draft(reader(), user_id=require_visitor().id, challenge=slug, language=language)
    return jsonify(draft_json(draft))


@login_required
def save(slug: str) -> Response:
    """Saves the draft. Answers 409 with the newer draft if it was saved elsewhere meanwhile."""
    pack = find_pack(slug)
    try:
        sent = DraftSave.model_validate_json(request.get_data())
    except ValidationError:
        raise Problem(
            422, "invalid", "Send JSON with source (text) and base (the version it was written on)."
        ) from None
    user_id = require_visitor().id
    language = chosen_language(pack, sent.language)
    saved = store_draft(user_id, slug, source=sent.source, base=sent.base, new_spell=sent.new_spell, language=language)
    if saved is None:
        return make_response(jsonify(draft_json(latest_draft(reader(), user_id=user_id, challenge=slug))), 409)
    return jsonify(draft_json(saved, with_source=False))


def store_draft(user_id: int, slug: str, *, source: str, base: int, new_spell: bool, language: str) -> Draft | None:
    """Saves a draft and returns it; None if it was saved elsewhere since ``base``.

    Raises Problem for too large a source.
    """
    if len(encode_source(source)) > SOURCE_BYTES:
        raise Problem(413, "too_large", f"A draft may have {size(SOURCE_BYTES)}; this one is not saved on the server.")
    try:
        with transaction() as writer:
            return save_draft(
                writer,
                user_id=user_id,
                challenge=slug,
                source=source,
                base=base,
                now=services().clock(),
                new_spell=new_spell,
                language=language,
            )
    except DraftConflictError:
        return None


@login_required
def versions(slug: str) -> Response:
    """Lists the versions, newest first, without their sources."""
    find_pack(slug)
    found = draft_versions(reader(), user_id=require_visitor().id, challenge=slug)
    return jsonify([draft_json(draft, with_source=False) for draft in found])


@login_required
def show_version(slug: str, version: int) -> Response:
    """Returns one version as JSON."""
    find_pack(slug)
    draft = find_draft(reader(), user_id=require_visitor().id, challenge=slug, version=version)
    if draft is None:
        raise Problem(404, "not_found", "There is no such version of your draft.")
    return jsonify(draft_json(draft))


def draft_json(draft: Draft | None, *, with_source: bool = True) -> dict[str, str | int | None]:
    """Returns a draft in the form sent to clients."""
    if draft is None:
        return {"version": 0, "saved_at": None, "source": ""}
    told: dict[str, str | int | None] = {
        "version": draft.version,
        "saved_at": draft.saved_at.isoformat(),
        "language": draft.language,
    }
    return {**told, "source": draft.source} if with_source else told
