"""labs/plays.md: the language of plays, made from the grammar and a sentence for each verb."""

import re
import tomllib
from pathlib import Path

import kiplab
from kiplab.plays.grammar import VERBS
from tests.ledger.ledger_page import PAGE as LEDGER
from tests.made_pages import holds_as_made, table

PAGE = LEDGER.with_name("plays.md")
TEXTS = tomllib.loads(Path(__file__).with_name("language.toml").read_text("utf-8"))


def page() -> str:
    parts = [TEXTS["introduction"].strip() + "\n"]
    for part in ("header", "events"):
        lines = [(n, v.usage) for n, v in VERBS.items() if v.header == (part == "header")]
        rows = [(f"`{usage}`".replace("|", "\\|"), TEXTS["says"][name]) for name, usage in lines]
        parts += [f"{TEXTS[part]}\n", table(("line", "what it says"), rows)]
    return "\n".join(parts)


def test_every_verb_has_a_sentence_and_no_other_word() -> None:
    assert [*TEXTS["says"]] == [*VERBS]


def test_the_page_is_made_of_the_grammar(rewrite: bool) -> None:
    holds_as_made(PAGE, page(), "tests/plays", rewrite=rewrite)


def test_the_play_on_the_page_runs() -> None:
    (play,) = re.findall(r"```text\n(.*?)```", page(), re.DOTALL)
    assert kiplab.run(play).report()["expectations"]["failed"] == 0
    assert kiplab.run(play).verdict == "safe"
