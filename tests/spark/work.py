"""Functions that the tests send to Spark; the executors import them from here."""

import json
import random
from typing import Any

SCHEMA = "seed bigint, draw int, value double, note string"
BLOCKS = [{"seed": seed, "draws": seed % 5} for seed in range(40)]


def draw(payload: bytes) -> list[dict[str, Any]]:
    """As many rows as the block asks for, none included; every third note is missing."""
    order = json.loads(payload)
    numbers = random.Random(order["seed"])
    return [
        {
            "seed": order["seed"],
            "draw": draw,
            "value": numbers.random(),
            "note": None if draw % 3 == 2 else f"Größe {draw}",
        }
        for draw in range(order["draws"])
    ]


def refuse_7_and_23(payload: bytes) -> list[dict[str, Any]]:
    seed = json.loads(payload)["seed"]
    if seed in (7, 23):
        raise ValueError(f"seed must not be {seed}")
    return []


def forget_columns(_payload: bytes) -> list[dict[str, Any]]:
    return [{"seed": 1, "draw": 1}]


def return_text_as_seed(_payload: bytes) -> list[dict[str, Any]]:
    return [{"seed": "one", "draw": 1, "value": 1.0, "note": None}]


def echo(payload: bytes) -> list[dict[str, Any]]:
    return [{"payload": payload}]


def task(_payload: bytes) -> list[dict[str, Any]]:
    """Which task of its stage this runs in."""
    from pyspark import TaskContext

    here = TaskContext.get()
    assert here is not None
    return [{"task": here.partitionId()}]


def where_kiplab_is(_payload: bytes) -> list[dict[str, Any]]:
    import kiplab.spark

    return [{"file": kiplab.spark.__file__}]
