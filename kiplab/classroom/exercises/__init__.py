"""The exercises: pure checks that the engine judges, without a widget."""
