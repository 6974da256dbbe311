"""Mail leaves by a real SMTP server: in the clear only to this machine, else encrypted and after logging in."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import AsyncMessage
from aiosmtpd.smtp import AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pydantic import SecretStr

from tests.web_site import PASSWORD, make_site, post
from web.mail import Mail, make_delivery
from web.settings import WebSettings

MAIL = Mail("ada@example.org", "Übung", "A link: http://localhost/account/reset/x\nÄ")


class Kept(AsyncMessage):
    """Keeps incoming mail."""

    def __init__(self) -> None:
        super().__init__()
        self.got: list[Any] = []

    async def handle_message(self, message: Any) -> None:
        self.got.append(message_from_bytes(message.as_bytes(), policy=policy.default))


@contextmanager
def server(**options: Any) -> Iterator[tuple[Kept, int]]:
    """An SMTP server on a free port."""
    kept = Kept()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    controller = Controller(kept, hostname="127.0.0.1", port=port, **options)
    controller.start()
    try:
        yield kept, port
    finally:
        controller.stop()


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A server's certificate for 127.0.0.1, which the process trusts."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mail")])
    day = datetime.timedelta(days=1)
    certificate = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(1)
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    both = tmp_path / "mail.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    both.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(both)
    monkeypatch.setenv("SSL_CERT_FILE", str(both))
    return context


def deliver(tmp_path: Path, url: str) -> None:
    settings = WebSettings(data_dir=tmp_path, smtp_url=SecretStr(url), public_url="http://localhost")
    make_delivery(settings)(MAIL)


def test_a_reset_is_mailed_and_its_link_works(data_dir: Path) -> None:
    with server() as (kept, port):
        site = make_site(data_dir, smtp_url=f"smtp://127.0.0.1:{port}", public_url="http://localhost")
        ada = site.visitor("ada")
        form = {"email": "ada@example.org", "email_password": PASSWORD}
        assert post(ada, "/account/email", form, page="/account/").status_code == 302
        site.services.background.wait()
        confirm = kept.got[0].get_content().split("http://localhost", 1)[1].split()[0]
        assert post(ada, confirm, {}).status_code == 302
        assert post(site.app.test_client(), "/account/forgot", {"username": "ada"}).status_code == 200
        site.services.background.wait()
    assert [mail["To"] for mail in kept.got] == ["ada@example.org"] * 2
    reset = kept.got[1].get_content().split("http://localhost", 1)[1].split()[0]
    new = {"new": "another long one", "again": "another long one"}
    assert post(site.app.test_client(), reset, new).status_code == 302
    assert not (data_dir / "mails").exists()


def test_a_mail_keeps_its_letters(tmp_path: Path) -> None:
    with server() as (kept, port):
        deliver(tmp_path, f"smtp://127.0.0.1:{port}")
    [mail] = kept.got
    assert (mail["Subject"], mail.get_content().splitlines()[-1]) == ("Übung", "Ä")


def test_it_logs_in_after_encryption(tmp_path: Path, tls: ssl.SSLContext) -> None:
    def check(*given: Any) -> AuthResult:
        data = given[-1]
        return AuthResult(success=isinstance(data, LoginPassword) and data.password == b"p@ss w/rd")

    with server(tls_context=tls, require_starttls=True, auth_required=True, authenticator=check) as (kept, port):
        deliver(tmp_path, f"smtp://gj:p%40ss%20w%2Frd@127.0.0.1:{port}")
    assert len(kept.got) == 1


def test_a_certificate_that_nobody_vouches_for_gets_no_mail(
    tmp_path: Path, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with server(tls_context=tls) as (kept, port), pytest.raises(ssl.SSLCertVerificationError):
        deliver(tmp_path, f"smtp://127.0.0.1:{port}")
    assert kept.got == []


def test_a_server_that_is_away_changes_no_answer(data_dir: Path) -> None:
    with server() as (_, port):
        pass
    site = make_site(data_dir, smtp_url=f"smtp://127.0.0.1:{port}", public_url="http://localhost")
    ada = site.visitor("ada")
    form = {"email": "ada@example.org", "email_password": PASSWORD}
    assert post(ada, "/account/email", form, page="/account/").status_code == 302
    site.services.background.wait()
