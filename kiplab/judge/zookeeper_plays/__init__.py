"""Plays of ZooKeeper's time beside a real controller, and fake brokers that do as the engine's."""
