"""The field's own words: what a reader can search for stands in names, messages, plays and labs."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import kiplab

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(kiplab.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
RETIRED = {
    "reign": "leader epoch, or the recovery that is meant",
    "reigns": "leader epochs",
    "veil": "mask",
    "bench": "playback",
    "scene": "initial state",
    "sight": "observed state, or visible",
    "sights": "observations",
    "mail": "control requests, or messages in flight",
    "letter": "control request",
    "letters": "control requests",
    "life": "incarnation",
    "lives": "incarnations",
}
RETIRED_IN_NAMES = {
    "told": "acknowledged, sent, or what is drawn",
    "said": "words, or lines",
    "heard": "messages, or a listener",
    "look": "options, or check",
}
"""Words that a text may have, and a name may not: a name says what it holds."""
PHRASES = {
    r"level with": "caught up with",
    r"(?:is|are|was|were|been|being|not|never|stays) level\b(?! of)": "has caught up",
    r"(?:late|old|such|earlier|controller's|broker's) letters?": "control request",
    r"(?:two|its|these|which|earlier|later|other) (?:life|lives)": "incarnation",
    r"asks for (?:another )?ISR": "proposes",
    r"logs part": "logs diverge",
    r"nothing promised here": "not promised in this run",
}
"""Words that are retired in one meaning only."""
PARTICIPLES = frozenset(
    ("told", "said", "found", "known", "asked", "given", "held", "wanted", "seen", "made", "heard")
)
PARTICIPLE_NAMES = 8
"""How many public names are nothing but a participle. It may only fall."""
NAMES_KEPT = {
    "life": "an argument of the language of plays",
    "earlier_life": "a column of exported rows",
    "scene_records": "a key of recorded answers",
    "before_any_mail": "a key of recorded answers",
    "old_mail": "a key of recorded answers",
    "after_old_mail": "a key of recorded answers",
    "other_life": "a rule, whose name stands in exported findings",
    "look_at": "a public method of `FleetLab`",
    "heard": "a public parameter of `kiplab.fleet.run`, and a field of recorded requests",
}
TEXTS_KEPT = (
    (r"\w+/[\w-]*reigns[\w-]*", "the id of an exercise"),
    (r"earlier-mail|real-mail", "the id of a recorded situation, and of a cell"),
    (r"mail of a controlled shutdown", "the title of a recorded situation, as it was recorded"),
    (r"hole-(?:never-)?level", "the name of a play"),
    (r"(?:with-)?life=\S*|``life N``|`life`|\blife \{[^}]*\}", "the language of plays, a row"),
    (r"to the letter", "an idiom"),
    (r"\Alife \Z", "a flag of exported rows"),
    (r"\{\w[^}]*\}", "a field of a format"),
    (r"\b(?:it|that|wh(?:ich|o|at)|one|broker|controller|process|node) lives\b", "a verb"),
    (r"\blives (?:on|at|in|for|through|there|under|where)\b", "a verb"),
)
LETTERED = ("classroom", "labs", "figures/drawing", "figures/how_often", "pages", "plays", "rows")
"""Where letters are those of choices A, B and C, or of the alphabet."""


def tokens(name: str) -> set[str]:
    """The words of an identifier, in lower case."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


class ModuleWords(NamedTuple):
    names: tuple[str, ...]
    """Functions, classes, parameters of public functions, fields and attributes of public classes,
    and the module itself. A name that begins with `_`, and what is inside of one, is private."""
    texts: tuple[str, ...]
    """String constants with a space in them: messages, sentences and docstrings."""


@cache
def words_of(path: Path) -> ModuleWords:
    tree = ast.parse(path.read_text("utf-8"))
    return ModuleWords((*_names_in(tree.body), path.stem), tuple(_texts(tree)))


def public_names() -> Iterator[tuple[Path, str]]:
    """Those of all modules of the package."""
    return ((path, name) for path in MODULES for name in words_of(path).names)


def _names_in(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef):
            if not node.name.startswith("_") or node.name == "__init__":
                yield from (node.name, *_parameters(node.args))
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name
            yield from _names_in(node.body)
            yield from _attributes(node)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield from [node.target.id] * (not node.target.id.startswith("_"))


def _parameters(args: ast.arguments) -> list[str]:
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return [arg.arg for arg in every if arg is not None and not arg.arg.startswith("_")]


def _attributes(node: ast.ClassDef) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
            yield from [inner.attr] * (not inner.attr.startswith("_"))


def _texts(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.value


def retired_in(text: str, *, lettered: bool = False) -> list[str]:
    """What a text has of RETIRED and PHRASES, with some words around it."""
    if not re.search("|".join((*RETIRED, *PHRASES)), text, flags=re.I):
        return []  # So it is with most of ten thousand texts.
    for kept, _ in TEXTS_KEPT:
        text = re.sub(kept, "*", text, flags=re.I)
    # "lives" is mostly a verb: PHRASES have the noun.
    kept_words = {"lives", *("letter", "letters") * lettered}
    words = "|".join(word for word in RETIRED if word not in kept_words)
    pattern = rf"(?<![\w-])(?:{words}|{'|'.join(PHRASES)})(?![\w-])"
    around = re.finditer(rf".{{0,30}}{pattern}.{{0,30}}", text, flags=re.I)
    return [match.group(0) for match in around]


def _place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def script_names(source: str) -> set[str]:
    """The identifiers of a script, without its comments and strings."""
    code = re.sub(r"//.*|`(?:\\.|[^`\\])*`|\"[^\"\n]*\"|'[^'\n]*'", "", source)
    return set(re.findall(r"[A-Za-z_$][\w$]*", code))


TEXTS = sorted(
    (
        *PACKAGE.rglob("*.play"),
        *PACKAGE.rglob("*.md"),
        *PACKAGE.rglob("*.toml"),
        *(ROOT / "labs" / "instructor").glob("*.md"),
        *(ROOT / "tests" / "plays" / "golden").glob("*.txt"),
        ROOT / "README.md",
    )
)
SCRIPTS = sorted(PACKAGE.rglob("*.js"))
LABS = sorted((ROOT / "labs").glob("*.ipynb"))


def test_public_names_have_no_retired_word() -> None:
    retired = {*RETIRED, *RETIRED_IN_NAMES} - {"letter", "letters"}
    names = {
        f"{_place(path)}: {name}"
        for path, name in public_names()
        if tokens(name) & retired and name not in NAMES_KEPT
    }
    assert sorted(names) == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_has_no_retired_word_and_no_participle_for_a_name(script: Path) -> None:
    names, retired = script_names(script.read_text("utf-8")), {*RETIRED, *RETIRED_IN_NAMES}
    assert sorted(n for n in names if n in PARTICIPLES or tokens(n) & retired) == []


def test_letters_are_letters_of_choices() -> None:
    names = {
        f"{_place(path)}: {name}"
        for path, name in public_names()
        if tokens(name) & {"letter", "letters"} and "classroom" not in path.parts
    }
    assert sorted(names) == []


def test_ever_fewer_public_names_are_only_a_participle() -> None:
    names = [f"{_place(path)}: {name}" for path, name in public_names() if name in PARTICIPLES]
    assert len(names) <= PARTICIPLE_NAMES, "\n".join(names)
    assert len(names) == PARTICIPLE_NAMES, "write the smaller number above"


@pytest.mark.parametrize("room", sorted({p.relative_to(PACKAGE).parts[0] for p in MODULES}))
def test_messages_and_docstrings_have_no_retired_word(room: str) -> None:
    retired = [
        f"{_place(path)}: {words}"
        for path in MODULES
        if path.relative_to(PACKAGE).parts[0] == room and "fleet/kernel" not in path.as_posix()
        for text in words_of(path).texts
        for words in retired_in(text, lettered=any(part in _place(path) for part in LETTERED))
    ]
    assert retired == []


def test_plays_exercises_explanations_and_notes_have_no_retired_word() -> None:
    retired = [
        f"{_place(path)}: {words}"
        for path in TEXTS
        for words in retired_in(path.read_text("utf-8"), lettered=path.suffix != ".play")
    ]
    assert retired == []


@pytest.mark.parametrize("lab", LABS, ids=lambda path: path.stem)
def test_a_lab_has_no_retired_word(lab: Path) -> None:
    texts = ["".join(cell["source"]) for cell in json.loads(lab.read_text("utf-8"))["cells"]]
    retired = [words for text in texts for words in retired_in(text, lettered=True)]
    assert retired == []


HARD = re.compile(
    r".{0,20}(?:\bof before\b|\b(?:is|are) another one\b|\botherwise\b|\bby the alphabet\b"
    r"|\bwhatever\b|\bnobody asks\b|(?:^|[.;:] )Who [a-z][^?]{3,60}[.;]).{0,20}",
    re.MULTILINE,
)
"""Turns that somebody who learned English later has to read twice."""
SPOKEN = re.compile(
    r".{0,20}\b(?:hears?|heard|told|looks? (?:at|for|after)|otherwise|who(?:m|ever)|whatever|let in"
    r"|another one|of before|asks? for \{|throws? (?:it|them) away)\b.{0,20}"
)
"""The same for plays and transcripts: verbs that are not Kafka's."""


def test_texts_plays_and_transcripts_are_in_plain_english() -> None:
    read = [p for p in (*TEXTS, *LABS) if "judge" not in p.parts]
    plain = {p: SPOKEN if p.suffix in {".play", ".txt"} else HARD for p in read}
    hard = {p.name: plain[p].findall(p.read_text("utf-8")) for p in read}
    assert {name: words for name, words in hard.items() if words} == {}


@pytest.mark.parametrize("text", ["an earlier reign", "its two lives", "broker 2 is level", "mail"])
def test_a_retired_word_is_noticed(text: str) -> None:
    assert retired_in(text)


def test_the_names_of_a_script_are_not_its_words() -> None:
    script = 'const isTold = (line) => line.has("said");  // what was heard'
    assert script_names(script) == {"const", "isTold", "line", "has"}


@pytest.mark.parametrize(
    "text", ["the controller lives on", "`epochs/reigns`", "StopReplica", "life=1"]
)
def test_what_is_kept_is_no_retired_word(text: str) -> None:
    assert not retired_in(text)


def test_every_name_that_is_kept_is_there() -> None:
    names = {name for _, name in public_names()}
    assert [name for name in NAMES_KEPT if name not in names] == []
