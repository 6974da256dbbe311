"""Everything for real: ``gpujudge up``, nvcc, the jail, the emulator, and a person in a browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from benchmarks.stack import Stack
from tests.web_site import PASSWORD

pytestmark = [
    pytest.mark.browser,
    pytest.mark.nvcc,
    pytest.mark.jail,
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("stack in a browser"),
]

KERNEL = """\
#include <cuda_runtime.h>

__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N + 255) / 256, 256>>>(A, B, C, N);
}
"""
JUDGED_WITHIN_MS = 120_000


def _submit(page: Page, address: str, source: str) -> None:
    page.goto(f"{address}/challenges/vector-add")
    page.locator(".cm-content").click()
    page.evaluate("text => navigator.clipboard.writeText(text)", source)
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+v")
    page.get_by_role("button", name="Submit").click()


def test_a_pasted_kernel_is_judged_live_and_ranked(page: Page, stack: Stack) -> None:
    address = stack.address
    page.goto(address)
    page.get_by_role("banner").get_by_role("link", name="Sign up").click()
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create the account").click()
    _submit(page, address, KERNEL)
    lines = _record_progress(page)
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible(timeout=JUDGED_WITHIN_MS)
    assert any("Building with nvcc" in line for line in lines()), lines()
    expect(page.get_by_text("warp instructions").first).to_be_visible()
    page.get_by_role("link", name="Leaderboard", exact=True).click()
    expect(page.get_by_role("row", name="ada")).to_be_visible()
    # The same person's mistakes are shown where they are.
    _submit(page, address, KERNEL.replace("i < n", "i <= n"))
    expect(page.get_by_role("heading", name="Runtime error")).to_be_visible(timeout=JUDGED_WITHIN_MS)
    page.get_by_role("link", name="Page of this submission").click()
    expect(page.locator("#L6 .note").filter(has_text="out-of-bounds write")).to_be_visible()
    _submit(page, address, KERNEL.replace("a[i] +", "a[j] +"))
    expect(page.get_by_role("heading", name="Compile error")).to_be_visible(timeout=JUDGED_WITHIN_MS)
    page.get_by_role("link", name="Page of this submission").click()
    expect(page.locator("#L6 .note")).to_contain_text('identifier "j" is undefined')


def _record_progress(page: Page) -> Callable[[], list[str]]:
    """Every line that the progress shows from now on; kept over what ends it."""
    page.locator("#outcome").wait_for()
    page.evaluate(
        """() => {
            const told = () => sessionStorage.getItem('told') ?? '';
            const text = () => document.querySelector('[data-part="line"]')?.textContent ?? '';
            const keep = () => sessionStorage.setItem('told', told() + text() + '\\n');
            keep();
            const all = { childList: true, characterData: true, subtree: true };
            new MutationObserver(keep).observe(document.getElementById('outcome'), all);
        }"""
    )
    return lambda: str(page.evaluate("sessionStorage.getItem('told')")).splitlines()
