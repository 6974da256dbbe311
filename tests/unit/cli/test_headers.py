"""Headers beside a file go with it, and nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.errors import UsageError
from cli.headers import with_headers
from judge.compile.source_files import split_files


def _write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "k.cu"


def _taken(path: Path) -> tuple[str, ...]:
    return with_headers(path, path.read_bytes())[1]


def test_nested_headers_go_along(tmp_path: Path) -> None:
    path = _write(
        tmp_path,
        {
            "k.cu": '#include <vector>\n  #  include "inc/a.cuh"\n#include "solve.h"\n#include "cuda_fp16.h"\n',
            "solve.h": "",
            "inc/a.cuh": '#pragma once\n#include "b.cuh"\n#include "../c.h"\n#include "a.cuh"\n',
            "inc/b.cuh": '#include "c.h"\n',
            "c.h": '#include "inc/a.cuh"\n',
            "unused.h": "",
        },
    )
    content, names = with_headers(path, path.read_bytes())
    assert names == ("c.h", "inc/a.cuh", "inc/b.cuh")
    assert {file.name: file.content.decode() for file in split_files(content)}["c.h"] == '#include "inc/a.cuh"\n'
    # What was joined once stays as it is.
    assert with_headers(path, content) == (content, ())


def test_a_file_without_headers_stays_as_it_is(tmp_path: Path) -> None:
    path = _write(tmp_path, {"k.cu": '#include "solve.h"\nvoid solve() {}'})
    assert with_headers(path, path.read_bytes()) == (path.read_bytes(), ())


def test_nothing_outside_the_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "secret.h").write_text("secret")
    path = _write(
        tmp_path / "here",
        {
            "k.cu": "".join(
                f'#include "{name}"\n' for name in ("../secret.h", f"{tmp_path}/secret.h", "link.h", "up/secret.h")
            )
        },
    )
    (tmp_path / "here" / "link.h").symlink_to(tmp_path / "secret.h")
    (tmp_path / "here" / "up").symlink_to(tmp_path)
    assert _taken(path) == ()


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    path = _write(tmp_path, {"k.cu": '#include "link.h"\n', "real.h": ""})
    (tmp_path / "link.h").symlink_to("real.h")
    assert _taken(path) == ("link.h",)


def test_too_many_and_too_long_headers_are_refused(tmp_path: Path) -> None:
    names = [f"a{number}.h" for number in range(16)]
    path = _write(tmp_path, {"k.cu": "".join(f'#include "{name}"\n' for name in names), **dict.fromkeys(names, "")})
    with pytest.raises(UsageError, match="more than 15 headers"):
        _taken(path)
    path = _write(tmp_path, {"k.cu": '#include "a0.h"\n#include "a1.h"\n', **dict.fromkeys(names[:2], "x" * 140_000)})
    with pytest.raises(UsageError, match=r"more than 256 KiB: a0\.h, a1\.h"):
        _taken(path)
