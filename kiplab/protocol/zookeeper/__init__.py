"""ZooKeeper mode: the ensemble that keeps a cluster's metadata, up to Kafka 3.9."""
