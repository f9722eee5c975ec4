"""The engine: `step` alone decides what happens; queries read the cluster."""
