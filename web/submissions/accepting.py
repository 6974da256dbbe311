"""Acceptance of new submissions, shared by the pages and the API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import structlog

from judge.compile.source_files import SourceFilesError, sent_files
from judge.judgement import DeviceKind
from judge.languages.registry import BUILTIN_LANGUAGES, DEFAULT_LANGUAGE
from judge.packs.custom.case import CustomInputError, custom_case
from judge.packs.pack import Pack
from judge.settings import BuildLimits
from store.models import User
from store.queue.intake import IdempotencyConflictError, NewSubmission, encode_source
from store.queue.turns import TooManyWaitingError
from web.challenges.shown import find_pack
from web.formatting import size, whole
from web.intake import Accepted
from web.problems import Problem, sentence, unknown
from web.services import Services, reader, release_reader
from web.site import offered_devices, site_settings
from web.submissions.languages import missing
from web.tracing import traceparent

log = structlog.get_logger(__name__)

Mode = Literal["run", "submit"]
SOURCE_BYTES = BuildLimits().source_bytes


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
    language: str | None = None,
) -> Accepted:
    """Checks a submission, stores it with those that come at the same time, and notifies the workers.

    ``language`` is that of the source; by default the challenge's first. ``custom_input`` is what a run is on instead
    of the public cases: texts by name (judge.packs.custom.case).

    Raises Problem for an unknown challenge, device or language, a source that is too large, an input that is not valid,
    and an idempotency key that was used for another request. Does not check the source's content; the compiler does.
    Without the broker the workers find the row by polling.
    """
    pack = find_pack(challenge)
    data = source if isinstance(source, bytes) else encode_source(source)
    length = len(data)
    if length > SOURCE_BYTES:
        message = f"The source has {whole(length)} bytes; the limit is {size(SOURCE_BYTES)} ({whole(SOURCE_BYTES)})."
        raise Problem(413, "too_large", message)
    choices = {choice.key: choice for choice in offered_devices()}
    if device not in choices:
        raise unknown("device", device, choices)
    language = chosen_language(pack, language)
    lacks = missing(BUILTIN_LANGUAGES.of(language))
    if lacks:
        raise Problem(422, "language_missing", f"{lacks}.", fields={"language": lacks})
    if custom_input is not None:
        _require_valid(pack, custom_input, choices[device].kind, mode)
    rules = site_settings()
    if rules.email == "required" and reader().get_one(User, user_id).email is None:
        raise Problem(403, "email_unconfirmed", "Confirm your e-mail address first: see your account page.")
    wanted = NewSubmission(
        user_id=user_id,
        pack=pack,
        device_key=device,
        mode=mode,
        source=data,
        custom_input=custom_input,
        idempotency_key=idempotency_key,
        max_waiting=rules.max_waiting,
        traceparent=traceparent(),
        language=language,
    )
    release_reader()
    try:
        accepted = services.intake.accept(wanted)
    except IdempotencyConflictError as error:
        raise Problem(409, "idempotency_conflict", f"{error}"[:1].upper() + f"{error}"[1:] + ".") from None
    except TooManyWaitingError as error:
        raise Problem(429, "too_many_waiting", sentence(str(error)), retry_after_s=5) from None
    log.info("submission.accepted", submission=accepted.submission.public_id, user=user_id)
    services.ring(accepted.submission)
    return accepted


def chosen_language(pack: Pack, name: str | None) -> str:
    """Returns the language of a submission. Raises Problem (422) if the challenge takes none in it."""
    if name is None:
        return pack.languages[0]
    if name not in pack.languages:
        message = f"{pack.title} takes no submissions in “{name[:40]}”."
        raise Problem(422, "unknown_language", message, fields={"language": message}, nearest=list(pack.languages))
    return name


def joined(files: Iterable[tuple[str, bytes]]) -> tuple[bytes, str | None]:
    """Returns the source of files by name, one with ``solve`` and its headers, and the language.

    The language goes by the ending of the file with ``solve``, None for an ending of no language. Raises Problem (422)
    if they make no source.
    """
    sent = list(files)
    found = [language for name, _ in sent if (language := BUILTIN_LANGUAGES.of_file(name)) is not None]
    language = next((each for each in found if each.name != DEFAULT_LANGUAGE), found[0] if found else None)
    suffixes = (language or BUILTIN_LANGUAGES.of(DEFAULT_LANGUAGE)).suffixes
    try:
        return sent_files(sent, suffixes), None if language is None else language.name
    except SourceFilesError as error:
        raise Problem(422, "invalid", str(error)) from None


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
