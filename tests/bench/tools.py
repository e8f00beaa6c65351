"""One row per tool: how it is asked for all it knows. Imports happen inside, so each is measured alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

Analysis = Callable[[], Any]


def forward(model: nn.Module, args: tuple[Any, ...]) -> Analysis:
    def run() -> None:
        with torch.no_grad():
            model(*args)

    return run


def torchscan(model: nn.Module, args: tuple[Any, ...]) -> Analysis:
    from torchscan import crawl_module

    def run() -> dict[str, Any]:
        totals = crawl_module(model, args=args)["totals"]
        return {name: (metric["status"], metric["known_value"]) for name, metric in totals.items()}

    return run


def torchscan_structure(model: nn.Module, args: tuple[Any, ...]) -> Analysis:
    from torchscan import crawl_module

    return lambda: crawl_module(model, args=args, mode="structure")["totals"]["parameters"]["known_value"]


def flop_counter(model: nn.Module, args: tuple[Any, ...]) -> Analysis:
    from torch.utils.flop_counter import FlopCounterMode

    def run() -> int:
        with torch.no_grad(), FlopCounterMode(display=False) as counter:
            model(*args)
        return counter.get_total_flops()

    return run


def torchinfo(model: nn.Module, args: tuple[Any, ...]) -> Analysis:
    import torchinfo

    return lambda: (
        torchinfo.summary(model, input_data=list(args), verbose=0, depth=100, device=args[0].device).total_mult_adds
    )


def fvcore(model: nn.Module, args: tuple[Any, ...]) -> Analysis:
    from fvcore.nn import FlopCountAnalysis

    def run() -> float:
        analysis = FlopCountAnalysis(model, args)
        analysis.unsupported_ops_warnings(False).uncalled_modules_warnings(False).tracer_warnings("none")
        return float(analysis.total())

    return run


def ptflops(model: nn.Module, args: tuple[Any, ...]) -> Analysis:
    from ptflops import get_model_complexity_info

    name = "input_ids" if not args[0].is_floating_point() else None

    def run() -> float:
        macs, _ = get_model_complexity_info(
            model,
            tuple(args[0].shape[1:]),
            input_constructor=lambda _: {name: args[0]} if name else args[0],
            as_strings=False,
            print_per_layer_stat=False,
            backend="pytorch",
        )
        return float(macs)

    return run


def thop(model: nn.Module, args: tuple[Any, ...]) -> Analysis:
    import thop

    return lambda: thop.profile(model, inputs=args, verbose=False)[0]


def calflops(model: nn.Module, args: tuple[Any, ...]) -> Analysis:
    from calflops import calculate_flops

    given = {"args": list(args)} if args[0].is_floating_point() else {"kwargs": {"input_ids": args[0]}}
    return lambda: calculate_flops(
        model, print_results=False, output_as_string=False, include_backPropagation=False, **given
    )[1]


def torchprofile(model: nn.Module, args: tuple[Any, ...]) -> Analysis:
    from torchprofile import profile_macs

    return lambda: profile_macs(model, args)


TOOLS: Mapping[str, Callable[[nn.Module, tuple[Any, ...]], Analysis]] = {
    "forward": forward,
    "torchscan": torchscan,
    "torchscan-structure": torchscan_structure,
    "FlopCounterMode": flop_counter,
    "torchinfo": torchinfo,
    "fvcore": fvcore,
    "ptflops": ptflops,
    "thop": thop,
    "calflops": calflops,
    "torchprofile": torchprofile,
}
