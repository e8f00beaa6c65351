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
        ("R2 a library path into the checkout stays", '"$workspace"/*) ;; *)', '"$workspace"/no/*) ;; *)'),
    ),
    *of(
        HOSTILE,
        "ci_action/private_environment.py",
        ("R14 pip follows the job's settings", 'FOREIGN = ("PIP_", ', "FOREIGN = ("),
        ("R14 pip reads the job's config file", "TOLD: os.devnull", "**told"),
        ("R14 the mirror of a config file is lost", "if section in {", "if section in {} and section in {"),
        ("R2 pip is started with the job's PYTHON variables", '"PYTHON", "VIRTUAL_ENV"', '"VIRTUAL_ENV"'),
    ),
    *of(
        HOSTILE,
        "action.yml",
        ("R2 plan is not isolated", "-I -B -m ci_action plan", "-B -m ci_action plan"),
        ("R2 measure is not isolated", "-I -B -m ci_action measure", "-B -m ci_action measure"),
        ("R2 publish is not isolated", "-I -B -m ci_action publish", "-B -m ci_action publish"),
        ("R2 merge is not isolated", "-I -B -m ci_action merge", "-B -m ci_action merge"),
        ("R2 receive is not isolated", "-I -B -m ci_action receive", "-B -m ci_action receive"),
        ("R2 bash reads the job's BASH_ENV", '        BASH_ENV: ""\n', ""),
        ("R2 a library is loaded before every program", '        LD_PRELOAD: ""\n', ""),
        (
            "R10 the seal is not compared before render",
            '        "$TORCHSCAN_PYTHON" -I -S -c "$TORCHSCAN_SEAL_CHECK" venv "$TORCHSCAN_SEAL"\n',
            "",
        ),
    ),
    *of(
        HOSTILE,
        "ci_action/edges/git/environment.py",
        ("R2 git is found in the checkout", "and not one.resolve().is_relative_to(workspace)", ""),
    ),
    *of(
        HOSTILE,
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
        HOSTILE,
        "ci_action/edges/workers/child.py",
        (
            "R10 a worker's packages lead into the environment",
            'shutil.copytree(home, folder / home.name, ignore=shutil.ignore_patterns("__pycache__", "_templates"))',
            "(folder.mkdir(parents=True, exist_ok=True), (folder / home.name).symlink_to(home))",
        ),
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
        ("R2 the gate is not isolated", "-I -B -m ci_action gate", "-B -m ci_action gate"),
        ("R2 publish starts in the checkout", 'cd "$TORCHSCAN_FOLDER"', "true"),
    ),
]
