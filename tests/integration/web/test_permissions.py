"""Permissions of each route, asked by nobody, by another user and by the owner of what it names.

A route that is not in the table fails the test: whoever adds one decides here who may use it.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from store.clock import utc_now
from store.models import Class, Contest, Role, User, WebSession
from store.people.accounts import create_token, find_user
from store.submissions import create_submission
from store.teaching import classes, contests
from tests.assignments import add_assignment
from tests.web_site import KERNEL, Site, make_site

SLUG = "vector-add"
#: Method and route, then the status for nobody, for another user, and for the owner. Under ``/api`` they send a token,
#: and the fourth column is for the owner's token that may only read. Then come an operator, an author, and the teacher
#: who holds the class and the contest, in which the owner is: where they are left out or ``-``, they get what another
#: user gets. 302 leads to the log-in where nobody is logged in;
#: 422 is what an empty form gets from whoever may send it.
TABLE = """
GET  /                                                           200 200 200
GET  /account/                                                   302 200 200
POST /account/close                                              302 422 422
GET  /account/confirm/<text>                                     404 404 404
POST /account/confirm/<text>                                     404 404 404
POST /account/email                                              302 422 422
GET  /account/export                                             302 200 200
GET  /account/forgot                                             200 200 200
POST /account/forgot                                             422 422 422
POST /account/identities/<int(max=2147483647):number>/remove     302 404 404
GET  /account/log-in                                             200 302 302
POST /account/log-in                                             422 302 302
GET  /account/log-in/code                                        302 302 302
POST /account/log-in/code                                        302 302 302
POST /account/log-out                                            302 302 302
POST /account/password                                           302 422 422
GET  /account/reset/<text>                                       404 404 404
POST /account/reset/<text>                                       404 404 404
GET  /account/second-factor                                      302 200 200
POST /account/second-factor                                      302 422 422
POST /account/second-factor/off                                  302 404 404
POST /account/sessions/<int(max=2147483647):session_id>/end      302 404 302
GET  /account/sign-in/<key>                                      404 404 404
GET  /account/sign-in/<key>/back                                 404 404 404
GET  /account/sign-up                                            200 200 200
POST /account/sign-up                                            422 422 422
POST /account/tokens                                             302 422 422
POST /account/tokens/<int(max=2147483647):token_id>/revoke       302 404 302
GET  /account/welcome                                            302 302 302
POST /account/welcome                                            302 302 302
GET  /admin/                                                     404 404 404 - 200
GET  /admin/challenges                                           404 404 404 - 200
POST /admin/challenges/<slug>/rejudge                            404 404 404 - 422
GET  /admin/devices                                              404 404 404 - 200
POST /admin/devices/<key>/hold                                   404 404 404 - 422
POST /admin/devices/<key>/release                                404 404 404 - 404
GET  /admin/log                                                  404 404 404 - 200
GET  /admin/submissions                                          404 404 404 - 200
POST /admin/notices                                              404 404 404 - 422
POST /admin/notices/<int(max=2147483647):number>/end             404 404 404 - 404
POST /admin/settings/<name>                                      404 404 404 - 422
POST /admin/settings/<name>/reset                                404 404 404 - 303
GET  /admin/platforms                                            404 404 404 - 200
POST /admin/platforms                                            404 404 404 - 422
GET  /admin/platforms/<int(max=2147483647):number>               404 404 404 - 404
POST /admin/platforms/<int(max=2147483647):number>               404 404 404 - 404
POST /admin/platforms/<int(max=2147483647):number>/remove        404 404 404 - 404
GET  /admin/site                                                 404 404 404 - 200
POST /admin/submissions/<public_id>/cancel                       404 404 404 - 303
POST /admin/submissions/<public_id>/off-board                    404 404 404 - 422
POST /admin/submissions/<public_id>/on-board                     404 404 404 - 303
POST /admin/submissions/<public_id>/rejudge                      404 404 404 - 422
GET  /admin/users                                                404 404 404 - 200
POST /admin/users/<username>/merge                               404 404 404 - 303
POST /admin/users/<username>/reset-link                          404 404 404 - 303
POST /admin/users/<username>/restore                             404 404 404 - 303
POST /admin/users/<username>/role                                404 404 404 - 422
POST /admin/users/<username>/suspend                             404 404 404 - 422
GET  /api/v1/admin/queue                                         401 403 403 403 200
GET  /api/v1/admin/devices                                       401 403 403 403 200
GET  /api/v1/admin/devices/<key>/calibrations                    401 403 403 403 404
POST /api/v1/admin/devices/<key>/hold                            401 403 403 403 422
POST /api/v1/admin/devices/<key>/release                         401 403 403 403 404
GET  /api/v1/admin/users                                         401 403 403 403 200
POST /api/v1/admin/users/<username>/role                         401 403 403 403 422
POST /api/v1/admin/users/<username>/suspend                      401 403 403 403 422
POST /api/v1/admin/users/<username>/restore                      401 403 403 403 200
POST /api/v1/admin/users/<username>/merge                        401 403 403 403 422
POST /api/v1/admin/users/<username>/reset-link                   401 403 403 403 200
GET  /api/v1/admin/submissions                                   401 403 403 403 200
POST /api/v1/admin/submissions/<public_id>/cancel                401 403 403 403 200
POST /api/v1/admin/submissions/<public_id>/rejudge               401 403 403 403 422
POST /api/v1/admin/submissions/<public_id>/off-board             401 403 403 403 422
POST /api/v1/admin/submissions/<public_id>/on-board              401 403 403 403 200
GET  /api/v1/admin/challenges                                    401 403 403 403 200
POST /api/v1/admin/challenges/<slug>/rejudge                     401 403 403 403 422
GET  /api/v1/admin/notices                                       401 403 403 403 200
POST /api/v1/admin/notices                                       401 403 403 403 422
POST /api/v1/admin/notices/<int(max=2147483647):number>/end      401 403 403 403 404
GET  /api/v1/admin/settings                                      401 403 403 403 200
PUT  /api/v1/admin/settings/<name>                               401 403 403 403 422
DELETE /api/v1/admin/settings/<name>                             401 403 403 403 200
GET  /api/v1/admin/log                                           401 403 403 403 200
GET  /api/v1/challenges                                          200 200 200 200
GET  /api/v1/challenges/<slug>                                   200 200 200 200
GET  /api/v1/challenges/<slug>/starter                           200 200 200 200
GET  /api/v1/challenges/<slug>/draft                             401 200 200 200
PUT  /api/v1/challenges/<slug>/draft                             401 422 422 403
GET  /api/v1/challenges/<slug>/solutions                         401 403 403 403 200
GET  /api/v1/challenges/<slug>/solutions/<public_id>/source      401 403 403 403 404
GET  /api/v1/classes                                             401 200 200 200
POST /api/v1/classes                                             401 404 404 403 201 404 201
POST /api/v1/classes/join                                        401 422 422 403
GET  /api/v1/classes/<int(max=2147483647):number>                401 404 200 200 200 404 200
GET  /api/v1/classes/<int(max=2147483647):number>/members        401 404 404 404 200 404 200
GET  /api/v1/classes/<int(max=2147483647):number>/assignments    401 404 200 200 200 404 200
POST /api/v1/classes/<int(max=2147483647):number>/assignments    401 404 404 403 422 404 422
GET  /api/v1/classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id> 401 404 200 200 200 404 200
PATCH /api/v1/classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id> 401 404 404 403 200 404 200
DELETE /api/v1/classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id> 401 404 404 403 200 404 200
POST /api/v1/classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/extensions 401 404 404 403 422 404 422
GET  /api/v1/classes/<int(max=2147483647):number>/grades         401 404 200 200 200 404 200
GET  /api/v1/classes/<int(max=2147483647):number>/grades.csv     401 404 404 404 200 404 200
GET  /api/v1/classes/<int(max=2147483647):number>/roster         401 404 404 404 200 404 200
PUT  /api/v1/classes/<int(max=2147483647):number>/roster         401 404 404 403 200 404 200
PATCH /api/v1/classes/<int(max=2147483647):number>            401 404 404 403 200 404 200
DELETE /api/v1/classes/<int(max=2147483647):number>           401 404 404 403 422 404 422
POST /api/v1/classes/<int(max=2147483647):number>/code        401 404 404 403 200 404 200
POST /api/v1/classes/<int(max=2147483647):number>/leave       401 404 200 403 200 404 200
DELETE /api/v1/classes/<int(max=2147483647):number>/members/<username> 401 404 404 403 200 404 200
PUT  /api/v1/classes/<int(max=2147483647):number>/staff/<username> 401 404 404 403 200 404 200
DELETE /api/v1/classes/<int(max=2147483647):number>/staff/<username> 401 404 404 403 404 404 404
GET  /api/v1/classes/<int(max=2147483647):number>/matrix      401 404 404 404 200 404 200
GET  /api/v1/classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/attempts/<username> 401 404 404 404 200 404 200
GET  /api/v1/classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/similarity 401 404 404 404 200 404 200
GET  /api/v1/classes/<int(max=2147483647):number>/platform    401 404 404 404 404 404 404
POST /api/v1/classes/<int(max=2147483647):number>/platform/exchange 401 404 404 403 404 404 404
DELETE /api/v1/classes/<int(max=2147483647):number>/platform  401 404 404 403 404 404 404
GET  /api/v1/classes/<int(max=2147483647):number>/challenges  401 404 404 404 200 404 200
POST /api/v1/classes/<int(max=2147483647):number>/challenges  401 404 404 403 422 404 422
DELETE /api/v1/classes/<int(max=2147483647):number>/challenges/<challenge> 401 404 404 403 404 404 404
GET  /api/v1/contests                                            200 200 200 200
POST /api/v1/contests                                            401 404 404 403 422 404 422
GET  /api/v1/contests/<slug>                                     200 200 200 200
PATCH /api/v1/contests/<slug>                                    401 404 404 403 200 404 200
DELETE /api/v1/contests/<slug>                                   401 404 404 403 409 404 409
GET  /api/v1/contests/<slug>/standings                           200 200 200 200
GET  /api/v1/contests/<slug>/submissions                         401 404 404 404 200 404 200
GET  /api/v1/contests/<slug>/trial                               401 404 404 404 200 404 200
POST /api/v1/contests/<slug>/trial                               401 404 404 403 202 404 202
GET  /api/v1/contests/<slug>/challenges                          401 404 404 404 200 404 200
POST /api/v1/contests/<slug>/challenges                          401 404 404 403 422 404 422
DELETE /api/v1/contests/<slug>/challenges/<challenge>            401 404 404 403 404 404 404
POST /api/v1/contests/<slug>/join                                401 200 200 403
POST /api/v1/contests/<slug>/leave                               401 200 200 403
GET  /api/v1/devices                                             200 200 200 200
GET  /api/v1/leaderboards/<slug>                                 200 200 200 200
GET  /api/v1/me                                                  401 200 200 200
GET  /api/v1/openapi.json                                        200 200 200 200
GET  /api/v1/ranking                                             200 200 200 200
GET  /api/v1/submissions                                         401 200 200 200
POST /api/v1/submissions                                         401 201 201 403
GET  /api/v1/submissions/<public_id>                             401 404 200 200 200
GET  /api/v1/submissions/<public_id>/comments                    401 404 200 200 200
POST /api/v1/submissions/<public_id>/comments                    401 404 422 403
PATCH /api/v1/submissions/<public_id>/comments/<int(max=2147483647):number> 401 404 404 403
DELETE /api/v1/submissions/<public_id>/comments/<int(max=2147483647):number> 401 404 404 403
POST /api/v1/submissions/<public_id>/cancel                      401 404 200 403
GET  /api/v1/submissions/<public_id>/events                      401 404 200 200 200
GET  /api/v1/submissions/<public_id>/source                      401 404 200 200 200
POST /api/v1/tokens                                              422 422 422 422
GET  /api/v1/tracks                                              200 200 200 200
GET  /api/v1/tracks/<slug>                                       404 404 404 404
GET  /api/v1/tracks/<slug>/progress                              401 404 404 404
GET  /api/v1/users/<username>                                    200 200 200 200
GET  /bottlenecks/                                               200 200 200
GET  /bottlenecks/<slug>                                         200 200 200
GET  /challenges/<slug>                                          200 200 200
GET  /challenges/<slug>/picture.png                              200 200 200
GET  /challenges/<slug>/draft                                    302 200 200
PUT  /challenges/<slug>/draft                                    302 422 422
GET  /challenges/<slug>/drafts                                   302 200 200
GET  /challenges/<slug>/drafts/<int:version>                     302 404 404
GET  /challenges/<slug>/starter                                  200 200 200
GET  /challenges.atom                                            200 200 200
GET  /leaderboards/<slug>.atom                                   200 200 200
GET  /challenges/<slug>/solutions                                200 200 200
POST /challenges/<slug>/give-up                                  302 422 403
GET  /challenges/<slug>/solutions/<public_id>                    302 403 403 - 404
GET  /challenges/<slug>/solutions/<public_id>/kernel.cu          302 403 403 - 404
POST /challenges/<slug>/solutions/<public_id>/like               302 403 403 - 404
POST /challenges/<slug>/submissions                              302 404 404
GET  /classes/                                                   302 200 200
GET  /classes/join                                               302 200 200
POST /classes/join                                               422 422 422
GET  /classes/new                                                302 404 404 - 200 404 200
POST /classes/new                                                302 404 404 - 422 404 422
GET  /classes/<int(max=2147483647):number>                       302 404 200 - 200 404 200
POST /classes/<int(max=2147483647):number>/code                  302 404 404 - 303 404 303
POST /classes/<int(max=2147483647):number>/delete               302 404 404 - 422 404 422
GET  /classes/<int(max=2147483647):number>/edit                  302 404 404 - 200 404 200
POST /classes/<int(max=2147483647):number>/edit                  302 404 404 - 422 404 422
GET  /classes/<int(max=2147483647):number>/grades.csv            302 404 404 - 200 404 200
GET  /classes/<int(max=2147483647):number>/matrix                302 404 404 - 200 404 200
GET  /classes/<int(max=2147483647):number>/grades/canvas.csv     302 404 404 - 200 404 200
GET  /classes/<int(max=2147483647):number>/grades/moodle.csv     302 404 404 - 200 404 200
GET  /classes/<int(max=2147483647):number>/copy                  302 404 404 - 200 404 200
POST /classes/<int(max=2147483647):number>/copy                  302 404 404 - 422 404 422
GET  /classes/<int(max=2147483647):number>/platform              302 404 404 - 200 404 200
POST /classes/<int(max=2147483647):number>/platform/disconnect   302 404 404 - 404 404 404
POST /classes/<int(max=2147483647):number>/platform/exchange     302 404 404 - 404 404 404
GET  /classes/<int(max=2147483647):number>/staff                 302 404 404 - 200 404 200
POST /classes/<int(max=2147483647):number>/staff                 302 404 404 - 422 404 422
POST /classes/<int(max=2147483647):number>/staff/<username>/remove 302 404 404 - 404 404 404
GET  /classes/<int(max=2147483647):number>/challenges            302 404 404 - 200 404 200
POST /classes/<int(max=2147483647):number>/challenges            302 404 404 - 422 404 422
POST /classes/<int(max=2147483647):number>/challenges/<challenge>/delete 302 404 404 - 404 404 404
GET  /classes/<int(max=2147483647):number>/roster                302 404 404 - 200 404 200
POST /classes/<int(max=2147483647):number>/roster                302 404 404 - 422 404 422
POST /classes/<int(max=2147483647):number>/leave                 302 404 303 - 303 404 303
POST /classes/<int(max=2147483647):number>/members/<username>/remove 302 404 404 - 303 404 303
GET  /classes/<int(max=2147483647):number>/assignments/new       302 404 404 - 200 404 200
POST /classes/<int(max=2147483647):number>/assignments/new       302 404 404 - 422 404 422
GET  /classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id> 302 404 200 - 200 404 200
GET  /classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/attempts/<username> 302 404 404 - 200 404 200
POST /classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/delete 302 404 404 - 303 404 303
GET  /classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/edit 302 404 404 - 200 404 200
POST /classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/edit 302 404 404 - 422 404 422
POST /classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/extensions 302 404 404 - 422 404 422
GET  /classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/grades.csv 302 404 404 - 200 404 200
GET  /classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/similarity 302 404 404 - 200 404 200
GET  /tracks/                                                    200 200 200
GET  /tracks/<slug>                                              404 404 404
GET  /tracks/<slug>/<challenge>                                  404 404 404
GET  /contests/                                                  200 200 200
GET  /contests/new                                               302 404 404 - 200 404 200
POST /contests/new                                               302 404 404 - 422 404 422
GET  /contests/<slug>                                            200 200 200
GET  /contests/<slug>/edit                                       302 404 404 - 200 404 200
POST /contests/<slug>/delete                                     302 404 404 - 409 404 409
POST /contests/<slug>/edit                                       302 404 404 - 422 404 422
GET  /contests/<slug>/challenges                                 302 404 404 - 200 404 200
POST /contests/<slug>/challenges                                 302 404 404 - 422 404 422
POST /contests/<slug>/challenges/<challenge>/delete              302 404 404 - 404 404 404
POST /contests/<slug>/join                                       302 303 303
POST /contests/<slug>/leave                                      302 303 303
GET  /contests/<slug>/screen                                     200 200 200
GET  /contests/<slug>/submissions                                302 404 404 - 200 404 200
GET  /contests/<slug>/trial                                      302 404 404 - 200 404 200
POST /contests/<slug>/trial                                      302 404 404 - 303 404 303
GET  /contests/<slug>/standings.csv                              200 200 200
GET  /contests/<slug>/standings.json                             200 200 200
GET  /healthz                                                    200 200 200
GET  /leaderboards/                                              200 200 200
GET  /leaderboards/<slug>                                        200 200 200
GET  /metrics                                                    200 200 200
GET  /ranking                                                    200 200 200
GET  /readyz                                                     200 200 200
GET  /favicon.ico                                                200 200 200
GET  /help/                                                      200 200 200
GET  /help/<slug>                                                404 404 404
GET  /help/api                                                   200 200 200
GET  /picture.png                                                200 200 200
GET  /search                                                     302 302 302
GET  /challenges                                                 302 302 302
GET  /problems                                                   302 302 302
GET  /leaderboard                                                302 302 302
GET  /login                                                      302 302 302
GET  /signup                                                     302 302 302
GET  /register                                                   302 302 302
GET  /privacy                                                    200 200 200
GET  /robots.txt                                                 200 200 200
GET  /sitemap.xml                                                200 200 200
GET  /static/<path:filename>                                     200 200 200
GET  /static/v<string(length=12):version>/<path:filename>        200 200 200
POST /lti/open/<ticket>                                         403 403 403
GET  /lti/choose/<ticket>                                        404 404 404
POST /lti/choose/<ticket>                                        404 404 404
GET  /lti/connect                                                302 404 404
POST /lti/connect                                                302 404 404
GET  /lti/enter/<ticket>                                         404 404 404
POST /lti/enter/<ticket>                                         404 404 404
GET  /lti/jwks.json                                              200 200 200
POST /lti/launch                                                 400 400 400
GET  /lti/login                                                  400 400 400
POST /lti/login                                                  400 400 400
GET  /submissions                                                302 200 200
GET  /submissions/<public_id>                                    302 404 200 - 200
GET  /submissions/<public_id>/assembly                           302 404 200
POST /challenges/<slug>/assembly                                 302 200 200
POST /submissions/<public_id>/assembly                           302 404 422
POST /submissions/<public_id>/cancel                             302 404 303 - 404
POST /submissions/<public_id>/comments                           302 404 422
POST /submissions/<public_id>/comments/<int(max=2147483647):number> 302 404 404
POST /submissions/<public_id>/comments/<int(max=2147483647):number>/delete 302 404 404
GET  /submissions/<public_id>/compare                            302 422 422
GET  /submissions/<public_id>/events                             302 404 200 - 200
GET  /submissions/<public_id>/kernel.cu                          302 404 200 - 200
GET  /submissions/<public_id>/profile                            302 404 404
POST /submissions/<public_id>/profile                            302 404 404
GET  /submissions/<public_id>/profile.ncu-rep                    302 404 404
GET  /submissions/<public_id>/recheck                            302 404 404
GET  /submissions/<public_id>/report                             302 404 200 - 200
POST /submissions/<public_id>/publish                            302 404 422
POST /submissions/<public_id>/share                              302 404 303
POST /submissions/<public_id>/withdraw                           302 404 409
GET  /shared/<token>                                             404 404 404
GET  /shared/<token>/kernel.cu                                   404 404 404
GET  /users/<username>                                           200 200 200
"""  # noqa: E501
ROWS = {(method, rule): statuses for method, rule, *statuses in (line.split() for line in TABLE.strip().splitlines())}
ROLES = ("nobody", "other", "owner", "reader", "operator", "author", "teacher")
#: Those of a user to whom nothing belongs that the request names, but for the teacher's class and contest.
PROMOTED = {"operator": Role.OPERATOR, "author": Role.AUTHOR, "teacher": Role.TEACHER}
#: What a request needs beside its path, to get as far as what it asks for.
BODIES: dict[str, dict[str, object]] = {
    "/api/v1/submissions": {"challenge": SLUG, "device": "emulator", "source": KERNEL},
    "/challenges/<slug>/draft": {"source": KERNEL, "version": 0},
    "/api/v1/admin/users/<username>/reset-link": {},
    "/api/v1/classes": {"title": "Spring"},
    "/api/v1/classes/join": {"code": "no-code", "known_as": "Ada"},
    "/api/v1/classes/<int(max=2147483647):number>/roster": {"csv": "name,e-mail\nAda,ada@example.org\n"},
    "/api/v1/classes/<int(max=2147483647):number>": {"title": "Fall"},
    "/api/v1/classes/<int(max=2147483647):number>/staff/<username>": {"role": "assistant"},
    "/api/v1/classes/<int(max=2147483647):number>/challenges": {"name": "a.zip", "archive": "AAAA"},
    "/api/v1/contests/<slug>/challenges": {"name": "a.zip", "archive": "AAAA"},
    "/api/v1/contests": {},
    "/api/v1/contests/<slug>": {"title": "Friday"},
    "/api/v1/contests/<slug>/join": {},
    "/api/v1/classes/<int(max=2147483647):number>/assignments": {},
    "/api/v1/classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>": {"title": "Sums"},
    "/api/v1/classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/extensions": {},
    "/api/v1/submissions/<public_id>/comments": {"line": 1, "text": "Why?"},
    "/api/v1/submissions/<public_id>/comments/<int(max=2147483647):number>": {"text": "Why?"},
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder: Path = tmp_path_factory.mktemp("site")
    often = "10000 per minute"
    site = make_site(folder, log_in_rate=often, address_rate=often, submission_rate=often, mail_rate=often)
    site.add_device()
    return site


def routes(site: Site) -> set[tuple[str, str]]:
    return {
        (method, rule.rule)
        for rule in site.app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }


def ask(site: Site, method: str, rule: str, role: str, number: int) -> int:
    """Returns the status of the answer to a user in this role; each request has users of its own."""
    owner, other = f"owner{number}", f"other{number}"
    client: FlaskClient = site.app.test_client()
    for name in (owner, other):
        uses_cookie = not rule.startswith("/api/") and role != "nobody" and (name == owner) == (role == "owner")
        if uses_cookie:
            client = site.visitor(name)
        elif name == owner and "session_id" in rule:
            site.visitor(name)
        else:
            site.add_user(name)
    with site.database() as session:
        user, stranger = find_user(session, owner), find_user(session, other)
        assert user is not None
        assert stranger is not None
        stranger.role = PROMOTED.get(role, Role.USER)
        pack = site.services.all_packs[SLUG]
        public_id = create_submission(
            session, user=user, pack=pack, device_key="emulator", mode="run", source=KERNEL
        ).public_id
        token, _ = create_token(session, user=user, name="one")
        session_id = session.scalars(select(WebSession.id).where(WebSession.user_id == user.id)).first()
        _, reading = create_token(session, user=user, name="reads", scopes=("read",))
        _, operating = create_token(session, user=stranger, name="operates", scopes=("read", "submit", "admin"))
        token_id = token.id
        class_id, assignment_id, contest = _taught(session, user, stranger if role == "teacher" else None, number)
    values = {
        "<slug>": {"contests": contest, "bottlenecks": "tail"}.get(rule.removeprefix("/api/v1").split("/")[1], SLUG),
        "<public_id>": public_id, "<key>": "elsewhere", "<text>": "not-a-link", "<token>": "no-link",
        "<ticket>": "no-ticket",
        "<int:version>": "1",
        "<int(max=2147483647):token_id>": str(token_id), "<int(max=2147483647):session_id>": str(session_id),
        "<int(max=2147483647):number>": str(class_id if "/classes/" in rule else 1),
        "<int(max=2147483647):assignment_id>": str(assignment_id),
        "<string(length=12):version>": "0123456789ab", "<path:filename>": "css/app.css",
        "<username>": owner, "<name>": "sign_up",
    }  # fmt: skip
    path = rule
    for part, value in values.items():
        path = path.replace(part, value)
    headers = {}
    if rule.startswith("/api/") and role != "nobody":
        tokens = {"reader": reading, "owner": site.token_of(owner), "other": site.token_of(other)}
        headers["Authorization"] = f"Bearer {tokens.get(role, operating)}"
    body = BODIES.get(rule) if method in ("POST", "PUT", "PATCH") else None
    # Forms bring their page's token; what a request without one gets is tested elsewhere.
    site.app.config["WTF_CSRF_ENABLED"] = False
    try:
        with client.open(path, method=method, json=body, headers=headers) as answer:
            return answer.status_code
    finally:
        site.app.config["WTF_CSRF_ENABLED"] = True


def _taught(session: Session, member: User, teacher: User | None, number: int) -> tuple[int, int, str]:
    """Makes a class with an assignment, and a contest, with one member; returns how paths name them."""
    now = utc_now()
    day, owner_id = timedelta(days=1), None if teacher is None else teacher.id
    made_at = now - 2 * day
    group = Class(title="Spring", description="", code=classes.new_code(), owner_id=owner_id, created_at=made_at)
    contest = Contest(closes_solutions=False,
        slug=f"contest-{number}", title="Friday", description="", starts_at=now - day, ends_at=now + day,
        scoring="points", devices="emulator", owner_id=owner_id, created_at=now,
    )  # fmt: skip
    contests.set_challenges(contest, [SLUG])
    session.add_all([group, contest])
    session.flush()
    classes.join(session, group, user_id=member.id, known_as="Owner", now=now)
    contests.join(session, contest, user_id=member.id, now=now)
    assignment = add_assignment(
        session, group.id, [SLUG], now=now, closes_solutions=False, opens_at=now - day, due_at=now + day
    )
    return group.id, assignment.id, contest.slug


def test_every_route_is_in_the_table(site: Site) -> None:
    assert routes(site) == set(ROWS), "add the route to the table, with who may use it"


@pytest.mark.exhaustive
@pytest.mark.parametrize(("method", "rule"), sorted(ROWS), ids=[" ".join(row) for row in sorted(ROWS)])
def test_a_route_answers_who_may_use_it(site: Site, method: str, rule: str) -> None:
    given = dict(zip(ROLES, ROWS[method, rule], strict=False))
    wanted = {role: given.get(role, "-") for role in ROLES}
    for role in PROMOTED:
        if wanted[role] == "-":
            wanted[role] = wanted["other"]
    number = 10 * sorted(ROWS).index((method, rule))
    found = {
        role: "-" if status == "-" else str(ask(site, method, rule, role, number + place))
        for place, (role, status) in enumerate(wanted.items())
    }
    assert found == wanted
