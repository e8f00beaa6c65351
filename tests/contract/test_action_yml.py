"""action.yml, the variables that it sets, and what the program reads are one list."""

from __future__ import annotations

import re
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from ci_action.core.modes import Mode
from ci_action.edges.environ import ActionInputs
from ci_action.edges.workers.environment import DENIED
from ci_action.main import COMMANDS

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["id"]: step for step in ACTION["runs"]["steps"]}
OURS = {"TORCHSCAN_FOLDER", "TORCHSCAN_ARTIFACT_URL", "TORCHSCAN_IS_JOB_TOKEN"}
ISOLATION = {"BASH_ENV": "", "LD_PRELOAD": "", "LD_AUDIT": "", "OPENSSL_CONF": "/dev/null"}
"""What would load code of the checkout into bash or Python themselves."""
FROM_SETUP = {
    "LD_LIBRARY_PATH": "libraries",
    "TORCHSCAN_GIVEN_LIBRARIES": "given-libraries",
    "TORCHSCAN_FOLDER": "folder",
    "TORCHSCAN_PYTHON": "python",
    "TORCHSCAN_SEAL": "seal",
    "TORCHSCAN_SEAL_CHECK": "seal-check",
    "TORCHSCAN_SEAL_PYTHON": "seal-python",
}
FROM_STEPS = {
    "TORCHSCAN_PLAN_DIGEST": ["${{ steps.plan.outputs.digest }}"],
    "TORCHSCAN_RESULTS_DIGEST": [
        "${{ steps.measure.outputs.results }}",  # pack stands before merge
        "${{ steps.measure.outputs.results || steps.merge.outputs.results }}",
    ],
    "TORCHSCAN_EXIT_CODE": ["${{ steps.publish.outputs.exit-code }}"],
    "TORCHSCAN_HEADLINE": ["${{ steps.publish.outputs.headline }}"],
}
"""What later steps believe: the runner holds step outputs, and measured code cannot write those of another step."""
SHELL = "bash --noprofile --norc -p -e -o pipefail {0}"
"""As the runner starts ``bash``, and -p: it takes no functions, options or BASH_ENV from the job's environment
(https://www.gnu.org/software/bash/manual/html_node/The-Set-Builtin.html)."""
START = "venv/bin/python -I -B -m ci_action "
CHECK = '"$TORCHSCAN_SEAL_PYTHON" -I -S -c "$TORCHSCAN_SEAL_CHECK" venv "$TORCHSCAN_SEAL"'


def variables(step: dict[str, Any]) -> dict[str, str]:
    return step.get("env", {})


def test_inputs_are_the_fields_of_action_inputs() -> None:
    assert set(ACTION["inputs"]) == {item.name.replace("_", "-") for item in fields(ActionInputs)}


def test_every_input_reaches_the_program_through_its_own_variable() -> None:
    given = [pair for step in STEPS.values() for pair in variables(step).items()]
    others = {*OURS, *ISOLATION, *FROM_SETUP, *FROM_STEPS} - {"TORCHSCAN_GIVEN_PYTHON"}
    seen = {name.replace("_GIVEN_", "_"): value for name, value in given if name not in others}
    assert len(seen) == len({pair for pair in given if pair[0] not in others})  # the same in every step
    expected = {f"TORCHSCAN_{name.upper().replace('-', '_')}": f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]}
    assert seen == expected


def test_every_input_is_described_and_has_a_default() -> None:
    for name, entry in ACTION["inputs"].items():
        assert entry["description"], name
        assert "default" in entry, name


def test_defaults_are_those_of_the_program() -> None:
    for item in fields(ActionInputs):
        default = ACTION["inputs"][item.name.replace("_", "-")]["default"]
        if "${{" in default:  # the runner knows it
            continue
        wanted = item.default
        shown = "" if wanted is None else str(wanted).lower() if isinstance(wanted, bool) else str(wanted)
        assert default == shown, item.name


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS.keys())
def test_no_expression_stands_in_a_script(step: dict[str, Any]) -> None:
    assert "${{" not in step.get("run", "")
    assert "uses" in step or step["shell"] == SHELL


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS.keys())
def test_every_variable_in_a_script_is_quoted(step: dict[str, Any]) -> None:
    script = re.sub(r'"[^"]*"', '""', step.get("run", ""))
    assert "$" not in script


@pytest.mark.parametrize("step", [step for step in STEPS.values() if "run" in step], ids=lambda step: step["id"])
def test_every_program_is_started_isolated_and_in_a_folder_of_ours(step: dict[str, Any]) -> None:
    given = variables(step)
    assert {name: given.get(name) for name in ISOLATION} == ISOLATION
    assert {name: value for name, value in given.items() if name in FROM_SETUP} == {
        name: f"${{{{ steps.setup.outputs.{FROM_SETUP[name]} }}}}" for name in given if name in FROM_SETUP
    }
    if step["id"] != "setup":
        first, *others = step["run"].splitlines()
        assert first == 'cd "$TORCHSCAN_FOLDER"'
        assert "LD_LIBRARY_PATH" in given
        assert [line for line in others if not line.removeprefix("exec ").startswith(START) and line != CHECK] == []


def test_later_steps_believe_step_outputs_alone() -> None:
    wanted = {"measure": {"PLAN_DIGEST"}, "merge": {"PLAN_DIGEST"}, "gate": {"EXIT_CODE", "HEADLINE"}}
    wanted |= {name: {"PLAN_DIGEST", "RESULTS_DIGEST"} for name in ("pack", "publish")}
    for name, step in STEPS.items():
        given = {key: value for key, value in variables(step).items() if key in FROM_STEPS}
        assert set(given) == {f"TORCHSCAN_{part}" for part in wanted.get(name, ())}, name
        assert [value for key, value in given.items() if value not in FROM_STEPS[key]] == []


def test_nothing_is_started_after_measuring_before_the_environment_is_compared_with_its_seal() -> None:
    lines = [line for step in STEPS.values() for line in step.get("run", "").splitlines() if step["id"] != "setup"]
    runs_foreign_code = [lines.index(line) for line in lines if " measure " in line]
    assert len(runs_foreign_code) == 1
    alone = {"merge", "receive"}  # of modes in which no foreign code runs
    for before, line in pairwise(lines):
        stage = line.partition(START)[2].partition(" ")[0]
        if lines.index(line) > runs_foreign_code[0] and stage and stage not in alone:
            assert before == CHECK or "merge" in before, line


def test_foreign_code_runs_in_a_step_without_a_token() -> None:
    measuring = variables(STEPS["measure"])
    assert set(measuring) == {
        *ISOLATION,
        *FROM_SETUP,
        "TORCHSCAN_PLAN_DIGEST",
        "TORCHSCAN_WORKING_DIRECTORY",
        "TORCHSCAN_ARTIFACT_NAME",
        "TORCHSCAN_SHARD",
    }
    assert not [value for value in measuring.values() if "token" in value.lower() or "secrets" in value]


def test_each_mode_runs_the_steps_that_it_needs_and_no_others() -> None:
    def runs(step: str, mode: str) -> bool:
        words = re.findall(r"inputs\.mode (==|!=) '(\w+)'", STEPS[step].get("if", ""))
        wanted = [name for sign, name in words if sign == "=="]
        return (not wanted or mode in wanted) and mode not in [name for sign, name in words if sign == "!="]

    assert {mode: [step for step in STEPS if runs(step, mode)] for mode in get_args(Mode)} == {
        "full": ["setup", "plan", "measure", "upload", "publish", "gate"],
        "plan": ["setup", "plan"],
        "measure": ["setup", "plan", "measure", "pack", "upload-evidence", "upload", "publish"],
        "merge": ["setup", "plan", "collect", "merge", "upload", "publish", "gate"],
        "publish": ["setup", "receive", "upload", "publish", "gate"],
    }


def test_every_action_that_is_used_is_pinned_by_its_commit() -> None:
    for match in re.finditer(r"uses: (\S+)(.*)", (ROOT / "action.yml").read_text(encoding="utf-8")):
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", match[1])
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", match[2])


def test_the_steps_are_in_the_order_that_lets_nothing_hide_a_report() -> None:
    split = ["pack", "upload-evidence", "collect", "merge", "receive"]
    assert list(STEPS) == ["setup", "plan", "measure", *split, "upload", "publish", "gate"]
    assert STEPS["upload"]["continue-on-error"] is True


def test_the_stages_exist() -> None:
    called = set(re.findall(r"-m ci_action (\w+)", "\n".join(step.get("run", "") for step in STEPS.values())))
    assert called == {"plan", "measure", "pack", "merge", "receive", "render", "publish", "gate"}
    assert called < set(COMMANDS)


def test_outputs_are_the_documented_ones() -> None:
    assert set(ACTION["outputs"]) == {"verdict", "comment-url", "artifact-url", "report-path", "json", "matrix"}


def test_it_can_be_listed() -> None:
    assert {"name", "description", "author", "branding", "inputs", "outputs", "runs"} == set(ACTION)
    assert len(ACTION["description"]) < 125  # what the marketplace shows


def test_our_own_variables_never_reach_a_worker() -> None:
    assert "TORCHSCAN_*" in DENIED


def test_every_requirement_is_pinned_with_hashes() -> None:
    text = (ROOT / "ci_action" / "requirements.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert len(lines) > 10
    assert all(re.match(r"[a-z0-9-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line) for line in lines)
    assert {"click", "jinja2", "jsonschema", "psutil", "requests", "hatchling"} <= {
        line.partition("==")[0] for line in lines
    }
