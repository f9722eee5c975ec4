"""Plays of ZooKeeper mode beside a real controller, and fake brokers that act as the engine's."""
