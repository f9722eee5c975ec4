"""Asks a Spark master's port whether anybody listens: Spark itself would retry for minutes."""

import re
import socket

from .unavailable import SparkUnavailable

_TIMEOUT_S = 5


def require_reachable(master: str, *, default_port: int) -> None:
    """Returns if one of the addresses in ``master`` accepts a connection.

    ``master`` is like ``spark://one:7077,two:7077`` or ``sc://host:15002/;token=x``.
    Raises SparkUnavailable naming it otherwise.
    """
    addresses = re.sub(r"^\w+://", "", master).split("/")[0].split(",")
    reasons = [_refusal(address, default_port) for address in addresses]
    if all(reasons):
        raise SparkUnavailable(
            f"No Spark answers at {master} ({reasons[0]}).",
            "Start it, correct the address, or leave the master out to use this machine.",
        )


def _refusal(address: str, default_port: int) -> str | None:
    host, _, port = address.rpartition(":") if ":" in address else (address, "", "")
    try:
        number = int(port or default_port)
        with socket.create_connection((host.strip("[]"), number), timeout=_TIMEOUT_S):
            return None
    except ValueError:
        return f"{port!r} is not a port number"
    except OSError as error:
        return error.strerror or str(error)
