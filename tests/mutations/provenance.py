"""Whose code ran, and what a shared environment cannot measure."""

from __future__ import annotations

from mutation import INTEGRATION, UNIT, of

WHOSE = f"{INTEGRATION}/test_whose_code.py"
FAILURE = f"{UNIT}/worker/test_failure.py"
MUTATIONS = [
    *of(
        WHOSE,
        "ci_action/worker/isolation.py",
        ("G3 base runs what was installed from the checkout", "if is_made_from(self.checkout, file):", "if False:"),
        (
            "G3 an installed copy without a source is nobody's",
            "if self._is_changed_source(file, place, seen):",
            "if False:",
        ),
        ("G3 a stale copy is head's code", "if not own or any(", "if True or any("),
        (
            "G3 head is accused of its own code",
            'if self.side == "base":\n            return f"{place}, not',
            'if True:\n            return f"{place}, not',
        ),
        (
            "G3 a vendored copy is accused",
            'if not sources.differs(own, other, counts_added=self.side == "base"):',
            "if False:",
        ),
        (
            "G3 a release stands in for a change",
            "return installed is not None and installed.name in",
            "return False and installed.name in",
        ),
        (
            "G3 what pip install --target brought is accused",
            "owner(file) is not None and not is_made_from(self.checkout, file)",
            "False",
        ),
        (
            "G3 a side's own environment is accused",
            "if own.exists() and not sources.differs(own, Path(file.folder, package), counts_added=False):",
            "if False:",
        ),
        ("G3 a namespace belongs to one owner", 'if Path(file.folder, package, "__init__.py").is_file():', "if True:"),
        ("G3 what hides a changed module is silent", "if self._hides_changed_module(file):", "if False:"),
        (
            "G3 any name on an import path is accused",
            'return sources.differs(own, other, counts_added=self.side == "base")\n        return False',
            "return True\n        return False",
        ),
    ),
    *of(
        WHOSE,
        "ci_action/worker/check.py",
        ("G3 head checks its own outputs", "if foreign:", "if False:"),
    ),
    *of(
        WHOSE,
        "ci_action/worker/installed.py",
        ("G3 the finder of an editable is code", "if _FINDER.fullmatch(file.inner):", "if False:"),
    ),
    *of(
        WHOSE,
        "ci_action/worker/loaded.py",
        (
            "G3 a library is no loaded file",
            "for name, file in [*_module_files(), *_libraries()]:",
            "for name, file in _module_files():",
        ),
        ("G3 a zip has no files", "found = loader.get_data(self.path)", "return None"),
    ),
    *of(
        WHOSE,
        "ci_action/worker/sources.py",
        (
            "G3 line endings make another file",
            'return one == other or one.replace(b"\\r\\n", b"\\n") == other.replace(b"\\r\\n", b"\\n")',
            "return one == other",
        ),
    ),
    *of(
        FAILURE,
        "ci_action/worker/failure.py",
        ("G10 pseudo-files are the owner's", 'if name.startswith("<") or "\\0" in name:', "if False:"),
        (
            "G10 a file that is not there is the owner's",
            "path.is_relative_to(root) and path.is_file() else",
            "path.is_relative_to(root) else",
        ),
    ),
    *of(
        FAILURE,
        "ci_action/worker/missing.py",
        ("G10 an error of its own hides the import", "link = link.__cause__ or", "link = None and"),
        (
            "G10 a name that is not in its package",
            'yield f"{link.name}.{wanted[1]}" if wanted else link.name',
            "yield link.name",
        ),
        ("G10 what is installed is not looked at", "for entry in map(Path, sys.path):", "for entry in ():"),
        ("G10 a folder of this commit is called generated", "if folder is not None:", "if False:"),
    ),
    *of(
        f"{UNIT}/core/test_dependencies.py",
        "ci_action/core/dependencies.py",
        ("G3 every pyproject counts", "if reads is None or _differ(*map(reads, texts(path))):", "if True:"),
        (
            "G3 a broken file says nothing",
            "return base is None or head is None or base != head",
            "return base != head and None not in (base, head)",
        ),
        ("G3 documentation counts", "if path.startswith(_ELSEWHERE) or", "if"),
    ),
    *of(
        f"{UNIT}/test_app.py",
        "ci_action/app.py",
        (
            "G3 separate environments are warned of",
            'if base is None or plan.policy.environment != "shared":',
            "if base is None:",
        ),
        (
            "G3 a note costs the report",
            "except PublishError:  # a note is not worth the report",
            "except ZeroDivisionError:",
        ),
    ),
    *of(
        "tests/golden/ci_action/test_comment_goldens.py",
        "ci_action/render/headline.py",
        (
            "G3 a dependency bump is no change",
            "return bool(plan.changed_dependencies and verdict.targets) and",
            "return False and",
        ),
    ),
    *of(
        "tests/golden/ci_action/test_comment_goldens.py",
        "ci_action/render/gate.py",
        (
            "G3 a dependency bump passes alone",
            'return ["changed dependencies not measured"] if plan.changed_dependencies else []',
            "return []",
        ),
    ),
    *of(
        f"{UNIT}/core/test_layouts.py",
        "ci_action/core/config/layouts.py",
        ("G3 a folder outside of the repository", 'if not (isabs(path) or path.startswith("..")):', "if True:"),
        ("G3 a renamed package is importable", 'return path == inner or path.endswith(f"/{inner}")', "return True"),
    ),
]
