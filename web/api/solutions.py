"""API endpoints for solutions: for tokens whose owner has solved the challenge or gave it up, and 403 for others."""

from __future__ import annotations

from flask import Blueprint
from flask import Response as FlaskResponse

from judge.packs.steps import StepTime, read_steps
from store.teaching import solutions
from store.teaching.solutions import count_solutions
from web.api import solution_schemas as schemas
from web.api.auth import api_visitor, token_required
from web.api.spec import next_page, operation
from web.challenges.shown import find_pack
from web.services import reader
from web.solutions.reading import readable_solution, require_access

TAG = "solutions"


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    blueprint.add_url_rule("/challenges/<slug>/solutions", view_func=list_solutions)
    blueprint.add_url_rule("/challenges/<slug>/solutions/<public_id>/source", view_func=get_solution_source)


@token_required
@operation(schemas.SolutionList, 404, 422, tag=TAG)
def list_solutions(slug: str, query: schemas.SolutionQuery) -> schemas.SolutionList:
    """Returns the reference steps of a challenge with their sources, and what users published."""
    pack, visitor = find_pack(slug), api_visitor()
    require_access(reader(), pack, visitor)
    count = count_solutions(reader(), challenge=slug)
    pages = max(1, -(-count // query.limit))
    found = solutions.list_solutions(
        reader(), viewer_id=visitor.id, challenge=slug, limit=query.limit, offset=(query.page - 1) * query.limit
    )
    return schemas.SolutionList(
        challenge=slug,
        steps=[
            schemas.ReferenceStep(
                name=step.name,
                change=step.change,
                source=step.source,
                modelled=_time(step.modelled),
                measured=_time(step.measured),
            )
            for step in read_steps(pack)
        ],
        count=count,
        page=query.page,
        pages=pages,
        next=next_page(page=query.page + 1) if query.page < pages else None,
        solutions=[
            schemas.Solution(
                id=one.public_id,
                username=one.username,
                device=one.device_key,
                pack_version=one.pack_version,
                value=one.value,
                metric=one.metric,
                likes=one.likes,
                liked=one.liked,
                after_giving_up=one.after_giving_up,
                published_at=one.published_at,
            )
            for one in found
        ],
    )


@token_required
@operation("application/octet-stream", 404, tag=TAG)
def get_solution_source(slug: str, public_id: str) -> FlaskResponse:
    """Returns the source of a published solution, byte for byte."""
    submission = readable_solution(reader(), find_pack(slug), public_id, api_visitor())
    return FlaskResponse(submission.source_bytes, mimetype="application/octet-stream")


def _time(time: StepTime | None) -> schemas.StepTime | None:
    return None if time is None else schemas.StepTime(time_s=time.time_s, gain=time.gain, device=time.device)
