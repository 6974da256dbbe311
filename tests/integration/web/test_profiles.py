"""The page of a submission's profile: who may ask, what it shows, and its report as a download."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from judge.gpu.nsight.measured import read_case
from judge.gpu.nsight.report import ReportPages
from judge.measurements import ModelledCase, ModelledKernel, ModelledLine
from judge.profile import Profile
from store.models import Role, User
from store.operation.changed_settings import change_setting
from store.operation.operator_log import Actor
from store.people.accounts import find_user
from store.profiles import MOST_WAITING, claim_profile, finish_profile, refuse_profile
from store.submissions import create_submission
from tests.web_site import EMULATOR, H200, KERNEL, Site, accepted, post, trusted

RECORDED = Path(__file__).resolve().parents[2] / "fake_ncu"
PAGES = ReportPages((RECORDED / "raw.csv").read_text(), (RECORDED / "source.csv").read_text())
LARGE = read_case("large", {"N": 1 << 22}, PAGES, 24)
MODELLED = ModelledCase(
    id="small", value=9e-6, samples=(9e-6,), bytes=1.0, flops=None, warp_instructions=1, launches=1, limiter="latency",
    why=(), kernels=(
        ModelledKernel(
            kernel="conflicts", grid=(64, 1, 1), block=(32, 32, 1), launches=1, seconds=4e-4, share=1.0,
            limiter="shared-memory bandwidth", occupancy=0.5, dram_bytes=1000,
        ),
    ),
    lines=(ModelledLine(file="kernel.cu", line=21, share=0.75),),
)  # fmt: skip
MADE = Profile(
    gpu="NVIDIA H200",
    tool="Nsight Compute 2025.3.1.0",
    cases=(LARGE, dataclasses.replace(LARGE, id="small")),
    modelled=MODELLED,
    modelled_gpu="NVIDIA H200",
)
#: As long as the recorded kernel, and with markup in it.
SOURCE = KERNEL + "\n".join(f"// <b>{number}</b>" for number in range(30))


@pytest.fixture
def gpu_site(site: Site) -> Site:
    site.add_device(H200)
    with site.database() as session:
        change_setting(session, Actor("root"), "profiles", "everybody", now=site.services.clock())
    return site


def enter(site: Site, username: str = "ada", *, on_gpu: bool = True) -> str:
    """The address of an accepted submission's page."""
    device = H200 if on_gpu else EMULATOR
    with site.database() as session:
        known = find_user(session, username) is not None
    if not known:
        site.add_user(username)
    with site.database() as session:
        user = find_user(session, username)
        assert user is not None
        made = create_submission(
            session,
            user=user,
            pack=site.services.all_packs["vector-add"],
            device_key=device.key,
            mode="submit",
            source=SOURCE,
        )
        public_id = made.public_id
    site.work(device=device, cases=accepted("n-1"), measurement=trusted(1e-4) if on_gpu else None)
    return f"/submissions/{public_id}"


def finish(site: Site, problem: str = "") -> None:
    now = site.services.clock()
    with site.database() as session:
        lease = claim_profile(session, H200.key, now=now)
        assert lease is not None
        if problem:
            assert refuse_profile(session, lease, problem, now=now)
        else:
            assert finish_profile(session, lease, MADE, b"a report\0", now=now)


def made(site: Site, client: FlaskClient, url: str) -> str:
    """The text of the page once the profile was asked for and made."""
    answer = post(client, f"{url}/profile", {})
    assert (answer.status_code, answer.location) == (303, f"{url}/profile")
    assert 'data-reload="3"' in client.get(answer.location).text
    finish(site)
    return client.get(answer.location).text


def test_it_is_asked_for_made_and_shown(gpu_site: Site) -> None:
    url, client = enter(gpu_site), gpu_site.visitor()
    assert f'href="{url}/profile">Profile on the GPU' in client.get(url).text
    assert "Nobody has asked for it yet" in client.get(f"{url}/profile").text
    page = made(gpu_site, client, url)
    assert "Measured on NVIDIA H200 by Nsight Compute 2025.3.1.0" in page
    assert "N = 4,194,304" in page
    assert "limited by L2" in page
    assert "shared memory queue full" in page
    assert '<tr data-line="21">' in page
    assert "4.5×" in page  # bank conflicts


def test_the_model_stands_beside_what_was_measured(gpu_site: Site) -> None:
    url, client = enter(gpu_site), gpu_site.visitor()
    page = made(gpu_site, client, url)
    assert "Beside the model" in page
    assert '<td class="number">429 µs</td><td class="number muted">400 µs</td>' in page
    assert '<td>latency</td><td class="muted">shared-memory bandwidth</td>' in page
    assert '<td class="number muted">75.0 %</td>' in page


def test_the_report_is_bytes_to_download(gpu_site: Site) -> None:
    url, client = enter(gpu_site), gpu_site.visitor()
    assert client.get(f"{url}/profile.ncu-rep").status_code == 404
    made(gpu_site, client, url)
    answer = client.get(f"{url}/profile.ncu-rep")
    assert (answer.data, answer.mimetype) == (b"a report\0", "application/octet-stream")
    assert answer.headers["Content-Disposition"].startswith("attachment")


def test_why_there_is_none_is_shown_and_it_can_be_tried_again(gpu_site: Site) -> None:
    url, client = enter(gpu_site), gpu_site.visitor()
    post(client, f"{url}/profile", {})
    finish(gpu_site, "This user may not read the <counters>.")
    assert "This user may not read the &lt;counters&gt;." in client.get(f"{url}/profile").text
    assert "limited by L2" in made(gpu_site, client, url)


def test_others_and_other_devices_have_none(gpu_site: Site) -> None:
    url, modelled = enter(gpu_site), enter(gpu_site, on_gpu=False)
    client = gpu_site.visitor()
    assert "Profile on the GPU" not in client.get(modelled).text
    assert post(client, f"{modelled}/profile", {}).status_code == 404
    bob = gpu_site.visitor("bob")
    assert bob.get(f"{url}/profile").status_code == 404
    assert post(bob, f"{url}/profile", {}).status_code == 404
    for _ in range(MOST_WAITING):
        assert post(client, f"{enter(gpu_site)}/profile", {}).status_code == 303
    assert post(client, f"{url}/profile", {}).status_code == 429


def test_strangers_get_none_unless_the_site_says_so(site: Site) -> None:
    site.add_device(H200)
    url, client = enter(site), site.visitor()
    assert "Profile on the GPU" not in client.get(url).text
    assert client.get(f"{url}/profile").status_code == 404
    assert post(client, f"{url}/profile", {}, page=url).status_code == 404
    with site.database() as session:
        user = find_user(session, "ada")
        assert isinstance(user, User)
        user.role = Role.OPERATOR
    assert site.visitor().get(f"{url}/profile").status_code == 200
