"""A run that can be changed in its page: what a reader switched or dropped becomes another run.

`offered` makes the controls of the page. `answer` is what the page asks its engine, which is this
package in Pyodide: the picture comes from the same code as on the machine that wrote the page.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

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
from ..protocol.guards import GUARDS, Guard, releases_in
from ..protocol.ids import CONTROLLER
from ..rows.columns import Rows
from ..rows.rows_of_stage import rows_of
from ..rows.run_titles import own_title
from .page import PageOrder, caption_of, words_of
from .page_files import AUTO, page_file
from .player import carried, script_safe, with_few_decimals

ENGINE = "kiplab-engine"
"""The folder of the engine, beside the page."""


class LiveRun(msgspec.Struct, frozen=True):
    """A play as text, the ids of the rules that matter in it, and the options of its picture; and
    what a reader changed: rules by their ids, and the line ``drop ...`` of each message.
    """

    play: str
    name: str
    features: Features
    rules: tuple[str, ...]
    drawn: dict[str, Any]
    switches: dict[str, bool] = {}
    dropped: tuple[str, ...] = ()


Choice = tuple[str, str, str, str, bool]
"""A box to tick: its key, its group (a KIP, or the step that sends the message), its words, a note
(releases, or two nodes), and whether it is ticked.
"""


def offered(stage: Stage, drawn: dict[str, Any], size: int) -> str:
    """The controls below the picture of a page, as HTML: `drawn` are the options of the picture,
    and the engine's folder has `size` bytes.
    """
    text, name = format_play(stage.play), PurePath(stage.play.name).name
    rules = tuple(id for id in GUARDS if _matters(stage, id))
    run = script_safe(LiveRun(text, name, stage.features, rules, drawn))
    megabytes, style = f"{size / 1e6:.1f}", page_file("live.css")
    return page_file("live.html").format(style=style, size=size, megabytes=megabytes, run=run)


def _matters(stage: Stage, id: str) -> bool:
    """Whether something else happens where this rule alone is switched."""
    try:
        features = _switched(stage.features, {id: not _is_on(stage.features, id)})
    except UnknownFeatureError:
        return False
    return _played(stage.play, features).events != stage.events


def answer(question: str) -> str:
    """JSON for the JSON of a `LiveRun`: the changed run's picture, its description, caption and
    sections as HTML, its verdict in words, the title of its rules, and what can be changed in it;
    where it cannot be run, only why: the problem.
    """
    try:
        run = msgspec.json.decode(question, type=LiveRun)
        shown = _shown(run, changed(run))
    except ValueError as problem:
        shown = {"problem": str(problem)}
    return msgspec.json.encode(shown).decode()


def changed(run: LiveRun) -> Stage:
    """The run that follows: lines of the play that cannot be done any more are left out.

    Raises UnknownFeatureError for a rule that does not fit, PlayError for a run that gets too long.
    """
    features = _switched(run.features, run.switches)
    stage = _played(parse(run.play, run.name), features)
    for line in run.dropped:
        stage = _played(_without(stage, line), features)
    return stage


def _switched(features: Features, switches: dict[str, bool]) -> Features:
    for id, on in switches.items():
        features = features if _is_on(features, id) is on else switched(features, id, on)
    return fitting(features)


def _is_on(features: Features, id: str) -> bool:
    return id in features.active(CONTROLLER)


def _played(play: Play, features: Features) -> Stage:
    stage = replace(open_stage(play, features), strict=False)
    for line, statement in enumerate(play.statements, 1):
        stage = do_line(stage, statement, line)
    return stage


def _without(stage: Stage, line: str) -> Play:
    """The play of `stage` with a message lost right after the line that sends it."""
    lines = stage.play.statements
    for at, _, drop in _sent(stage):
        if drop.text == line:
            # It is held, so that the line which sends it does not deliver it too.
            hold = Statement("hold", drop.words, drop.args)
            lines = (*lines[: at - 1], hold, lines[at - 1], drop, *lines[at:])
    return replace(stage.play, statements=lines)


def _sent(stage: Stage) -> Iterator[tuple[int, str, Statement]]:
    """For each message the number of the line that sends it, its event, the line that drops it."""
    for performed in stage.performed:
        for id, event in stage.named_events_of(performed):
            if isinstance(event, Sent):
                yield performed.line, id, statement_of(Drop(event.message))


def _shown(run: LiveRun, stage: Stage) -> dict[str, Any]:
    rows, options = rows_of(stage), dict[str, Any](run.drawn)
    theme, width = options.pop("theme", AUTO), options.pop("width", None)
    order = PageOrder((rows,), None, False, theme, width, options)  # type: ignore[arg-type]
    drawings = order.drawings()
    picture = carried(drawings, order.runs, dark_of_light() if theme == AUTO else None)
    first = replace(picture.pictures[0], drawing=with_few_decimals(drawings[0]))
    return {
        "picture": replace(picture, pictures=(first, *picture.pictures[1:])),
        "label": described(drawings[0]),
        "caption": caption_of(order.runs),
        "sections": "\n".join(words_of(order)),
        "verdict": sentence(stage),
        "title": own_title(rows),
        "rules": [_rule(GUARDS[id], stage.features) for id in run.rules],
        "messages": list(_messages(stage, rows)),
    }


def _rule(guard: Guard, features: Features) -> Choice:
    since = releases_in(features.mode, guard).replace("all", "all releases")
    return guard.id, guard.subject, guard.clause, since, _is_on(features, guard.id)


def _messages(stage: Stage, rows: Rows) -> Iterator[Choice]:
    steps = {moment.x: f"step {moment.x}: {moment.label}" for moment in rows.moments}
    lines = {event: drop.text for _, event, drop in _sent(stage)}
    dropped = {s.text for s in stage.play.statements if s.verb == "drop"}
    for m in rows.messages:
        line, nodes = lines[m.began], f"{m.sender} → {m.receiver}"
        yield line, steps[m.x_sent], m.label, nodes, line not in dropped
