"""Memory of a process: what PyTorch's tensors take, and what the operating system counts."""

from __future__ import annotations

from torchscan.measure.memory import measure_peak_memory
from torchscan.measure.rss import measure_peak_rss

__all__ = ["measure_peak_memory", "measure_peak_rss"]
