"""Every parameter of the fleet: its type and default here, all else in the TOML file beside it."""

import tomllib
from enum import StrEnum
from importlib.resources import files
from typing import get_type_hints

import msgspec


class Basis(StrEnum):
    """How well a default is founded."""

    READ = "read"
    """A published number, or Kafka's own source, was read for it."""
    RECALLED = "recalled"
    """Known from somewhere, and not looked up again."""
    ASSUMED = "assumed"
    """Nobody has published it: sweep it before believing what follows from it."""


class Parameter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row of the table.

    A sentence says `called`. `low` to `high` is what is allowed, `usual` what is worth sweeping.
    `kind` is float, int or bool.
    """

    name: str
    called: str
    unit: str
    kind: type
    low: float
    high: float
    usual: tuple[float, float]
    default: float
    basis: Basis
    source: str
    does: str


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A value for every parameter."""

    # --- the fleet ---
    clusters: int = 1
    brokers: int = 40
    partitions: int = 70_000
    replica_sets: int = 0
    replication_factor: int = 2
    min_insync_replicas: int = 1
    racks: int = 3
    horizon_years: float = 100.0

    # --- brokers that stop ---
    crashes_per_year: float = 1.0
    bounces_per_year: float = 12.0
    bounces_wait: bool = True
    crash_restart_s: float = 300.0
    crash_restart_sigma: float = 0.5
    clean_restart_s: float = 120.0
    clean_restart_sigma: float = 0.5
    shutdown_s: float = 3.0
    ready_s: float = 2.0
    catch_up_s: float = 180.0
    early_crash_factor: float = 1.0
    early_crash_within_s: float = 600.0

    # --- what a crash takes with it ---
    tail_lost: float = 0.1
    disk_failures_per_year: float = 0.0157
    unflushed_s: float = 35.0

    # --- how crashes are noticed ---
    session_s: float = 9.0
    heartbeat_s: float = 2.0
    zookeeper_session_s: float = 18.0
    lag_s: float = 30.0

    # --- AlterPartition and the controller ---
    alter_partition_ms: float = 10.0
    slow_alter_partition_share: float = 0.001
    slow_alter_partition_s: float = 30.0
    controller_failovers_per_year: float = 4.0
    controller_failover_min_s: float = 2.0
    controller_failover_max_s: float = 30.0

    # --- what brokers have in common ---
    network_cuts_per_year: float = 0.0
    network_cut_s: float = 60.0
    rack_shocks_per_year: float = 0.02
    cluster_shocks_per_year: float = 0.002
    shock_tail_lost: float = 0.1
    shock_fate_shared: bool = True

    # --- unclean elections, and KIP-704 ---
    unclean_elections: bool = False
    leader_recovery_s: float = 30.0

    # --- ZooKeeper's era: KIP-380 and KIP-343 ---
    queue_age_s: float = 2.0
    queue_age_sigma: float = 1.0
    heartbeat_timeout_s: float = 9.0


_FILE = tomllib.loads((files(__package__) / "parameter_table.toml").read_text("utf-8"))
_KINDS = get_type_hints(Parameters)


def _row(field: msgspec.structs.FieldInfo) -> Parameter:
    about = _FILE[field.name]
    low, high = about.pop("allowed")
    about |= {"name": field.name, "kind": _KINDS[field.name], "low": low, "high": high}
    row = msgspec.convert(about | {"default": 0}, Parameter)
    return msgspec.structs.replace(row, default=field.default)


PARAMETERS = {field.name: _row(field) for field in msgspec.structs.fields(Parameters)}
"""The table, by name, in the order of the fields."""
