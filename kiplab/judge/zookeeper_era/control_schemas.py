"""The schemas of what a controller and the brokers of ZooKeeper's years ask each other."""

from __future__ import annotations

from ..kafka_jars.jar_cache import jars_of_zookeeper_era
from ..wire.message_schemas import ReleaseSchemas, schemas_in

SCHEMAS_OF = "3.4.1"
"""Whose jars describe every version that an older release speaks, too: the older have no schemas,
or fewer.
"""


def control_schemas() -> ReleaseSchemas:
    """Every control request in every version. Raises MissingKafkaError where no jars can be had."""
    return schemas_in(sorted(jars_of_zookeeper_era(SCHEMAS_OF).glob("kafka-clients-*.jar")))
