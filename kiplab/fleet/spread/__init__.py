"""Partitions per incident: those that share leaders, followers and whole replica sets.

The kernel follows one replica set. An event hits all partitions that share the failed part at once,
so that the incident, and not the partition, is independent of the next one.
"""
