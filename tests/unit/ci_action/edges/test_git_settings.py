"""What every git call is given: settings as a file, credentials, a version, and a complaint as one sentence."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ci_action.edges.git.call import GitCall, complaint
from ci_action.edges.git.config import as_file, written
from ci_action.edges.git.credentials import Credentials, is_refused, resolve
from ci_action.edges.git.environment import base_environment
from ci_action.edges.git.version import supported
from ci_action.errors import GitError

HUB = "https://github.com"
KEY = f"http.{HUB}/.extraheader"
BASIC = "AUTHORIZATION: basic eC1hY2Nlc3MtdG9rZW46b3Vycw=="


def test_git_reads_every_key_and_value_as_it_was_meant(tmp_path: Path) -> None:
    pairs = [
        ("core.hooksPath", "/dev/null"),
        ("core.fsmonitor", ""),
        ("core.hooksPath", "again"),
        ('filter.a = b]"\\ c.smudge', 'x "y" \\z; # no comment'),
        ("http.https://ghe.example/a.b/.extraheader", "AUTHORIZATION: basic é="),
        ("alias.two", "lines\nand\ttabs  "),
    ]
    with written(pairs, tmp_path / "new") as file:
        assert file.stat().st_mode & 0o077 == 0
        listed = subprocess.run(["git", "config", "--file", file, "-z", "--list"], check=True, capture_output=True)
    read = [tuple(entry.split("\n", 1)) for entry in listed.stdout.decode().split("\0")[:-1]]
    assert read == [(key.replace("hooksPath", "hookspath"), value) for key, value in pairs]
    assert not file.exists()
    assert as_file([]) == ""


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        ("git version 2.30.2\n", (2, 30, 2)),
        ("git version 2.39.5 (Apple Git-154)\n", (2, 39, 5)),
        ("git version 2.47.1.windows.2\n", (2, 47, 1)),
        ("git version 2.50.GIT\n", (2, 50, 0)),
        ("git version 3.0\n", (3, 0, 0)),
    ],
)
def test_versions_as_systems_spell_them(said: str, numbers: tuple[int, ...]) -> None:
    assert supported(said) == numbers


@pytest.mark.parametrize("said", ["git version 2.25.1\n", "git version 1.8.3.1\n", "git version 2.29.3"])
def test_an_old_git_is_one_sentence(said: str) -> None:
    with pytest.raises(GitError, match=r"^git [\d.]+ is too old, 2\.30 is the oldest that works: install a newer git"):
        supported(said)


def test_an_old_git_is_asked_for_nothing_but_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, log = tmp_path / "bin" / "git", tmp_path / "log"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nfor word; do last=$word; done\necho "$last" >> {log}\necho "git version 2.25.1"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    with pytest.raises(GitError, match=r"git 2\.25\.1 is too old"):
        GitCall(tmp_path, scratch=tmp_path / "scratch", trust=True)
    assert log.read_text() == "version\n"


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [
        ("hint: a\nfatal: the reason\nhint: more\n", "fatal: the reason"),
        ("error: unknown option\nusage: git fetch\n    --write-commit-graph  write it\n", "error: unknown option"),
        ("error: first\nfatal: second\nfatal: third\n", "fatal: second"),
        (
            "Permission denied (publickey).\nfatal: Could not read from remote repository.\n\nPlease make sure\n",
            "Permission denied (publickey).",
        ),
        ("fatal: Could not read from remote repository.\n", "fatal: Could not read from remote repository."),
        ("only this\nand this\n", "and this"),
        ("", "exit code 7"),
    ],
)
def test_the_reason_is_found_in_what_git_says(stderr: str, reason: str) -> None:
    assert complaint(subprocess.CompletedProcess([], 7, b"", stderr.encode())) == reason


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("fatal: Authentication failed for 'https://github.com/o/r/'", True),
        ("fatal: could not read Username for 'https://github.com': terminal prompts disabled", True),
        ("fatal: unable to access 'https://h/': The requested URL returned error: 403", True),
        ("batch response: Authentication required: Authorization error: https://h/", True),
        ("Permission denied (publickey).", True),
        ("fatal: unable to access 'https://h:4013/': The requested URL returned error: 404", False),
        ("fatal: unable to access 'https://h:403/': Could not resolve host: h", False),
        ("fatal: repository 'https://github.com/o/r/' not found", False),
        ("fatal: remote error: upload-pack: not our ref 4030", False),
    ],
)
def test_a_refusal_is_told_from_what_is_not_there(said: str, expected: bool) -> None:
    assert is_refused(said) is expected


@pytest.mark.parametrize(
    "listed",
    [
        [],
        [("http.https://mirror.example/.extraheader", "AUTHORIZATION: basic other")],
        [("http.https://github.com.evil.example/.extraheader", "AUTHORIZATION: basic other")],
        [(KEY, "AUTHORIZATION: basic theirs"), (KEY, "")],
    ],
)
def test_the_token_is_used_where_the_checkout_has_none_for_the_server(listed: list[tuple[str, str]]) -> None:
    assert (KEY, BASIC) in resolve(listed, token="ours", server_url=f"{HUB}/").headers


@pytest.mark.parametrize(
    "key", [KEY, "http.https://github.com.extraheader", "http.https://github.com/o/r.extraheader", "http.extraheader"]
)
def test_the_checkouts_own_header_for_the_server_is_kept(key: str) -> None:
    found = resolve([(key, "AUTHORIZATION: basic theirs")], token="ours", server_url=HUB)
    assert (KEY, BASIC) not in found.headers
    assert all(name != "http.extraheader" for name, _ in found.headers)


def test_no_header_is_sent_twice_and_ssh_addresses_use_it_only_where_there_is_one() -> None:
    found = resolve([(KEY, "A: 1"), (KEY, "A: 2"), ("http.extraheader", "B: 1")], token=None, server_url=HUB)
    assert found.for_git() == [(KEY, ""), (KEY, "A: 1"), (KEY, "A: 2")]
    assert found.unseen([(KEY, "A: 1")]) == [(KEY, "A: 2")]
    assert ("url.https://github.com/.insteadOf", "git@github.com:") in found.for_submodules()
    assert Credentials(server_url=HUB).for_submodules() == []
    by_key = resolve([("core.sshcommand", "ssh -i key")], token="ours", server_url=HUB)
    assert by_key.for_submodules() == [(KEY, ""), (KEY, BASIC), ("core.sshCommand", "ssh -i key")]


def test_variables_that_point_elsewhere_go_and_the_way_to_the_remote_stays() -> None:
    stays = {
        "HOME": "h",
        "GIT_SSH_COMMAND": "s",
        "GIT_SSL_CAPATH": "c",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "k",
        "GIT_CONFIG_VALUE_0": "v",
        "GITHUB_TOKEN": "for a credential helper",
    }
    goes = [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_NAMESPACE",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_EXEC_PATH",
        "GIT_TEMPLATE_DIR",
        "GIT_EXTERNAL_DIFF",
        "GIT_TRACE_CURL",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG",
        "GIT_ATTR_SOURCE",
        "GIT_ALLOW_PROTOCOL",
        "GIT_CEILING_DIRECTORIES",
        "TORCHSCAN_TOKEN",
        "ACTIONS_RUNTIME_TOKEN",
    ]
    kept = base_environment(stays | dict.fromkeys(goes, "x"))
    assert {name: kept[name] for name in stays} == stays
    assert not kept.keys() & set(goes)
    assert kept["GIT_NO_REPLACE_OBJECTS"] == "1"
