"""Kafka's own kafka.cluster.Partition beside the engine's broker: both get the same turns."""
