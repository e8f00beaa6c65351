"""The files that ``init`` writes: a config to begin with, the factories it names, and the right workflows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from ci_action.core.config.entries import Config

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ci_action.core.config.layouts import CodeFolder

WorkflowKind = Literal["two-jobs", "same-repository", "forks", "sharded"]
WORKFLOWS: Mapping[WorkflowKind, Mapping[str, str]] = MappingProxyType(
    {
        "two-jobs": {"torchscan.yml": "two-jobs.yml"},
        "same-repository": {"torchscan.yml": "same-repository.yml"},
        "forks": {"torchscan.yml": "measure.yml", "torchscan-publish.yml": "publish.yml"},
        "sharded": {"torchscan.yml": "sharded.yml"},
    }
)
"""File in .github/workflows to the template that it is written from."""
FACTORIES = "bench/torchscan_models.py"
CONFIG = "torchscan.toml"
MOST_MODELS = 3
DEFAULT_IMPORT_PATHS = Config(source="", targets=()).import_paths


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundModel:
    """A class that derives from Module and can be built without arguments. ``module``: where to import it from."""

    name: str
    module: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a look at a repository finds. ``install`` fills an environment with what the models need."""

    models: tuple[FoundModel, ...] = ()
    install: str = "python -m pip install torch"
    config: str | None = None
    """Where a config is already."""
    code_folders: tuple[CodeFolder, ...] = ()
    """Where the repository keeps what it installs, beside ``src`` and its own top."""
    forks_because: str = ""
    """Why pull requests without a token that writes are to be expected; empty where nothing says so."""


def import_paths(survey: Survey) -> tuple[str, ...]:
    """Return the folders to import from: those that were found, then the default ones."""
    return tuple(dict.fromkeys([*(folder.path for folder in survey.code_folders), *DEFAULT_IMPORT_PATHS]))


def recommended(survey: Survey) -> WorkflowKind:
    """Choose the workflow that gives every pull request its comment, and runs its code apart from the token."""
    return "forks" if survey.forks_because else "two-jobs"


def starter_config(survey: Survey) -> str:
    """Write the config: everything that is not a comment is meant as it stands."""
    targets = "\n".join(_target(name) for name in target_names(survey))
    listed = ", ".join(map(json.dumps, import_paths(survey)))
    paths = f"import-paths = [{listed}]    # each side's own code, before what is installed\n"
    paths = paths if survey.code_folders else ""
    return f"""# What torchscan measures, and what may change. Limits count as they stand on the base branch.
# All keys: https://github.com/frgfm/torchscan-action#every-key-of-the-config
schema-version = 1
{paths}# accept-label = "torchscan: accepted"    # a writer sets it, and an exceeded limit is a warning for that commit

{targets}
# With none of these the run reports and passes.
[[limits]]
targets = ["*"]
metric = "operator_macs"
max-increase = "5%"
on-exceed = "fail"                        # fail | warn

[[limits]]
targets = ["*"]
metric = "operator_flops"
max-increase = "5%"
on-exceed = "warn"

[[limits]]
targets = ["*"]
metric = "parameters"
max-increase = "1%"
max-increase-by = "10 k"                  # both parts must be exceeded
on-exceed = "warn"
"""


def _target(name: str) -> str:
    return f'''[[targets]]
id = "{name}"                             # keep it: base and head are matched by it
factory = "{FACTORIES}:{name}"
# [targets.benchmark]                     # timings: more pairs of runs, minutes instead of seconds
# metrics = ["latency", "process_peak_rss"]
'''


def target_names(survey: Survey) -> list[str]:
    """Name the factories: the models in lower case, or an example."""
    return [model.name.lower() for model in survey.models] or ["example"]


def starter_factories(survey: Survey) -> str:
    """Write the functions that build what is measured."""
    imports = "".join(f"from {model.module} import {model.name}\n" for model in survey.models)
    calls = {model.name.lower(): f"{model.name}()" for model in survey.models} or {"example": "nn.Linear(8, 8)"}
    shape = "1, 3, 224, 224" if survey.models else "1, 8"
    functions = "".join(
        f"\n\ndef {name}():\n    return {call}, (torch.zeros({shape}),)  # the shape of one call's input\n"
        for name, call in calls.items()
    )
    torch = "import torch\n" if survey.models else "import torch\nfrom torch import nn\n"
    rest = f"\n{imports}" if imports else ""
    return f'"""What torchscan measures: a module and the arguments of one call each."""\n\n{torch}{rest}{functions}'


def starter_workflow(template: str, survey: Survey) -> str:
    """Fill the one place of a workflow that depends on the repository."""
    return template.replace("@INSTALL@", survey.install)
