"""Private packs of a class or of a contest, which its members alone see: the page, uploads and deletions.

``take_upload`` and ``remove_pack`` are the API's, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from flask import Blueprint, Flask, flash, redirect, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from judge.packs.collection.uploads import MOST_FILES, UNPACKED_BYTES, UPLOAD_BYTES, UploadError, read_upload
from store.models import Class, Contest, PrivatePack
from store.teaching.private_packs import (
    MOST_PACKS,
    NameUsedError,
    Owner,
    TooManyPacksError,
    delete_private_pack,
    find_private_pack,
    list_private_packs,
    private_slug,
    put_upload,
    what_names,
)
from web.accounts.visitor import login_required
from web.challenges.forms import UploadForm
from web.problems import Problem
from web.services import reader, release_reader, services, transaction
from web.settings import REQUEST_BYTES

#: What a form has beside the file.
_FORM_BYTES = 64 << 10
_ADDRESS = re.compile(r"(?P<api>/api/v1)?/(classes/\d+|contests/[^/]+)/challenges")
#: The API's requests hold the archive in base64.
_ENCODED_BYTES = -(-UPLOAD_BYTES // 3) * 4

#: Records what was done to a class or a contest: its row, the action, and the pack.
Record = Callable[[Session, Owner, str, str], None]


def most_bytes(method: str, path: str) -> int:
    """Returns how large the body of a request may be."""
    found = _ADDRESS.fullmatch(path) if method == "POST" else None
    if found is None:
        return REQUEST_BYTES
    return _FORM_BYTES + (_ENCODED_BYTES if found["api"] else UPLOAD_BYTES)


def register_limits(app: Flask) -> None:
    """Refuses uploads that are too large before anything reads them. The limit of other requests stays the same."""

    @app.before_request
    def limit() -> None:
        most = most_bytes(request.method, request.path)
        if most == REQUEST_BYTES:
            return
        request.max_content_length = most
        if (request.content_length or 0) > most:
            raise Problem(413, "too_large", f"That is too large: an archive may have {UPLOAD_BYTES >> 20} MiB.")


def register_uploads(blueprint: Blueprint, rule: str, owned: Callable[..., Owner], record: Record) -> None:
    """Adds the page to a blueprint below ``rule``, whose page is the view ``show``.

    ``owned`` takes the variables of ``rule`` and returns a class or a contest that the visitor may give packs, or
    raises Problem 404.
    """

    @login_required
    def challenges(**where: Any) -> str | Response | tuple[str, int]:
        """Renders the packs of a class or a contest with what their verification found, or takes an upload."""
        owner, form, sent = owned(**where), UploadForm(), request.method == "POST"
        if sent and (answer := _take(owner, form, record, back=url_for(f"{blueprint.name}.challenges", **where))):
            return answer
        page = _page(owned(**where), form, home=url_for(f"{blueprint.name}.show", **where))
        return (page, 422) if sent else page

    @login_required
    def delete_challenge(challenge: str, **where: Any) -> Response:
        """Deletes a pack of a class or a contest."""
        return _delete(owned(**where), challenge, record, back=url_for(f"{blueprint.name}.challenges", **where))

    blueprint.add_url_rule(f"{rule}/challenges", view_func=challenges, methods=["GET", "POST"])
    blueprint.add_url_rule(f"{rule}/challenges/<challenge>/delete", view_func=delete_challenge, methods=["POST"])


def _page(owner: Owner, form: UploadForm, *, home: str) -> str:
    packs = list_private_packs(reader(), owner)
    return render_template(
        "challenges/private.html",
        owner=owner,
        form=form,
        packs=packs,
        home=home,
        who="the class" if isinstance(owner, Class) else "the contest",
        now=services().clock(),
        waits=any(pack.waits for pack in packs),
        most_packs=MOST_PACKS,
        most_mib=UPLOAD_BYTES >> 20,
        most_unpacked_mib=UNPACKED_BYTES >> 20,
        most_files=MOST_FILES,
        name_prefix=private_slug(owner, ""),
    )


def _take(owner: Owner, form: UploadForm, record: Record, *, back: str) -> Response | None:
    """Stores the form's pack, to be verified. Returns None where something is wrong, which the form then says."""
    if not form.validate_on_submit():
        return None
    try:
        slug = take_upload(owner, form.file.data.read(UPLOAD_BYTES + 1), form.file.data.filename or "", record)
    except UploadError as error:
        form.file.errors = (str(error),)
        return None
    flash(f"{slug} is uploaded. It is being verified, which takes some minutes.", "success")
    return redirect(back, 303)


def take_upload(owner: Owner, data: bytes, filename: str, record: Record) -> str:
    """Stores the pack of an archive, to be verified, and returns its slug. Raises UploadError."""
    pack = read_upload(data, filename)
    kind, owner_id = type(owner), owner.id
    slug = private_slug(owner, pack.name)
    if slug in services().all_packs:
        raise UploadError(f"The site has a challenge {slug}. Give the folder another name.")
    archive = pack.archive()
    release_reader()
    try:
        with transaction() as writer:
            row = _row(writer, kind, owner_id)
            put_upload(writer, row, pack.name, archive, now=services().clock())
            record(writer, row, "private challenge uploaded", slug)
    except TooManyPacksError:
        raise UploadError(f"There are {MOST_PACKS} challenges here, the most there may be. Delete one first.") from None
    except NameUsedError:
        raise UploadError(f"There was a challenge {slug} before. Give the folder another name.") from None
    return slug


def _row(writer: Session, kind: type[Owner], owner_id: int) -> Owner:
    return writer.get_one(Class, owner_id) if kind is Class else writer.get_one(Contest, owner_id)


def owned_pack(owner: Owner, slug: str) -> PrivatePack:
    """Returns a pack of a class or a contest. Raises Problem 404."""
    found = find_private_pack(reader(), owner, slug)
    if found is None:
        raise Problem(404, "not_found", "There is no such challenge here.")
    return found


def remove_pack(owner: Owner, slug: str, record: Record) -> None:
    """Deletes a pack, with what was uploaded anew. Raises Problem 404 and 409."""
    owned_pack(owner, slug)
    if (name := what_names(reader(), slug)) is not None:
        raise Problem(409, "in_use", f"“{name}” names this challenge: take it out there first.")
    kind, owner_id = type(owner), owner.id
    with transaction() as writer:
        row = _row(writer, kind, owner_id)
        pack = find_private_pack(writer, row, slug)
        if pack is not None:
            delete_private_pack(writer, pack, now=services().clock())
            record(writer, row, "private challenge deleted", slug)


def _delete(owner: Owner, slug: str, record: Record, *, back: str) -> Response:
    """Deletes a pack. Needs ``sure``. Raises Problem."""
    owned_pack(owner, slug)
    if "sure" not in request.form:
        raise Problem(422, "invalid", "Tick the box: deleting cannot be undone.")
    remove_pack(owner, slug, record)
    flash(f"{slug} is deleted. Submissions stay with those who sent them.", "success")
    return redirect(back, 303)
