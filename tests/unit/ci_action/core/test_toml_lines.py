from __future__ import annotations

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
