"""What a site is made of: pinned, checked by hash, and asked of the registries that are set."""

import re
from pathlib import Path

import pytest

from kiplab.site import registries
from kiplab.site.registries import MissingPieceError

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(registries.__file__).parent
PINS = re.findall(
    r"^(\S+)==(\S+) --hash=sha256:[0-9a-f]{64}$", (SITE / "wheels.txt").read_text(), re.M
)
ONLY_IN_A_PAGE = {"micropip", "jupyterlite-pyodide-kernel"}


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_a_page_has_the_versions_that_a_server_has() -> None:
    known = (ROOT / "constraints.txt").read_text().lower().replace("_", "-").splitlines()
    lines = [f"{name}=={version}" for name, version in PINS if name not in ONLY_IN_A_PAGE]
    assert [line for line in lines if line not in known] == []


def test_every_line_of_the_pins_has_one_version_and_one_hash() -> None:
    lines = [li for li in (SITE / "wheels.txt").read_text().splitlines() if not li.startswith("#")]
    assert len(lines) == len(PINS)


def test_no_registry_has_its_address_in_the_builder() -> None:
    told = [file for file in SITE.iterdir() if file.is_file() and "://" in file.read_text("utf-8")]
    assert told == []


@pytest.mark.usefixtures("empty_cache")
def test_a_registry_that_gives_nothing_is_told_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    with pytest.raises(MissingPieceError, match=r"pip download failed: .*\. Is the registry"):
        registries.pinned_wheels()


def test_other_bytes_than_the_pinned_ones_are_refused(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packs = empty_cache / "npm"
    packs.write_text(f'#!/bin/sh\necho other > "$5/pyodide-{registries.PYODIDE}.tgz"\n')
    packs.chmod(0o755)
    monkeypatch.setattr(registries, "tool", lambda _: str(packs))
    with pytest.raises(MissingPieceError, match=r"has the SHA-512 .*, not the pinned"):
        registries.pinned_core()
    assert not list(empty_cache.rglob("site/*.tgz"))


@pytest.mark.usefixtures("empty_cache")
def test_a_damaged_file_of_the_cache_is_fetched_again(
    monkeypatch: pytest.MonkeyPatch, empty_cache: Path
) -> None:
    archive = empty_cache / "kiplab" / "site" / f"pyodide-{registries.PYODIDE}.tgz"
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"half a file")

    def asked(*_: object) -> None:
        raise MissingPieceError("npm was asked.", "")

    monkeypatch.setattr(registries, "ask", asked)
    with pytest.raises(MissingPieceError, match="npm was asked"):
        registries.pinned_core()


def test_a_machine_without_node_is_told_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(
        MissingPieceError, match=r"There is no node here. pip install 'kiplab\[site\]'"
    ):
        registries.tool("node")
