"""Text first: each exercise about a figure can be solved from the printed text alone.

The answers here are worked out from the strings that a student may print, by nothing but reading:
the transcript (`Run.text`), the sentences and the table under a figure.
"""

import re

import kiplab
from kiplab.classroom.exercises.first_failing_rule import LETTERS_OF_RULES
from kiplab.rows.sentences import sentences, table_text
from tests.labs.running import steps_in


def table(run: kiplab.Run) -> list[dict[str, str]]:
    """The printed table, line by line, by its heads."""
    head, rule, *lines = table_text(run.rows()).splitlines()
    starts = [m.start() for m in re.finditer(r"-+", rule)]
    ends = [*starts[1:], None]
    names = [head[a:b].strip() for a, b in zip(starts, ends, strict=True)]
    return [
        dict(
            zip(names, (line[a:b].strip() for a, b in zip(starts, ends, strict=True)), strict=True)
        )
        for line in lines
    ]


def last_match(pattern: str, story: str) -> str:
    """The last thing that the story says in this form."""
    found: list[str] = re.findall(pattern, story)
    return found[-1]


def test_lab_00_six_questions_from_the_transcript() -> None:
    story = kiplab.run("timeline-first").text()
    steps = steps_in(story)
    late = next(n for n, text in steps.items() if "⊘" in text)
    isr_at = {n: m for n, text in steps.items() for m in re.findall(r"-> (\{[\d, ]+\}) \(", text)}
    epoch_at = {
        n: m for n, text in steps.items() for m in re.findall(r"partition epoch (\d+)\)\n", text)
    }
    answer = [
        last_match(r"broker (\d) leads", story),
        isr_at[5],
        late,
        *re.findall(r"⊘.*: ([A-Z_]+)\.", steps[late]),
        epoch_at[9],
        last_match(r"broker 3 is registered \(broker epoch (\d+)\)", story),
    ]
    assert kiplab.check("start/reading", answer).right


def test_lab_00_the_table_has_the_same() -> None:
    lines = table(kiplab.run("timeline-first"))
    assert (lines[5]["ISR"], lines[9]["partition epoch"]) == ("{1}", "12")
    assert "leader" in lines[-1]["broker 2"]
    assert "epoch 202" in lines[8]["broker 3"]


def test_lab_01_the_high_watermark_from_the_transcript() -> None:
    mark, answer = "100", []
    for text in steps_in(kiplab.run("isr-committed").text()).values():
        mark = next(iter(re.findall(r"high watermark of orders-0 \d+ -> (\d+)", text)), mark)
        answer.append(mark)
    assert kiplab.check("isr/high-watermark", answer).right


def test_lab_01_was_m1_acked_from_the_transcript() -> None:
    """Written on the leader (A), and no high watermark ever moved (not B, C or D)."""
    story = kiplab.run("isr-stale-member").text()
    assert "broker 1 appends offsets 100-109" in story
    assert "high watermark of" not in story
    assert kiplab.check("isr/acknowledged", "A").right


def test_lab_02_twelve_events_from_the_transcript() -> None:
    marks = {
        "C": r"controller epoch \d+ takes over",
        "B": r"is registered \(broker epoch",
        "L": r"from leader epoch \d+ on|has no leader \(leader epoch",
        "P": r"ISR of .* \(partition epoch \d+\)",
    }
    answer = [
        "".join(letter for letter, mark in marks.items() if re.search(mark, text)) or "-"
        for text in steps_in(kiplab.run("epochs-twelve").text()).values()
    ]
    assert kiplab.check("epochs/twelve", answer).right


def test_lab_02_what_gives_it_away_from_the_transcript() -> None:
    story = kiplab.run("epochs-fences").text()
    names = re.findall(r"⊘.*?: [A-Z_]+\. (broker|leader|partition|controller)", story)
    assert kiplab.check("epochs/fences", [name[0].upper() for name in names]).right


def test_lab_03_eight_requests_from_the_transcript() -> None:
    """The rule is named in brackets; which letter it has, the lab's list says."""
    letters = {guard: letter for letter, guard in LETTERS_OF_RULES.items()}
    answer = []
    for text in steps_in(kiplab.run("alter-partition-eight").text()).values():
        refused = re.findall(r"⊘.*?: ([A-Z_]+)\. .*?\(([\w.-]+)\):", text)
        answer += [f"{error} {letters[guard]}" for error, guard in refused] or ["NONE -"]
    assert kiplab.check("conversation/first-rule", answer).right


def test_lab_04_the_window_from_tables_and_verdicts() -> None:
    strip = [line["committed records"] for line in table(kiplab.run("kafka-14139", kafka="3.4"))]
    risk = strip.index("at risk")
    lost = next(n for n, state in enumerate(strip) if "lost" in state)
    answer: list[object] = [risk, lost]
    for kafka in ("3.2", "3.4", "3.5"):
        stories = {n: kiplab.run(f"kafka-14139-after-step-{n}", kafka=kafka) for n in range(1, 6)}
        told = {n: sentences(run.rows())[-1] for n, run in stories.items()}
        answer.append("".join(str(n) for n, said in told.items() if "loss" in said) or "-")
    assert kiplab.check("kafka-14139/window", answer).right


def test_lab_04_the_two_by_two_from_transcripts() -> None:
    answer = []
    for off in (("841", "903"), ("903",), ("841",), ()):
        plays = {"F": "841-by-903-while-fenced", "R": "841-by-903-after-return"}
        stories = {letter: kiplab.run(play, off=off).text() for letter, play in plays.items()}
        answer.append("".join(n for n, story in stories.items() if "▼ LOST" in story) or "-")
    assert kiplab.check("kafka-14139/two-by-two", answer).right


def test_lab_04_the_last_replica_from_the_transcript() -> None:
    story = kiplab.run("last-replica").text()
    answer = [
        last_match(r"LOST: .* offsets (\d+-\d+)", story),
        last_match(r"broker 3 truncates offsets (\d+-\d+)", story),
        len(re.findall(r"⊘.*KIP-903", story)),
    ]
    assert kiplab.check("kafka-14139/last-replica", answer).right


def test_the_exercises_with_a_run_of_ones_own_need_no_picture_either() -> None:
    """Lines in, and out come the transcript of the run and the reason: all of it text."""
    found = kiplab.check("epochs/reigns", ["crash 3", "expire 3", "crash 2", "expire 2"])
    story = kiplab.run(found.token).text()
    assert re.findall(r"from leader epoch (\d+) on", story) == ["6", "7"]
    assert set(re.findall(r"broker (\d) leads", story)) == {"1"}
