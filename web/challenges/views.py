"""The list of challenges and the workbench of each, with the statement beside the editor."""

from __future__ import annotations

from flask import Blueprint, Response, render_template, request

from judge.packs.statement import read_statement
from store.drafts import latest_draft
from store.submissions import get_submission, solved_challenges
from web.accounts.visitor import Visitor, signed_in
from web.challenges import drafts
from web.devices import device_choices
from web.services import reader, services
from web.statement import render_statement
from web.submissions.accepting import SOURCE_BYTES, find_pack
from web.submissions.forms import SubmissionForm

blueprint = Blueprint("challenges", __name__)
drafts.register(blueprint)
_DIFFICULTIES = {"easy": 0, "medium": 1, "hard": 2}


@blueprint.get("/")
def index() -> str:
    """Renders all challenges, easiest first."""
    packs = sorted(
        services().packs.values(), key=lambda pack: (_DIFFICULTIES.get(pack.difficulty, 3), pack.title.casefold())
    )
    visitor = signed_in()
    return render_template(
        "challenges/index.html",
        packs=packs,
        difficulties=[name for name in _DIFFICULTIES if any(pack.difficulty == name for pack in packs)],
        solved=frozenset() if visitor is None else solved_challenges(reader(), user_id=visitor.id),
        devices=device_choices(reader(), services().settings, services().clock),
    )


@blueprint.get("/challenges/<slug>")
def show(slug: str) -> str:
    """Renders a challenge's statement and the editor, which holds the draft, or one's submission named by ``from``."""
    pack = find_pack(services(), slug)
    visitor = signed_in()
    draft = None if visitor is None else latest_draft(reader(), user_id=visitor.id, challenge=slug)
    edited = None if visitor is None else _own_source(visitor, slug, request.args.get("from", ""))
    return render_template(
        "challenges/show.html",
        pack=pack,
        statement=render_statement(read_statement(pack)),
        source=edited or (pack.starter() if draft is None else draft.source),
        edited=edited is not None,
        draft_version=0 if draft is None else draft.version,
        argument_help={
            argument.name: (f"{argument.c_type} {argument.name}", argument.description) for argument in pack.arguments
        },
        samples=[case for case in pack.cases if case.group == "sample"],
        hidden=sum(case.group == "hidden" for case in pack.cases),
        solved=visitor is not None and slug in solved_challenges(reader(), user_id=visitor.id),
        devices=device_choices(reader(), services().settings, services().clock),
        form=SubmissionForm(),
        source_bytes=SOURCE_BYTES,
    )


@blueprint.get("/challenges/<slug>/starter.cu")
def starter(slug: str) -> Response:
    """Returns the starter as a download."""
    response = Response(find_pack(services(), slug).starter(), mimetype="text/plain")
    response.headers["Content-Disposition"] = f'attachment; filename="{slug}.cu"'
    return response


def _own_source(visitor: Visitor, slug: str, public_id: str) -> str | None:
    """Returns the source of the visitor's own submission for this challenge, or None."""
    submission = get_submission(reader(), public_id) if public_id else None
    if submission is None or submission.user_id != visitor.id or submission.challenge != slug:
        return None
    return submission.source
