"""Real Kafka beside the engine: a release's own code decides, and the two are compared."""
