"""Supervision of the workers, and what keeps targets from each other."""

from __future__ import annotations

from mutation import INTEGRATION, UNIT, of

EDGES = "ci_action/edges/workers"
LEFTOVERS, ISOLATED = f"{INTEGRATION}/test_worker_leftovers.py", f"{INTEGRATION}/test_worker_defaults.py"
LATE, RECORD = f"{INTEGRATION}/test_late_failures.py", f"{INTEGRATION}/test_measure_record.py"

MUTATIONS = [
    *of(
        ISOLATED,
        "ci_action/worker/forking.py",
        ("W9 targets share a process", "            child = os.fork()\n", "            child = 0\n"),
        (
            "W9 a process with threads is forked",
            'return len(os.listdir("/proc/self/task")) == 1 and',
            "return True and",
        ),
        ("W4 what a target left is not seen", "                return True\n", "                return False\n"),
    ),
    *of(
        LEFTOVERS,
        f"{EDGES}/orphans.py",
        (
            "W4 a detached process outlives its dead worker",
            "ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(is_on))",
            "pass",
        ),
    ),
    *of(
        LEFTOVERS,
        f"{EDGES}/side_run.py",
        (
            "W4 a target that cannot start ends the run",
            "            except OSError as error:  # measured",
            "            except ZeroDivisionError as error:  # measured",
        ),
    ),
    *of(
        LEFTOVERS,
        f"{EDGES}/output_check.py",
        ("W4 a check is waited for after its verdict", ", is_done=out.exists)", ")"),
    ),
    *of(
        ISOLATED,
        f"{EDGES}/target_process.py",
        ("W9 what a target left writes the next one's result", "        self.watched.kill_descendants()\n", ""),
    ),
    *of(
        ISOLATED,
        f"{EDGES}/result_file.py",
        (
            "W4 a result without its keys",
            '{"report", "failure", "seconds"} <= set(result) <=',
            "True or set(result) <=",
        ),
        ("W4 a report that is none", '            check_measured(result["report"])\n', "            pass\n"),
        ("W4 a failure that is none", '        read_failure(result["failure"])\n', "        pass\n"),
    ),
    *of(
        LATE,
        f"{EDGES}/lockstep_worker.py",
        (
            "W4 nonsense of one side is the other's failure",
            " or not is_sound(expected, answer[expected])",
            "",
        ),
    ),
    *of(
        LATE,
        f"{EDGES}/lockstep.py",
        (
            "W4 a side is not probed where the other failed",
            "                failures.append(failed)\n",
            "                raise\n",
        ),
    ),
    *of(
        RECORD,
        "ci_action/edges/evidence_folder.py",
        ("W4 results wait for the end", "            _write_count(self._sink, side, len(self._results[side]))\n", ""),
        ("W4 a folder in the way ends the run", "with suppress(OSError, ActionError):  # the", "if True:  # the"),
    ),
    *of(
        RECORD,
        "ci_action/commands/stages.py",
        (
            "W4 measured code writes the evidence",
            "            record.write()  # whatever",
            "            pass  # whatever",
        ),
    ),
    *of(
        f"{UNIT}/edges/test_lockstep_schedule.py",
        f"{EDGES}/lockstep.py",
        (
            "W4 evidence that cannot be read is handed on",
            "        return read_evidence(found)\n",
            "        return found\n",
        ),
    ),
]
