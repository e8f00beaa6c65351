"""What leaves the process: commands, outputs, comments, statuses, requests."""

from __future__ import annotations

from mutation import INTEGRATION, UNIT, of

MUTATIONS = [
    *of(
        f"{INTEGRATION}/test_split_api.py",
        "ci_action/edges/github/remote.py",
        ("S18 a name in place of a commit", "if not SHA.fullmatch(sha):", "if False:"),
        ("B30 a branch cuts the query", 'quote(f"{owner}:{branch}", safe="")', 'f"{owner}:{branch}"'),
    ),
    *of(
        f"{INTEGRATION}/test_github_api.py",
        "ci_action/edges/github/api.py",
        ("S24 the token leaves its host", "if not same or not", "if False and not"),
        ("B6 only the first page", "if following is None:", "if True:"),
        ("B13 a POST is repeated blindly", "if not is_paced and not is_repeatable:", "if False:"),
        (
            "S24 a password of .netrc replaces the token",
            "self._session.auth = _Bearer(token)",
            'self._session.headers["Authorization"] = f"Bearer {token}"',
        ),
    ),
    *of(
        f"{UNIT}/test_status.py",
        "ci_action/status.py",
        ("B51 unknown reads as known", "is_known=verdict.outcome is not Gate.UNKNOWN", "is_known=True"),
        (
            "B51 a gate that was not written",
            "        return PublishError.exit_code if is_gate else 0\n",
            "        return 0\n",
        ),
    ),
    *of(
        f"{UNIT}/edges/test_outputs.py",
        "ci_action/edges/commands.py",
        ("S16 ##[ in the middle of a line", 'visible(line).replace("##[", "## [")', "visible(line)"),
        ("S16 :: at the start of a line", 'if rest.startswith("::") else broken', "if False else broken"),
        ("S15 an output of any name", "if not OUTPUT_NAME.fullmatch(name):", "if False:"),
        ("S16 a message of two lines", '"\\n": "%0A"', '"\\n": "\\n"'),
        ("S16 a file's name ends its property", '.replace(",", "%2C")', ""),
    ),
    *of(
        f"{UNIT}/edges/test_outputs.py",
        "ci_action/edges/outputs.py",
        ("B22 a summary over its limit", "if len(markdown.encode()) > room:", "if False:"),
        ("S22 a file outside of the report", 'if Path(name).is_absolute() or ".." in Path(name).parts:', "if False:"),
    ),
    *of(
        f"{UNIT}/edges/test_environ.py",
        "ci_action/edges/environ.py",
        ("S11 the token is shown", 'if item.name != "token"', "if item.name"),
        ("S24 an API without TLS", 'if not host or not (parts.scheme == "https" or local)', "if not host"),
        (
            "S23 a comment id of any form",
            'if not COMMENT_ID.fullmatch(read.get("comment_id", "default")):',
            "if False:",
        ),
    ),
    *of(
        f"{UNIT}/test_acceptance.py",
        "ci_action/acceptance.py",
        ("S14 a label of anybody", " or not github.can_write(setting.actor)", ""),
        (
            "S14 a label from before a forced push",
            "if any(event.kind == FORCED and event.at >= since for event in timeline):",
            "if False:",
        ),
        ("S14 a label from before the push", "return is_the_trigger or setting.at > trigger.at", "return True"),
        ("S14 a label for another head", "if github.pull_state(number).head_sha != trigger.head_sha or", "if"),
    ),
    *of(
        f"{UNIT}/test_sticky.py",
        "ci_action/sticky.py",
        ("B10 an older head overwrites", "if pull.head_sha != marker.head_sha:", "if False:"),
        ("B10 an older run overwrites", "if newer is not None:", "if False:"),
        ("S25 somebody else's comment is edited", "if _is_by(comment, author)]", "]"),
        (
            "B9 the newest of several wins",
            "sorted(mine, key=lambda comment: comment.id)",
            "sorted(mine, key=lambda comment: -comment.id)",
        ),
        ("B9 losers stay", "        github.delete_comment(loser.id)\n", "        del loser\n"),
        (
            "B10 a superseded run fails where nothing can be marked",
            "except PublishError as error:",
            "except KeyError as error:",
        ),
        ("B10 the newest head's comment is called outdated", " or theirs.head_sha == now:", ":"),
        ("B11 a matrix's jobs replace each other in silence", "and marker.run_id > 0", "and marker.run_id < 0"),
        (
            "B11 a second attempt is taken for another job",
            "(theirs.run_id, theirs.run_attempt) ==",
            "(theirs.run_id, marker.run_attempt) ==",
        ),
    ),
    *of(
        f"{UNIT}/core/test_marker.py",
        "ci_action/core/marker.py",
        ("S25 a marker anywhere", "_LINE.fullmatch(first)", "_LINE.search(body)"),
        ("S7 an id closes the comment", 'and "--" not in comment_id', ""),
    ),
    *of(
        f"{UNIT}/test_publish.py",
        "ci_action/publish.py",
        ("B2 a body that GitHub finds too long", "if refusal.status != 422:", "if True:"),
        ("B21 a failed comment hides the verdict", "exit_code=verdict.exit_code or failed", "exit_code=failed"),
        ("B4 a refusal without its remedy", "if error.is_permission:", "if False:"),
    ),
]
