"""Where measured code runs, and what it can reach."""

from __future__ import annotations

from mutation import CONTRACT, INTEGRATION, UNIT, of

MUTATIONS = [
    *of(
        f"{UNIT}/worker/test_load.py",
        "ci_action/worker/load.py",
        ("S22 a factory outside of the worktree", "is_relative_to", "is_absolute() or Path.is_relative_to"),
    ),
    *of(
        f"{INTEGRATION}/test_worker.py",
        "ci_action/edges/workers/environment.py",
        (
            "S12 credentials reach measured code",
            "if not _matches(name, DENIED) and (_matches(name, ALLOWED) or name in wanted)",
            "if True",
        ),
    ),
    *of(
        f"{INTEGRATION}/test_lockstep_faults.py",
        "ci_action/worker/environment.py",
        ("F1 a daemon outlives its worker", "    control(PR_SET_CHILD_SUBREAPER, 1)\n", ""),
    ),
    *of(
        f"{INTEGRATION}/test_lockstep_faults.py",
        "ci_action/edges/workers/watch.py",
        (
            "F1 a child started after the last look outlives it",
            "self._resident_bytes()  # whatever it started since the last look",
            "pass",
        ),
    ),
    *of(
        f"{UNIT}/worker/test_outputs.py",
        "ci_action/worker/outputs.py",
        ("F3 an expanded output is copied first", "self._take(size)  # before", "pass  # before"),
    ),
    *of(
        f"{CONTRACT}/test_action_yml.py",
        "action.yml",
        (
            "S5 an expression in a script",
            "exec venv/bin/python -I -B -m ci_action gate",
            '"${{ steps.setup.outputs.folder }}/venv/bin/python" -I -B -m ci_action gate',
        ),
        ("S6 an action by its tag", "@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c # v8.0.1", "@v8"),
        (
            "S12 a token in the measuring step",
            "        TORCHSCAN_GIVEN_LIBRARIES: ${{ steps.setup.outputs.given-libraries }}\n",
            "        TORCHSCAN_TOKEN: ${{ inputs.token }}\n",
        ),
        ("B21 a failed upload hides the verdict", "      continue-on-error: true # a report", "      # a report"),
    ),
]
