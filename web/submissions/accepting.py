"""Acceptance of new submissions, shared by the pages and the API."""

from __future__ import annotations

from typing import Literal

from judge.packs.pack import Pack
from judge.settings import BuildLimits
from store.models import Submission, User
from store.submissions import IdempotencyConflictError, create_submission, encode_source
from web.devices import device_choices
from web.formatting import size, whole
from web.problems import Problem, unknown
from web.services import Services

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
    idempotency_key: str | None = None,
) -> Submission:
    """Checks a submission, stores it in one transaction and notifies the workers.

    Raises Problem for an unknown challenge or device, a source that is too large, and an idempotency key that was used
    for another request. Does not check the source's content; the compiler does. Without the broker the workers find the
    row by polling.
    """
    pack = find_pack(services, challenge)
    length = len(source if isinstance(source, bytes) else encode_source(source))
    if length > SOURCE_BYTES:
        message = f"The source has {whole(length)} bytes; the limit is {size(SOURCE_BYTES)} ({whole(SOURCE_BYTES)})."
        raise Problem(413, "too_large", message)
    with services.readers() as reader:
        known = [choice.key for choice in device_choices(reader, services.settings, services.clock)]
    if device not in known:
        raise unknown("device", device, known)
    try:
        with services.writers.begin() as writer:
            submission = create_submission(
                writer,
                user=writer.get_one(User, user_id),
                pack=pack,
                device_key=device,
                mode=mode,
                source=source,
                idempotency_key=idempotency_key,
                now=services.clock(),
            )
    except IdempotencyConflictError as error:
        raise Problem(409, "idempotency_conflict", f"{error}"[:1].upper() + f"{error}"[1:] + ".") from None
    services.ring(submission)
    return submission
