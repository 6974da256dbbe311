"""Acceptance of new submissions, shared by the pages and the API."""

from __future__ import annotations

from typing import Literal

import structlog

from judge.judgement import DeviceKind
from judge.packs.custom_input import CustomInputError, custom_case
from judge.packs.pack import Pack
from judge.settings import BuildLimits
from store.models import Submission, User
from store.submissions import IdempotencyConflictError, create_submission, encode_source
from store.turns import TooManyWaitingError
from web.devices import device_choices
from web.formatting import size, whole
from web.problems import Problem, sentence, unknown
from web.services import Services, reader, transaction
from web.site import site_settings
from web.tracing import traceparent

log = structlog.get_logger(__name__)

Mode = Literal["run", "submit"]
SOURCE_BYTES = BuildLimits().source_bytes


def find_pack(services: Services, slug: str) -> Pack:
    """Returns the challenge's pack. Raises Problem (404) with the nearest names."""
    pack = services.packs.get(slug)
    if pack is None:
        raise unknown("challenge", slug, services.packs)
    return pack


def accept_submission(
    services: Services,
    *,
    user_id: int,
    challenge: str,
    device: str,
    mode: Mode,
    source: str | bytes,
    custom_input: dict[str, str] | None = None,
    idempotency_key: str | None = None,
) -> Submission:
    """Checks a submission, stores it in one transaction and notifies the workers.

    ``custom_input`` is what a run is on instead of the public cases: texts by name (judge.packs.custom_input).

    Raises Problem for an unknown challenge or device, a source that is too large, an input that is not valid, and an
    idempotency key that was used for another request. Does not check the source's content; the compiler does. Without
    the broker the workers find the row by polling.
    """
    pack = find_pack(services, challenge)
    length = len(source if isinstance(source, bytes) else encode_source(source))
    if length > SOURCE_BYTES:
        message = f"The source has {whole(length)} bytes; the limit is {size(SOURCE_BYTES)} ({whole(SOURCE_BYTES)})."
        raise Problem(413, "too_large", message)
    choices = {choice.key: choice for choice in device_choices(reader(), services.settings, services.clock)}
    if device not in choices:
        raise unknown("device", device, choices)
    if custom_input is not None:
        _require_valid(pack, custom_input, choices[device].kind, mode)
    rules = site_settings()
    try:
        with transaction() as writer:
            user = writer.get_one(User, user_id)
            if rules.email == "required" and user.email is None:
                raise Problem(403, "email_unconfirmed", "Confirm your e-mail address first: see your account page.")
            submission = create_submission(
                writer,
                user=user,
                pack=pack,
                device_key=device,
                mode=mode,
                source=source,
                custom_input=custom_input,
                idempotency_key=idempotency_key,
                max_waiting=rules.max_waiting,
                traceparent=traceparent(),
                now=services.clock(),
            )
    except IdempotencyConflictError as error:
        raise Problem(409, "idempotency_conflict", f"{error}"[:1].upper() + f"{error}"[1:] + ".") from None
    except TooManyWaitingError as error:
        raise Problem(429, "too_many_waiting", sentence(str(error))) from None
    log.info("submission.accepted", submission=submission.public_id, user=user_id)
    services.ring(submission)
    return submission


def _require_valid(pack: Pack, custom_input: dict[str, str], kind: DeviceKind, mode: Mode) -> None:
    """Raises Problem (422) with the fields of an input that the challenge does not take."""
    if mode != "run":
        message = "Only a run takes an input of your own: a submission is judged on all cases."
        raise Problem(422, "invalid", message, fields={"input": message})
    try:
        custom_case(pack, custom_input, kind)
    except CustomInputError as error:
        fields = {f"input.{name}": told for name, told in error.fields.items()}
        raise Problem(422, "invalid_input", sentence(f"input: {error}"), fields=fields) from None
