"""Configs that are no text, what another run skipped, which artifact counts, and what several jobs measured twice."""

from __future__ import annotations

from mutation import INTEGRATION, UNIT, of

MUTATIONS = [
    *of(
        f"{UNIT}/core/test_committed.py",
        "ci_action/core/config/committed.py",
        ("config: a file without end", "if len(content) > MAX_BYTES:", "if False:"),
        ("config: a byte order mark is a fault", ".removeprefix(_BOM)", ""),
        ("config: NUL bytes are text", 'if "\\0" in text:', "if False:"),
        ("config: UTF-16 hides whose file it is", '.replace("\\0", "")', ""),
        ("config: a link is a file", 'return "" if mode.startswith("100") else', 'return "" if mode else'),
    ),
    *of(
        f"{UNIT}/core/test_committed.py",
        "ci_action/core/config/file.py",
        ("config: a broken pyproject with our table is nobody's", "return opens_table(text, TABLE)", "return False"),
        ("config: a broken pyproject with our name is ours", "return opens_table(text, TABLE)", "return True"),
        ("config: a torchscan.toml that is no text is nobody's", 'kind == "torchscan" or', "False or"),
        ("config: no text is an empty config", "    if item.text is None:\n", "    if False:\n"),
    ),
    *of(
        f"{UNIT}/core/test_committed.py",
        "ci_action/core/config/toml_lines.py",
        ("config: a header inside a string is ours", "if not fence and is_header:", "if is_header:"),
        ("config: a string without an end hides our header", "return bool(fence) and is_pending", "return False"),
    ),
    *of(
        f"{UNIT}/test_app.py",
        "ci_action/app.py",
        ("config: a broken base is no base", 'base_fault = "base\'s config is not valid"', 'base_fault = ""'),
        ("config: a broken base is taken for no config", "if base_fault and head_config is None:", "if False:"),
    ),
    *of(
        f"{INTEGRATION}/test_committed_files.py",
        "ci_action/edges/git/repository.py",
        ("config: git reads a link", "if problem := kind_problem(mode):", 'if problem := "":'),
    ),
    *of(
        f"{INTEGRATION}/test_committed_files.py",
        "ci_action/edges/github/trees.py",
        ("config: the API reads a link", "if problem := kind_problem(entry.mode):", 'if problem := "":'),
        ("skip: a listing in part is whole", 'None if body.get("truncated") is not False else entries', "entries"),
        ("skip: a walk without end", "if asked > MAX_TREES:", "if False:"),
        ("skip: a tree's id of any form", "and SHA.fullmatch(sha) is not None", ""),
        (
            "skip: a mode that changes is no change",
            'Entry(item["mode"], item["sha"])',
            'Entry(item["mode"][:3], item["sha"])',
        ),
    ),
    *of(
        f"{INTEGRATION}/test_committed_files.py",
        "ci_action/edges/github/remote.py",
        ("skip: a merge of anybody is believed", "if measured in {head, merge_sha}:", "if True:"),
        ("skip: what was merged already is a change", "sorted(own & apart)", "sorted(own)"),
        ("skip: what base changed is head's change", "sorted(own & apart)", "sorted(apart)"),
        (
            "404: a branch that is gone is a permission",
            "            if refusal.status != 404:\n                raise\n",
            "            raise\n",
        ),
    ),
    *of(
        f"{INTEGRATION}/test_publish_run.py",
        "ci_action/core/handover/skips.py",
        ("skip: a result is thrown away", '    if is_measured:\n        return replace(target, skipped="")\n', ""),
        ("skip: what is not proven is a failure of head", "if target.skipped or not may_be_skipped:", "if True:"),
    ),
    *of(
        f"{INTEGRATION}/test_publish_run.py",
        "ci_action/core/judging.py",
        ("skip: what is not proven passes where no limit covers it", " or bool(target.unproven)", ""),
    ),
    *of(
        f"{INTEGRATION}/test_publish_run.py",
        "ci_action/receiving.py",
        ("artifact: the highest id counts", "return item.created_at, item.id", 'return "", item.id'),
        ("artifact: an expired one is called missing", "if not found and any(", "if False and any("),
    ),
    *of(
        f"{UNIT}/test_sticky.py",
        "ci_action/sticky.py",
        ("closed: a new comment", "if not pull.is_open:", "if False:"),
        ("locked: a new comment", "if pull.is_locked:", "if False:"),
    ),
    *of(
        f"{UNIT}/test_publish.py",
        "ci_action/ports.py",
        ("404: every refusal is a permission", "self.status == 403 and not self.other_reason", "True"),
    ),
    *of(
        f"{UNIT}/core/test_shards.py",
        "ci_action/core/handover/uniting.py",
        ("twice: the first result counts", 'if first["id"] not in unclear:', "if True:"),
        ("twice: equal results are unclear", 'if key != "seconds"', "if key"),
        ("twice: the first timing counts", "twins[0] if _agree(twins) else _unclear_timing(twins[0])", "twins[0]"),
    ),
]
