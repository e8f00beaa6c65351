"""What one use of the action does, and how its gate is said beside the commit."""

from __future__ import annotations

from typing import Literal

Mode = Literal["full", "plan", "measure", "merge", "publish"]
"""full: everything in one job. plan: choose shards. measure: no comment, leave evidence. merge: join shards, comment.
publish: comment for another run, under workflow_run alone."""

StatusKind = Literal["none", "commit", "check"]
