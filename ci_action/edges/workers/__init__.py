"""The worker processes: their environment, their watch, and how they die."""
