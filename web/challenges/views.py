"""The list of challenges and the workbench of each, with the statement beside the editor."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from judge.languages.registry import BUILTIN_LANGUAGES, DEFAULT_LANGUAGE
from judge.packs.custom.case import custom_fields
from judge.packs.custom.contents import DISTRIBUTION_FORMS
from judge.tracks.loader import builtin_tracks
from store.drafts import latest_draft
from store.models import Submission
from store.submissions import get_submission, latest_challenge
from store.teaching.contests import own_running
from store.teaching.private_packs import is_private_slug
from web.accounts.visitor import Visitor, signed_in
from web.bottlenecks.page import find_kernel
from web.challenges import drafts
from web.challenges.figures import read_figures
from web.challenges.hints import shown_statement
from web.challenges.listing import DIFFICULTIES, SORTS, STATUSES, Filters, by_difficulty, challenge_rows
from web.challenges.search import MAX_CHARACTERS
from web.challenges.search import search as search_packs
from web.challenges.shown import find_pack, is_public, shown_packs
from web.devices import device_choices
from web.services import reader, services
from web.statement import render_statement
from web.submissions.accepting import SOURCE_BYTES, chosen_language
from web.submissions.forms import SubmissionForm
from web.submissions.languages import missing
from web.submissions.links import links_of
from web.tracks.progress import find_next, find_place, read_done, view_track

#: The boards on the first page for those who are not signed in.
NEWEST = 5

blueprint = Blueprint("challenges", __name__)
drafts.register(blueprint)


@blueprint.get("/")
def index() -> str:
    """Renders the challenges that fit the query's filters, in the order that it asks for."""
    visitor = signed_in()
    devices = device_choices(reader(), services().settings, services().clock)
    packs, tracks = shown_packs(), builtin_tracks()
    figures = read_figures(reader())
    done = read_done(reader(), user_id=None if visitor is None else visitor.id)
    rows = challenge_rows(
        reader(),
        packs.values(),
        tracks,
        figures,
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
        first=packs.get("vector-add") or min(packs.values(), key=by_difficulty, default=None),
        devices=devices,
        views=[view for track in tracks.tracks if (view := view_track(track, packs, done)).steps],
        following=None if visitor is None else find_next(tracks, packs, done, latest_challenge(reader(), visitor.id)),
        newest=[(packs[board.key.challenge], board) for board in figures.newest() if board.key.challenge in packs][
            :NEWEST
        ],
        device_names={device.key: device.name for device in devices},
    )


@blueprint.get("/search")
def search() -> BaseResponse:
    """Leads to the challenge that the query ``q`` finds first; to the list, which says so, where it finds none."""
    words = request.args.get("q", "").strip()
    first = next(iter(search_packs(words, shown_packs())), None)
    if first is None:
        return redirect(url_for("challenges.index", q=words[:MAX_CHARACTERS] or None))
    return redirect(url_for("challenges.show", slug=first))


#: What people type, and what they mean.
_MEANT = {
    "/challenges": "challenges.index", "/problems": "challenges.index",
    "/leaderboard": "leaderboard.index",
    "/login": "accounts.log_in", "/signup": "accounts.sign_up", "/register": "accounts.sign_up",
}  # fmt: skip


def meant() -> BaseResponse:
    """Leads from an address that people type to the page that they mean, with the query that they gave."""
    page = url_for(_MEANT[request.path.rstrip("/")])
    query = request.query_string.decode("ascii", "replace")
    return redirect(f"{page}?{query}" if query else page)


for _address in _MEANT:
    blueprint.add_url_rule(_address, f"meant_{_address[1:]}", meant, strict_slashes=False)


@blueprint.get("/challenges/<slug>")
def show(slug: str) -> str:
    """Renders a challenge's statement and the editor.

    The editor holds the draft, or one's submission named by ``from``, or the kernel that ``example`` names: of a page
    on a bottleneck, or of the challenge's ``lesson``. It also shows what was judged of that submission, or of the
    draft, if it is still the submission named by ``judged``.
    """
    pack = find_pack(slug)
    visitor = signed_in()
    draft = None if visitor is None else latest_draft(reader(), user_id=visitor.id, challenge=slug)
    languages = [BUILTIN_LANGUAGES.of(name) for name in pack.languages]
    statement, hints_hidden_until = shown_statement(pack, visitor)
    example, of_example = _example(slug, request.args.get("example", ""))
    opened = _own_submission(visitor, slug, request.args.get("from", ""))
    edited = example or (None if opened is None else opened.source)
    written_in = of_example or (
        opened.language if opened is not None else draft.language if edited is None and draft else None
    )
    language = next((each for each in languages if each.name == written_in), languages[0])
    judged = opened if example is None else None
    if edited is None and draft is not None:
        sent = _own_submission(visitor, slug, request.args.get("judged", ""))
        judged = sent if sent is not None and sent.source == draft.source else None
    done = read_done(reader(), user_id=None if visitor is None else visitor.id)
    return render_template(
        "challenges/show.html",
        pack=pack,
        statement=render_statement(statement),
        hints_hidden_until=hints_hidden_until,
        source=edited or (language.starter(pack) if draft is None else draft.source),
        language=language,
        languages=languages,
        missing={each.name for each in languages if missing(each)},
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
        solved=slug in done.solved,
        now=services().clock(),
        public=is_public(slug),
        private=is_private_slug(slug),
        running=[] if visitor is None else own_running(reader(), slug, user_id=visitor.id, now=services().clock()),
        place=find_place(builtin_tracks(), slug, shown_packs(), done),
        devices=device_choices(reader(), services().settings, services().clock),
        form=SubmissionForm(),
        source_bytes=SOURCE_BYTES,
    )


@blueprint.get("/challenges/<slug>/starter")
def starter(slug: str) -> Response:
    """Returns the starter as a download, in the language that is asked for or the challenge's first."""
    pack = find_pack(slug)
    language = BUILTIN_LANGUAGES.of(chosen_language(pack, request.args.get("language") or None))
    response = Response(language.starter(pack), mimetype="text/plain")
    response.headers["Content-Disposition"] = f'attachment; filename="{slug}{language.suffixes[0]}"'
    return response


def _example(slug: str, name: str) -> tuple[str, str] | tuple[None, None]:
    """Returns the kernel of the challenge's lesson, or of a page on a bottleneck, and its language.

    Both are None for a name of neither.
    """
    found = builtin_tracks().of(slug)
    if name == "lesson":
        return (None, None) if found is None or not found[1].lesson else (found[1].kernel(), found[1].language.name)
    kernel = find_kernel(slug, name)
    return (None, None) if kernel is None else (kernel, DEFAULT_LANGUAGE)


def _own_submission(visitor: Visitor | None, slug: str, public_id: str) -> Submission | None:
    """Returns the visitor's own submission for this challenge, or None."""
    submission = get_submission(reader(), public_id) if public_id else None
    if visitor is None or submission is None or submission.user_id != visitor.id or submission.challenge != slug:
        return None
    return submission
