"""The models of the example."""
