"""What an event may claim: kinds of events, commits, whose run it was."""

from __future__ import annotations

from mutation import UNIT, of

MUTATIONS = [
    *of(
        f"{UNIT}/core/test_event_file.py",
        "ci_action/core/event_file.py",
        ("S1 a dangerous event measures", "if name not in _READERS:", "if False:"),
        ("B36 a new branch has a base of zeros", "if before is None or _is_zeros(before):", "if before is None:"),
        ("B36 a deleted branch is measured", 'if payload.get("deleted") is True or', "if False and"),
    ),
    *of(
        f"{UNIT}/core/test_event_file.py",
        "ci_action/core/payload.py",
        ("S18 a branch reads as an option", r'r"(?!-)(?!', r'r"(?!'),
        (
            "S18 a commit is a name",
            "if not isinstance(value, str) or not pattern.fullmatch(value):",
            "if not isinstance(value, str):",
        ),
    ),
    *of(
        f"{UNIT}/core/test_event_file.py",
        "ci_action/core/event.py",
        ("S1 a deleted fork is no fork", "self.head_repository is None or ", "self.head_repository is not None and "),
    ),
    *of(
        f"{UNIT}/core/test_producing_run.py",
        "ci_action/core/handover/producing_run.py",
        ("S1 publishing under any event", 'if name != "workflow_run":', "if False:"),
        ("S3 a push is published", 'if run.get("event") != "pull_request":', "if False:"),
        ("S4 a path of any form", "return match(_PATH, plain,", "return str(plain) or match(_PATH, plain,"),
    ),
    *of(
        f"{UNIT}/test_proof.py",
        "ci_action/proof.py",
        ("S3 another commit's pull request", "and pull.head_sha == run.head_sha", ""),
        ("S3 another branch's pull request", "and pull.head_ref == run.head_branch", ""),
        (
            "S3 another fork's pull request",
            '(pull.head_repository or "").lower() == (run.head_repository or "-").lower()\n        and',
            "",
        ),
        ("S3 a pull request inside the fork", "and pull.base_repository.lower() == repository.lower()", ""),
        ("S3 one of two pull requests", "if len(found) != 1:", "if not found:"),
        ("S4 another workflow is believed", "if run.path != workflow:", "if False:"),
        ("S4 another repository is believed", "if run.repository.lower() != repository.lower():", "if False:"),
        ("S26 evidence of another head", "if received.head_sha != pull.head_sha:", "if False:"),
        (
            "S13 a base from anywhere",
            "if received.base_sha != parted and not _is_between",
            "if False and not _is_between",
        ),
        ("S13 a base from before the branch", " and remote.compare(parted, base).has_base_as_ancestor", ""),
        ("S13 a base that is on no branch", "remote.compare(base, branch).has_base_as_ancestor and ", ""),
        ("S26 a merge commit of something else", "if is_merge and remote.parents", "if False and remote.parents"),
    ),
]
