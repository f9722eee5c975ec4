"""The same requests to a real controller and to the engine, and what each of them answers."""
