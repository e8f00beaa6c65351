"""Small modules for the crawl's tests, and short ways to read a report."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from torchscan import crawl_module


class Residual(nn.Module):
    """A Linear and the addition around it."""

    def __init__(self, width: int = 3) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.linear(x)


class Looped(nn.Module):
    """One Linear, called several times."""

    def __init__(self, times: int, width: int = 3) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.times = times

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(self.times):
            x = self.linear(x)
        return x


class Returns(nn.Module):
    """Returns what it was made with, whatever it is given."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.value


class Raises(nn.Module):
    """Runs a Linear, then raises."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.error = error

    def forward(self, x: Tensor) -> Tensor:
        self.linear(x)
        raise self.error


class Swallows(nn.Module):
    """Calls a module that raises, and goes on with another."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.broken = Raises(error)
        self.linear = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        try:
            return self.broken(x)
        except type(self.broken.error):
            return self.linear(x)


class Scaled(nn.Module):
    """A leaf without a formula: doubles its input."""

    def forward(self, x: Tensor) -> Tensor:
        return x * 2.0


def nested(depth: int, inner: nn.Module) -> nn.Module:
    """Wrap a module in as many Sequentials."""
    for _ in range(depth):
        inner = nn.Sequential(inner)
    return inner


def crawl(module: nn.Module, *args: Any, **options: Any) -> Any:
    """Analyse one call with the given positional arguments."""
    return crawl_module(module, args=args or (torch.ones(1, 3),), **options)


def total(report: Any, metric: str) -> tuple[str, Any]:
    """Give status and known value of a total."""
    return report["totals"][metric]["status"], report["totals"][metric]["known_value"]


def row(report: Any, path: str, call_index: int = 0) -> Any:
    """Give the record of one call."""
    found = [each for each in report["layers"] if (each["path"], each["call_index"]) == (path, call_index)]
    assert len(found) == 1, f"{path}#{call_index} stands {len(found)} times"
    return found[0]


def measured(report: Any, path: str, metric: str, call_index: int = 0) -> tuple[str, Any]:
    """Give status and known value of one call's metric."""
    result = row(report, path, call_index)["metrics"][metric]
    return result["status"], result["known_value"]


def codes(report: Any) -> set[tuple[str, str | None, str]]:
    """Give (code, path, metric) of every diagnostic."""
    return {(each["code"], each.get("path"), each["metric"]) for each in report["diagnostics"]}
