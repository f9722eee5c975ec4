"""A real ZooKeeper: the server that PySpark brings along, and its answers beside the engine's."""
