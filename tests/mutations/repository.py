"""The repository: what git is kept from, what it reaches with which credentials, and which commits are whole."""

from __future__ import annotations

from mutation import INTEGRATION, UNIT, of

VERSIONS, PRIVATE = f"{INTEGRATION}/test_git_versions.py", f"{INTEGRATION}/test_git_private.py"
SETTINGS = f"{UNIT}/edges/test_git_settings.py"

MUTATIONS = [
    *of(
        f"{INTEGRATION}/test_git_repository.py",
        "ci_action/edges/git/config.py",
        ("S17 hooks run", '    ("core.hooksPath", os.devnull),\n', ""),
        ("S17 filters run", 'off = {"smudge": "", "clean": "", "process": "", "required": "false"}', "off = {}"),
    ),
    *of(
        f"{INTEGRATION}/test_git_repository.py",
        "ci_action/edges/git/repository.py",
        ("S18 a commit is a name", "    if not SHA.fullmatch(sha):", "    if False:"),
    ),
    *of(
        VERSIONS,
        "ci_action/edges/git/config.py",
        (
            "5 a monitor runs",
            '    ("core.fsmonitor", ""),  # git before 2.36 would start a program of the name "false"\n',
            "",
        ),
        ("5 a sparse workspace hides files", '    ("core.sparseCheckout", "false"),', '    ("advice.x", "false"),'),
    ),
    *of(
        VERSIONS,
        "ci_action/edges/git/call.py",
        (
            "5 settings that an old git ignores",
            '[_program(environment["PATH"]), "-c", f"include.path={settings}", *arguments]',
            '[_program(environment["PATH"]), *arguments]',
        ),
        (
            "5 safe.directory on the command line alone",
            "self._trusting = trusting(",
            "_ = trusting(",
        ),
    ),
    *of(
        VERSIONS,
        "ci_action/edges/git/environment.py",
        (
            "5 GIT_CONFIG_GLOBAL for every git",
            "if version >= READS_GLOBAL_VARIABLE:",
            "if True:",
        ),
        ("6 an old git fetches lazily", '    "GIT_ALLOW_PROTOCOL": "none",', '    "X": "none",'),
        ("5 a replace ref changes a commit", '    "GIT_NO_REPLACE_OBJECTS": "1",', '    "X": "1",'),
        ("5 the user's own config is lost", '(("include.path", str(file)) for file in _user_files(environ))', "()"),
    ),
    *of(
        VERSIONS,
        "ci_action/edges/git/repository.py",
        ("5 a filter that only worktrees see", ", config=self._git.filters_off(path))", ")"),
        (
            "6 plan leaves a partial clone as it is",
            "            self._obtain(sha)\n        complete(self._git, sha, self._fetch_objects)\n",
            "            self._obtain(sha)\n",
        ),
    ),
    *of(
        VERSIONS,
        "ci_action/commits.py",
        (
            "6 a server is asked for the working tree",
            'known = git.resolve("HEAD") if head == WORKING_TREE else measured',
            "known = measured",
        ),
    ),
    *of(
        SETTINGS,
        "ci_action/edges/git/version.py",
        ("5 an old git is not refused", "    if numbers < OLDEST:", "    if False:"),
    ),
    *of(
        SETTINGS,
        "ci_action/edges/git/environment.py",
        (
            "5 the action's token reaches a program of git",
            '_OURS = ("TORCHSCAN_", "ACTIONS_")',
            '_OURS = ("ACTIONS_",)',
        ),
    ),
    *of(
        PRIVATE,
        "ci_action/edges/git/contents.py",
        (
            "6 LFS goes without the credentials",
            "return [*programs, *git.credentials.unseen(git.listed(WANTED, directory=directory))]",
            "return programs",
        ),
        (
            "6 a header is sent twice",
            "git.credentials.unseen(git.listed(WANTED, directory=directory))",
            "git.credentials.headers",
        ),
        (
            "6 every failure of LFS is a missing right",
            'if is_refused(reason) else "see that its server has"',
            'if True else ""',
        ),
    ),
    *of(
        PRIVATE,
        "ci_action/edges/git/credentials.py",
        (
            "6 a header for another server counts as ours",
            "return not url or url == server or url.startswith",
            "return True or url.startswith",
        ),
        (
            "6 ssh addresses of submodules need a key",
            "return [*self.for_git(), (rewrite",
            "return self.for_git() or [(rewrite",
        ),
    ),
    *of(
        PRIVATE,
        "ci_action/edges/git/call.py",
        (
            "6 git-lfs finds no pointer",
            'f"include.path={settings}", *arguments]',
            'f"include.path={settings}", "--literal-pathspecs", *arguments]',
        ),
    ),
    *of(
        PRIVATE,
        "ci_action/edges/git/repository.py",
        ("6 without a key nothing is asked", "return [*sources, self._own_url] if", "return sources if"),
    ),
    *of(
        f"{INTEGRATION}/test_git_snapshot.py",
        "ci_action/edges/git/snapshot.py",
        ("11 the copied index is newer", "shutil.copy2(index, copy)", "shutil.copyfile(index, copy)"),
        ("11 marks hide an edit", "    _look_at_all(git, top, extra)\n", ""),
    ),
]
