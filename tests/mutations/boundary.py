"""The action's own boundary: what its programs are started with, and what they believe afterwards."""

from __future__ import annotations

from mutation import CONTRACT, INTEGRATION, UNIT, of

HOSTILE = f"{INTEGRATION}/test_hostile_job.py"
MUTATIONS = [
    *of(
        HOSTILE,
        "ci_action/setup.sh",
        ("R1 the interpreter is asked with the checkout on its path", '"$python" -I -c', '"$python" -c'),
        ("R1 the environment is made with the checkout on its path", '-I -B "$action', '-B "$action'),
        ("R1 pip starts a program of the checkout", 'PATH="$(outside "$PATH")"\n', ""),
        ("R2 a library path into the checkout stays", '"$workspace"/*) ;; *)', '"$workspace"/no/*) ;; *)'),
    ),
    *of(
        HOSTILE,
        "ci_action/private_environment.py",
        ("R14 pip follows the job's settings", 'FOREIGN = ("PIP_", ', "FOREIGN = ("),
        ("R14 pip reads the job's config file", "TOLD: os.devnull", "**told"),
        (
            "R10 the seal is compared by an interpreter that was replaced",
            'outputs["seal-python"] = os.path.realpath(base)',
            'outputs["seal-python"] = sys.executable',
        ),
        ("R2 pip is started with the job's PYTHON variables", '"PYTHON", "VIRTUAL_ENV"', '"VIRTUAL_ENV"'),
    ),
    *of(
        HOSTILE,
        "action.yml",
        ("R1 the set-up's shell is one of the checkout", 'run: . "$GITHUB', 'run: bash "$GITHUB'),
        ("R2 plan is not isolated", "-I -B -m ci_action plan", "-B -m ci_action plan"),
        ("R2 measure is not isolated", "-I -B -m ci_action measure", "-B -m ci_action measure"),
        ("R2 publish is not isolated", "-I -B -m ci_action publish", "-B -m ci_action publish"),
        ("R2 merge is not isolated", "-I -B -m ci_action merge", "-B -m ci_action merge"),
        ("R2 receive is not isolated", "-I -B -m ci_action receive", "-B -m ci_action receive"),
        ("R2 bash reads the job's BASH_ENV", '        BASH_ENV: ""\n', ""),
        ("R2 a library is loaded before every program", '        LD_PRELOAD: ""\n', ""),
        (
            "R10 the seal is not compared before render",
            '        "$TORCHSCAN_SEAL_PYTHON" -I -S -c "$TORCHSCAN_SEAL_CHECK" venv "$TORCHSCAN_SEAL"\n',
            "",
        ),
    ),
    *of(
        HOSTILE,
        "ci_action/edges/git/environment.py",
        ("R2 git is found in the checkout", "and not one.resolve().is_relative_to(workspace)", ""),
    ),
    *of(
        f"{INTEGRATION}/test_worker.py",
        "ci_action/edges/workers/interpreter.py",
        ("R2 the probe of an interpreter is not isolated", '"-I", "-c"', '"-c"'),
    ),
    *of(
        HOSTILE,
        "ci_action/edges/outputs.py",
        (
            "R9 what measured code wrote for later steps stays",
            "path.unlink(missing_ok=True)  # a link",
            "pass  # a link",
        ),
    ),
    *of(
        f"{INTEGRATION}/test_worker.py",
        "ci_action/edges/workers/child.py",
        (
            "R10 a worker's packages lead into the environment",
            'shutil.copytree(home, folder / home.name, ignore=shutil.ignore_patterns("__pycache__", "_templates"))',
            "(folder.mkdir(parents=True, exist_ok=True), (folder / home.name).symlink_to(home))",
        ),
    ),
    *of(
        f"{UNIT}/test_private_environment.py",
        "ci_action/private_environment.py",
        ("R14 the mirror of a config file is lost", 'section in {"global", "install"}', "section in {}"),
        ("R14 a setting that only breaks the set-up is kept", "and name in SOURCES", ""),
    ),
    *of(
        f"{UNIT}/test_seal.py",
        "ci_action/seal.py",
        ("R10 a link is sealed by its content", "if stat.S_ISLNK(kind):", "if False:"),
        ("R10 a new empty folder is not sealed", "sorted([*folders, *files])", "sorted(files)"),
    ),
    *of(
        f"{CONTRACT}/test_action_yml.py",
        "action.yml",
        ("R2 bash takes options and functions from the job", "--norc -p -e", "--norc -e"),
        ("R2 the gate is not isolated", "-I -B -m ci_action gate", "-B -m ci_action gate"),
        ("R2 publish starts in the checkout", 'cd "$TORCHSCAN_FOLDER"', "true"),
    ),
    *of(
        f"{UNIT}/edges/test_printer.py",
        "ci_action/edges/printer.py",
        ("R12 a line is passed on before it is whole", "_LINE_END.split(self._begun + text)", "_LINE_END.split(text)"),
        ("R12 a runner's lines are only made visible", "defused if is_runner else visible", "visible"),
        ("R17 an escape reaches a terminal", "defused if is_runner else visible", "defused if is_runner else str"),
    ),
    *of(
        f"{UNIT}/edges/test_untrusted_file.py",
        "ci_action/edges/untrusted_file.py",
        ("R13 a sparse file is read", "if found.st_size > max_bytes:", "if False:"),
        ("R13 a pipe that came meanwhile is read", "_check_kind(found)  # again", "pass  # again"),
        ("R13 a growing file is read to its end", "if not left:", "if False:"),
    ),
    *of(
        f"{UNIT}/core/test_measured_report.py",
        "ci_action/core/measured_report.py",
        ("R16 a negative count passes", "and 0 <= known <= MAX_COUNT", "and known <= MAX_COUNT"),
        ("R16 a count of 324 digits passes", "and 0 <= known <= MAX_COUNT", "and 0 <= known"),
        ("R16 a sentence passes for a unit", '_word(result[key], f"{where}: {name}: {key}")', "pass"),
        ("R16 a sentence passes for torch's version", '_word(context.get(key), f"context: {key}")', "pass"),
    ),
    *of(
        f"{INTEGRATION}/test_hostile_results.py",
        "ci_action/edges/workers/result_file.py",
        ("R13 a result is read whatever it is", "read_untrusted(file, LARGE.size_bytes)", "file.read_bytes()"),
        ("R13 a result's numbers are not checked", 'check_measured(result["report"])', "pass"),
    ),
    *of(
        f"{INTEGRATION}/test_publish_run.py",
        "ci_action/main.py",
        ("R17 a hostile key is repeated by the run with rights", "and place and place.place:", "and False:"),
    ),
    *of(
        "tests/golden/ci_action",
        "ci_action/render/states.py",
        (
            "R20 a removed target hides its limits",
            "if row.gate is Gate.WARN and row.word is Word.REMOVED",
            "if False",
        ),
    ),
    *of(
        f"{UNIT}/core/test_planning.py",
        "ci_action/core/planning.py",
        ("R4 what head never had counts as removed", "if identity not in own and identity not in head", "if False"),
        (
            "R4 base is built as the tip says",
            "base=own.get(identity) or base.get(identity),",
            "base=base.get(identity),",
        ),
    ),
    *of(
        f"{INTEGRATION}/test_commits.py",
        "ci_action/commits.py",
        ("R4 the merge base judges", "replace(commits, policy_sha=_tip_of_base(event, git))", "commits"),
        ("R4 the event's older tip judges", "return git.tip(pull.base_ref)", "return git.resolve(pull.base_sha)"),
    ),
    *of(
        f"{INTEGRATION}/test_split_identity.py",
        "ci_action/proof.py",
        ("R4 publish judges by the fork point", "policy_sha=whole.base_sha or None,", ""),
        (
            "R19 an author's own merge says what head's config is",
            "head_config_sha=None if received.measured_sha in {pull.head_sha, pull.merge_sha} else pull.head_sha,",
            "",
        ),
        ("R5 two pull requests of a head stay green", "rivals=tuple(found),", ""),
    ),
    *of(
        f"{INTEGRATION}/test_split_identity.py",
        "ci_action/commands/split.py",
        (
            "R5 an older green status stands while the evidence is looked at",
            "if code := _say_pending(session, found):",
            "if code := 0:",
        ),
    ),
    *of(
        f"{INTEGRATION}/test_split_identity.py",
        "ci_action/status.py",
        ("R5 a status is of no base branch", "for part in (base_ref, ", "for part in ("),
    ),
    *of(
        f"{INTEGRATION}/test_split_identity.py",
        "ci_action/edges/github/run_store.py",
        (
            "R3 a run of another branch counts",
            'item.get("head_branch"), full_name,',
            "run.head_branch, run.head_repository,",
        ),
    ),
    *of(
        f"{INTEGRATION}/test_split_identity.py",
        "ci_action/acceptance.py",
        (
            "R3 a head that came back keeps a label for another",
            "if trigger.is_first_run else setting.at",
            "if False else setting.at",
        ),
    ),
    *of(
        f"{UNIT}/test_sticky.py",
        "ci_action/sticky.py",
        ("R14 a person of an app's name is taken for us", "comment.is_by_app and ", ""),
        (
            "R14 any app is us where GitHub is silent",
            "    if author is None:\n        return False\n",
            "    if author is None:\n        return comment.is_by_app\n",
        ),
    ),
    *of(
        HOSTILE,
        "ci_action/edges/plan_file.py",
        ("R6 a plan that was rewritten is believed", "if hashlib.sha256(data).hexdigest() != told:", "if False:"),
    ),
    *of(
        f"{INTEGRATION}/test_sharded.py",
        "ci_action/commands/sources.py",
        ("R6 results that were rewritten are judged", "check_results(folder, os.environ)", "pass"),
    ),
    *of(
        f"{INTEGRATION}/test_sharded.py",
        "ci_action/commands/stages.py",
        ("R6 the gate believes a file", "if is_runner:\n        return int", "if False:\n        return int"),
    ),
    *of(
        f"{UNIT}/core/test_labels.py",
        "ci_action/core/handover/labels.py",
        ("R8 another package's shard is joined", "if label.artifact_name != own.artifact_name:", "if False:"),
        ("R8 another working directory is joined", "if label.working_directory != own.working_directory:", "if False:"),
        ("R8 a name that only looks right is joined", "if name not in {None, label.name}", "if False"),
    ),
    *of(
        f"{INTEGRATION}/test_sharded.py",
        "ci_action/edges/evidence_folder.py",
        ("R15 the shards of a matrix have no cap together", "if size > MAX_TOTAL_BYTES:", "if False:"),
    ),
    *of(
        f"{UNIT}/test_receiving.py",
        "ci_action/core/handover/received_evidence.py",
        ("R15 the shards of a split have no cap together", "budget.take(len(data), count_values(document))", "pass"),
    ),
    *of(
        f"{UNIT}/edges/test_tree.py",
        "ci_action/edges/workers/tree.py",
        ("R7 an edit with its times set back is not seen", "seen.st_mtime_ns, seen.st_ctime_ns", "seen.st_mtime_ns"),
        ("R7 a planted module stays", "            _remove(path)\n", "            pass\n"),
    ),
    *of(
        f"{INTEGRATION}/test_hostile_head.py",
        "ci_action/edges/workers/lockstep_worker.py",
        ("R7 a killed base is base's own trouble", 'kind = KILLED if code < 0 and self.side == "base" else', "kind ="),
        (
            "R7 base starts from a worktree that head edited",
            "and (failure := guard.failure()):",
            "and (failure := None):",
        ),
    ),
    *of(
        f"{INTEGRATION}/test_hostile_head.py",
        "ci_action/edges/workers/side_run.py",
        ("R7 head's code runs while base is measured", "while not self._may_begin():", "while False:"),
    ),
]
