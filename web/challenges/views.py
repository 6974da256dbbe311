"""The list of challenges and the workbench of each, with the statement beside the editor."""

from __future__ import annotations

from flask import Blueprint, Response, render_template, request

from judge.languages.registry import BUILTIN_LANGUAGES
from judge.packs.custom_contents import DISTRIBUTION_FORMS
from judge.packs.custom_input import custom_fields
from judge.tracks.loader import builtin_tracks
from store.drafts import latest_draft
from store.models import Submission
from store.submissions import get_submission
from store.totals import solved_challenges
from web.accounts.visitor import Visitor, signed_in
from web.bottlenecks.page import find_kernel
from web.challenges import drafts
from web.challenges.figures import read_figures
from web.challenges.hints import shown_statement
from web.challenges.listing import DIFFICULTIES, SORTS, STATUSES, Filters, by_difficulty, challenge_rows
from web.devices import device_choices
from web.services import reader, services
from web.statement import render_statement
from web.submissions.accepting import SOURCE_BYTES, chosen_language, find_pack
from web.submissions.forms import SubmissionForm
from web.submissions.links import links_of

blueprint = Blueprint("challenges", __name__)
drafts.register(blueprint)


@blueprint.get("/")
def index() -> str:
    """Renders the challenges that fit the query's filters, in the order that it asks for."""
    visitor = signed_in()
    devices = device_choices(reader(), services().settings, services().clock)
    packs, tracks = services().packs, builtin_tracks()
    rows = challenge_rows(
        reader(),
        packs.values(),
        tracks,
        read_figures(reader()),
        user_id=None if visitor is None else visitor.id,
        device=request.args.get("device") or (devices[0].key if devices else None),
    )
    filters = Filters.of(request.args)
    return render_template(
        "challenges/index.html",
        rows=filters.apply(rows),
        count=len(packs),
        solved=sum(row.status == "solved" for row in rows),
        filters=filters,
        difficulties=[
            (name, name.capitalize())
            for name in DIFFICULTIES
            if any(pack.difficulty == name for pack in packs.values())
        ],
        tags=[(tag, tag) for tag in sorted({tag for pack in packs.values() for tag in pack.tags})],
        tracks=[
            (track.slug, track.title) for track in tracks.tracks if any(step.challenge in packs for step in track.steps)
        ],
        statuses=STATUSES.items(),
        sorts=[(name, f"By {label.lower()}") for name, label in SORTS.items()],
        first=min(packs.values(), key=by_difficulty, default=None),
        devices=devices,
    )


@blueprint.get("/challenges/<slug>")
def show(slug: str) -> str:
    """Renders a challenge's statement and the editor.

    The editor holds the draft, or one's submission named by ``from``, or the kernel of a page on a bottleneck that
    ``example`` names. It also shows what was judged of that submission, or of the draft, if it is still the submission
    named by ``judged``.
    """
    pack = find_pack(services(), slug)
    visitor = signed_in()
    draft = None if visitor is None else latest_draft(reader(), user_id=visitor.id, challenge=slug)
    languages = [BUILTIN_LANGUAGES.of(name) for name in pack.languages]
    statement, hints_hidden_until = shown_statement(pack, visitor)
    example = find_kernel(slug, request.args.get("example", ""))
    opened = _own_submission(visitor, slug, request.args.get("from", ""))
    edited = example or (None if opened is None else opened.source)
    written_in = opened.language if opened is not None else draft.language if edited is None and draft else None
    language = next((each for each in languages if each.name == written_in), languages[0])
    judged = opened if example is None else None
    if edited is None and draft is not None:
        sent = _own_submission(visitor, slug, request.args.get("judged", ""))
        judged = sent if sent is not None and sent.source == draft.source else None
    return render_template(
        "challenges/show.html",
        pack=pack,
        statement=render_statement(statement),
        hints_hidden_until=hints_hidden_until,
        source=edited or (language.starter(pack) if draft is None else draft.source),
        language=language,
        languages=languages,
        accepted=",".join(dict.fromkeys(end for each in languages for end in (*each.suffixes, *each.companions))),
        edited=edited is not None,
        judged=None if judged is None else links_of(judged),
        draft_version=0 if draft is None else draft.version,
        argument_help={
            argument.name: (f"{argument.c_type} {argument.name}", argument.description) for argument in pack.arguments
        },
        custom_fields=custom_fields(pack),
        distribution_forms=DISTRIBUTION_FORMS,
        samples=[case for case in pack.cases if case.group == "sample"],
        hidden=sum(case.group == "hidden" for case in pack.cases),
        solved=visitor is not None and slug in solved_challenges(reader(), user_id=visitor.id),
        devices=device_choices(reader(), services().settings, services().clock),
        form=SubmissionForm(),
        source_bytes=SOURCE_BYTES,
    )


@blueprint.get("/challenges/<slug>/starter")
def starter(slug: str) -> Response:
    """Returns the starter as a download, in the language that is asked for or the challenge's first."""
    pack = find_pack(services(), slug)
    language = BUILTIN_LANGUAGES.of(chosen_language(pack, request.args.get("language") or None))
    response = Response(language.starter(pack), mimetype="text/plain")
    response.headers["Content-Disposition"] = f'attachment; filename="{slug}{language.suffixes[0]}"'
    return response


def _own_submission(visitor: Visitor | None, slug: str, public_id: str) -> Submission | None:
    """Returns the visitor's own submission for this challenge, or None."""
    submission = get_submission(reader(), public_id) if public_id else None
    if visitor is None or submission is None or submission.user_id != visitor.id or submission.challenge != slug:
        return None
    return submission
