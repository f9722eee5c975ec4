"""KIP-343 as it was proposed: ZooKeeper mode, with heartbeats to the controller; never built."""
