"""The operators' page of challenges says what does not load, and what is served meanwhile."""

from __future__ import annotations

import shutil
from pathlib import Path

from store.models import Role
from store.people.accounts import find_user
from store.settings import builtin_packs
from tests.web_site import make_site


def test_a_challenge_that_breaks_is_named_until_it_is_mended(tmp_path: Path) -> None:
    folder = tmp_path / "packs"
    shutil.copytree(builtin_packs() / "vector-add", folder / "vector-add")
    (folder / "broken").mkdir()
    (folder / "broken" / "challenge.toml").write_text("title = <b>\n")
    site = make_site(tmp_path / "data", pack_paths=(folder,))
    ops = site.visitor("ops")
    with site.database() as session:
        user = find_user(session, "ops")
        assert user is not None
        user.role = Role.OPERATOR

    def problems() -> str:
        site.services.all_packs.refresh()
        page = ops.get("/admin/challenges").text
        return page.partition('id="problems"')[2].partition("</table>")[0]

    first = problems()
    assert f"{folder}/broken/challenge.toml" in first
    assert "nothing</span>" in first
    assert "vector-add" not in first
    served = site.services.all_packs["vector-add"]
    toml = folder / "vector-add" / "challenge.toml"
    good = toml.read_text()
    toml.write_text(good + '\n[nonsense]\nx = "<i>"\n')
    both = problems()
    assert f"{toml}: nonsense" in both
    assert f"{served.version}, as it last was" in both
    assert "<i>" not in both
    assert ops.get("/challenges/vector-add").status_code == 200
    toml.write_text(good)
    shutil.rmtree(folder / "broken")
    assert problems() == ""
    assert served.digest[:12] in ops.get("/admin/challenges").text
