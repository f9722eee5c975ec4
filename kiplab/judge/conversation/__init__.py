"""The same requests to a real controller and to the engine, and the answers of each."""
