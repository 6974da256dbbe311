"""Sends mail by SMTP or, where no server is configured, writes it into a folder of the data folder."""

from __future__ import annotations

import secrets
import smtplib
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from pathlib import Path
from urllib.parse import unquote, urlsplit

import structlog

from store.settings import prepare_data_dir
from web.settings import WebSettings

log = structlog.get_logger(__name__)

_TIMEOUT_S = 20
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail in plain text."""

    to: str
    subject: str
    text: str


#: Delivers a mail. Raises OSError or smtplib.SMTPException if it cannot.
Deliver = Callable[[Mail], None]


def mail_folder(settings: WebSettings) -> Path | None:
    """Returns the folder into which mails are written, or None if an SMTP server gets them."""
    return settings.data_dir / "mails" if settings.smtp_url is None else None


def make_delivery(settings: WebSettings) -> Deliver:
    """Returns the function that delivers mails as the settings say. Connects to nothing until then."""
    if settings.smtp_url is None:
        return lambda mail: _write(settings, mail)
    url = settings.smtp_url.get_secret_value()
    return lambda mail: _send(url, _message(mail, settings.mail_from))


def _message(mail: Mail, sender: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = sender, mail.to, mail.subject
    message["Date"], message["Message-ID"] = formatdate(), make_msgid(domain=sender.rpartition("@")[2].rstrip(">"))
    message.set_content(mail.text)
    return message


def _write(settings: WebSettings, mail: Mail) -> None:
    folder = prepare_data_dir(settings) / "mails"
    folder.mkdir(mode=0o700, exist_ok=True)
    message = _message(mail, settings.mail_from)
    path = folder / f"{len(list(folder.glob('*.eml'))) + 1:05}-{secrets.token_hex(4)}.eml"
    path.write_bytes(bytes(message))
    log.info("mail written", path=str(path), subject=mail.subject)


def _send(url: str, message: EmailMessage) -> None:
    parts = urlsplit(url)
    host, context = parts.hostname or "", ssl.create_default_context()
    server: smtplib.SMTP
    if parts.scheme == "smtps":
        server = smtplib.SMTP_SSL(host, parts.port or 465, timeout=_TIMEOUT_S, context=context)
    else:
        server = smtplib.SMTP(host, parts.port or 587, timeout=_TIMEOUT_S)
    with server:
        server.ehlo()
        # Links must not cross a network in the clear; a relay on this machine may offer no encryption.
        if parts.scheme == "smtp" and (host not in _LOCAL or server.has_extn("starttls")):
            server.starttls(context=context)
        if parts.username:
            server.login(unquote(parts.username), unquote(parts.password or ""))
        server.send_message(message)
