"""The commands ``challenges``, ``show``, ``init`` and ``leaderboard``."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from cli import options
from cli.answers import BoardEntry, Challenge, items_of, read
from cli.api import Api
from cli.connect import connect
from cli.console import print_json, print_table, print_text, say, stdout
from cli.errors import CliError, Unreachable, UsageError
from cli.scores import format_interval, format_score
from cli.source import DEFAULT_DEVICE, file_of
from judge.interval import cards_in_words

#: The characters of a search that count.
_SEARCHED = 100
#: Code, which stays as it is, then formulae of their own lines and within a line.
_FORMULA = re.compile(
    r"^```.*?^```|`[^`\n]*`|\$\$(?P<shown>.+?)\$\$|\$(?P<inline>[^$\n`]+)\$", re.MULTILINE | re.DOTALL
)


def challenges(
    search: Annotated[
        str | None, typer.Option("--search", "-s", metavar="WORDS", help="Only what these words find, the best first.")
    ] = None,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """List the challenges."""
    with connect(server) as api:
        listed = items_of(api.get("challenges", q=search[:_SEARCHED] if search else None), "challenges")
    if as_json:
        print_json({"challenges": listed})
        return
    found = [read(Challenge, item) for item in listed]
    if search and not found:
        say(f"nothing found for {search[:_SEARCHED]!r}; gpujudge challenges lists all")
        return
    print_table(
        ("slug", "title", "difficulty", "version", "tags"),
        ((item.slug, item.title, item.difficulty, item.version, ", ".join(item.tags)) for item in found),
    )


def show(slug: options.Slug, server: options.Server = None, as_json: options.Json = False) -> None:
    """Print a challenge: its statement, signature and limits."""
    with connect(server) as api:
        challenge = _challenge(api, slug)
    if as_json:
        print_json(challenge)
        return
    if sys.stdout.isatty():
        from rich.markdown import Markdown

        stdout().print(Markdown(_with_literal_formulae(_document(challenge))))
    else:
        print_text(_document(challenge))


def init(
    slug: options.Slug,
    directory: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to.", show_default=False)] = Path(),
    device: Annotated[str, typer.Option("--device", "-d", help="The device that the file names.")] = DEFAULT_DEVICE,
    language: options.Language = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Write a challenge's starter (SLUG.cu) and statement (SLUG.md); another language has another ending."""
    with connect(server) as api:
        challenge = _challenge(api, slug)
        _note_device(api, device)
    slug = str(challenge["slug"])
    chosen = _language(challenge, language)
    first = f"{chosen['comment']} gpujudge: challenge={slug} device={device}\n"
    files = {
        directory / file_of(slug, chosen["suffix"]): f"{first}{chosen['starter']}",
        directory / f"{slug}.md": _document(challenge),
    }
    existing = [str(path) for path in files if path.exists()]
    if existing and not force:
        raise UsageError(f"{' and '.join(existing)} would be overwritten", hint="--force overwrites.")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            path.write_text(text if text.endswith("\n") else text + "\n", "utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {error.filename}: {error.strerror}") from None
    written = [str(path) for path in files]
    say(f"Wrote {' and '.join(written)}. When it is filled in: gpujudge submit {written[0]}")
    if as_json:
        print_json({"challenge": slug, "files": written})


def leaderboard(
    slug: options.Slug,
    device: Annotated[str, typer.Option("--device", "-d", help="The device whose board it is.")] = DEFAULT_DEVICE,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many places.")] = 25,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Print a challenge's leaderboard on one device. Entries whose intervals overlap may share a rank."""
    with connect(server) as api:
        answer = api.get(f"leaderboards/{quote(slug, safe='')}", device=device)
    entries = items_of(answer, "entries")[:limit]
    board = answer if isinstance(answer, dict) else {}
    cards, spread = board.get("cards", []), board.get("card_spread")
    if as_json:
        print_json({"challenge": slug, "device": device, "entries": entries, "cards": cards, "card_spread": spread})
        return
    if not entries:
        say(f"Nobody has solved {slug} on {device} yet.")
        return
    print_table(
        (
            "rank",
            "user",
            "score",
            "95 % interval",
            "of roofline",
            "medal",
            "language",
            "GB/s",
            "GFLOP/s",
            "audited",
            "checked",
            "submission",
        ),
        (
            (
                entry.rank,
                entry.username,
                format_score(entry.value),
                format_interval(entry.value, entry.low, entry.high),
                "" if entry.roofline_share is None else f"{entry.roofline_share:.0%}",
                entry.medal or "",
                entry.language,
                _rate(entry.gb_per_s),
                _rate(entry.gflop_per_s),
                _audited(entry),
                _checked(entry),
                entry.submission,
            )
            for entry in (read(BoardEntry, row) for row in entries)
        ),
        right=("rank", "score", "95 % interval", "of roofline", "GB/s", "GFLOP/s"),
    )
    if sentence := cards_in_words(len(cards), spread):
        say(sentence)


def _audited(entry: BoardEntry) -> str:
    """Returns the date of the audit, or the reason why a re-timed entry does not count as audited."""
    return f"not audited: {entry.not_audited}" if entry.not_audited else (entry.audited_at or "")[:10]


def _checked(entry: BoardEntry) -> str:
    """Returns the emulator's verdict on an entry that a GPU accepted."""
    if entry.recheck == "found" and entry.recheck_headline != entry.not_audited:
        return f"found: {entry.recheck_headline}"
    return entry.recheck or ""


def _rate(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _challenge(api: Api, slug: str) -> dict[str, Any]:
    """Asks for a challenge. Raises Unreachable if the answer is something else."""
    answer = api.get(f"challenges/{quote(slug, safe='')}")
    wanted = ("slug", "title", "statement", "version", "difficulty", "signature", "starter")
    if not isinstance(answer, dict) or not all(isinstance(answer.get(key), str) for key in wanted):
        raise Unreachable(f"{api.server} does not describe {slug} as gpujudge does: is it the right address?")
    return answer


def _language(challenge: dict[str, Any], name: str | None) -> dict[str, str]:
    """Returns the server's data on a language of the challenge, by default the first. Raises UsageError."""
    offered = [one for one in challenge.get("languages") or () if isinstance(one, dict)]
    offered = offered or [{"name": "cuda", "comment": "//", "suffix": ".cu", "starter": challenge["starter"]}]
    found = next((one for one in offered if name in (None, one.get("name"))), None)
    if found is None:
        known = ", ".join(str(one.get("name")) for one in offered)
        raise UsageError(f"{challenge['slug']} takes no submissions in {name!r}", hint=f"It takes: {known}.")
    if found.get("missing"):
        say(f"note: the server cannot judge it yet: {found['missing']}")
    return {key: str(found.get(key, "")) for key in ("comment", "suffix", "starter")}


def _note_device(api: Api, device: str) -> None:
    """Says so if the server does not know the device. Its answer is not needed for anything else."""
    known: list[str] = []
    with suppress(CliError):
        known = [str(one.get("key")) for one in items_of(api.get("devices"), "devices")]
    if known and device not in known:
        say(f"note: the server knows no device {device}; it knows {', '.join(known)}")


def _with_literal_formulae(document: str) -> str:
    """Returns Markdown whose formulae are code: as text, their underscores and asterisks would be emphasis."""

    def literal(found: re.Match[str]) -> str:
        if found["shown"] is not None:
            return f"\n```\n{found['shown'].strip()}\n```\n"
        return found[0] if found["inline"] is None else f"`{found['inline']}`"

    return _FORMULA.sub(literal, document)


def _document(challenge: dict[str, Any]) -> str:
    """Returns title, statement, signature and version as one Markdown document."""
    statement = str(challenge["statement"]).strip()
    title = "" if statement.startswith("# ") else f"# {challenge['title']}\n\n"
    facts = f"Version {challenge['version']}, {challenge['difficulty']}."
    signature = (
        "" if challenge["signature"] in statement else f"## Signature\n\n```cuda\n{challenge['signature']}\n```\n\n"
    )
    return f"{title}{statement}\n\n{signature}{facts}\n"
