"""A teacher's folder: whose work each file is, and what is said of a file that is nobody's."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from kiplab.classroom.together import class_folder
from kiplab.classroom.together.handed_in import handed_in
from tests.classroom.class_of_24 import STUDENTS, hand_in, put

ID = "start/slow-request"
DONE = {"attempts": 2, "best": 1, "of": 1, "tries": []}


def work(answer: str = "Yes.", **exercises: dict[str, object]) -> bytes:
    """A work file with one prediction."""
    return json.dumps({"predictions": {ID: answer}, "exercises": exercises}).encode()


def zipped(**files: bytes) -> bytes:
    """A zip; of .json files; in their names two underscores are a slash, one is a dash."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_", "-") + ".json", content)
    return buffer.getvalue()


def whose(folder: Path) -> list[str]:
    return [student.name for student in handed_in(folder).students]


def said(folder: Path) -> dict[str, str]:
    return {left.file: left.why for left in handed_in(folder).left_out}


def test_a_class_of_24_is_24_students_however_each_hands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(tmp_path / "class", monkeypatch)
    found = handed_in(tmp_path / "class")
    assert [student.name for student in found.students] == sorted(STUDENTS)
    assert found.left_out == ()


@pytest.mark.parametrize(
    ("files", "students"),
    [
        pytest.param(["anna.json", "ben.zip"], ["anna", "ben"], id="files"),
        pytest.param(["kiplab-work (3).json"], ["kiplab-work (3)"], id="numbered by a browser"),
        pytest.param(["Anna/kiplab-work.json", "Ben/kiplab-work.zip"], ["Anna", "Ben"], id="each"),
        pytest.param(["anna/labs/kiplab-work.json"], ["anna"], id="a whole folder of labs"),
        pytest.param(["anna/kiplab-work.json", "anna/kiplab-work.zip"], ["anna"], id="both"),
        pytest.param(["anna.json", "anna.ZIP"], ["anna"], id="one name"),
        pytest.param(["g/anna.json", "g/ben.json"], ["g/anna", "g/ben"], id="a group"),
        pytest.param(["g/a/kiplab-work.json", "g/b/kiplab-work.json"], ["g/a", "g/b"], id="groups"),
    ],
)
def test_a_student_is_a_file_or_a_folder(
    tmp_path: Path, files: list[str], students: list[str]
) -> None:
    content = {".json": work(), ".zip": zipped(kiplab_work=work())}
    put(tmp_path, {name: content[Path(name).suffix.lower()] for name in files})
    assert whose(tmp_path) == students
    assert said(tmp_path) == {}


def test_a_zip_is_read_like_a_folder(tmp_path: Path) -> None:
    """As a course's server packs a class: folders in a zip, or zips in one."""
    folders = zipped(anna__kiplab_work=work(), ben__kiplab_work=work())
    put(tmp_path, {"all.zip": folders})
    assert whose(tmp_path) == ["all/anna", "all/ben"]
    assert whose(tmp_path / "all.zip") == ["anna", "ben"]
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("anna.zip", zipped(kiplab_work=work()))
        # Info-ZIP writes UTF-8 and does not say so: Python reads cp437.
        archive.writestr("bën.zip".encode().decode("cp437"), zipped(kiplab_work=work()))
    assert whose(tmp_path / "all.zip") == ["anna", "bën"]


def test_notebooks_and_hidden_files_beside_the_work_are_as_they_should_be(tmp_path: Path) -> None:
    beside = {"04-kafka-14139.ipynb": "{}", "my-branches.json": '{"format": 1}'}
    beside |= {".ipynb_checkpoints/kiplab-work-checkpoint.json": "{"}
    put(tmp_path / "anna", {"kiplab-work.json": work(), **beside})
    put(tmp_path, {".DS_Store": b"\0"})
    assert (whose(tmp_path), said(tmp_path)) == (["anna"], {})


def test_work_on_two_machines_is_put_together(tmp_path: Path) -> None:
    other = json.dumps({"predictions": {"isr/stale-member": "No."}, "exercises": {"b": DONE}})
    put(tmp_path / "anna", {"kiplab-work.json": work(a=DONE), "kiplab-work (1).json": other})
    put(tmp_path / "anna/old", {"kiplab-work.json": work(a={**DONE, "attempts": 1, "best": 0})})
    (anna,) = handed_in(tmp_path).students
    assert anna.work.predictions == {ID: "Yes.", "isr/stale-member": "No."}
    assert {id: found.attempts for id, found in anna.work.exercises.items()} == {"a": 2, "b": 2}
    assert anna.work.exercises["a"].done


def test_where_two_files_of_a_student_disagree_the_fuller_one_counts_and_it_is_said(
    tmp_path: Path,
) -> None:
    put(tmp_path, {"anna.json": work("No."), "anna/kiplab-work.json": work("Yes.", a=DONE)})
    found = handed_in(tmp_path)
    assert [student.work.predictions[ID] for student in found.students] == ["Yes."]
    (left,) = found.left_out
    assert left.file == "anna.json"
    assert left.why.startswith(f"{ID}: another file of the student's says otherwise")


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [
        ("ben.json", b"{", "it is damaged, no JSON any more"),
        ("ben.json", b"\xff\xfe", "it is damaged, no JSON any more"),
        ("ben.json", b"[" * 100_000, "it is damaged, no JSON any more"),
        ("ben.json", b'{"predictions": [3]}', "it is not written as work is (Expected `object`"),
        ("ben.json", b'{"name": "ben"}', "it is JSON, but nobody's work"),
        ("ben.json", b"[]", "it is JSON, but nobody's work"),
        ("ben.zip", b"PK\x03\x04 no more of it", "it is no zip, or a damaged one"),
        ("ben.zip", zipped(kiplab_work=work())[:-30], "it is no zip, or a damaged one"),
        ("ben.docx", b"an essay", "it ends in .docx; work is a .zip or a .json"),
        ("ben", b"", "its name has no ending; work is a .zip or a .json"),
        ("kiplab-work.json.damaged", b"{", "it is earlier work that could not be read"),
    ],
)
def test_what_cannot_be_read_is_named_with_the_reason_and_the_rest_counts(
    tmp_path: Path, file: str, content: bytes, why: str
) -> None:
    put(tmp_path, {"anna.json": work(), file: content})
    assert whose(tmp_path) == ["anna"]
    ((name, reason),) = said(tmp_path).items()
    assert name == file
    assert reason.startswith(why)


def test_a_damaged_file_in_a_zip_is_named_with_the_zip(tmp_path: Path) -> None:
    content = bytearray(zipped(anna=work(), ben=work("a" * 200)))
    content[content.index(b"aaaa")] = ord("b")
    put(tmp_path, {"all.zip": bytes(content)})
    assert whose(tmp_path) == ["all"]
    assert said(tmp_path) == {"all.zip/ben.json": "it is damaged inside its zip"}


def test_a_zip_with_a_password_says_so(tmp_path: Path) -> None:
    content = bytearray(zipped(kiplab_work=work()))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + flags] |= 1
    put(tmp_path, {"ben.zip": bytes(content)})
    assert said(tmp_path) == {"ben.zip/kiplab-work.json": "the zip asks for a password"}


def test_zips_in_zips_end_somewhere(tmp_path: Path) -> None:
    content = zipped(kiplab_work=work())
    for _ in range(class_folder.ZIPS_DEEP):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("more.zip", content)
        content = buffer.getvalue()
    put(tmp_path, {"ben.zip": content})
    ((_, why),) = said(tmp_path).items()
    assert why == "zips in zips are opened 4 deep, no deeper"


def test_what_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_folder, "BYTES_MAX", 1_000_000)
    large = work("a" * 1_000_001)
    put(tmp_path, {"anna.json": large, "ben.zip": zipped(kiplab_work=large)})
    why = "it is larger than 1 MB, which no work is"
    assert said(tmp_path) == {"anna.json": why, "ben.zip/kiplab-work.json": why}


@pytest.mark.parametrize("files", [["04.ipynb", "05.ipynb"], ["labs/notes.json"], ["a.docx"]])
def test_a_student_whose_folder_has_no_work_is_named_once(tmp_path: Path, files: list[str]) -> None:
    put(tmp_path, {"anna.json": work(), **{f"ben/{file}": b"[]" for file in files}})
    ((name, why),) = said(tmp_path).items()
    assert name.startswith("ben")
    assert why == "there is no kiplab-work.json in it"


def test_an_empty_folder_of_a_student_is_named(tmp_path: Path) -> None:
    (tmp_path / "ben").mkdir()
    put(tmp_path, {"g/anna/kiplab-work.json": work(), "g/broken.json": b"{"})
    (tmp_path / "g" / "emre").mkdir()
    assert [*said(tmp_path)] == ["ben", "g/broken.json", "g/emre"]


def test_a_link_to_a_folder_is_not_followed_and_named(tmp_path: Path) -> None:
    (tmp_path / "again").symlink_to(tmp_path)
    assert said(tmp_path) == {"again": "it is a link, and not followed"}


def test_names_are_shown_without_what_cannot_be_shown(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("an\x1b[2Jna.json", work())
        archive.writestr("ben.json", work())
    put(tmp_path, {"all.zip": buffer.getvalue()})
    assert whose(tmp_path) == ["all/an?[2Jna", "all/ben"]
