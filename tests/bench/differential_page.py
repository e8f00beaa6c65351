"""From the answers of all tools to a cause for each difference, and the page that lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Answers = Mapping[str, Mapping[str, Any]]
Causes = list[str]

EQUAL, CRASH, UNEXPLAINED = "equal", "crash", "unexplained"
_PRODUCTS = frozenset({"conv", "linear", "addmm", "bmm", "mm", "matmul", "einsum"})


def _against_flop_counter(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Causes:
    missing = {name: macs for name, macs in ours["by_operator"].items() if name not in theirs["known"]}
    if theirs["flops"] == 2 * ours["macs"]:
        return []
    if theirs["flops"] + 2 * sum(missing.values()) != 2 * ours["macs"]:
        return [UNEXPLAINED]
    return [f"no formula for `{name}`, so its products read 0" for name in missing]


def _against_fvcore(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Causes:
    from fvcore_formulas import FORMULAS

    plain, taught = theirs["by_operator"], theirs["taught"]
    known = {name.removeprefix("aten::") for name in FORMULAS} - _PRODUCTS
    others = {name for name, count in plain.items() if count and name not in _PRODUCTS}
    causes = [f"adds `{name}` operations to products" for name in sorted(others)]
    causes += [f"no formula for `{name}`" for name in sorted(known) if taught.get(name)]
    causes += [_INEXACT[name] for name in sorted(_INEXACT) if taught.get(name) != plain.get(name)]
    products = sum(count for name, count in taught.items() if name in _PRODUCTS or name in known)
    if products == ours["macs"]:
        return causes
    return [*causes, *(_remaining_in_fvcore(ours, theirs["seen"], ours["macs"] - products) or [UNEXPLAINED])]


def _remaining_in_fvcore(ours: Mapping[str, Any], seen: list[str], gap: float) -> Causes:
    """Find exactly what is missing: layers that the trace dropped, grouped products, or both."""
    dropped = sum(macs for path, macs in ours["by_path"].items() if path not in seen)
    grouped = ours["by_operator"].get("aten._grouped_mm", 0)
    for words in (
        {"trace drops layers that no output depends on": dropped},
        {"no formula for `_grouped_mm`": grouped},
        {"trace drops layers that no output depends on": dropped, "no formula for `_grouped_mm`": grouped},
    ):
        if sum(words.values()) == gap:
            return list(words)
    return []


_INEXACT = {
    "einsum": "`einsum` read from a printed path, rounded to four digits, or counted where it sums nothing",
    "matmul": "`matmul` taken by its first operand, which may be broadcast",
}


def _against_torchinfo(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Causes:
    """Differences by group of leaf layers add up to the whole: theirs counts by parameters, ours by products."""
    causes = []
    counted = 0
    for group, words in _LAYER_GROUPS.items():
        mine, other = (
            sum(macs for name, macs in side["by_layer"].items() if _group(name) == group) for side in (ours, theirs)
        )
        counted += mine
        if mine != other:
            causes.append(words)
    if ours["macs"] != counted:
        causes.append("sees no product outside leaf layers: attention, functional matrix products")
    is_whole = ours["macs"] >= counted and sum(theirs["by_layer"].values()) == theirs["macs"]
    if theirs["macs"] == ours["macs"] and causes:
        causes.append(UNEXPLAINED)
    return causes if is_whole else [UNEXPLAINED]


_LAYER_GROUPS = {
    "linear": "Linear: batch x parameters, bias included, middle axes left out",
    "convolution": "convolution: every parameter at every output position, bias included; transposed by its output",
    "recurrent": "recurrent: parameters of leading axes of the output, biases included",
    "other": "counts parameters of normalization, embedding and other layers as products",
}


def _group(name: str) -> str:
    if "Linear" in name:
        return "linear"
    if "Conv" in name:
        return "convolution"
    return "recurrent" if name in {"LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"} else "other"


_RULES: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Causes]] = {
    "FlopCounterMode": _against_flop_counter,
    "fvcore": _against_fvcore,
    "torchinfo": _against_torchinfo,
}


def classify(tool: str, answers: Mapping[str, Any]) -> Causes:
    """Say how a tool's answer about one model differs from ours: nothing where it does not."""
    theirs = answers[tool]
    if "crash" in theirs:
        return [f"{CRASH}: {theirs['crash']}"]
    return _RULES[tool](answers["ours"], theirs)


def page(answers: Answers) -> str:
    """Give the whole page as Markdown."""
    lines = [_HEADER.format(models=len(answers)).rstrip("\n")]
    for tool in _RULES:
        found = {name: classify(tool, answer) for name, answer in answers.items()}
        lines += ["", f"## {tool}", "", _summary(found), "", "| cause | models | which |", "| --- | --- | --- |"]
        lines += [f"| {cause} | {len(names)} | {_listed(names)} |" for cause, names in _by_cause(found)]
    parameters = {name: _parameters(answer["ours"], answer["torchinfo"]) for name, answer in answers.items()}
    lines += ["", "## Parameters of torchinfo", "", _summary(parameters), "", "| cause | models | which |"]
    lines += ["| --- | --- | --- |"]
    lines += [f"| {cause} | {len(names)} | {_listed(names)} |" for cause, names in _by_cause(parameters)]
    return "\n".join(lines) + "\n"


def _by_cause(found: Mapping[str, Causes]) -> list[tuple[str, list[str]]]:
    grouped: dict[str, list[str]] = {}
    for name, causes in found.items():
        for cause in causes:
            grouped.setdefault(cause, []).append(name)
    return sorted(grouped.items(), key=lambda item: (-len(item[1]), item[0]))


def _summary(found: Mapping[str, Causes]) -> str:
    equal = sum(not causes for causes in found.values())
    crashed = sum(any(cause.startswith(CRASH) for cause in causes) for causes in found.values())
    unexplained = sum(UNEXPLAINED in causes for causes in found.values())
    rest = len(found) - equal - crashed - unexplained
    return f"Equal on {equal}, different and explained on {rest}, unexplained on {unexplained}, no answer on {crashed}."


def _parameters(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Causes:
    if "crash" in theirs:
        return [f"{CRASH}: {theirs['crash']}"]
    told = theirs["parameters"]
    if told == ours["parameters"]:
        return []
    if told == ours["held"]:
        return ["tied weights count at every layer that holds them"]
    if told == ours["called"]:
        return ["counts what called leaf layers hold, nothing else"]
    return [UNEXPLAINED]


def _listed(names: list[str], shown: int = 5) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(f"`{name}`" for name in names[:shown]) + more


_HEADER = """\
# Where others count differently

Generated by `tests/bench/differential.py`. {models} models of the test zoo, evaluation forward on a CPU, the same model
and inputs for everyone. Compared are the multiply-accumulates of matrix products, convolutions and attention: our
`totals.operator_macs`, half of FlopCounterMode's total, fvcore's total (one per multiply-add), torchinfo's mult-adds.

A cause is decided by a rule, never by hand. FlopCounterMode: adding our count of exactly the operators that it has no
formula for must give our total. fvcore: teaching it formulas for operators that it does not know, and taking out what
it counts beside products, must. torchinfo: its layers and ours are compared type by type, which adds up to the whole
difference. What no rule accounts for exactly is called unexplained. A model may have several causes.
"""
