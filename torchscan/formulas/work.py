"""An amount of work in the three units, which adds up over the stages of an algorithm."""

from __future__ import annotations

from dataclasses import dataclass

from torchscan.formulas.handler import ModuleEstimates


@dataclass(frozen=True, slots=True)
class Work:
    """FLOPs, MACs and DMAs of a stage."""

    flops: int = 0
    macs: int = 0
    dmas: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(self.flops + other.flops, self.macs + other.macs, self.dmas + other.dmas)

    def __mul__(self, times: int) -> Work:
        return Work(self.flops * times, self.macs * times, self.dmas * times)

    def estimates(self, field: ModuleEstimates) -> ModuleEstimates:
        """Give the work as a call's estimates, beside its receptive field."""
        return {"module_flops": self.flops, "macs": self.macs, "dmas": self.dmas, **field}


NOTHING = Work()


def product(outputs: int, terms: int, bias: bool = False) -> Work:
    """Count dot products of ``terms`` terms, with a bias add where there is one; DMAs are left to the stage."""
    return Work(outputs * (max(2 * terms - 1, 0) + bias), outputs * terms)
