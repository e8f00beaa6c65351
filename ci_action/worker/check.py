"""``python -P -m ci_action.worker.check SPEC.json OUT``: holds both sides' outputs against each other.

Runs in base's worktree, so that a pull request cannot bring the check that its own outputs pass.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

from ci_action.core.timing.evidence import OutputVerdict


class CheckSpec(TypedDict):
    """What is checked: two folders of outputs, by a callable of base or within tolerances."""

    root: str
    worktree: str
    checkout: str
    import_paths: list[str]
    base_outputs: str
    head_outputs: str
    callable: str | None
    rtol: float
    atol: float


def main(spec_file: str, out: str) -> int:
    """Check and write the verdict."""
    from ci_action.worker.environment import die_with_parent
    from ci_action.worker.isolation import foreign_modules
    from ci_action.worker.load import prepend_import_paths
    from ci_action.worker.outputs import read_outputs
    from ci_action.worker.wire import bounded

    die_with_parent()
    spec: CheckSpec = json.loads(Path(spec_file).read_text(encoding="utf-8"))
    base, head = read_outputs(Path(spec["base_outputs"])), read_outputs(Path(spec["head_outputs"]))
    if spec["callable"] is None:
        verdict = within_tolerances(base, head, rtol=spec["rtol"], atol=spec["atol"])
    else:
        prepend_import_paths(Path(spec["root"]), spec["import_paths"])
        verdict = by_callable(spec["callable"], Path(spec["root"]), base, head)
        foreign = foreign_modules(
            Path(spec["root"]), Path(spec["worktree"]), Path(spec["checkout"]), spec["import_paths"], "base"
        )
        if foreign:  # head's own word on head's outputs
            verdict = _callable("failed", f"the check of base {foreign[0]}")
    unfinished = Path(out).with_suffix(".tmp")
    unfinished.write_text(json.dumps(bounded(verdict), allow_nan=False), encoding="utf-8")
    unfinished.replace(out)
    return 0


def within_tolerances(base: Any, head: Any, *, rtol: float, atol: float) -> OutputVerdict:
    """Compare leaf by leaf: structure, shapes and dtypes equal, numbers within ``atol + rtol * |base|``."""
    from ci_action.worker.outputs import leaves

    old, new = dict(leaves(base)), dict(leaves(head))
    if old.keys() != new.keys():
        places = sorted(old.keys() ^ new.keys())
        return _tolerances("failed", f"{places[0]} is there on one side only")
    for place, value in old.items():
        difference = _difference(value, new[place], rtol, atol)
        if difference:
            return _tolerances("failed", f"{place}: {difference}")
    return _tolerances("passed", "")


def by_callable(reference: str, root: Path, base: Any, head: Any) -> OutputVerdict:
    """Ask the owner's callable. An error of it proves no agreement, so it fails the check and says why."""
    from ci_action.worker.load import load_factory

    try:
        check: Callable[..., Any] = load_factory(reference, root)
        answer = check(base, head)
    except AssertionError as error:
        return _callable("failed", str(error))
    except Exception as error:  # noqa: BLE001 # the owner's check may raise anything
        return _callable("failed", f"the check raised {type(error).__name__}: {error}")
    if answer is None or answer is True:
        return _callable("passed", "")
    if answer is False:
        return _callable("failed", "")
    return _callable("failed", f"the check returned {type(answer).__name__}: None, True or False is accepted")


def _difference(base: Any, head: Any, rtol: float, atol: float) -> str:
    import torch

    if type(base) is not type(head):
        return f"{type(base).__name__} on base, {type(head).__name__} on head"
    if isinstance(base, float):
        base, head = (torch.tensor(value, dtype=torch.float64) for value in (base, head))
    if not isinstance(base, torch.Tensor):
        return "" if base == head else "the values differ"
    if base.shape != head.shape:
        return f"shape {list(base.shape)} on base, {list(head.shape)} on head"
    if base.dtype != head.dtype:
        return f"{base.dtype} on base, {head.dtype} on head"
    if torch.allclose(head, base, rtol=rtol, atol=atol, equal_nan=True):
        return ""
    wide = torch.complex128 if base.is_complex() else torch.float64
    largest = (head.to(wide) - base.to(wide)).abs().max().item()
    return f"differs by up to {largest:.3g}, beyond rtol {rtol:g} and atol {atol:g}"


def _tolerances(verdict: Any, message: str) -> OutputVerdict:
    return {"method": "tolerances", "verdict": verdict, "message": message}


def _callable(verdict: Any, message: str) -> OutputVerdict:
    return {"method": "callable", "verdict": verdict, "message": message}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
