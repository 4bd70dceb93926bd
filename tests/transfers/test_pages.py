"""The pages of imports and exports: upload, look, import, stop, report, download; for admins of the tenant alone."""

from __future__ import annotations

import csv
import html
import importlib.util
from typing import TYPE_CHECKING

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings

from tests.transfers.doing import ROWS, contents, files, now_of, run

if TYPE_CHECKING:
    from memory.models import Job
    from tests.factories import Stage


def upload(browser: Client, stage: Stage, content: bytes = ROWS, **fields: str) -> object:
    sent = {"file": SimpleUploadedFile("my store.json", content), "scope": "", "on_conflict": "ask", **fields}
    return browser.post(f"/t/{stage.tenant.slug}/imports/", sent)


def newest(stage: Stage, kind: str) -> Job:
    from memory.models import Job as Jobs

    with stage.context():
        found: Job = Jobs.objects.filter(kind=kind).order_by("-created_at").first()
    return found


def test_import__by_forms_alone__from_upload_to_report(stage: Stage, owner: Client) -> None:
    answer = upload(owner, stage, scope="project:alpha")
    assert answer.status_code == 303
    page = owner.get(answer["Location"]).content.decode()
    assert "my store.json" in page and "0 % done" in page and "Stop it" in page
    run(stage, newest(stage, "import.preview"))
    page = owner.get(answer["Location"]).content.decode()
    assert (
        "What would become of the rows" in page and "Import it" in page and "mem0, list of memories" in page
    )
    assert contents(stage) == []
    went = owner.post(answer["Location"] + "run/")
    assert went.status_code == 303
    run(stage, newest(stage, "import.run"))
    page = owner.get(went["Location"]).content.decode()
    assert "What became of the rows" in page and len(contents(stage)) == 2
    assert "Take the import back" in page
    undo = owner.post(went["Location"] + "undo/")
    assert undo.status_code == 303
    run(stage, newest(stage, "import.undo"))
    page = owner.get(undo["Location"]).content.decode()
    assert "What was taken back" in page and "rows of the import went" in page and ">New<" not in page
    page = owner.get(went["Location"]).content.decode()
    assert "It was taken back" in page and "Take the import back" not in page
    again = owner.post(went["Location"] + "undo/", follow=True)
    assert "taken back already" in again.content.decode()
    report = owner.get(went["Location"] + "report.csv")
    rows = list(csv.reader(report.content.decode().splitlines()))
    assert rows[0] == ["row", "outcome", "why"] and len(rows) > 1 and rows[1][1] in ("rejected", "unreadable")
    history = owner.get(f"/t/{stage.tenant.slug}/imports/").content.decode()
    assert history.count("my store.json") == 3


def test_import__part_for_htmx__asks_again_while_it_runs(stage: Stage, owner: Client) -> None:
    at = upload(owner, stage)["Location"]
    part = owner.get(at, headers={"HX-Request": "true", "HX-Target": "transfer"}).content.decode()
    assert part.lstrip().startswith('<div id="transfer"') and "every 2s" in part and "<html" not in part
    run(stage, newest(stage, "import.preview"))
    part = owner.get(at, headers={"HX-Request": "true", "HX-Target": "transfer"}).content.decode()
    assert "every 2s" not in part


@pytest.mark.parametrize(
    ("content", "fields", "said"),
    [
        (b"", {}, "not empty"),
        (ROWS, {"scope": "nowhere:at all"}, "Unknown scope"),
        (ROWS, {"on_conflict": "ruin"}, "valid choice"),
        (ROWS, {"scope": "project:al\x00pha"}, "Null characters"),
    ],
)
def test_upload__of_something_wrong__is_said_and_nothing_is_kept(
    stage: Stage, owner: Client, content: bytes, fields: dict[str, str], said: str
) -> None:
    answer = upload(owner, stage, content, **fields)
    assert answer.status_code == 422 and said in answer.content.decode()
    assert files(stage) == [] and newest(stage, "import.preview") is None


def test_upload__without_a_file_or_not_as_a_form__is_refused(stage: Stage, owner: Client) -> None:
    path = f"/t/{stage.tenant.slug}/imports/"
    assert owner.post(path, {"scope": ""}).status_code == 422
    assert owner.post(path, b"{}", content_type="application/json").status_code == 422
    assert owner.post(path, b"--x\r\nbroken", content_type="multipart/form-data; boundary=x").status_code in (
        400,
        422,
    )


@pytest.mark.parametrize("size", [300_000, 120_000])
def test_upload__too_large__is_refused_with_what_was_typed_and_leaves_nothing_on_the_disk(
    stage: Stage, owner: Client, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    from django.conf import settings

    from memory.services.transfer_files import Incoming

    written: list[int] = []
    write = Incoming.write
    monkeypatch.setattr(
        Incoming, "write", lambda self, piece: (written.append(len(piece)), write(self, piece))
    )
    before = set(settings.MEMGOV_FILES_DIR.glob("incoming/*"))
    path = f"/t/{stage.tenant.slug}/imports/"
    form = owner.get(path).content.decode()
    assert form.index('name="on_conflict"') < form.index('name="file"'), "a file comes after what is typed"
    typed = {"scope": "project:alpha", "on_conflict": "skip"}
    with override_settings(MEMGOV_IMPORT_BYTES=100_000):
        answer = owner.post(path, {**typed, "file": SimpleUploadedFile("store.json", b"x" * size)})
    page = answer.content.decode()
    assert answer.status_code == 422 and "too large" in page
    assert 'value="project:alpha"' in page and 'value="skip" selected' in page
    assert set(settings.MEMGOV_FILES_DIR.glob("incoming/*")) == before and files(stage) == []
    assert bool(written) == (size == 120_000), "what the length of the form tells is not written first"


def test_upload__of_two_files_in_one_form__takes_the_first_alone(stage: Stage, owner: Client) -> None:
    two = [SimpleUploadedFile("one.json", ROWS), SimpleUploadedFile("two.json", b"something else")]
    answer = owner.post(f"/t/{stage.tenant.slug}/imports/", {"on_conflict": "ask", "file": two})
    assert answer.status_code == 303
    assert [path.read_bytes() for path in files(stage)] == [ROWS]
    assert newest(stage, "import.preview").result["name"] == "one.json"


def test_upload__without_a_token__is_refused_and_leaves_nothing(stage: Stage) -> None:
    from django.conf import settings

    before = set(settings.MEMGOV_FILES_DIR.glob("incoming/*"))
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(stage.owner.user)
    answer = upload(strict, stage)
    assert answer.status_code == 403 and newest(stage, "import.preview") is None
    assert set(settings.MEMGOV_FILES_DIR.glob("incoming/*")) == before
    page = strict.get(f"/t/{stage.tenant.slug}/imports/").content.decode()
    token = page.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
    assert upload(strict, stage, csrfmiddlewaretoken=token).status_code == 303, "the positive control"


def test_upload__with_a_hostile_name__is_shown_inert_and_names_no_path(stage: Stage, owner: Client) -> None:
    sent = {"file": SimpleUploadedFile("../../<img src=x onerror=alert(1)>.json", ROWS), "on_conflict": "ask"}
    answer = owner.post(f"/t/{stage.tenant.slug}/imports/", sent)
    job = newest(stage, "import.preview")
    assert [path.name for path in files(stage)] == [job.id.hex]
    page = owner.get(answer["Location"]).content.decode()
    assert "<img src=x" not in page


def test_upload__by_a_role_that_may_not__is_refused_unread(stage: Stage, reviewer: Client) -> None:
    answer = upload(reviewer, stage)
    assert answer.status_code == 403 and files(stage) == []


def test_stop__of_a_job_under_way__is_done_and_said(stage: Stage, owner: Client, reviewer: Client) -> None:
    from tests.factories import make_tenant
    from tests.pages.staging import signed_in

    at = upload(owner, stage)["Location"]
    job = newest(stage, "import.preview")
    stop = at.replace("/imports/", "/exports/") + "stop/"
    assert reviewer.post(stop).status_code == 403
    other = make_tenant()
    stranger = signed_in(other.owner)
    assert stranger.post(stop).status_code == 404
    assert stranger.post(stop.replace(stage.tenant.slug, other.tenant.slug)).status_code == 404
    assert now_of(stage, job).status == "queued"
    assert owner.post(stop)["Location"] == at
    assert now_of(stage, job).status == "cancelled" and ">Stopped<" in owner.get(at).content.decode()
    assert owner.post(stop).status_code == 303
    assert "ended already" in owner.get(at).content.decode()


def test_export__by_forms_alone__is_downloaded_by_admins_for_a_day(
    stage: Stage, owner: Client, reviewer: Client
) -> None:
    from datetime import timedelta

    from memgov import clock
    from memory.models import AuditEvent
    from tests.factories import make_tenant
    from tests.pages.staging import signed_in, write

    write(stage.coder, content="The relay mast is painted every fourth spring.")
    path = f"/t/{stage.tenant.slug}/exports/"
    trial = owner.post(path, {"form": "csv", "trial": "yes"})["Location"]
    run(stage, newest(stage, "export.trial"))
    assert "What would go out" in owner.get(trial).content.decode()
    assert owner.get(trial + "file/").status_code == 404
    at = owner.post(path, {"form": "csv"})["Location"]
    assert owner.get(at + "file/").status_code == 404, "not before it is whole"
    run(stage, newest(stage, "export.run"))
    assert "Download" in owner.get(at).content.decode()
    answer = owner.get(at + "file/")
    assert answer.status_code == 200 and b"relay mast" in b"".join(answer.streaming_content)
    assert answer["Content-Disposition"].startswith("attachment;") and answer["Cache-Control"] == "no-store"
    assert reviewer.get(at + "file/").status_code == 403
    assert Client().get(at + "file/").status_code == 302
    other = make_tenant()
    for address in (at + "file/", (at + "file/").replace(stage.tenant.slug, other.tenant.slug)):
        assert signed_in(other.owner).get(address).status_code == 404, "of another tenant"
    with clock.moved_to(clock.now() + timedelta(hours=25)):
        assert owner.get(at + "file/").status_code == 404
        assert "no longer kept" in owner.get(at).content.decode()
    with stage.context():
        assert AuditEvent.objects.filter(action="export_run.downloaded").count() == 1
    assert owner.post(path, {"form": "exe"}).status_code == 422


def test_export__as_parquet_without_its_package__says_what_to_install(stage: Stage, owner: Client) -> None:
    if importlib.util.find_spec("pyarrow"):
        pytest.skip("pyarrow is installed here")
    page = owner.get(f"/t/{stage.tenant.slug}/exports/").content.decode()
    assert 'value="parquet"' in page
    answer = owner.post(f"/t/{stage.tenant.slug}/exports/", {"form": "parquet"})
    assert answer.status_code == 422
    said = html.unescape(answer.content.decode())
    assert "pip install 'memgov-server[parquet]'" in said and "nothing was exported" in said


def test_contradiction__that_an_import_settled__says_who_vouched_and_for_which_row(
    stage: Stage, owner: Client, reviewer: Client
) -> None:
    from memory.models import Contradiction
    from memory.services.memory_write import memory_write
    from memory.services.write_types import WriteRequest

    told = WriteRequest(content="Lives in Bern", scope="user:42", origin="user_explicit")
    memory_write(stage.coder.principal, told)
    rows = b'[{"memory": "Lives in Oslo"}]'
    looked = upload(owner, stage, rows, scope="user:42", on_conflict="replace")
    run(stage, newest(stage, "import.preview"))
    began = owner.post(looked["Location"] + "run/")["Location"]
    run(stage, newest(stage, "import.run"))
    with stage.context():
        found = Contradiction.objects.get(status="settled")
    where = f"/t/{stage.tenant.slug}/contradictions/con_{found.id.hex}/?view=settled"
    page = owner.get(where).content.decode()
    assert "B was kept" in page and stage.owner.principal.name in page
    assert "An import that replaces what it contradicts" in page and "of my store.json" in page
    assert f'href="{began}"' in page, "where the import can be looked at and taken back"
    assert "is held until someone decides" not in page, "it is decided"
    seen = reviewer.get(where).content.decode()
    assert "of my store.json" in seen and began not in seen, "imports are pages of admins"
    german = owner.get(where, headers={"Accept-Language": "de"}).content.decode()
    assert "B wurde behalten" in german and "von my store.json" in german
    owner.post(began + "undo/")
    run(stage, newest(stage, "import.undo"))
    again = owner.get(where).content.decode()
    assert "B was kept" not in again, "taken back: the settlement is no longer one"


def test_contradiction__that_a_person_settled__names_the_person_and_no_import(
    stage: Stage, reviewer: Client
) -> None:
    from memory.models import Contradiction
    from memory.services.contradictions import contradiction_settle
    from memory.services.memory_write import memory_write
    from memory.services.write_types import WriteRequest

    for text, origin in (("Lives in Bern", "user_explicit"), ("Lives in Oslo", "tool_output")):
        memory_write(stage.coder.principal, WriteRequest(content=text, scope="user:42", origin=origin))
    with stage.context():
        found = Contradiction.objects.get()
    where = f"/t/{stage.tenant.slug}/contradictions/con_{found.id.hex}/?view=settled"
    assert "was kept" not in reviewer.get(where).content.decode(), "the control: it is open"
    contradiction_settle(stage.reviewer.principal, found.id, "keep_a", "asked <b>them</b>", version=1)
    page = reviewer.get(where).content.decode()
    assert "A was kept" in page and "asked &lt;b&gt;them&lt;/b&gt;" in page and "An import" not in page
