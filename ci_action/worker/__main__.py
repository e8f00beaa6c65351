"""``python -P -m ci_action.worker SPEC.json [IN OUT]``: the targets of one side, each in a process of its own.

With two descriptors the process loads torch, and nothing of the repository, and forks a child for every command that it
reads. Without them it measures the spec's only target itself: where a process with torch in it cannot be forked safely.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def main(spec_file: str, *descriptors: str) -> int:
    """Load torch, then serve or measure. Where this interpreter cannot measure, that is the answer."""
    from ci_action.worker.environment import die_with_parent, missing_torch, one_blas_thread, without_collections

    die_with_parent()
    spec = json.loads(Path(spec_file).read_text(encoding="utf-8"))
    channel = [int(descriptor) for descriptor in descriptors]
    for descriptor in channel:
        os.set_inheritable(descriptor, False)  # programs that the measured code starts have no part in this
    with one_blas_thread(), without_collections():
        reason = missing_torch()
        if not reason:
            import ci_action.worker.run  # noqa: F401 # ours is loaded before the owner's folders come first
    sys.argv = [spec_file]
    if channel:
        from ci_action.worker.forking import serve

        return serve(spec, *channel, reason=reason)
    if reason:
        from ci_action.worker.environment import report_missing

        report_missing(spec, reason)
        return 0
    from ci_action.worker.run import run_and_exit

    return run_and_exit(spec, spec["targets"][0], Path(spec["out"]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
