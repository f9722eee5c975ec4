"""class.toml: where it is found, what is read, and one sentence for each mistake."""

import re
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from kiplab.classroom import class_file
from kiplab.classroom.class_file import ClassFileError, class_from
from kiplab.cli import labs_launcher
from tests.classroom.conftest import MakeClass
from tests.conftest import Command

WHOLE = """
code = "c"
title = "Systems"
labs = [0, "04"]
answers = "after-deadline"
deadline = 2026-01-31T23:59:00+01:00
opened = [0, "kafka-14139/window"]
variants = false
[lab.4]
answers = "by-hand"
opened = false
"""
MISTAKES = """
code = x                      | c.toml: Invalid value .at line 1, column 8
title = "t"                   | c.toml: code: expected a text that names the class
code = " "                    | c.toml, line 1: code: expected a text
labs = 4                      | line 2: labs: expected numbers of labs, as in
labs = [4, 99]                | line 2: labs: expected numbers of labs
answers = "later"             | line 2: answers: expected "after-three", "after-deadline", "by-hand"
deadline = 2026-01-31T23:59:00| line 2: deadline: expected date, time and offset from UTC, as in
deadline = 2026-01-31         | line 2: deadline: expected date, time and offset
answers = "after-deadline"    | c.toml: deadline: expected date, .*; "after-deadline" needs one
opened = ["none/such"]        | line 2: opened: expected labs and questions
answers = "never";opened = [0]| line 3: opened: expected .* nothing with "never"
variants = "yes"              | line 2: variants: expected true or false
anwsers = "never"             | line 2: there is no anwsers; expected code, title, labs
lab = 4                       | line 2: lab: expected a table for a lab of this class
[lab];04 = 1                  | lab of lab 04: expected a table
[lab.99]                      | line 2: lab of lab 99: expected a table for a lab of this class
labs = [0];[lab.4]            | lab of lab 04: expected a table
[lab.04];opened = [4]         | line 3: opened of lab 04: expected .* of a lab true or false
"""
"""Lines of a file below its code, and the sentence."""


def test_a_file_with_a_mark_of_its_encoding_is_read(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_bytes(b'\xef\xbb\xbfcode = "c"\r\n')
    assert class_from(class_file.text_of(str(tmp_path / "c.toml")), "c").code == "c"


@pytest.mark.parametrize("where", ["{folder}", "{folder}/{long}.toml", "http://a b/class.toml"])
def test_what_is_no_file_of_a_class_is_a_sentence(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(class_file.VARIABLE, where.format(folder=tmp_path, long="x" * 300))
    monkeypatch.chdir(tmp_path)
    found, problem = class_file.looked_up()
    assert (found, "cannot be had" in problem) == (None, True)


def test_all_that_can_be_said_is_read() -> None:
    found = class_from(WHOLE, "c.toml")
    assert (found.code, found.title, found.labs) == ("c", "Systems", ("00", "04"))
    assert found.variants is False
    assert (found.has("04"), found.has("05")) == (True, False)
    assert (found.rules("00").answers, found.rules("00").opened) == ("after-deadline", True)
    assert (found.rules("04").answers, found.rules("04").opened) == ("by-hand", False)
    assert found.rules("04").deadline == found.deadline
    assert "2026-01-31 22:59 UTC" in found.words()


@pytest.mark.parametrize("mistake", MISTAKES.strip().splitlines())
def test_a_mistake_is_one_sentence_with_file_line_and_what_was_expected(mistake: str) -> None:
    lines, said = map(str.strip, mistake.split("|"))
    head = "" if lines.startswith(("code", "title")) else 'code = "c"\n'
    with pytest.raises(ClassFileError, match=said):
        class_from(head + lines.replace(";", "\n"), "c.toml")


def test_the_template_names_every_field_and_can_be_read(command: Command) -> None:
    code, out, _ = command("class", "--template")
    assert code == 0
    assert class_from(out, "template").title == "Distributed systems"
    whole = class_from(re.sub(r"(?m)^# (\w+ = |\[)", r"\1", out), "template")
    assert all(getattr(whole, name) for name in whole.__struct_fields__)
    assert command("class")[0] == 2


def test_the_variable_is_a_code_a_path_or_else_the_file_is_beside_the_notebooks(
    make_class: MakeClass, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert class_file.looked_up() == (None, "")
    path = make_class('title = "By path"')
    assert class_file.looked_up()[0] == class_file.ClassFile("c", "By path")
    monkeypatch.delenv("KIPLAB_CLASS")
    assert class_file.current() == class_file.ClassFile("c", "By path")
    monkeypatch.setenv("KIPLAB_CLASS", "systems-2026")
    assert class_file.current() == class_file.ClassFile("systems-2026")
    path.unlink()
    monkeypatch.setenv("KIPLAB_CLASS", "other.toml")
    found, said = class_file.looked_up()
    assert found is None
    assert "other.toml cannot be had (No such file or directory)" in said


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, ThreadingHTTPServer]]:
    """A folder, and what serves it."""
    (folder := tmp_path / "served").mkdir()
    handler = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder))) as server:
        Thread(target=server.serve_forever).start()
        yield folder, server
        server.shutdown()


def test_an_address_is_asked_once_and_its_copy_holds_without_a_network(
    served: tuple[Path, ThreadingHTTPServer], work_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, server = served
    url = f"http://127.0.0.1:{server.server_port}/class.toml"
    monkeypatch.setenv("KIPLAB_CLASS", url)
    found, said = class_file.looked_up()
    assert found is None
    assert f"{url} cannot be had (File not found)" in said
    (folder / "class.toml").write_text('code = "first"')
    class_file._read.cache_clear()  # what a kernel does that starts
    assert class_file.looked_up() == (class_file.ClassFile("first"), "")
    (folder / "class.toml").write_text('code = "second"')
    assert class_file.current() == class_file.ClassFile("first")
    server.server_close()
    class_file._read.cache_clear()
    found, said = class_file.looked_up()
    assert found == class_file.ClassFile("first")
    assert f"What holds is the copy in {work_file.with_name('kiplab-class.toml')}." in said
    monkeypatch.setenv("KIPLAB_CLASS", url.replace("class", "another"))
    assert class_file.current() is None, "the copy is of another class"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder into which `kiplab lab` copies here; it starts no server."""
    monkeypatch.setenv(labs_launcher.FOLDER_VARIABLE, str(tmp_path / "labs"))
    monkeypatch.delenv("KIPLAB_WORK")
    monkeypatch.setattr(labs_launcher, "_run_jupyter", lambda _: 0)
    monkeypatch.setattr(labs_launcher, "jupyter_environment", lambda _: {})
    monkeypatch.chdir(tmp_path)
    return tmp_path / "labs"


def test_kiplab_lab_copies_only_the_labs_of_the_class_and_says_until_when(
    started: Path, make_class: MakeClass, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_class('title = "Systems"', "labs = [0, 4]", "deadline = 2026-01-31T23:59:00+01:00")
    monkeypatch.delenv("KIPLAB_CLASS")  # it is in the current folder
    code, _, err = command("lab", "--no-browser")
    assert code == 0
    assert "Systems · deadline 2026-01-31 22:59 UTC" in err.replace(" (", " ").replace("+", " ")
    assert [path.name[:2] for path in sorted(started.glob("*.ipynb"))] == ["00", "04"]
    code, _, err = command("lab", "05", "--no-browser")
    assert (code, "04-kafka-14139" in err, "06-" in err) == (2, True, False)
    assert not (started.parent / class_file.COPY).exists(), "the copy is for the kernels"


def test_kiplab_lab_does_not_begin_with_a_wrong_file(
    started: Path, make_class: MakeClass, command: Command
) -> None:
    make_class("labs = [77]")
    code, _, err = command("lab", "--no-browser")
    assert (code, started.exists()) == (2, False)
    assert "class.toml, line 2: labs: expected numbers of labs" in err
