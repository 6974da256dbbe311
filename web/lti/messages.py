"""Begins log-ins at learning platforms and checks what they answer, with the library pylti1p3.

The library checks state, deployment and the message's form; signature, audience, issuer and times are checked here,
with RS256 alone. Whatever is wrong becomes a Problem that says what to do.
"""

from __future__ import annotations

import json
import threading
import time
from datetime import datetime
from typing import Any, ClassVar, cast
from urllib.parse import urlsplit

import jwt
import structlog
from flask import request
from pylti1p3.contrib.flask.message_launch import FlaskMessageLaunch
from pylti1p3.contrib.flask.oidc_login import FlaskOIDCLogin
from pylti1p3.contrib.flask.request import FlaskRequest
from pylti1p3.contrib.flask.session import FlaskSessionService
from pylti1p3.cookie import CookieService
from pylti1p3.deployment import Deployment
from pylti1p3.exception import LtiException, OIDCException
from pylti1p3.registration import Registration
from pylti1p3.roles import TeacherRole, TeachingAssistantRole
from pylti1p3.tool_config.abstract import ToolConfAbstract
from werkzeug.wrappers import Response

from store.models import LtiPlatform, StaffRole
from store.teaching import lti_launches
from store.teaching.lti_courses import Services
from store.teaching.lti_launches import LaunchKind, Message, Refusal
from store.teaching.lti_platforms import TimedSession, find_platform, registration_of
from web.problems import Problem
from web.services import reader, release_reader, services, transaction

log = structlog.get_logger(__name__)

_CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
_GRADES = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
_ROSTER = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
_DEEP_LINK = "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"
#: The platform's clock may differ by so much.
_LEEWAY_S = 60
#: A platform's keys are read again after this long, or when a message names another key.
_KEYS_KEPT_S = 300.0
_MOST_ID = 255

_REFUSALS = {
    Refusal.UNKNOWN: (
        400,
        "lti_not_begun",
        "This message does not answer a log-in that this browser began. Open the link in your course again; if that "
        "fails, allow cookies of this site, or open it in a new window.",
    ),
    Refusal.REPLAYED: (
        409,
        "lti_replayed",
        "This message was used already, and each opens the site once. Open the link in your course again.",
    ),
    Refusal.LATE: (
        400,
        "lti_late",
        "The learning platform's answer came too late. Open the link in your course again.",
    ),
}


def refused(why: Refusal) -> Problem:
    """Returns the error of a message that is not taken."""
    return Problem(*_REFUSALS[why])


class _Config(ToolConfAbstract[Any]):
    """The platforms of the database, as the library asks for them; each has a client id."""

    platform: LtiPlatform

    def check_iss_has_one_client(self, iss: str) -> bool:
        return False

    def check_iss_has_many_clients(self, iss: str) -> bool:
        return True

    def find_registration_by_params(self, iss: str, client_id: str, *_args: Any, **_given: Any) -> Registration:
        found = find_platform(reader(), issuer=iss, client_id=client_id)
        if found is None:
            known = find_platform(reader(), issuer=iss, client_id=None)
            what = f"client id {client_id or 'none'} at {iss}" if known is not None else f"{iss or 'no issuer'}"
            raise Problem(
                403,
                "lti_platform",
                f"No learning platform is registered here with this name: {what[:200]}. The site's "
                "operator registers platforms, by the issuer and the client id that they show.",
            )
        self.platform = found
        return registration_of(found)

    def find_deployment_by_params(
        self, iss: str, deployment_id: str, client_id: str, *_args: Any, **_given: Any
    ) -> Deployment:
        if deployment_id not in self.platform.deployment_ids:
            raise Problem(
                403,
                "lti_deployment",
                f"{self.platform.title} is registered here, but not its deployment "
                f"“{deployment_id[:100]}”. The site's operator adds it to the platform's deployments.",
            )
        return Deployment().set_deployment_id(deployment_id)

    def find_registration_by_issuer(self, iss: str, *_args: Any, **_given: Any) -> Registration:
        raise NotImplementedError("platforms have client ids")

    def find_deployment(self, iss: str, deployment_id: str) -> Deployment | None:
        raise NotImplementedError("platforms have client ids")


class _Session(FlaskSessionService):
    """Keeps states and nonces in the database, where each works once for all processes of the site."""

    nonce = ""

    def __init__(self, given: FlaskRequest, config: _Config) -> None:
        super().__init__(given)
        self._config = config

    def save_nonce(self, nonce: str) -> None:
        self.nonce = nonce

    def check_nonce(self, nonce: str) -> bool:
        # Checked with the platform, once it is known.
        self.nonce = nonce
        return True

    def check_state_is_valid(self, state: str, id_token_hash: str) -> bool:
        # The cookie decides: a message that comes again is refused.
        return False

    def set_state_valid(self, state: str, id_token_hash: str) -> None:
        pass

    def save_launch_data(self, key: str, jwt_body: Any) -> None:
        pass


class _Cookies(CookieService):
    """The cookie of the state that was begun. The platform's answer comes from its site, perhaps within a frame."""

    state = ""
    lifetime_s = 0

    def get_cookie(self, name: str) -> str | None:
        return request.cookies.get(f"lti-{name}")

    def set_cookie(self, name: str, value: str | int, exp: int | None = 3600) -> None:
        self.state, self.lifetime_s = str(value), exp or 0

    def update_response(self, response: Response) -> None:
        # Browsers send a cookie from other sites only if it says so, and then only by HTTPS.
        secure = request.is_secure or services().settings.session_cookie_secure
        response.set_cookie(
            f"lti-{self.state}",
            self.state,
            max_age=self.lifetime_s,
            secure=secure,
            httponly=True,
            samesite="None" if secure else None,
            partitioned=secure,
        )


class _Launch(FlaskMessageLaunch):
    """A message, checked strictly."""

    _keys: ClassVar[dict[str, tuple[float, Any]]] = {}
    _lock = threading.Lock()

    def get_client_id(self) -> str:
        body = self._jwt.get("body", {})
        audience = body.get("aud")
        return str(body.get("azp") or (audience[0] if isinstance(audience, list) and audience else audience) or "")

    def fetch_public_key(self, key_set_url: str) -> Any:
        wanted = self._jwt.get("header", {}).get("kid")
        with self._lock:
            since, keys = self._keys.get(key_set_url, (0.0, {"keys": []}))
        if time.monotonic() - since < _KEYS_KEPT_S and any(each.get("kid") == wanted for each in keys["keys"]):
            return keys
        release_reader()
        keys = super().fetch_public_key(key_set_url)
        if not isinstance(keys, dict) or not isinstance(keys.get("keys"), list):
            raise LtiException(f"{key_set_url} has no key set")
        with self._lock:
            self._keys[key_set_url] = (time.monotonic(), keys)
        return keys

    def validate_jwt_signature(self) -> _Launch:
        key, _ = self.get_public_key()
        platform = self.get_tool_conf().platform
        jwt.decode(
            self._get_id_token(),
            key,
            algorithms=["RS256"],
            audience=platform.client_id,
            issuer=platform.issuer,
            leeway=_LEEWAY_S,
            options={"require": ["exp", "iat", "aud", "iss", "sub", "nonce"]},
        )
        return self


def begin_login(launch_url: str) -> Response:
    """Sends the browser to the platform that a log-in request names. Raises Problem."""
    given, config = FlaskRequest(), _Config()
    sessions, cookies = _Session(given, config), _Cookies()
    login = FlaskOIDCLogin(given, config, session_service=sessions, cookie_service=cast(Any, cookies))
    try:
        answer: Response = login.redirect(launch_url)
    except OIDCException:
        raise Problem(
            400,
            "lti_login",
            "A learning platform opens this address with the fields iss and login_hint. Open the link in your course.",
        ) from None
    platform, now = config.platform, services().clock()
    with transaction() as writer:
        lti_launches.begin(writer, platform, state=cookies.state, nonce=sessions.nonce, now=now)
    return answer


def take_answer() -> tuple[LtiPlatform, Message, str]:
    """Returns the platform, what it says, and the state of its answer in the request. Raises Problem."""
    if "error" in request.form:
        said = request.form.get("error_description") or request.form["error"]
        raise Problem(403, "lti_refused", f"The learning platform did not open the site: {said[:200]}")
    given, config = FlaskRequest(), _Config()
    sessions = _Session(given, config)
    launch = _Launch(
        given,
        config,
        session_service=sessions,
        cookie_service=_Cookies(),
        requests_session=TimedSession(),
    )
    launch.set_auto_validation(False)
    state, now = request.form.get("state", ""), services().clock()
    try:
        launch.validate_state().validate_jwt_format().validate_nonce().validate_registration()
        _refuse(config.platform.id, state, sessions.nonce, now)
        launch.validate_jwt_signature().validate_deployment().validate_message()
        message = _read(dict(launch._jwt["body"]), config.platform)
    except jwt.ExpiredSignatureError:
        raise Problem(
            400,
            "lti_expired",
            "The learning platform's message has expired. Open the link in your course again. If "
            "this happens always, the clock of the platform or of this site is wrong.",
        ) from None
    except jwt.InvalidTokenError as error:
        log.warning("lti.refused", error=str(error))
        raise Problem(
            403,
            "lti_signature",
            f"The message is not signed as those of the registered platform are: {error}. The site's "
            "operator compares the platform's key set address and client id with the registration.",
        ) from None
    except (LtiException, ValueError, TypeError, AttributeError, KeyError) as error:
        log.warning("lti.refused", error=str(error))
        if "State not found" in str(error) or "state" in str(error).casefold():
            raise refused(Refusal.UNKNOWN) from None
        raise Problem(
            400,
            "lti_message",
            f"The learning platform's message cannot be used: {str(error)[:200]}. The site's operator"
            " finds what a platform must send in the operators' manual.",
        ) from None
    return config.platform, message, state


def _refuse(platform_id: int, state: str, nonce: str, now: datetime) -> None:
    refusal = lti_launches.check(reader(), platform_id, state=state, nonce=nonce, now=now)
    if refusal is not None:
        raise refused(refusal)


def _read(body: dict[str, Any], platform: LtiPlatform) -> Message:
    """Returns the content of a checked message. Raises ValueError."""
    context = body.get(f"{_CLAIM}context") or {}
    grades, roster = body.get(_GRADES) or {}, body.get(_ROSTER) or {}
    custom, settings = body.get(f"{_CLAIM}custom") or {}, body.get(_DEEP_LINK)
    presentation = body.get(f"{_CLAIM}launch_presentation") or {}
    subject, context_id = str(body["sub"]), str(context.get("id") or "")
    if len(subject) > _MOST_ID or len(context_id) > _MOST_ID:
        raise ValueError("an id of it has more than 255 characters")
    if not context_id:
        raise ValueError("it does not say which course it comes from")
    assignment = str(custom.get("assignment") or "")
    places = (platform.issuer, platform.auth_login_url, presentation.get("return_url"))
    back = settings.get("deep_link_return_url") if settings else None
    if settings and not _origin(back):
        raise ValueError("it does not say where chosen assignments go")
    return Message(
        kind=LaunchKind.DEEP_LINK if settings else LaunchKind.RESOURCE,
        subject=subject,
        name=" ".join(
            str(body.get("name") or " ".join(filter(None, (body.get("given_name"), body.get("family_name"))))).split()
        )[:100],
        email=str(body.get("email") or "")[:254],
        sis_id=str((body.get(f"{_CLAIM}lis") or {}).get("person_sourcedid") or "")[:100],
        username=str(body.get("preferred_username") or "")[:64],
        staff=_staff(body),
        deployment_id=str(body[f"{_CLAIM}deployment_id"]),
        context_id=context_id,
        context_title=str(context.get("title") or context.get("label") or "")[:100],
        assignment_id=int(assignment) if assignment.isdecimal() and len(assignment) < 10 else None,
        line_item_url=_web_address(grades.get("lineitem")),
        services=Services(
            _web_address(roster.get("context_memberships_url")),
            _web_address(grades.get("lineitems")),
            tuple(str(each) for each in grades.get("scope") or ()),
        ),
        deep_link=json.dumps(settings) if settings else "",
        origins=tuple(dict.fromkeys(filter(None, map(_origin, (*places, back))))),
    )


def _staff(body: dict[str, Any]) -> StaffRole | None:
    if TeachingAssistantRole(body).check():
        return StaffRole.ASSISTANT
    if TeacherRole(body).check():
        return StaffRole.TEACHER
    return None


def _web_address(text: object) -> str | None:
    return cast(str, text) if _origin(text) and len(cast(str, text)) <= 1000 else None


def _origin(text: object) -> str:
    """Returns the origin of a web address, as a content security policy has it; empty for anything else."""
    if not isinstance(text, str):
        return ""
    parts = urlsplit(text)
    sound = parts.scheme in ("http", "https") and parts.netloc and not set(parts.netloc) & set(" ;,'\"\t\r\n")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if sound else ""
