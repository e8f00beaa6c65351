"""What a timing is taken under: torch's threads."""

from __future__ import annotations

from mutation import INTEGRATION, UNIT, of

MUTATIONS = [
    *of(
        f"{INTEGRATION}/test_lockstep_faults.py",
        "ci_action/worker/threads.py",
        (
            "F2 inter-op threads change unseen",
            "return torch.get_num_threads(), torch.get_num_interop_threads()",
            "return torch.get_num_threads(), 1",
        ),
    ),
    *of(
        f"{INTEGRATION}/test_lockstep_threads.py",
        "ci_action/worker/threads.py",
        (
            "F5 a count that follows the cores is the workload's fault",
            "comparable = counts if cores == self._cores else _counts_on(self._cores, cores)",
            "comparable = counts",
        ),
        (
            "F5 other cores hide what the workload changed",
            "comparable = counts if cores == self._cores else _counts_on(self._cores, cores)",
            "comparable = counts if cores == self._cores else None",
        ),
    ),
    *of(
        f"{INTEGRATION}/test_lockstep_threads.py",
        "ci_action/worker/session.py",
        (
            "F5 the cores given between two commands are taken for the workload's",
            "self.threads.check()  # since the last one the orchestrator may have given it other cores",
            "pass",
        ),
    ),
    *of(
        f"{UNIT}/worker/test_threads.py",
        "ci_action/worker/threads.py",
        ("F5 a reading on too few cores counts", "return _counts() if _cores() == cores else None", "return _counts()"),
        ("F5 a reading leaves its cores behind", "os.sched_setaffinity(0, present)", "pass"),
    ),
]
