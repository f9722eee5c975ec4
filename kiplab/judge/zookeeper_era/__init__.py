"""Real brokers of the years in which ZooKeeper kept a cluster's metadata."""
