"""The vocabulary: what a report is. Standard library only."""
