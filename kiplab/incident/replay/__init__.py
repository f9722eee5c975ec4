"""Records to states: partitions, lives of brokers, and whose doing each change was."""
