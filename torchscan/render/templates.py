"""The only loader of templates. A checkout reads templates/<owner>; a wheel carries them inside the package."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_ROOT = Path(__file__).resolve().parents[2]  # the checkout, or site-packages


def template_folder(owner: str) -> Path:
    """Find the templates of a package.

    An editable install may leave a stale copy inside the package, so a checkout always wins.
    """
    if (_ROOT / "pyproject.toml").is_file():
        return _ROOT / "templates" / owner
    return _ROOT / owner / "_templates"


@lru_cache(maxsize=4)
def environment(owner: str, *, autoescape: bool) -> Environment:
    """Give the template environment of ``torchscan`` or ``ci_action``. An undefined name is an error, never a blank.

    ``autoescape`` is True for markup and False for Markdown and plain text, which escape in their own ways.
    """
    # The names end in .j2, so select_autoescape would not recognise them.
    return Environment(
        loader=FileSystemLoader(template_folder(owner)),
        autoescape=autoescape,  # noqa: S701 # off only for Markdown, where the templates escape themselves
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


@lru_cache(maxsize=16)
def source(owner: str, name: str) -> str:
    """Read a file that is inlined as it is: a style sheet or a script."""
    return (template_folder(owner) / name).read_text(encoding="utf-8")
