"""Pure comparison of two reports. Standard library only."""
