"""Every parameter of the fleet: unit, range, default, the source of the default, effect.

The fields of `Parameters` are the table; nothing else lists them.
"""

from enum import StrEnum
from typing import Annotated, Any, get_args, get_type_hints

import msgspec


class Basis(StrEnum):
    """How well a default is founded."""

    READ = "read"
    """A published number, or Kafka's own source, was read for it."""
    RECALLED = "recalled"
    """Known from somewhere, and not looked up again."""
    ASSUMED = "assumed"
    """Nobody has published it: sweep it before believing what follows from it."""


class _About(msgspec.Struct, frozen=True, kw_only=True):
    """What the annotation of a field says; the field itself has the name, type and default."""

    unit: str
    low: float = 0
    high: float
    usual: tuple[float, float]
    basis: Basis
    source: str
    does: str


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table.

    `low` to `high` is what is allowed, `usual` what is worth sweeping. `kind` is float, int or
    bool.
    """

    name: str
    unit: str
    kind: type
    low: float
    high: float
    usual: tuple[float, float]
    default: float
    basis: Basis
    source: str
    does: str


_A = _About
_READ, _RECALLED, _ASSUMED = Basis.READ, Basis.RECALLED, Basis.ASSUMED
_PER_YEAR = "per broker and year"


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A value for every parameter."""

    # --- the fleet ---
    clusters: Annotated[
        int,
        _A(
            unit="clusters",
            low=1,
            high=100_000,
            usual=(1, 1_000),
            basis=_READ,
            source="LinkedIn wrote of more than 100 clusters in 2019.",
            does="Scales rates to the fleet; clusters fail independently of one another.",
        ),
    ] = 1
    brokers: Annotated[
        int,
        _A(
            unit="brokers of a cluster",
            low=1,
            high=1_000,
            usual=(3, 200),
            basis=_READ,
            source="4,000 brokers in 100 clusters (LinkedIn 2019).",
            does="How widely replica sets are spread, and how many a shock of the cluster takes.",
        ),
    ] = 40
    partitions: Annotated[
        int,
        _A(
            unit="partitions of a cluster",
            low=1,
            high=1_000_000,
            usual=(1_000, 200_000),
            basis=_READ,
            source="7 million partitions in 100 clusters (LinkedIn 2019); 200,000 was the advice.",
            does="How many partitions an incident can touch, and how many there are to lose.",
        ),
    ] = 70_000
    replica_sets: Annotated[
        int,
        _A(
            unit="replica sets of a cluster",
            high=1_000_000,
            usual=(10, 10_000),
            basis=_ASSUMED,
            source="0 is every set that the racks allow, as Kafka's placement at random makes it.",
            does="Partitions with the same brokers share their fate: few sets, rarer and larger"
            " incidents. More than there are is all.",
        ),
    ] = 0
    replication_factor: Annotated[
        int,
        _A(
            unit="replicas",
            low=1,
            high=5,
            usual=(1, 4),
            basis=_ASSUMED,
            source="Two replicas, the case in which KAFKA-14139 was reported.",
            does="How many brokers keep a copy.",
        ),
    ] = 2
    min_insync_replicas: Annotated[
        int,
        _A(
            unit="replicas",
            low=1,
            high=5,
            usual=(1, 3),
            basis=_READ,
            source="Kafka's default of min.insync.replicas.",
            does="Below so many members of the ISR nothing new is committed (acks=all). Of fewer"
            " replicas than that all are needed.",
        ),
    ] = 1
    racks: Annotated[
        int,
        _A(
            unit="racks",
            low=1,
            high=5,
            usual=(1, 3),
            basis=_ASSUMED,
            source="A common layout: replicas are placed in turn on three racks.",
            does="A rack's shock takes all replicas that stand in it.",
        ),
    ] = 3
    horizon_years: Annotated[
        float,
        _A(
            unit="years",
            low=0.001,
            high=1_000,
            usual=(1, 100),
            basis=_ASSUMED,
            source="Long against every repair, short against int64 in microseconds.",
            does="How long one replica set is followed; every one begins healthy.",
        ),
    ] = 100.0

    # --- brokers that stop ---
    crashes_per_year: Annotated[
        float,
        _A(
            unit=_PER_YEAR,
            high=50_000,
            usual=(0.2, 4),
            basis=_ASSUMED,
            source="A round number above what is published: 0.56 a machine in Google's first-year"
            " account of an 1,800-server cluster, at least 0.2 at LinkedIn.",
            does="Hard crashes of all kinds, failing disks among them.",
        ),
    ] = 1.0
    bounces_per_year: Annotated[
        float,
        _A(
            unit=_PER_YEAR,
            high=50_000,
            usual=(4, 52),
            basis=_ASSUMED,
            source="Monthly patching.",
            does="Planned restarts with a controlled shutdown: each makes a follower leave the ISR"
            " and come back, and opens the window of KAFKA-14139.",
        ),
    ] = 12.0
    bounces_wait: Annotated[
        bool,
        _A(
            unit="yes or no",
            high=1,
            usual=(0, 1),
            basis=_READ,
            source="LinkedIn and Yelp wait until no partition is under-replicated.",
            does="A planned restart is put off while a replica is missing.",
        ),
    ] = True
    crash_restart_s: Annotated[
        float,
        _A(
            unit="seconds (median)",
            low=0.1,
            high=604_800,
            usual=(30, 3_600),
            basis=_READ,
            source="Google's cloud restarts a host's machines within 3 to 5.5 minutes;"
            " recovery of the log is assumed on top.",
            does="From a crash to the next process.",
        ),
    ] = 300.0
    crash_restart_sigma: Annotated[
        float,
        _A(
            unit="(log scale)",
            high=3,
            usual=(0, 1),
            basis=_ASSUMED,
            source="No published distribution.",
            does="How much restarts after a crash differ; log-normal.",
        ),
    ] = 0.5
    clean_restart_s: Annotated[
        float,
        _A(
            unit="seconds (mean)",
            low=0.1,
            high=604_800,
            usual=(6, 600),
            basis=_ASSUMED,
            source="Rolling tools wait for 12 good checks, 10 s apart (Yelp).",
            does="From a controlled shutdown to the next process; log-normal.",
        ),
    ] = 120.0
    clean_restart_sigma: Annotated[
        float,
        _A(
            unit="(log scale)",
            high=3,
            usual=(0, 1),
            basis=_ASSUMED,
            source="As for crashes; no published distribution.",
            does="How much planned restarts differ. KIP-380's missed bounces hang on the shortest:"
            " kiplab.fleet.zookeeper_rates has them for other shapes, too.",
        ),
    ] = 0.5
    shutdown_s: Annotated[
        float,
        _A(
            unit="seconds",
            high=3_600,
            usual=(1, 390),
            basis=_READ,
            source="3 s since Kafka 1.1, 6.5 min before, in one test with 200,000 partitions.",
            does="How long a controlled shutdown takes.",
        ),
    ] = 3.0
    ready_s: Annotated[
        float,
        _A(
            unit="seconds (mean)",
            high=3_600,
            usual=(0.1, 60),
            basis=_ASSUMED,
            source="A few heartbeats until the metadata are read.",
            does="From registration until a broker asks to be unfenced; exponential.",
        ),
    ] = 2.0
    catch_up_s: Annotated[
        float,
        _A(
            unit="seconds (mean)",
            low=0.1,
            high=604_800,
            usual=(10, 3_600),
            basis=_ASSUMED,
            source="Depends on retention and throttles.",
            does="From registration until the follower has caught up with its leader; exponential.",
        ),
    ] = 180.0
    early_crash_factor: Annotated[
        float,
        _A(
            unit="times",
            low=1,
            high=10_000,
            usual=(1, 500),
            basis=_ASSUMED,
            source="1 is no crash loop; 500 is a chance of 1 % within 10 minutes at one a year.",
            does="How much likelier a crash is soon after a crash: a crash loop. A planned restart"
            " begins none.",
        ),
    ] = 1.0
    early_crash_within_s: Annotated[
        float,
        _A(
            unit="seconds",
            low=1,
            high=86_400,
            usual=(60, 3_600),
            basis=_ASSUMED,
            source="As long as a process that dies at once takes to show it.",
            does="How long after the restart from a crash `early_crash_factor` holds.",
        ),
    ] = 600.0

    # --- what a crash takes with it ---
    tail_lost: Annotated[
        float,
        _A(
            unit="share of crashes with the disk left",
            high=1,
            usual=(0.01, 1),
            basis=_ASSUMED,
            source="A killed process leaves the page cache behind; a dead host does not.",
            does="A crash in which what was not yet flushed is gone, committed records too.",
        ),
    ] = 0.1
    disk_failures_per_year: Annotated[
        float,
        _A(
            unit=_PER_YEAR,
            high=50_000,
            usual=(0, 0.13),
            basis=_READ,
            source="Backblaze's 1.57 % of drives in 2024, for a broker with one drive; field"
            " studies have 2 to 13 %. With 12 drives and no RAID it is 0.19.",
            does="Crashes after which the broker comes back with an empty disk; they are among"
            " `crashes_per_year`.",
        ),
    ] = 0.0157
    unflushed_s: Annotated[
        float,
        _A(
            unit="seconds (longest)",
            high=86_400,
            usual=(1, 600),
            basis=_READ,
            source="Linux writes back pages older than 30 s every 5 s; that is when it may begin,"
            " and no promise that it is done.",
            does="How old a record can be and not yet on the disk; uniform from 0.",
        ),
    ] = 35.0

    # --- how crashes are noticed ---
    session_s: Annotated[
        float,
        _A(
            unit="seconds",
            low=1,
            high=600,
            usual=(6, 30),
            basis=_READ,
            source="broker.session.timeout.ms.",
            does="After so long without a heartbeat KRaft's controller fences a broker.",
        ),
    ] = 9.0
    heartbeat_s: Annotated[
        float,
        _A(
            unit="seconds",
            low=0.01,
            high=600,
            usual=(0.5, 5),
            basis=_READ,
            source="broker.heartbeat.interval.ms.",
            does="The last heartbeat before a crash is at most so old; uniform from 0.",
        ),
    ] = 2.0
    zookeeper_session_s: Annotated[
        float,
        _A(
            unit="seconds",
            low=1,
            high=600,
            usual=(6, 30),
            basis=_RECALLED,
            source="zookeeper.session.timeout.ms: 18 s since 2.5, 6 s before.",
            does="The same where ZooKeeper keeps the sessions; only for KIP-380's formula.",
        ),
    ] = 18.0
    lag_s: Annotated[
        float,
        _A(
            unit="seconds",
            low=0.1,
            high=3_600,
            usual=(10, 60),
            basis=_READ,
            source="replica.lag.time.max.ms; leaders look every half of it.",
            does="A follower that has not caught up for so long is taken out of the ISR.",
        ),
    ] = 30.0

    # --- AlterPartition and the controller ---
    alter_partition_ms: Annotated[
        float,
        _A(
            unit="milliseconds (mean)",
            low=0.001,
            high=3_600_000,
            usual=(2, 100),
            basis=_ASSUMED,
            source="A round trip and a commit.",
            does="What an AlterPartition usually takes; exponential.",
        ),
    ] = 10.0
    slow_alter_partition_share: Annotated[
        float,
        _A(
            unit="share of requests",
            high=1,
            usual=(1e-4, 1e-2),
            basis=_ASSUMED,
            source="Nobody has published the tail.",
            does="How many AlterPartition requests are slow on their way. One is in flight per"
            " leader, so all of its partitions wait together; other leaders do not.",
        ),
    ] = 1e-3
    slow_alter_partition_s: Annotated[
        float,
        _A(
            unit="seconds (mean)",
            low=0.001,
            high=86_400,
            usual=(3, 300),
            basis=_ASSUMED,
            source="A controller that fails over or cannot be reached.",
            does="What a slow one takes; exponential.",
        ),
    ] = 30.0
    controller_failovers_per_year: Annotated[
        float,
        _A(
            unit="per cluster and year",
            high=50_000,
            usual=(0, 52),
            basis=_ASSUMED,
            source="A patch of the controllers each quarter.",
            does="How often there is no controller for a while.",
        ),
    ] = 4.0
    controller_failover_min_s: Annotated[
        float,
        _A(
            unit="seconds",
            high=3_600,
            usual=(0.5, 10),
            basis=_ASSUMED,
            source="An election within the quorum.",
            does="The shortest such while; uniform.",
        ),
    ] = 2.0
    controller_failover_max_s: Annotated[
        float,
        _A(
            unit="seconds",
            high=3_600,
            usual=(5, 300),
            basis=_ASSUMED,
            source="An election that has to be repeated.",
            does="The longest; uniform.",
        ),
    ] = 30.0

    # --- what brokers have in common ---
    network_cuts_per_year: Annotated[
        float,
        _A(
            unit=_PER_YEAR,
            high=50_000,
            usual=(0, 12),
            basis=_ASSUMED,
            source="None, until somebody asks for them: nobody has published a rate.",
            does="How often a running broker is cut off from all others.",
        ),
    ] = 0.0
    network_cut_s: Annotated[
        float,
        _A(
            unit="seconds (mean)",
            low=0.001,
            high=86_400,
            usual=(1, 600),
            basis=_ASSUMED,
            source="From a flapping port to a cable.",
            does="How long it is cut off; exponential.",
        ),
    ] = 60.0
    rack_shocks_per_year: Annotated[
        float,
        _A(
            unit="per rack and year",
            high=50_000,
            usual=(0, 0.5),
            basis=_ASSUMED,
            source="1 in 50 years. Google had 20 racks fail in one cluster's first year: with 45"
            " racks that is 0.44 a rack, 22 times as many.",
            does="All brokers of a rack crash at once.",
        ),
    ] = 0.02
    cluster_shocks_per_year: Annotated[
        float,
        _A(
            unit="per cluster and year",
            high=50_000,
            usual=(0, 1),
            basis=_ASSUMED,
            source="1 in 500 years. Google had one power unit fail in a cluster's first year, 500"
            " to 1,000 machines for 6 h: 500 times as many.",
            does="All brokers of a cluster crash at once. The controllers stay up.",
        ),
    ] = 0.002
    shock_tail_lost: Annotated[
        float,
        _A(
            unit="share of shocks",
            high=1,
            usual=(0.01, 1),
            basis=_ASSUMED,
            source="As for a crash alone. A power cut has 1, a killed process 0.",
            does="So many shocks take from all their brokers what was not yet flushed.",
        ),
    ] = 0.1
    shock_fate_shared: Annotated[
        bool,
        _A(
            unit="yes or no",
            high=1,
            usual=(0, 1),
            basis=_ASSUMED,
            source="A power cut takes every tail, a kill takes none.",
            does="All brokers of a shock lose their tails, or none does. With false, each broker"
            " loses its own with the chance of shock_tail_lost.",
        ),
    ] = True

    # --- unclean elections, and KIP-704 ---
    unclean_elections: Annotated[
        bool,
        _A(
            unit="yes or no",
            high=1,
            usual=(0, 1),
            basis=_READ,
            source="Kafka's default of unclean.leader.election.enable.",
            does="With no member of the ISR alive another replica may lead.",
        ),
    ] = False
    leader_recovery_s: Annotated[
        float,
        _A(
            unit="seconds (mean)",
            low=0.001,
            high=86_400,
            usual=(1, 600),
            basis=_ASSUMED,
            source="Nobody built that recovery.",
            does="How long a leader recovers after an unclean election, as KIP-704 wants it;"
            " exponential.",
        ),
    ] = 30.0

    # --- ZooKeeper's era: KIP-380 and KIP-343 ---
    queue_age_s: Annotated[
        float,
        _A(
            unit="seconds (median)",
            low=0.001,
            high=86_400,
            usual=(0.1, 30),
            basis=_ASSUMED,
            source="Reports of long queues in the controller; no distribution.",
            does="How long a control request or a broker's change waits in a queue (KIP-380).",
        ),
    ] = 2.0
    queue_age_sigma: Annotated[
        float,
        _A(
            unit="(log scale)",
            high=3,
            usual=(0.5, 1.5),
            basis=_ASSUMED,
            source="No distribution.",
            does="How much those times differ; log-normal.",
        ),
    ] = 1.0
    heartbeat_timeout_s: Annotated[
        float,
        _A(
            unit="seconds",
            low=0.1,
            high=86_400,
            usual=(3, 60),
            basis=_ASSUMED,
            source="KIP-343 names the setting and no value; KRaft's session has 9 s.",
            does="KIP-343 fences a broker so long after its last heartbeat that was answered.",
        ),
    ] = 9.0


_HINTS = get_type_hints(Parameters, include_extras=True)


def _row(field: msgspec.structs.FieldInfo) -> Parameter:
    kind, about = get_args(_HINTS[field.name])
    columns: dict[str, Any] = msgspec.structs.asdict(about)
    return Parameter(name=field.name, kind=kind, default=field.default, **columns)


PARAMETERS = {field.name: _row(field) for field in msgspec.structs.fields(Parameters)}
"""The table, read off the fields."""
