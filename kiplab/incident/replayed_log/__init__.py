"""Records to states: partitions, incarnations of brokers, and whose doing each change was."""
