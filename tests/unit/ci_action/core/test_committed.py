"""Whose file a commit has at a config's place, and what is said of one that is no text."""

from __future__ import annotations

import pytest

from ci_action.core.config.committed import ABSENT, MAX_BYTES, TOO_LARGE, CommittedFile, committed, kind_problem
from ci_action.core.config.file import ConfigText, find_config, load_config
from ci_action.errors import ConfigError

CONFIG = '[[targets]]\nid = "net"\nfactory = "bench.py:net"\n'
OURS = "[tool.torchscan-ci]\nseed = 3\n"
LINK = CommittedFile(problem=kind_problem("120000"))


def found(**files: CommittedFile) -> ConfigText | None:
    names = {"pyproject": "pyproject.toml", "root": "torchscan.toml", "github": ".github/torchscan.toml"}
    held = {names[name]: file for name, file in files.items()}
    return find_config(lambda path: held.get(path, ABSENT))


UNREADABLE = {
    "utf-16": committed(CONFIG.encode("utf-16")),
    "utf-32": committed(CONFIG.encode("utf-32")),
    "latin-1": committed("# é\n".encode("latin-1") + CONFIG.encode()),
    "nul": committed(CONFIG.encode() + b"\0"),
    "large": committed(b"#" * (MAX_BYTES + 1)),
    "link": LINK,
    "submodule": CommittedFile(problem=kind_problem("160000")),
    "folder": CommittedFile(problem=kind_problem("040000")),
    "unknown kind": CommittedFile(problem=kind_problem("777777")),
}


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize("place", ["root", "github"])
def test_a_config_of_ours_that_is_no_text_is_told_with_its_place(place: str, kind: str) -> None:
    with pytest.raises(ConfigError, match="put a plain UTF-8 text file") as caught:
        found(**{place: UNREADABLE[kind]})
    assert caught.value.file == {"root": "torchscan.toml", "github": ".github/torchscan.toml"}[place]
    assert UNREADABLE[kind].problem in str(caught.value)


OTHERS = {
    **UNREADABLE,
    "latin-1": committed("[project]\nauthors = [{name = 'René'}]\n".encode("latin-1")),
    "comment": committed(b"# torchscan-ci reads [tool.torchscan-ci]\nname = [\n"),
    "indented comment": committed(b"   # [tool.torchscan-ci]\nbroken = = 1\n"),
    "string": committed(b'[project]\ndescription = "see [tool.torchscan-ci]"\nbroken = = 1\n'),
    "long string": committed(b'text = """\n[tool.torchscan-ci]\n"""\nbroken = = 1\n'),
    "literal string": committed(b"text = '''\n[tool.torchscan-ci]\n'''\nbroken = = 1\n"),
    "another tool": committed(b"[tool.torchscan-ci-x]\nbroken = = 1\n"),
    "another table": committed(b"[tool.x.torchscan-ci]\nbroken = = 1\n"),
    "dependency": committed(b'[project]\ndependencies = ["torchscan-ci"\n'),
    "empty": committed(b""),
    "large with our name": committed(b"#" * MAX_BYTES + OURS.encode()),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_pyproject_of_somebody_else_stops_nothing(kind: str) -> None:
    assert found(pyproject=OTHERS[kind]) is None
    beside = found(pyproject=OTHERS[kind], root=committed(CONFIG.encode()))
    assert beside is not None
    assert beside.source == "torchscan.toml"


BROKEN_OURS = {
    "a fault after it": f"{OURS}broken = = 1\n",
    "a fault before it": f"broken = = 1\n{OURS}",
    "an open bracket before it": f'dependencies = [\n  "a",\n{OURS}',
    "an open string before it": f'text = """\n{OURS}',
    "an array of tables": "broken = = 1\n[[tool.torchscan-ci.targets]]\n",
    "a table inside it": "broken = = 1\n[ tool . torchscan-ci . x ] # ours\n",
    "quoted": 'broken = = 1\n["tool"."torchscan-ci"]\n',
    "a dotted key": "tool.torchscan-ci.seed = 3\nbroken = = 1\n",
    "an inline table": "[tool]\ntorchscan-ci = { seed = 3 }\nbroken = = 1\n",
    "a key twice": f"{OURS}seed = 4\n",
    "carriage returns": f"{OURS}broken = = 1\n".replace("\n", "\r\n"),
}


@pytest.mark.parametrize("kind", BROKEN_OURS)
def test_a_broken_pyproject_with_our_table_is_told_since_a_gate_would_be_gone(kind: str) -> None:
    ours = found(pyproject=committed(BROKEN_OURS[kind].encode()))
    assert ours is not None
    with pytest.raises(ConfigError, match=r"pyproject\.toml"):
        load_config(ours.text, source=ours.source, kind=ours.kind)


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_pyproject_of_ours_in_another_encoding_is_told(encoding: str) -> None:
    with pytest.raises(ConfigError, match=r"pyproject\.toml is not UTF-8 text"):
        found(pyproject=committed(f"# é\n{OURS}".encode(encoding)))


@pytest.mark.parametrize("text", [f"\ufeff{CONFIG}", CONFIG.replace("\n", "\r\n"), f"\ufeff\r\n{CONFIG}"])
def test_a_byte_order_mark_and_windows_lines_are_read(text: str) -> None:
    held = found(root=committed(text.encode()))
    assert held is not None
    assert [target.id for target in load_config(held.text, source=held.source).targets] == ["net"]


def test_of_two_configs_both_are_named_whatever_they_are() -> None:
    with pytest.raises(ConfigError, match=r"two configs: torchscan\.toml and \.github/torchscan\.toml"):
        found(root=committed(CONFIG.encode()), github=LINK)


def test_what_is_at_a_path_is_text_a_problem_or_nothing() -> None:
    assert (ABSENT.is_absent, TOO_LARGE.is_absent, committed(b"").is_absent) == (True, False, False)
    assert [kind_problem(mode) for mode in ("100644", "100755", "100664")] == ["", "", ""]
    assert kind_problem("40000") == "a folder"  # as git itself writes the mode
