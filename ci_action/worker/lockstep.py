"""``python -P -m ci_action.worker.lockstep SPEC.json IN OUT``: one side of a lockstep pair, block by block on command.

Commands and answers are JSON lines on the two descriptors; standard output stays the measured code's own. The process
builds the target, warms it up, says what it is, and then runs a block whenever it is told to.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TextIO

from ci_action.core.spec import Failure, Stage, WorkerSpec
from ci_action.core.timing.lockstep import ANSWER_BYTES, Answer
from ci_action.worker.failure import describe
from ci_action.worker.isolation import foreign_modules
from ci_action.worker.missing import place_in_checkout


def serve(spec: WorkerSpec, commands: TextIO, answers: TextIO) -> None:
    """Answer until the commands end, or until the measured code fails: its failure is the last answer."""
    from ci_action.worker.session import prepare

    stage: Stage = "load"

    def enter(name: Stage) -> None:
        nonlocal stage
        stage = name

    root = Path(spec["root"]).resolve()
    try:
        session = prepare(spec, enter)
        _check_origin(spec)
        checked = len(sys.modules)
        _send(answers, {"ready": session.ready})
        for line in commands:
            answer = session.answer(json.loads(line))
            if len(sys.modules) != checked:  # any call may load another module, and no command says that it is the last
                _check_origin(spec)
                checked = len(sys.modules)
            _send(answers, answer)
    except BaseException as error:  # noqa: BLE001 # sys.exit() in a model is a failure with a name as well
        found: Stage = "isolation" if isinstance(error, IsolationError) else stage
        failure: Failure = describe(error, found, root, place_in_checkout(spec))
        _send(answers, {"failure": failure})


class IsolationError(Exception):
    """This side ran code of the other."""


def _check_origin(spec: WorkerSpec) -> None:
    """Raise IsolationError where code of the repository was loaded that is not this side's."""
    found = foreign_modules(
        Path(spec["root"]), Path(spec["worktree"]), Path(spec["checkout"]), spec["import_paths"], spec["side"]
    )
    if found:
        raise IsolationError(f"{spec['side']} {found[0]}")


def _send(answers: TextIO, answer: Answer) -> None:
    from ci_action.worker.wire import bounded

    line = json.dumps(bounded(answer), allow_nan=False, separators=(",", ":"))
    if len(line) > ANSWER_BYTES:
        raise ValueError(f"an answer of {len(line)} bytes: the target's inputs are too many to describe")
    answers.write(line + "\n")
    answers.flush()


def main(spec_file: str, reader: str, writer: str) -> int:
    """Open the channel and serve."""
    from ci_action.worker.environment import die_with_parent, environment_fault, missing_torch, without_collections
    from ci_action.worker.load import prepend_import_paths

    die_with_parent()
    for descriptor in (int(reader), int(writer)):
        os.set_inheritable(descriptor, False)  # programs that the measured code starts have no part in this
    with os.fdopen(int(reader), encoding="utf-8") as commands, os.fdopen(int(writer), "w", encoding="utf-8") as answers:
        with without_collections():
            reason = missing_torch()
            if reason:
                _send(answers, {"failure": environment_fault(reason)})
                return 0
            import ci_action.worker.session  # noqa: F401 # ours is loaded before the owner's folders come first

        spec: WorkerSpec = json.loads(Path(spec_file).read_text(encoding="utf-8"))
        prepend_import_paths(Path(spec["root"]), spec["import_paths"])
        sys.argv = [spec_file]
        serve(spec, commands, answers)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
