"""A run as rows: the source of pictures, sentences, tables and files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, get_args, get_type_hints

import msgspec
from msgspec.structs import replace

from ..engine.events import Event
from ..engine.explain import sentence
from ..engine.truth import truth
from ..plays import verdict
from ..plays.stage import Stage
from ..protocol.ids import CONTROLLER, BrokerId, node_name
from . import log_blocks, message_paths, metric_readings, operator_log, step_labels
from .client_requests import client_requests
from .columns import EventRow, Meta, Rows
from .marks import marks, ticks, zookeeper_ticks
from .plain_table import PlainTable, table_of
from .snapshots import LogLine, Snapshot, snapshots
from .spans import spans
from .view import until

if TYPE_CHECKING:
    import pandas as pd

TABLES: dict[str, type[msgspec.Struct]] = {
    name: get_args(hint)[0] for name, hint in get_type_hints(Rows).items() if name != "meta"
}
"""What each table of `Rows` has rows of, in their order."""


def rows_of(stage: Stage) -> Rows:
    """The rows of a finished or unfinished run. Reads the stage's clusters and events, no more."""
    shots = snapshots(stage)
    return Rows(
        meta=_meta(stage, shots),
        moments=tuple(step_labels.moments(shots)),
        spans=tuple(spans(shots)),
        ticks=(*ticks(shots), *zookeeper_ticks(shots)),
        messages=message_paths.messages(shots),
        marks=tuple(marks(shots)),
        events=tuple(_events(shots)),
        metrics=tuple(metric_readings.metric_rows(shots)),
        clients=client_requests(shots),
        logs=tuple(log_blocks.log_rows(shots)),
    )


def rows_until(whole: Rows, stage: Stage) -> Rows:
    """What `rows_of(stage)` says, much faster, for a stage that went on to be that of `whole`."""
    so_far = until(whole, stage.moment)
    if so_far is whole:
        return whole
    judged = {"verdict": verdict.verdict(stage), "sentence": verdict.sentence(stage)}
    return replace(so_far, meta=replace(so_far.meta, **judged))


def frames(rows: Rows) -> dict[str, pd.DataFrame]:
    """A pandas DataFrame per table of `Rows`, by name; columns as documented in `columns`.

    Absent numbers (`x_arrived` of a message in flight) are missing values of type Int64.
    Without pandas they are plain tables, and absent numbers None.
    """
    tables = {
        table: table_of(kind.__struct_fields__, map(msgspec.structs.astuple, getattr(rows, table)))
        for table, kind in TABLES.items()
    }
    for table in ("messages", "clients"):
        if not isinstance(tables[table], PlainTable):
            tables[table]["x_arrived"] = tables[table]["x_arrived"].astype("Int64")
    return tables


def _meta(stage: Stage, shots: Sequence[Snapshot]) -> Meta:
    start = shots[0].cluster
    return Meta(
        name=_name(stage.play.name),
        title=stage.play.title,
        question=stage.play.question,
        release=stage.features.release,
        features=stage.features.label(),
        guards=tuple(sorted(stage.features.active(CONTROLLER))),
        switched=stage.features.overrides,
        verdict=verdict.verdict(stage),
        sentence=verdict.sentence(stage),
        brokers=tuple(b.id for b in start.brokers),
        partitions=tuple(p.name for p in truth(start).partitions),
        end=shots[-1].x + 1,
    )


def _name(name: str) -> str:
    """A play read from a file is named by its path; an issue is written as in its tracker."""
    bare = name.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".play")
    return re.sub(r"^kafka-\d+", lambda match: match.group().upper(), bare)


def _events(shots: Sequence[Snapshot]) -> Iterator[EventRow]:
    for shot in shots:
        for step, move in enumerate(shot.moves, shot.first_step + 1):
            for id, event in move.named:
                yield _event(id, event, step, shot, operator_log.log_lines(event, move))
        if shot.not_applicable is not None:
            yield _event(shot.last_id, shot.not_applicable, shot.first_step, shot)


def _event(
    id: str, event: Event, step: int, shot: Snapshot, log: Sequence[LogLine] = ()
) -> EventRow:
    return EventRow(
        step=step,
        x=shot.x,
        line=shot.line,
        kind=str(event.__struct_config__.tag),
        node=_node(event),
        partition=str(getattr(event, "partition", "") or ""),
        text=sentence(event),
        log="\n".join(str(line) for line in log),
        id=id,
    )


def _node(event: Event) -> str:
    """Where it happened: the receiver of a message, the node of a fact; else the controller."""
    named = (getattr(event, field, None) for field in ("receiver", "node", "broker"))
    return next((node_name(BrokerId(id)) for id in named if isinstance(id, int)), "controller")
