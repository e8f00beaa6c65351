"""What a factory may return, and the same thing in one form: module, arguments and the owner's own formulas."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from ci_action.worker.load import Factory, FactoryError

ACCEPTED = "return a torch.nn.Module, (module, args), (module, args, kwargs) or a dict"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltTarget:
    """A model with the arguments of one forward call, or a workload that needs neither."""

    model: nn.Module | None = None
    args: tuple[Any, ...] | None = None
    kwargs: Mapping[str, Any] | None = None
    workload: Callable[[], Any] | None = None
    work_units: float | None = None
    work_unit: str | None = None
    custom_modules: Mapping[type[nn.Module], Any] | None = None
    custom_mapping: Mapping[Any, Callable[..., int | float]] | None = None


def build(factory: Factory, device: str) -> BuiltTarget:
    """Call the factory and put what it returns on ``device`` (cpu, meta or cuda). Raises FactoryError."""
    if device == "cuda" and not torch.cuda.is_available():
        raise FactoryError("device = 'cuda', but torch finds no CUDA device here")
    if device == "meta":
        with torch.device("meta"):  # the weights are never allocated
            return _moved(as_target(factory()), device)
    built = as_target(factory())
    return built if device == "cpu" else _moved(built, device)


def as_target(returned: object) -> BuiltTarget:
    """Bring what a factory returned into one form. Raises FactoryError naming what was found and what is accepted."""
    if isinstance(returned, nn.Module):
        return BuiltTarget(model=returned)
    if isinstance(returned, Mapping):
        return _from_mapping(returned)
    if isinstance(returned, tuple) and 2 <= len(returned) <= 3 and isinstance(returned[0], nn.Module):
        return _from_mapping(dict(zip(("model", "args", "kwargs"), returned, strict=False)))
    raise FactoryError(f"the factory returned {_described(returned)}: {ACCEPTED}")


def with_arguments(target: BuiltTarget) -> BuiltTarget:
    """Check that the forward can be called with what was given. Raises FactoryError naming what is missing."""
    if target.model is None:
        raise FactoryError(
            "an analysis needs a model, and the factory gave none: add 'model', or set analysis = \"off\""
        )
    args, kwargs = target.args or (), target.kwargs or {}
    try:
        inspect.signature(target.model.forward).bind(*args, **kwargs)
    except TypeError as error:
        shown = "no inputs" if not (args or kwargs) else "inputs that do not fit"
        raise FactoryError(
            f"the factory gave {shown} for {type(target.model).__name__}.forward ({error}): return (module, (inputs,))"
        ) from error
    except ValueError:
        pass  # a forward written in C has no signature to check against
    return replace(target, args=args, kwargs=kwargs)


def _from_mapping(given: Mapping[Any, Any]) -> BuiltTarget:
    known = set(BuiltTarget.__dataclass_fields__)
    unknown = sorted(str(key) for key in given if key not in known)
    if unknown:
        raise FactoryError(f"the factory's dict has the key {unknown[0]!r}; accepted are {', '.join(sorted(known))}")
    target = BuiltTarget(**given)
    for name, (fits, wanted) in _EXPECTED.items():
        if given.get(name) is not None and not fits(given[name]):
            raise FactoryError(f"the factory's {name} is {_described(given[name])}: {wanted}")
    return target


def _moved(target: BuiltTarget, device: str) -> BuiltTarget:
    model = target.model.to(device) if target.model is not None else None
    args = None if target.args is None else tuple(_tensors_to(value, device) for value in target.args)
    kwargs = (
        None if target.kwargs is None else {key: _tensors_to(value, device) for key, value in target.kwargs.items()}
    )
    return replace(target, model=model, args=args, kwargs=kwargs)


def _tensors_to(value: Any, device: str) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {key: _tensors_to(item, device) for key, item in value.items()}
    if isinstance(value, list):
        return [_tensors_to(item, device) for item in value]
    if type(value) is tuple:
        return tuple(_tensors_to(item, device) for item in value)
    return value


def _described(value: object) -> str:
    if isinstance(value, tuple):
        return f"a tuple of {', '.join(type(item).__name__ for item in value)}" if value else "an empty tuple"
    return "None" if value is None else f"an object of type {type(value).__name__}"


_EXPECTED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "model": (lambda value: isinstance(value, nn.Module), "a torch.nn.Module is needed"),
    "args": (lambda value: isinstance(value, tuple), "a tuple is needed, as in (module, (inputs,))"),
    "kwargs": (lambda value: isinstance(value, Mapping), "a mapping from names to values is needed"),
    "workload": (callable, "a callable without arguments is needed"),
    "custom_modules": (lambda value: isinstance(value, Mapping), "a mapping from module types to handlers is needed"),
    "custom_mapping": (lambda value: isinstance(value, Mapping), "a mapping from operators to formulas is needed"),
}
