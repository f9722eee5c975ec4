"""The students and their work: the pieces of a folder put together, student by student."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

import msgspec
from msgspec.structs import replace

from ..work_on_disk import FILE, ExerciseWork, Work
from .class_folder import RUNS, Piece, pieces

_COMMON, _LAB = PurePosixPath(FILE).stem, re.compile(r"\d\d-.*\.ipynb", re.IGNORECASE)
"""What says nothing about whose a file is: how it begins, as a browser numbers them too; a lab."""
_EXPORTED = (
    # Moodle's "Download all submissions" (mod/assign/locallib.php): name, number and plugin, with
    # or without a folder. In every language the plugin is called the same.
    re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_[a-z]+(_.*)?"),
    # Canvas's "Download Submissions" (content_zipper.rb): letters of the name, LATE if it was,
    # numbers of the student and of the file.
    re.compile(r"(?P<name>(?:anon_)?[^\W\d_]+)(?P<late>_LATE)?_(?P<id>\d{3,})_\d{3,}_.+"),
)
NO_FILE = f"there is no {FILE} in it"
"""Why a folder is left out."""
_Path = tuple[str, ...]


class ClassFolderError(ValueError):
    """A folder that no student's work can be read from; the sentence says what was expected."""


class StudentWork(msgspec.Struct, frozen=True):
    """All that a student has handed in, under the name of the file or the folder it came in."""

    name: str
    work: Work


class Bundle(msgspec.Struct, frozen=True):
    """What came in under one name: files with work, or that can run, or that cannot be read.

    `named` says whether the name is that of a file or folder that tells whose it is; `late`
    whether a system for courses says that it came late.
    """

    name: str
    pieces: tuple[Piece, ...]
    named: bool
    late: bool

    @property
    def file(self) -> str:
        """The first of its files, or the first with work."""
        return _shown(min(self.pieces, key=lambda piece: piece.work is None).place)


class LeftOut(msgspec.Struct, frozen=True):
    """A file or a folder that is not counted, or not all of it, and why."""

    file: str
    why: str


class HandedIn(msgspec.Struct, frozen=True):
    """A class: its students by name, and what of the folder could not be used."""

    students: tuple[StudentWork, ...]
    left_out: tuple[LeftOut, ...] = ()


def handed_in(folder: Path, apart_from: Path | None = None) -> HandedIn:
    """The work of a class: zips, .json files and folders, one or more per student.

    | what lies there | whose it is |
    |---|---|
    | anna.zip, anna.json | anna's |
    | kiplab-work (3).zip | that of somebody called so |
    | anna/kiplab-work.json, anna/kiplab-work.zip | anna's, both put together |
    | anna/labs/kiplab-work.json | anna's, if she has no other folder; else that of anna/labs |
    | group/anna.zip, group/ben.zip | those of group/anna and group/ben; group may be a zip |

    | Anna Example_12_assignsubmission_file_kiplab-work.zip | Anna Example's; so Moodle calls it |
    | exampleanna_LATE_12_34_kiplab-work-1.zip | exampleanna's; so Canvas calls it |

    `apart_from` is a file that is passed over. Raises ClassFolderError when there is no such
    folder.
    """
    entries = _entries(folder, apart_from)
    owned = _by_owner([piece for piece in entries if piece.work is not None])
    names = _names(owned)
    students, conflicts = [], []
    for path, own in owned.items():
        work, contradicting = together(own)
        students.append(StudentWork(names[path], work))
        conflicts += contradicting
    left_out = [*_unusable(entries, owned), *conflicts]
    by_name = sorted(students, key=lambda student: student.name)
    return HandedIn(tuple(by_name), tuple(sorted(left_out, key=lambda left: left.file)))


def bundles(folder: Path, apart_from: Path | None = None) -> tuple[list[Bundle], list[LeftOut]]:
    """What each student has handed in, work or not, by name; and what is nobody's, or empty.

    Raises ClassFolderError as `handed_in`, whose rules say whose a file is.
    """
    entries = _entries(folder, apart_from)
    owned = _by_owner([piece for piece in entries if piece.work is not None])
    above = {path[:n] for path in owned for n in range(len(path))}
    others, nobodys = list[Piece](), list[Piece]()
    for piece in entries:
        path = _path(piece.place)
        owner = next((path[:n] for n in range(1, len(path) + 1) if path[:n] in owned), None)
        if owner is not None:
            owned[owner] += [piece] if piece.work is None else []
        elif (piece.meant or piece.content or _exported(piece.place)) and path not in above:
            others.append(piece)
        else:
            nobodys.append(piece)
    owned |= _by_owner(others)
    names = _names(owned)
    made = []
    for path, own in owned.items():
        exported = (part for piece in own for part in piece.place if _exported((part,)))
        late, named = any("_LATE_" in part for part in exported), not path[-1].startswith(_COMMON)
        made.append(Bundle(names[path], tuple(own), named, late))
    return sorted(made, key=lambda bundle: bundle.name), [*_unusable(nobodys, owned)]


def _entries(folder: Path, apart_from: Path | None) -> list[Piece]:
    if not (folder.is_dir() or folder.is_file()):
        wanted = "name the one that your students' files are in"
        raise ClassFolderError(f"there is no folder {folder}; {wanted}")
    entries = list(pieces(folder))
    if apart_from is not None:
        passed = apart_from.resolve()
        entries = [piece for piece in entries if folder.joinpath(*piece.place).resolve() != passed]
    return entries


def _by_owner(entries: Iterable[Piece]) -> dict[_Path, list[Piece]]:
    """The pieces of each student. What lies deeper than other work of a student is theirs too."""
    paths = [(_path(piece.place), piece) for piece in entries]
    owners = {path for path, _ in paths}
    owned: dict[_Path, list[Piece]] = {}
    for path, piece in paths:
        above = (path[:n] for n in range(1, len(path) + 1))
        owned.setdefault(next(p for p in above if p in owners), []).append(piece)
    return owned


def _path(place: _Path) -> _Path:
    """The folders, zips and file that name a student, without endings: the first ones at least.

    Of what a system for courses has named, name and number.
    """
    if match := _exported(place):
        return match["name"], match["id"]
    stems = [*_stems(place)]
    while len(stems) > 1 and (stems[-1].startswith(_COMMON) or _LAB.fullmatch(place[-1])):
        stems.pop()
        place = place[:-1]
    return tuple(stems)


def _exported(place: _Path) -> re.Match[str] | None:
    """The name that a system for courses has given to a file or to a folder around it."""
    matches = (pattern.fullmatch(part) for part in place for pattern in _EXPORTED)
    return next((match for match in matches if match), None)


def _names(owned: Iterable[_Path]) -> dict[_Path, str]:
    """Short where that tells them apart: the first folder alone, if one student is in it."""
    paths = [*owned]
    firsts = [path[0] for path in paths]
    return {p: p[0] if firsts.count(p[0]) == 1 else "/".join(p) for p in paths}


def together(own: Sequence[Piece]) -> tuple[Work, list[LeftOut]]:
    """One work out of several, as of a student on two machines. The fuller one says what counts."""
    whole, contradicting = Work(), []
    works = ((piece.place, piece.work) for piece in own if piece.work is not None)
    for place, work in sorted(works, key=lambda pair: -_fullness(pair[1])):
        earlier, later = whole.predictions, work.predictions.items()
        differ = [id for id, answer in later if earlier.get(id, answer) != answer]
        if differ:
            why = f"{', '.join(differ)}: another file of the student's says otherwise, and counts"
            contradicting.append(LeftOut(_shown(place), why))
        whole = Work(
            {**work.predictions, **earlier},
            _both(whole.exercises, work.exercises),
            {**work.written, **whole.written},
            {**work.at, **whole.at},
            whole.student or work.student,
            whole.seed or work.seed,
            max(whole.version, work.version),
        )
    return whole, contradicting


def _fullness(work: Work) -> int:
    return len(work.predictions) + sum(exercise.attempts for exercise in work.exercises.values())


def _both(one: dict[str, ExerciseWork], other: dict[str, ExerciseWork]) -> dict[str, ExerciseWork]:
    """Of each exercise the one with more attempts, the best points of both, and what only the
    other one has tried.
    """
    entries = dict(one)
    for id, exercise in other.items():
        more, less = sorted((entries.get(id, exercise), exercise), key=lambda e: -e.attempts)
        tries = (*more.tries, *(tried for tried in less.tries if tried not in more.tries))
        entries[id] = replace(more, best=max(more.best, less.best), tries=tries)
    return entries


def _unusable(entries: Sequence[Piece], owners: Iterable[_Path]) -> Iterator[LeftOut]:
    """What was meant to be work, and each folder or file of the teacher's that has none.

    A folder is passed over that is inside a student's, or has one in it, or what cannot be read.
    """
    owned, reported = {*owners}, set[_Path]()
    deepest = (*owned, *(_stems(piece.place[:-1]) for piece in entries if piece.meant))
    above = {path[:n] for path in deepest for n in range(1, len(path) + 1)}
    for piece in entries:
        folder = piece.place[:-1]
        path, stems = _path(piece.place), _stems(folder)
        inside = any(path[:n] in owned for n in range(1, len(path) + 1))
        if piece.meant or (piece.work is None and not folder):
            yield LeftOut(_shown(piece.place), piece.why)
        elif piece.work is None and not (folder in reported or inside or stems in above):
            reported.add(folder)
            yield LeftOut(_shown(folder), NO_FILE)


def _stems(place: _Path) -> _Path:
    paths, endings = ((name, PurePosixPath(name)) for name in place), (".zip", ".json", *RUNS)
    return tuple(p.stem if p.suffix.lower() in endings else name for name, p in paths)


def _shown(place: _Path) -> str:
    return "/".join(part for part in place if part) or "."
