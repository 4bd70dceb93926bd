"""A real web server and a real Chromium for tests.

`web` is gunicorn with the collected files of the product against this worker's database; `chromium` is the
browser that `scripts/chromium.py` finds; `open_as` opens a page as a person who is signed in, and fails the
test on any message in the console, which is where the content security policy complains.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from scripts.chromium import chromium_path

if TYPE_CHECKING:
    from tests.factories import Person

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Web:
    """A running web server."""

    url: str
    log: Path


@pytest.fixture(scope="session")
def web(database: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """The product's web process, as it is deployed."""
    with served(tmp_path_factory.mktemp("web")) as running:
        yield running


@contextmanager
def served(folder: Path, **settings: str) -> Iterator[Web]:
    """A web process that keeps its files in the folder, with settings of its own."""
    environment = {**os.environ, "MEMGOV_STATIC_ROOT": str(folder / "static"), **settings}
    collect = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"]
    subprocess.run(collect, cwd=ROOT, env=environment, check=True)
    port = _free_port()
    log = folder / "web.log"
    command = [
        sys.executable, "-m", "gunicorn", "memgov.wsgi", "--worker-class", "gthread", "--threads", "8",
        "--bind", f"127.0.0.1:{port}", "--log-level", "warning",
    ]  # fmt: skip
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
        try:
            _wait_until_up(process, port, log)
            yield Web(f"http://127.0.0.1:{port}", log)
        finally:
            process.terminate()
            process.wait(timeout=20)


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_up(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Until it answers; the connection attempts themselves wait."""
    transport = httpx.HTTPTransport(retries=12)
    with httpx.Client(transport=transport, timeout=START_SECONDS) as client:
        try:
            client.get(f"http://127.0.0.1:{port}/help/")
        except httpx.HTTPError as error:
            process.poll()
            raise AssertionError(f"the web server did not start: {log.read_text()}") from error


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A real Chromium."""
    # Playwright keeps an event loop running in this thread; Django would take every query for an async one.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    path = chromium_path()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass(slots=True)
class Tab:
    """A page of a signed-in person, and what the console said."""

    page: Page
    base: str
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> Page:
        """Open an address of the server, which has to answer."""
        answer = self.page.goto(self.base + path)
        assert answer is None or answer.ok, f"{path}: {answer.status}"
        return self.page


OpenAs = Callable[..., Tab]


@pytest.fixture
def open_as(web: Web, chromium: Browser) -> Iterator[OpenAs]:
    """`open_as(person, width=1440, dark=False, javascript=True)` opens a tab; None is nobody."""
    opened: list[tuple[BrowserContext, Tab]] = []

    def opener(
        person: Person | None, *, width: int = 1440, height: int = 900, dark: bool = False, **options: Any
    ) -> Tab:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            java_script_enabled=options.pop("javascript", True),
            reduced_motion="reduce",
            **options,
        )
        context.set_default_timeout(20_000)
        if person is not None:
            context.add_cookies([{"name": "sessionid", "value": session_of(person), "url": web.url}])
        tab = Tab(context.new_page(), web.url)
        tab.page.on("console", lambda message: _note(tab, message.type, message.text))
        tab.page.on("pageerror", lambda error: tab.complaints.append(str(error)))
        opened.append((context, tab))
        return tab

    yield opener
    said = [complaint for _context, tab in opened for complaint in tab.complaints]
    for context, _tab in opened:
        context.close()
    assert said == []


def _note(tab: Tab, kind: str, text: str) -> None:
    """Errors and warnings; a refused decision (409, 422 …) is an answer, not a fault."""
    answers = ("Failed to load resource", "Response Status Error Code")
    if kind in ("error", "warning") and not text.startswith(answers):
        tab.complaints.append(text)


def session_of(person: Person) -> str:
    """The key of a new session of this person."""
    from django.test import Client

    client = Client()
    client.force_login(person.user)
    return client.cookies["sessionid"].value
