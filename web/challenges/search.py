"""The search for challenges: by title, alias, tag and the words of the statement, ranked, with typos allowed.

Text is compared without case, accents and the differences of British and American spelling, and names also without
what parts their words: ``conv2d`` is ``Conv 2D``, and ``sha256`` is ``SHA-256``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from judge.packs.form.statement import StatementError, read_statement, without_hints
from judge.packs.pack import Pack

#: What is read of a query: characters, then words.
MAX_CHARACTERS, _MAX_WORDS = 100, 10
_WORD = re.compile(r"[a-z0-9]+")
#: British to American, in this order.
_SPELLINGS = (
    (re.compile(r"gre(?=y)"), "gra"),
    (re.compile(r"(?<=[a-z])our(?=s?\b|ed|ing)"), "or"),
    (re.compile(r"ghbour"), "ghbor"),
    (re.compile(r"(?<=[a-z]{3})is(?=e\b|ed\b|er|es\b|ing\b|ation)"), "iz"),
    (re.compile(r"tre\b"), "ter"),
)
#: Words that say nothing of what is looked for.
_EMPTY = frozenset(re.findall(r"\w+", "a an and as at by cuda find for from gpu how in is kernel of on or the to with"))
#: What a query is worth that is a whole name, begins one, is in one with all its words, or is one but for a typo.
_WHOLE, _BEGINS, _ALL_WORDS, _TYPO = 1000.0, 600.0, 400.0, 300.0
#: What each word is worth where it is found.
_NAME_WORD, _NAME_BEGINS, _TAG, _NAME_PART, _NEAR, _STATEMENT = 40.0, 25.0, 20.0, 12.0, 8.0, 3.0


@dataclass(frozen=True, slots=True)
class _Entry:
    """The searched texts of one pack. ``names``: the title, the slug, then the aliases, each as its words."""

    names: tuple[tuple[str, ...], ...]
    compact: tuple[str, ...]
    name_words: frozenset[str]
    tags: frozenset[str]
    statement: frozenset[str]


def search(words: str, packs: Mapping[str, Pack]) -> dict[str, float]:
    """Returns the slugs of the packs that a query finds with what each is worth, the best first.

    Every word of the query has to be found, but for empty ones such as "the". Only its first MAX_CHARACTERS count.
    """
    wanted = _words(words[:MAX_CHARACTERS])[:_MAX_WORDS]
    telling = tuple(word for word in wanted if word not in _EMPTY) or wanted
    if not telling:
        return {}
    found = {slug: _worth(wanted, telling, _entry_of(pack)) for slug, pack in packs.items()}
    order = sorted((slug for slug in found if found[slug] > 0), key=lambda slug: (-found[slug], packs[slug].title))
    return {slug: found[slug] for slug in order}


def _worth(wanted: tuple[str, ...], telling: tuple[str, ...], entry: _Entry) -> float:
    each = [_worth_of_word(word, entry) for word in telling]
    every = sum(each) if all(each) else 0.0
    return max(_worth_of_names(wanted, entry), _worth_of_names(telling, entry)) + every


def _worth_of_names(wanted: tuple[str, ...], entry: _Entry) -> float:
    text = "".join(wanted)
    best = 0.0
    for place, (words, name) in enumerate(zip(entry.names, entry.compact, strict=True)):
        if name == text:
            worth = _WHOLE
        elif name.startswith(text) and len(text) > 1:
            worth = _BEGINS * (0.5 + 0.5 * len(text) / len(name))
        elif set(wanted) <= set(words):
            worth = _ALL_WORDS * (0.5 + 0.5 * len(text) / len(name))
        elif _is_near(text, name):
            worth = _TYPO
        else:
            continue
        # Of two that are found alike, the one whose title it is comes before one with that alias.
        best = max(best, worth - min(place, 9))
    return best


def _worth_of_word(word: str, entry: _Entry) -> float:
    if word in entry.name_words:
        return _NAME_WORD
    if any(name.startswith(word) for name in entry.name_words):
        return _NAME_BEGINS
    if word in entry.tags:
        return _TAG
    if len(word) > 2 and any(word in name for name in entry.compact):
        return _NAME_PART
    if word in entry.statement:
        return _STATEMENT
    if any(_is_near(word, name) for name in entry.name_words):
        return _NEAR
    return _STATEMENT / 3 if len(word) > 3 and any(each.startswith(word) for each in entry.statement) else 0.0


def _is_near(one: str, other: str) -> bool:
    """Returns whether two texts differ by a typo: one change in 4 to 7 characters, two in more. Digits must agree."""
    allowed = 0 if min(len(one), len(other)) < 4 else 1 if len(one) < 8 else 2
    # A change takes at most one letter away and brings another: most pairs end here.
    if not allowed or abs(len(one) - len(other)) > allowed or len(set(one) ^ set(other)) > 2 * allowed:
        return False
    return re.sub(r"\D", "", one) == re.sub(r"\D", "", other) and _changes(one, other) <= allowed


def _changes(one: str, other: str) -> int:
    """Returns the fewest insertions, removals, replacements and swaps of neighbors that make one the other."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        row = [i]
        for j, b in enumerate(other, start=1):
            least = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                least = min(least, before[j - 2] + 1)
            row.append(least)
        before, last = last, row
    return last[-1]


def _words(text: str) -> tuple[str, ...]:
    plain = unicodedata.normalize("NFKD", text.replace("π", " pi ")).casefold()
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    for pattern, american in _SPELLINGS:
        plain = pattern.sub(american, plain)
    return tuple(_singular(word) for word in _WORD.findall(plain))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "as")) else word


#: By slug, with the pack that an entry is of: a pack whose files change is another object.
_entries: dict[str, tuple[Pack, _Entry]] = {}


def _entry_of(pack: Pack) -> _Entry:
    known = _entries.get(pack.slug)
    if known is None or known[0] is not pack:
        known = _entries[pack.slug] = (pack, _make_entry(pack))
    return known[1]


def _make_entry(pack: Pack) -> _Entry:
    names = tuple(dict.fromkeys(filter(None, map(_words, (pack.title, pack.slug, *pack.aliases)))))
    return _Entry(
        names,
        tuple("".join(words) for words in names),
        frozenset(word for words in names for word in words),
        frozenset(_all_words(pack.tags)),
        # Not its hints, which a class may hide.
        frozenset(_words(without_hints(_statement(pack)))),
    )


def _statement(pack: Pack) -> str:
    try:
        return read_statement(pack)
    except (OSError, StatementError):  # one that is being written
        return ""


def _all_words(texts: Iterable[str]) -> Iterable[str]:
    return (word for text in texts for word in (*_words(text), "".join(_words(text))))
