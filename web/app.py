"""The application factory: wires the parts of the website together."""

from __future__ import annotations

import functools
import threading
from typing import Any

import structlog
from flask import Flask, request
from flask.json.provider import DefaultJSONProvider
from flask_wtf import CSRFProtect
from werkzeug.middleware.proxy_fix import ProxyFix

from judge import __version__
from judge.packs.collection.live import LivePacks
from logs import LogSettings, configure_logging
from logs.traces import TraceSettings, make_traces
from store.clock import Clock, utc_now
from store.database import make_engine, make_session_factory, watch_writes
from store.people import sessions
from store.queue.doorbell import broker_answers, make_doorbell, ring, ring_queue
from store.queue.queues import BUILD_QUEUE
from store.settings import read_settings
from store.teaching.served_packs import PrivatePacks
from web import assets, compression, errors, formatting, health, metrics, rate_limits, security, site
from web.accounts import views as accounts
from web.accounts.elsewhere import register_providers
from web.accounts.visitor import register_login
from web.admin import views as admin
from web.api import views as api
from web.background import Background
from web.bottlenecks import views as bottlenecks
from web.challenges import uploading
from web.challenges import views as challenges
from web.classes import views as classes
from web.contests import views as contests
from web.event_watcher import EventWatcher
from web.feeds import views as feeds
from web.help import views as help_pages
from web.intake import Intake
from web.kept import Kept
from web.leaderboard import views as leaderboard
from web.live import STREAM_THREADS, USER_STREAMS, StreamSlots
from web.lti import views as lti
from web.mail import make_delivery
from web.openings import Openings
from web.people import views as people
from web.services import EXTENSION, Services, close_reader_after_requests
from web.settings import REQUEST_BYTES, WebSettings, load_secret_key
from web.solutions import views as solutions
from web.submissions import assembly, comments, comparison, profile, sharing
from web.submissions import views as submissions
from web.tracing import register_tracing
from web.tracks import views as tracks

log = structlog.get_logger(__name__)

#: The most threads that write at once; others wait here. SQLite has one writer, and those that wait for it sleep
#: longer and longer. More writers make PostgreSQL no faster, but take turns on the interpreter's lock.
WRITERS = {"sqlite": 1, "postgresql": 8}


def create_app_from_env() -> Flask:
    """Builds the application for gunicorn, with settings from the environment. Raises SettingsProblem."""
    settings = read_settings(WebSettings)
    configure_logging(read_settings(LogSettings), process="web")
    return create_app(settings)


def create_app(settings: WebSettings, *, clock: Clock = utc_now) -> Flask:
    """Builds the web application. Loads the packs and the secret key, but opens no connection."""
    app = Flask(__name__)
    app.json = _Json(app)
    app.config.update(
        SECRET_KEY=load_secret_key(settings),
        SESSION_COOKIE_NAME="gpujudge",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.session_cookie_secure,
        PERMANENT_SESSION_LIFETIME=sessions.LIFETIME,
        MAX_CONTENT_LENGTH=REQUEST_BYTES,
        MAX_FORM_MEMORY_SIZE=REQUEST_BYTES,
        WTF_CSRF_TIME_LIMIT=None,  # valid as long as the session: writing a kernel may take hours
    )
    if settings.trusted_proxies:
        count = settings.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=count, x_proto=count, x_host=count)  # type: ignore[method-assign]
    services = make_services(settings, clock)
    app.extensions[EXTENSION] = services
    # First, so that all that other parts log of a request has its id.
    register_tracing(app, settings, services.traces)
    close_reader_after_requests(app)
    compression.register_compression(app)
    metrics.register_metrics(app, services)
    assets.register_assets(app)
    security.register_security_headers(app)
    errors.register_error_handlers(app)
    formatting.register_filters(app, clock)
    register_login(app)
    register_providers(app, settings)
    rate_limits.register_limits(app, settings)
    uploading.register_limits(app)  # before the check against forged requests, which reads the form
    csrf = CSRFProtect(app)
    csrf.exempt(api.blueprint)  # it ignores cookies
    csrf.exempt(lti.platform_blueprint)  # its forms are those of other sites, which sign them
    app.register_blueprint(lti.platform_blueprint)
    for part in (
        challenges,
        tracks,
        bottlenecks,
        help_pages,
        submissions,
        assembly,
        profile,
        comparison,
        sharing,
        comments,
        solutions,
        leaderboard,
        feeds,
        people,
        contests,
        classes,
        lti,
        accounts,
        admin,
        api,
        health,
    ):
        app.register_blueprint(part.blueprint)
    app.context_processor(lambda: {"version": __version__, "here": request.full_path.rstrip("?")})
    site.register_site(app)
    return app


#: The requests of one user that may wait at a time, in each process.
_USER_POLLS = 2


def make_services(settings: WebSettings, clock: Clock) -> Services:
    """Builds the services that the views use. Logs broken packs and leaves them out."""
    packs = LivePacks(settings.pack_paths, lambda problem: log.error("pack refused", problem=str(problem)))
    # A request uses one connection at a time, and so does each thread for live streams; the event watcher has its own,
    # and so has what reads anew what is kept.
    engine = make_engine(settings, connections=settings.threads + STREAM_THREADS + 2)
    processes = settings.processes
    doorbell = make_doorbell(settings)
    readers, writers = make_session_factory(engine, read_only=True), make_session_factory(engine)
    writing = threading.Semaphore(WRITERS[engine.dialect.name])
    return Services(
        settings=settings,
        engine=engine,
        readers=readers,
        writers=writers,
        all_packs=packs,
        private_packs=PrivatePacks(settings.data_dir / "private-packs"),
        ring=lambda submission: ring(doorbell, submission),
        ring_builders=lambda: ring_queue(doorbell, BUILD_QUEUE),
        broker_answers=lambda: broker_answers(doorbell),
        intake=Intake(writers, writing, clock),
        openings=Openings(readers, settings, clock),
        streams=StreamSlots(-(-settings.max_streams // processes), -(-USER_STREAMS // processes)),
        polls=StreamSlots(max(1, settings.threads // 4), _USER_POLLS),
        event_watcher=EventWatcher(readers, functools.partial(watch_writes, engine)),
        writing=writing,
        deliver=make_delivery(settings),
        background=Background(),
        kept=Kept(readers),
        traces=make_traces(TraceSettings(), process="web"),
        clock=clock,
    )


class _Json(DefaultJSONProvider):
    """Flask's JSON, in which what is nested too deeply for the parser is as invalid as any other text."""

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        """Returns the value. Raises ValueError, which Flask answers with 400."""
        try:
            return super().loads(s, **kwargs)
        except RecursionError:
            raise ValueError("the JSON is nested too deeply") from None
