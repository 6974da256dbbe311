"""A source of several files is one text, and every line of it is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.compile.source_files import (
    SourceFilesError,
    check_files,
    is_header_name,
    join_files,
    missing_header,
    moves_lines,
    own_lines,
    sent_files,
    split_files,
)

MAIN = b'#include "inc/a.cuh"\nvoid solve() {}'
SOURCE = join_files(MAIN, {"inc/a.cuh": b"first\nsecond", "b.h": b"only\n"})


def test_files_are_split_where_a_line_names_the_next() -> None:
    assert [(file.name, file.content, file.first_line) for file in split_files(SOURCE)] == [
        ("kernel.cu", MAIN + b"\n", 1),
        ("inc/a.cuh", b"first\nsecond\n", 4),
        ("b.h", b"only\n", 7),
    ]
    assert split_files(b"") == split_files(b"")[:1]
    assert [file.content for file in split_files(MAIN)] == [MAIN]


def test_lines_are_found_by_file_and_named_by_it() -> None:
    lines = own_lines(SOURCE)
    for number, text in enumerate(SOURCE.decode().splitlines(), start=1):
        if not text.startswith("// gpujudge"):
            name, _, line = lines.name(number).rpartition(":")
            assert lines.locate(f"/tmp/{name}", int(line)) == number
    assert lines.name(5) == lines.in_words(5) == "inc/a.cuh:2"
    assert lines.in_words(2) == "line 2"
    assert lines.locate("/tmp/inc/../b.h", 1) == lines.locate("/var/gpujudge-build-x1/b.h", 1) == 7
    assert lines.locate("/cuda/include/b.h", 1) is None
    assert "/cuda/include/cub/b.h" not in lines
    assert "/tmp/kernel.cu" in lines


@pytest.mark.parametrize(
    "name", ["../a.cuh", "/etc/a.h", "a/../b.h", "a.txt", "a.so", "-x.h", "a b.h", "a;b.h", ".h", "a//b.h", "a\n.h", ""]
)
def test_a_header_has_a_plain_path_below_the_folder(name: str) -> None:
    assert not is_header_name(name)


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ({"../a.cuh": b""}, "is not a name of a header"),
        ({"solve.h": b""}, "the judge's name"),
        ({"kernel.cu": b""}, "the judge's name"),
        ({"a.cuh": b"// gpujudge: file=b.cuh\n"}, "which begins a file"),
        ({f"a{number}.cuh": b"" for number in range(16)}, "has 17 files; at most 16"),
    ],
)
def test_files_that_make_no_source(headers: dict[str, bytes], says: str) -> None:
    with pytest.raises(SourceFilesError, match=says):
        join_files(MAIN, headers)


def test_two_files_of_one_name_are_told() -> None:
    source = SOURCE + b"// gpujudge: file=b.h\n"
    assert check_files(source) == "The source has two files b.h."
    assert check_files(SOURCE) is None


def test_of_sent_files_the_one_with_solve_is_compiled() -> None:
    sent = [("b.h", b"only\n"), ("solve.h", b""), ("softmax.cu", MAIN), ("inc/a.cuh", b"solve")]
    assert [file.name for file in split_files(sent_files(sent))] == ["kernel.cu", "b.h", "inc/a.cuh"]
    assert sent_files([("any", b"text")]) == b"text"
    with pytest.raises(SourceFilesError, match="None of the files"):
        sent_files([("a.h", b"solve"), ("b.cu", b"")])


def test_a_missing_header_is_told() -> None:
    told = missing_header(
        'kernel.cu:1:10: fatal error: kernel.cuh: No such file or directory\n 1 | #include "kernel.cuh"'
    )
    assert told is not None
    assert told.startswith("`kernel.cuh` is not there: a submission is one file")
    assert "`solve.h`" in told
    assert missing_header("kernel.cu(3): error: x is undefined") is None


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("cub/block_reduce.cuh", "CUB that are supplied: did you mean `cub/block/block_reduce.cuh`?"),
        ("cub/no_such.cuh", "CUB that are supplied."),
        ("thrust/sorts.h", "Thrust that are supplied: did you mean `thrust/sort.h`?"),
    ],
)
def test_a_header_that_a_supplied_library_lacks_is_told(name: str, told: str, tmp_path: Path) -> None:
    for path in ("cub/block/block_reduce.cuh", "cub/detail/block_reduce.cuh", "thrust/sort.h"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    log = f"kernel.cu:1:10: fatal error: {name}: No such file or directory"
    assert missing_header(log, [tmp_path / "cccl", tmp_path]) == f"`{name}` is not among the headers of {told}"


@pytest.mark.parametrize(
    "text",
    [
        'int x;\n#line 3 "cub.cuh"\n',
        '  # 3 "cub.cuh"\n',
        '#\\\nline 3 "cub.cuh"\n',
        '/* a */ # /* b */ line 3 "cub.cuh"\n',
        '%: line 3 "cub.cuh"\n',
        'auto s = xR"a(";\n/**/#line 3\nauto t = ")a";',
    ],
)
def test_directives_that_move_lines_are_seen(text: str) -> None:
    assert moves_lines(text)


@pytest.mark.parametrize("text", ["#define line 3\n", "a ## line", "// as in issue #12\n", '"#line"', "#include <x>\n"])
def test_other_text_moves_no_line(text: str) -> None:
    assert not moves_lines(text)
