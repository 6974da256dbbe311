"""The application factory: wires the parts together and decides nothing else."""

from __future__ import annotations

import functools
from datetime import timedelta

import structlog
from flask import Flask, request
from flask_wtf import CSRFProtect
from werkzeug.middleware.proxy_fix import ProxyFix

from judge import __version__
from judge.packs.registry import Registry
from store.clock import Clock, utc_now
from store.database import make_engine, make_session_factory, watch_writes
from store.doorbell import make_bell, ring
from store.logs import configure_logging
from store.settings import Settings, load_secret_key
from web import assets, errors, formatting, health, metrics, rates, security
from web.accounts import views as accounts
from web.accounts.visitor import register_login
from web.api import views as api
from web.broker import broker_answers
from web.challenges import views as challenges
from web.leaderboard import views as leaderboard
from web.live import StreamSlots
from web.news import News
from web.services import EXTENSION, Services, close_reader_after_requests
from web.submissions import views as submissions

log = structlog.get_logger(__name__)

#: A source of 256 KiB can grow several times when it is written as JSON or as a form.
REQUEST_BYTES = 2 << 20


def create_app_from_env() -> Flask:
    """For gunicorn: settings from the environment."""
    settings = Settings()
    configure_logging(settings, process="web")
    return create_app(settings)


def create_app(settings: Settings, *, clock: Clock = utc_now) -> Flask:
    """The web application. Loads the packs and the secret key; connects to nothing yet."""
    app = Flask(__name__)
    app.config.update(
        SECRET_KEY=load_secret_key(settings),
        SESSION_COOKIE_NAME="gpujudge",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.session_cookie_secure,
        PERMANENT_SESSION_LIFETIME=timedelta(days=14),
        MAX_CONTENT_LENGTH=REQUEST_BYTES,
        MAX_FORM_MEMORY_SIZE=REQUEST_BYTES,
        WTF_CSRF_TIME_LIMIT=None,  # as long as the session: a kernel may take an afternoon to write
    )
    if settings.trusted_proxies:
        count = settings.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=count, x_proto=count, x_host=count)  # type: ignore[method-assign]
    services = make_services(settings, clock)
    app.extensions[EXTENSION] = services
    close_reader_after_requests(app)
    metrics.register_metrics(app, services)
    assets.register_assets(app)
    security.register_security_headers(app)
    errors.register_error_handlers(app)
    formatting.register_filters(app, clock)
    register_login(app)
    rates.register_limits(app, settings)
    csrf = CSRFProtect(app)
    csrf.exempt(api.blueprint)  # it takes no cookies
    for part in (challenges, submissions, leaderboard, accounts, api, health):
        app.register_blueprint(part.blueprint)
    app.context_processor(lambda: {"version": __version__, "here": request.full_path.rstrip("?")})
    return app


def make_services(settings: Settings, clock: Clock) -> Services:
    """Everything the views use. A pack that is broken is logged and left out; the others are served."""
    registry = Registry.load(settings.pack_paths)
    for problem in registry.problems:
        log.error("pack refused", problem=str(problem))
    engine = make_engine(settings)
    bell = make_bell(settings)
    readers = make_session_factory(engine, read_only=True)
    return Services(
        settings=settings,
        engine=engine,
        readers=readers,
        writers=make_session_factory(engine),
        packs=registry.packs,
        ring=lambda submission: ring(bell, submission),
        broker_answers=lambda: broker_answers(bell),
        # Half of the threads at most are held by pages that watch.
        streams=StreamSlots(settings.web_threads // 2),
        news=News(readers, functools.partial(watch_writes, engine)),
        clock=clock,
    )
