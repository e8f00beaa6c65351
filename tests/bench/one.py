"""python one.py TOOL MODEL [-n 5]: one tool on one model in this fresh process, as one JSON line.

Forward and analysis alternate, so both see the same seconds of the machine; only their ratio means anything.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import resource
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
from models import MODELS
from tools import TOOLS

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)


def seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def peak_rss_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(tool: str, model: str, rounds: int) -> dict[str, Any]:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    module, args = MODELS[model]()
    module.eval()
    plain = TOOLS["forward"](module, args)
    plain()
    before = peak_rss_mib()
    with contextlib.redirect_stdout(io.StringIO()):
        start = time.perf_counter()
        analysis = TOOLS[tool](module, args)
        result = analysis()
        first = time.perf_counter() - start
        times = [(seconds(plain)[0], seconds(analysis)[0]) for _ in range(rounds)]
    forward = statistics.median(pair[0] for pair in times)
    return {
        "tool": tool,
        "model": model,
        "forward_seconds": round(forward, 5),
        "ratio": round(statistics.median(a / f for f, a in times), 3),
        "first_beyond_forward_seconds": round(first - forward, 4),
        "peak_rss_growth_mib": round(peak_rss_mib() - before, 1),
        "result": result,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("-n", type=int, default=5)
    options = parser.parse_args()
    try:
        line = measure(options.tool, options.model, options.n)
    except Exception as error:  # noqa: BLE001 # a peer that crashes is a row of the table, not the end of it
        line = {"tool": options.tool, "model": options.model, "error": f"{type(error).__name__}: {str(error)[:150]}"}
    print(json.dumps(line))


if __name__ == "__main__":
    main()
