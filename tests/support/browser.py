"""A real headless Chromium, where there is one."""

import contextlib
import os
import shutil
import time

import pytest
from playwright.sync_api import sync_playwright

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 60_000
"""Milliseconds until the page is drawn, on a busy machine."""


def chromium():
    """Where the browser is: ``$GC_CHROMIUM``, or the one on the path."""
    return os.environ.get("GC_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def require_chromium():
    """Skip the test, saying so, where there is no browser; fail it where ``GC_REQUIRE_BROWSER=1`` demands one."""
    if chromium():
        return
    missing = "no chromium on the path; install it, or set GC_CHROMIUM"
    if os.environ.get("GC_REQUIRE_BROWSER") == "1":
        pytest.fail(missing)
    pytest.skip(missing)


@contextlib.contextmanager
def running():
    """The browser; one process for a module's tests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), headless=True, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def until(page, expression):
    """
    Wait until the expression is true in the page.

    Playwright's own ``wait_for_function`` may evaluate text inside the page, which the page's policy forbids.
    """
    end = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(expression):
        if time.monotonic() > end:
            pytest.fail(f"never true in the page: {expression}")
        page.wait_for_timeout(20)


@contextlib.contextmanager
def opened(browser, path, *, refusing=False, **options):
    """
    A page of a file, drawn. At the end nothing may have been asked for but itself, and its console be empty, but where
    the test tried what the page may not do: that it was refused.
    """
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    troubles, asked = [], []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    try:
        page.goto(path.as_uri())
        until(page, "document.documentElement?.dataset.ready === 'yes'")
        yield page
        refused = [trouble for trouble in troubles if "Content Security Policy" in trouble]
        assert troubles == refused, troubles
        assert bool(refused) is refusing, refused
        assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()], asked
    finally:
        context.close()
