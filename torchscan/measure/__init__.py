"""Workloads measured with a clock, an allocator or a counter."""
