"""API endpoints for the private packs of classes and contests: uploads, what their verification found, deletions."""

from __future__ import annotations

import base64

from flask import Blueprint

from judge.packs.collection.uploads import UploadError
from store.models import PrivatePack
from store.teaching.private_packs import Owner, list_private_packs
from store.teaching.rights import Right
from web.api import private_pack_schemas as schemas
from web.api.auth import submit_token_required, token_required
from web.api.spec import operation
from web.challenges.uploading import Record, owned_pack, remove_pack, take_upload
from web.classes.access import NUMBER, taught_class
from web.classes.access import record_pack as record_of_class
from web.contests.access import managed_contest
from web.contests.saving import record_pack as record_of_contest
from web.problems import Problem
from web.services import reader

_BODY = (400, 404, 413, 415, 422)


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    of_class, of_contest = f"/classes/{NUMBER}/challenges", "/contests/<slug>/challenges"
    for method, rule, view in (
        ("GET", of_class, list_class_challenges),
        ("POST", of_class, upload_class_challenge),
        ("DELETE", f"{of_class}/<challenge>", delete_class_challenge),
        ("GET", of_contest, list_contest_challenges),
        ("POST", of_contest, upload_contest_challenge),
        ("DELETE", f"{of_contest}/<challenge>", delete_contest_challenge),
    ):
        blueprint.add_url_rule(rule, view_func=view, methods=[method])


@token_required
@operation(schemas.PrivatePackList, 404, tag="classes")
def list_class_challenges(number: int) -> schemas.PrivatePackList:
    """Lists the own challenges of a class, and what their verification found."""
    return _list(taught_class(number, Right.ASSIGN))


@submit_token_required
@operation(schemas.PrivatePack, *_BODY, status=202, tag="classes")
def upload_class_challenge(number: int, json: schemas.PackUpload) -> tuple[schemas.PrivatePack, int]:
    """Uploads a challenge for a class. It is verified within minutes, and replaces one of its name if accepted."""
    slug = _upload(taught_class(number, Right.ASSIGN), json, record_of_class)
    return _shown(owned_pack(taught_class(number, Right.ASSIGN), slug)), 202


@submit_token_required
@operation(schemas.PrivatePack, 404, 409, tag="classes")
def delete_class_challenge(number: int, challenge: str) -> schemas.PrivatePack:
    """Deletes a class's own challenge that no assignment names. Submissions stay with those who sent them."""
    return _delete(taught_class(number, Right.ASSIGN), challenge, record_of_class)


@token_required
@operation(schemas.PrivatePackList, 404, tag="contests")
def list_contest_challenges(slug: str) -> schemas.PrivatePackList:
    """Lists the own challenges of a contest, and what their verification found."""
    return _list(managed_contest(slug))


@submit_token_required
@operation(schemas.PrivatePack, *_BODY, status=202, tag="contests")
def upload_contest_challenge(slug: str, json: schemas.PackUpload) -> tuple[schemas.PrivatePack, int]:
    """Uploads a challenge for a contest. It is verified within minutes, and replaces one of its name if accepted."""
    made = _upload(managed_contest(slug), json, record_of_contest)
    return _shown(owned_pack(managed_contest(slug), made)), 202


@submit_token_required
@operation(schemas.PrivatePack, 404, 409, tag="contests")
def delete_contest_challenge(slug: str, challenge: str) -> schemas.PrivatePack:
    """Deletes a contest's own challenge that it does not name. Submissions stay with those who sent them."""
    return _delete(managed_contest(slug), challenge, record_of_contest)


def _list(owner: Owner) -> schemas.PrivatePackList:
    return schemas.PrivatePackList(challenges=[_shown(each) for each in list_private_packs(reader(), owner)])


def _upload(owner: Owner, json: schemas.PackUpload, record: Record) -> str:
    try:
        archive = base64.b64decode(json.archive, validate=True)
    except ValueError:  # characters beyond ASCII are none of binascii's errors
        raise _refused("This is not base64.") from None
    try:
        return take_upload(owner, archive, json.name, record)
    except UploadError as error:
        raise _refused(str(error)) from None


def _refused(message: str) -> Problem:
    return Problem(422, "invalid", message, fields={"archive": message})


def _delete(owner: Owner, slug: str, record: Record) -> schemas.PrivatePack:
    shown = _shown(owned_pack(owner, slug))
    remove_pack(owner, slug, record)
    return shown


def _shown(pack: PrivatePack) -> schemas.PrivatePack:
    return schemas.PrivatePack(
        challenge=pack.slug,
        title=pack.title,
        version=pack.version,
        uploaded_at=pack.uploaded_at,
        waits=pack.waits,
        progress=pack.progress,
        verified_at=pack.verified_at,
        accepted=None if pack.waits else pack.accepted,
        findings=[] if pack.waits else [schemas.PackFinding(**each) for each in pack.findings or ()],
    )
