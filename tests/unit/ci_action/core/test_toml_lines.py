"""A key's line is right or not given: an annotation beside the wrong line sends its reader astray."""

from __future__ import annotations

import pytest

from ci_action.core.config.toml_lines import key_lines, line_of

TEXT = '''# comment = 1
a = [
  "x = 1", # [not.a.table]
  "y",
]
text = """
b = 2
"""
[one.two]
"quoted key" = 1
[[three]]
k = { m = 1 }
[[three]]
k = 2
[three.four]
z = 1
'''


def test_keys_and_tables_have_their_lines() -> None:
    assert key_lines(TEXT) == {
        ("a",): 2,
        ("text",): 6,
        ("one",): 9,
        ("one", "two"): 9,
        ("one", "two", "quoted key"): 10,
        ("three",): 11,
        ("three", 0): 11,
        ("three", 0, "k"): 12,
        ("three", 1): 13,
        ("three", 1, "k"): 14,
        ("three", 1, "four"): 15,
        ("three", 1, "four", "z"): 16,
    }


def test_a_key_without_a_line_has_that_of_its_table() -> None:
    assert line_of(("three", 0, "k", "m"), key_lines(TEXT)) == 12
    assert line_of(("nowhere",), key_lines(TEXT)) is None


@pytest.mark.parametrize(
    "before",
    [
        '# a comment with three quotes: """',
        'a = \'three quotes: """\'',
        'a = """one line"""',
        'a = """\nkey = 1\n"""',
        "a = '''\n[[limits]]\nmetric = 1\n'''",
        'a = """\n\\""" still inside\n[[limits]]\n"""',
        'a = [\n"]", # ]\n"""\n[[limits]]\n""",\n]',
        'a = "\u2028 and \x85 end no line of TOML"',
        'a = "#"\r',
    ],
)
def test_strings_and_comments_move_no_line(before: str) -> None:
    text = f"{before}\n[[limits]]\nmetric = 1\n"
    assert key_lines(text)["limits", 0, "metric"] == text.split("\n").index("metric = 1", before.count("\n") + 1) + 1


def test_a_table_that_cannot_be_named_lends_its_keys_to_no_other() -> None:
    text = '[[limits]]\nmetric = 1\n["a]b"]\nmax = 2\n'
    assert ("limits", 0, "max") not in key_lines(text)
    assert line_of(("a]b", "max"), key_lines(text)) is None
