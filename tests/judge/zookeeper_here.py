"""Why a test beside a real ZooKeeper may be skipped: no Java. Nothing else."""

import pytest

from tests.judge.kafka_here import has_java

needs_zookeeper = pytest.mark.skipif(not has_java(), reason="a real ZooKeeper needs Java")
