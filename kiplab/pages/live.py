"""A run that can be changed in its page: what a reader switched or dropped becomes another run.

`offered` makes the controls of the page. `answer` is what the page asks its engine, which is this
package in Pyodide: the picture comes from the same code as on the machine that wrote the page.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from ..engine.events import Sent
from ..engine.moves import Drop
from ..figures.drawing.still_picture import described
from ..figures.drawing.theme import dark_of_light
from ..plays.grammar import parse
from ..plays.move_lines import statement_of
from ..plays.play import Play, Statement, format_play
from ..plays.runner import do_line, open_stage
from ..plays.stage import Stage
from ..plays.verdict import sentence
from ..protocol.features import Features, UnknownFeatureError, fitting, switched
from ..protocol.guards import GUARDS, named, releases_in
from ..protocol.ids import CONTROLLER
from ..rows.columns import Rows
from ..rows.rows_of_stage import rows_of
from ..rows.run_titles import own_title
from .page import PageOrder, caption_of, words_of
from .page_files import AUTO, page_file
from .player import Carried, carried, script_safe, with_few_decimals

ENGINE = "kiplab-engine"
"""The folder of the engine, beside the page."""
_PANEL = """<style>
{style}
</style>
<section class="kiplab-live" id="kiplab-live" aria-label="Try it" hidden>
<div class="kiplab-try"><button type="button">Try it</button>
<p>Switch a rule, or drop a message, and see the run that follows. Loads {megabytes} MB, once.</p>
<progress aria-label="loading" hidden></progress></div>
<p class="kiplab-outcome" role="status"></p>
<div class="kiplab-choices" hidden>
<fieldset><legend>Rules that matter here</legend><div></div></fieldset>
<fieldset><legend>Messages</legend><div></div></fieldset>
</div>
</section>
<script type="application/json" id="kiplab-recorded">{recorded}</script>"""


class RecordedRun(msgspec.Struct, frozen=True):
    """The run in the page: the text and the name of its play, its features, the ids of the rules
    that make a difference in it, and how its picture is drawn. `engine` is a folder, `size` the
    bytes of what is in it.
    """

    play: str
    name: str
    features: Features
    rules: tuple[str, ...]
    drawn: dict[str, Any]
    engine: str
    size: int


class ReaderChange(msgspec.Struct, frozen=True):
    """What a reader changed: rules by their ids, and the line ``drop ...`` of each message."""

    switches: dict[str, bool] = {}
    dropped: tuple[str, ...] = ()


class Choice(msgspec.Struct, frozen=True):
    """A rule or a message with a box to tick: `on` is whether it acts, or is not dropped. `group`
    is the KIP, or the step that sends the message; `note` the releases, or the two nodes.
    """

    key: str
    group: str
    words: str
    note: str
    on: bool


class ChangedRun(msgspec.Struct, frozen=True):
    """The changed run: the picture, its description, caption and sections as HTML, its verdict in
    words, the title of its rules, and what can be changed in it. Where it cannot be run only
    `problem` says why.
    """

    problem: str = ""
    picture: Carried | None = None
    label: str = ""
    caption: str = ""
    sections: str = ""
    verdict: str = ""
    title: str = ""
    rules: tuple[Choice, ...] = ()
    messages: tuple[Choice, ...] = ()


class _Sending(NamedTuple):
    line: int
    event: str
    drop: Statement


def offered(stage: Stage, drawn: dict[str, Any], size: int) -> str:
    """The controls below the picture of a page, as HTML. `drawn` are the options of its picture,
    `size` are the bytes that the engine's folder has.
    """
    recorded = RecordedRun(
        play=format_play(stage.play),
        name=PurePath(stage.play.name).name,
        features=stage.features,
        rules=rules_that_matter(stage),
        drawn=drawn,
        engine=ENGINE,
        size=size,
    )
    return _PANEL.format(
        style=page_file("live.css"),
        megabytes=f"{size / 1e6:.1f}",
        recorded=script_safe(recorded),
    )


def rules_that_matter(stage: Stage) -> tuple[str, ...]:
    """The rules without which, or with which, something else happens: each alone, or the whole KIP
    that it belongs to.
    """
    names = [*GUARDS, *dict.fromkeys(id.partition(".")[0] for id in GUARDS)]
    found = {id for name in names if _matters(stage, name) for id in named(name)}
    return tuple(
        id for id, guard in GUARDS.items() if id in found and stage.features.mode in guard.modes
    )


def _matters(stage: Stage, name: str) -> bool:
    on = all(_is_on(stage.features, id) for id in named(name))
    try:
        return _run(stage.play, _switched(stage.features, {name: not on})).events != stage.events
    except UnknownFeatureError:
        return False


def answer(recorded: str, change: str) -> str:
    """The JSON of a `ChangedRun`, for that of a `RecordedRun` and of a `ReaderChange` to it."""
    run = msgspec.json.decode(recorded, type=RecordedRun)
    try:
        answered = _answered(run, changed(run, msgspec.json.decode(change, type=ReaderChange)))
    except ValueError as problem:
        answered = ChangedRun(problem=str(problem))
    return msgspec.json.encode(answered).decode()


def changed(recorded: RecordedRun, change: ReaderChange) -> Stage:
    """The run that follows: lines of the play that cannot be done any more are left out.

    Raises UnknownFeatureError for a rule that does not fit, PlayError for a run that gets too long.
    """
    play = parse(recorded.play, recorded.name)
    features = _switched(recorded.features, change.switches)
    stage = _run(play, features)
    for line in change.dropped:
        stage = _run(_without(stage, line), features)
    return stage


def _switched(features: Features, switches: dict[str, bool]) -> Features:
    for id, on in switches.items():
        features = switched(features, id, on)
    return fitting(features)


def _is_on(features: Features, id: str) -> bool:
    return id in features.active(CONTROLLER)


def _run(play: Play, features: Features) -> Stage:
    stage = replace(open_stage(play, features), strict=False)
    for line, statement in enumerate(play.statements, 1):
        stage = do_line(stage, statement, line)
    return stage


def _without(stage: Stage, line: str) -> Play:
    """The play of `stage` with a message lost right after the line that sends it."""
    sending = next((s for s in _sendings(stage) if s.drop.text == line), None)
    if sending is None:  # under these rules nobody sends it
        return stage.play
    # It is held, so that the line which sends it does not deliver it too.
    hold = Statement("hold", sending.drop.words, sending.drop.args)
    lines, at = stage.play.statements, sending.line
    return replace(
        stage.play, statements=(*lines[: at - 1], hold, lines[at - 1], sending.drop, *lines[at:])
    )


def _sendings(stage: Stage) -> Iterator[_Sending]:
    for performed in stage.performed:
        for id, event in stage.named_events_of(performed):
            if isinstance(event, Sent):
                yield _Sending(performed.line, id, statement_of(Drop(event.message)))


def _answered(recorded: RecordedRun, stage: Stage) -> ChangedRun:
    rows = rows_of(stage)
    drawn = {"theme": AUTO, "width": None, **recorded.drawn}
    order = PageOrder((rows,), None, False, drawn.pop("theme"), drawn.pop("width"), _tuples(drawn))
    drawings = order.drawings()
    dark = dark_of_light() if order.theme == AUTO else None
    shown = carried(drawings, order.runs, dark)
    first = replace(shown.pictures[0], drawing=with_few_decimals(drawings[0]))
    return ChangedRun(
        picture=replace(shown, pictures=(first, *shown.pictures[1:])),
        label=described(drawings[0]),
        caption=caption_of(order.runs),
        sections="\n".join(words_of(order)),
        verdict=sentence(stage),
        title=own_title(rows),
        rules=tuple(_rule(id, stage.features) for id in recorded.rules),
        messages=tuple(_messages(stage, rows)),
    )


def _tuples(drawn: dict[str, Any]) -> Any:
    return {name: tuple(v) if isinstance(v, list) else v for name, v in drawn.items()}


def _rule(id: str, features: Features) -> Choice:
    guard = GUARDS[id]
    found = releases_in(features.mode, guard)
    note = "all releases" if found == "all" else found
    return Choice(id, guard.subject, guard.clause, note, _is_on(features, id))


def _messages(stage: Stage, rows: Rows) -> Iterator[Choice]:
    steps = {moment.x: f"step {moment.x}: {moment.label}" for moment in rows.moments}
    lines = {sending.event: sending.drop.text for sending in _sendings(stage)}
    dropped = {s.text for s in stage.play.statements if s.verb == "drop"}
    for m in rows.messages:
        line, note = lines[m.began], f"{m.sender} → {m.receiver}"
        yield Choice(line, steps[m.x_sent], m.label, note, line not in dropped)
