"""What real brokers of ZooKeeper's years accept from whoever says that it is their controller."""
