"""Real brokers of ZooKeeper mode."""
