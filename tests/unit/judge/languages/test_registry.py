from __future__ import annotations

import pytest

from judge.languages.registry import BUILTIN_LANGUAGES, UnknownLanguage, check_language
from judge.packs.collection.loader import load_pack
from tests.builds import ROOT
from tests.toy.language import ToyLanguage

PACK = load_pack(ROOT / "challenges" / "vector-add")


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("add.cu", "cuda"),
        ("ADD.CU", "cuda"),
        ("a/b.cpp", "cuda"),
        ("add.py", "triton"),
        ("add.toy", None),
        ("py", None),
    ],
)
def test_a_file_has_a_language_by_its_ending(file: str, name: str | None) -> None:
    found = BUILTIN_LANGUAGES.of_file(file)
    assert (None if found is None else found.name) == name


def test_another_language_is_one_more() -> None:
    languages = BUILTIN_LANGUAGES.with_language(ToyLanguage())
    assert [*languages] == [*BUILTIN_LANGUAGES, "toy-c++"]
    found = languages.of_file("add.toy")
    assert found is not None
    assert found.name == "toy-c++"


def test_an_unknown_one_is_told_with_those_that_there_are() -> None:
    with pytest.raises(
        UnknownLanguage, match="'cobol' is not a language of submissions; the languages are: cuda, triton"
    ):
        BUILTIN_LANGUAGES.of("cobol")
    with pytest.raises(ValueError, match="cuda, triton"):
        check_language("cobol")
    with pytest.raises(ValueError, match="takes no submissions in 'cobol', but in: cuda, triton"):
        PACK.in_language("cobol")


@pytest.mark.parametrize("name", list(BUILTIN_LANGUAGES))
def test_each_says_all_that_others_ask(name: str) -> None:
    language = BUILTIN_LANGUAGES.of(name)
    assert language.name == name
    assert language.title
    assert language.file_name.endswith(language.suffixes)
    assert all(suffix.startswith(".") for suffix in (*language.suffixes, *language.companions))
    assert language.docs_url.startswith("https://")
    assert language.barrier.endswith("()")
    starter = language.starter(PACK)
    assert starter.startswith(f"{language.comment} {PACK.title}\n")
    assert "solve" in starter


def test_a_pack_takes_any_or_those_that_it_names() -> None:
    assert PACK.languages == tuple(BUILTIN_LANGUAGES)
    assert (PACK.build.language, PACK.in_language("triton").build.language) == ("cuda", "triton")
