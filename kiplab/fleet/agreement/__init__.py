"""The kernel held to the engine: one schedule through both, and where their traces part."""
