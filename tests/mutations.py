"""Take each guard against section S and B of the cases away, and see that a test notices: python tests/mutations.py

Not part of the suite: it works on a copy of the checkout and runs one test file per guard. Ends with 1 if any guard
can go unnoticed, or if a guard is not where this list says.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("ci_action", "torchscan", "templates", "tests", ".github", "action.yml", "pyproject.toml", "README.md")
UNIT, INTEGRATION, CONTRACT = "tests/unit/ci_action", "tests/integration", "tests/contract"


@dataclass(frozen=True, slots=True)
class Mutation:
    """One guard: what it is against, where it stands, and what takes it away."""

    case: str
    file: str
    guard: str
    without: str
    test: str


def of(test: str, file: str, *guards: tuple[str, str, str]) -> list[Mutation]:
    """Give the mutations of one file, all noticed by one test file. Each guard is (case, text, replacement)."""
    return [Mutation(case, file, guard, without, test) for case, guard, without in guards]


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
    *of(
        f"{UNIT}/core/test_publish_evidence.py",
        "ci_action/core/handover/received_evidence.py",
        ("S2 evidence without its schema", "    _check_schema(document)\n", ""),
        ("S2 one result twice", "if len(set(keys)) != len(keys):", "if False:"),
        ("S2 numbers that contradict their status", 'check_metrics(reduced["totals"], "totals")', "pass"),
        ("S7 sentences inside a benchmark", "if not holds_only_identifiers", "if False and holds_only_identifiers"),
        ("S2 one benchmark twice", 'if evidence["id"] in found:', "if False:"),
    ),
    *of(
        f"{UNIT}/core/test_publish_evidence.py",
        "ci_action/core/handover/publish_evidence.py",
        ("S7 notes of the run cross", '"notes": []}), "id"', '}), "id"'),
        ("B1 more calls than are read", "for call in changed[:kept]:", "for call in changed:"),
    ),
    *of(
        f"{UNIT}/core/test_publish_evidence.py",
        "ci_action/render/rendering.py",
        ("S7 messages of a fork are shown", "without_messages(verdict) if facts.is_foreign else verdict", "verdict"),
    ),
    *of(
        f"{UNIT}/edges/test_archive.py",
        "ci_action/edges/github/archive.py",
        ("S9 a second file", "if len(entries) != 1:", "if not entries:"),
        ("S9 another name", "if entry.filename != name or entry.orig_filename != name:", "if False:"),
        ("S9 a symbolic link", "or kind not in {0, REGULAR}", ""),
        ("S9 an unusual packing", "or entry.compress_type not in METHODS", ""),
        ("S9 a bomb", "if size > MOST_BYTES or size > MOST_RATIO * packed:", "if False:"),
        ("S9 a ratio", " or size > MOST_RATIO * packed", ""),
        ("S9 an archive without end", "if len(archive) > ARCHIVE_BYTES:", "if False:"),
    ),
    *of(
        f"{INTEGRATION}/test_split_api.py",
        "ci_action/edges/github/run_store.py",
        ("S24 a password of .netrc goes to the blob host", "auth=_no_credentials, ", ""),
        ("S24 a place without TLS", 'if not parts.hostname or not (parts.scheme == "https" or is_local):', "if False:"),
        ("S24 a redirect of a redirect", "allow_redirects=False, ", ""),
        ("S9 an archive that was swapped", "if artifact.sha256 and", "if False and"),
        ("S9 a download without end", "if size > ARCHIVE_BYTES:", "if False:"),
        ("S14 another workflow's run dates the head", " and _path(item) == run.path", ""),
    ),
    *of(
        f"{INTEGRATION}/test_split_api.py",
        "ci_action/edges/github/remote.py",
        ("S18 a name in place of a commit", "if not SHA.fullmatch(sha):", "if False:"),
        ("B30 a branch cuts the query", 'quote(f"{owner}:{branch}", safe="")', 'f"{owner}:{branch}"'),
        ("S22 a link as a config", 'if body.get("type") != "file" or', "if"),
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
        f"{UNIT}/core/test_shards.py",
        "ci_action/core/handover/shards.py",
        ("B11 a target in two shards", "        if _has_twins(identities):", "        if False:"),
        ("B11 shards of different commits", "if len(commits) != 1:", "if False:"),
        ("B11 a target in no shard", "measured[shard.number - 1 :: shard.of]", "measured[shard.number :: shard.of]"),
    ),
    *of(
        f"{UNIT}/test_receiving.py",
        "ci_action/receiving.py",
        ("S4 expired evidence", " and not item.is_expired", ""),
        (
            "B11 shards of two splits are mixed",
            "return list(latest.values())",
            "return [one for group in groups.values() for one in group.values()]",
        ),
    ),
    *of(
        f"{INTEGRATION}/test_publish_run.py",
        "ci_action/commands/sources.py",
        ("S14 a label from before the head", "at=first_run_at", 'at=""'),
        ("B10 the comment is of the wrong run", "run_id=run.id", "run_id=None"),
    ),
    *of(
        f"{INTEGRATION}/test_split_cli.py",
        "ci_action/commands/split.py",
        ("B51 a broken run leaves the gate open", "            _say_broken(session, run, error)\n", ""),
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
        f"{UNIT}/core/test_strict_json.py",
        "ci_action/core/strict_json.py",
        ("S10 NaN", "        parse_constant=_refuse_constant,\n", ""),
        ("S10 one key twice", "if len(found) != len(pairs):", "if False:"),
        ("S10 depth", "if depth > limits.depth:", "if False:"),
        ("S10 digits", "if len(digits) > limits.digits:", "if False:"),
        ("S10 a long text", "if len(text) > limits.string_length:", "if False:"),
        ("S10 values without end", "if seen > limits.items:", "if False:"),
        ("S10 bytes without end", "if len(data) > limits.size_bytes:", "if False:"),
        (
            "S10 brackets without end",
            "    except RecursionError:\n        raise EvidenceError(_too_deep(limits)) from None\n",
            "",
        ),
    ),
    *of(
        f"{UNIT}/edges/test_outputs.py",
        "ci_action/edges/commands.py",
        ("S16 ##[ in the middle of a line", 'shown.replace("##[", "##\\u200b[")', "shown"),
        ("S16 :: at the start of a line", 'if rest.startswith("::") else broken', "if False else broken"),
        ("S15 an output of any name", "if not OUTPUT_NAME.fullmatch(name):", "if False:"),
        ("S16 a message of two lines", '.replace("\\n", "%0A")', ""),
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
            "if any(event.kind == FORCED and event.at >= setting.at for event in timeline):",
            "if False:",
        ),
        ("S14 a label from before the push", "return is_the_trigger or setting.at > trigger.at", "return True"),
        ("S14 a label for another head", "if github.head_sha(number) != trigger.head_sha or", "if"),
    ),
    *of(
        f"{UNIT}/test_sticky.py",
        "ci_action/sticky.py",
        ("B10 an older head overwrites", "if now != marker.head_sha:", "if False:"),
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
        f"{UNIT}/test_receiving.py",
        "ci_action/receiving.py",
        ("S2 a report's name is the fork's own word", "report_group, artifact_name)", "len)"),
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
        ("B4 a refusal without its remedy", "if error.status == 403:", "if False:"),
    ),
    *of(
        f"{UNIT}/core/test_judging.py",
        "ci_action/core/judging.py",
        (
            "S13 head's limits count",
            "limits = plan.base_config.limits if plan.base_config else ()",
            "limits = plan.head_config.limits if plan.head_config else ()",
        ),
        (
            "B51 nothing measured is a pass",
            "if not any(target.is_measured or target.skipped for target in targets):",
            "if False:",
        ),
        (
            "B51 a lower bound passes",
            "if not is_complete(row.head):\n        return _UNJUDGED",
            "if False:\n        return _UNJUDGED",
        ),
        ("B44 a new target is held against nothing", "if row.word is Word.NEW:", "if False:"),
        (
            "S14 a label for another commit counts",
            "valid = accepted if accepted and accepted.head_sha == plan.commits.head_sha else None",
            "valid = accepted",
        ),
    ),
    *of(
        f"{UNIT}/core/test_planning.py",
        "ci_action/core/planning.py",
        ("S13 head chooses what is skipped", "or base != head:", "or False:"),
    ),
    *of(
        f"{UNIT}/render/test_escape.py",
        "ci_action/render/escape.py",
        ("S7 a bar ends the cell", '.replace("|", "\\\\|")', ""),
        (
            "S7 a backtick ends the span",
            'fence = "`" * (max(map(len, _BACKTICKS.findall(shown)), default=0) + 1)',
            'fence = "`"',
        ),
        ("S7 text that cannot be seen", 'if category(sign) in _HIDDEN and sign != " " else sign', "if False else sign"),
        (
            "S25 a marker inside data",
            'shown = _MARKER.sub(r"torchscan-action\\\\u{3a}", name(text, length))',
            "shown = name(text, length)",
        ),
    ),
    *of(
        f"{UNIT}/render/test_fit.py",
        "ci_action/render/fit.py",
        (
            "B2 characters instead of bytes",
            'if len(text.encode("utf-8")) <= most_bytes:',
            "if len(text) <= most_bytes:",
        ),
    ),
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
        f"{INTEGRATION}/test_git_repository.py",
        "ci_action/edges/git/environment.py",
        ("S17 hooks run", '    ("core.hooksPath", os.devnull),\n', ""),
        ("S17 filters run", 'off = {"smudge": "", "clean": "", "process": "", "required": "false"}', "off = {}"),
    ),
    *of(
        f"{INTEGRATION}/test_git_repository.py",
        "ci_action/edges/git/repository.py",
        ("S18 a commit is a name", "    if not SHA.fullmatch(sha):", "    if False:"),
    ),
    *of(
        f"{INTEGRATION}/test_sharded.py",
        "ci_action/edges/evidence_folder.py",
        ("B11 a shard of other commits", "if read_commits(folder)[0] != commits:", "if False:"),
        ("B11 half a shard", "shards = [folder for folder in folders if _is_whole(folder)]", "shards = list(folders)"),
    ),
    *of(
        f"{CONTRACT}/test_action_yml.py",
        "action.yml",
        (
            "S5 an expression in a script",
            '"$TORCHSCAN_FOLDER/venv/bin/torchscan-ci" gate',
            '"${{ steps.setup.outputs.folder }}/venv/bin/torchscan-ci" gate',
        ),
        ("S6 an action by its tag", "@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c # v8.0.1", "@v8"),
        (
            "S12 a token in the measuring step",
            "        TORCHSCAN_PYTHON: ${{ inputs.python }}\n",
            "        TORCHSCAN_PYTHON: ${{ inputs.python }}\n        TORCHSCAN_TOKEN: ${{ inputs.token }}\n",
        ),
        ("B21 a failed upload hides the verdict", "      continue-on-error: true # a report", "      # a report"),
    ),
]


def main() -> int:
    """Try every mutation whose case or file holds one of the words given on the command line; all without words."""
    words = sys.argv[1:]
    chosen = [item for item in MUTATIONS if not words or any(word in f"{item.case} {item.file}" for word in words)]
    unnoticed = 0
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        copy = Path(folder) / "copy"
        copy_checkout(copy)
        for item in chosen:
            said = tried(item, copy)
            unnoticed += not said
            print(f"{'caught' if said else 'UNNOTICED'}  {item.case}  ({said or item.file})", flush=True)
    print(f"{len(chosen) - unnoticed} of {len(chosen)} guards are held by a test")
    return 1 if unnoticed else 0


def copy_checkout(copy: Path) -> None:
    """Copy what the tests read, without what they write."""
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=ignored)
        else:
            copy.mkdir(exist_ok=True)
            shutil.copy2(source, copy / name)
    if (ROOT / ".node").exists():  # GitHub's own description, which some tests answer by
        (copy / ".node").symlink_to(ROOT / ".node", target_is_directory=True)


def tried(item: Mutation, copy: Path) -> str:
    """Take one guard away and give the name of the test that fails, or nothing."""
    file = copy / item.file
    text = file.read_text(encoding="utf-8")
    if item.guard not in text:
        return ""
    file.write_text(text.replace(item.guard, item.without), encoding="utf-8")
    try:
        return first_failure(item.test, copy)
    finally:
        file.write_text(text, encoding="utf-8")


def first_failure(test: str, copy: Path) -> str:
    """Run one test file of the copy against the copy's own packages."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--rootdir", str(copy), test]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, flags=re.MULTILINE)
    return found[1].partition("::")[2] or found[1] if found else ""


if __name__ == "__main__":
    sys.exit(main())
