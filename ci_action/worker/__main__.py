"""``python -P -m ci_action.worker SPEC.json``: measures one side and writes one result file per target."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(spec_file: str) -> int:
    from ci_action.worker.environment import die_with_parent, missing_torch, report_missing, without_collections
    from ci_action.worker.load import prepend_import_paths

    spec = json.loads(Path(spec_file).read_text(encoding="utf-8"))
    die_with_parent()
    with without_collections():
        reason = missing_torch()
        if reason:
            report_missing(spec, reason)
            return 0
        from ci_action.worker.run import run_targets  # ours is loaded before the owner's folders come first

    (Path(spec["out"]) / "ready").touch()
    prepend_import_paths(Path(spec["root"]), spec["import_paths"])
    sys.argv = [spec_file]
    run_targets(spec)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
