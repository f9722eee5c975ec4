"""A real ZooKeeper: the server that PySpark brings along, and what it answers beside the engine."""
