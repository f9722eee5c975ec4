"""One stock KRaft controller on the loopback interface, with a clock that its parent moves."""
