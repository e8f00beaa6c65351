"""GitHub's own OpenAPI description: cut to the paths in use, and the smallest bodies that satisfy it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from support.components import need

REPOSITORY = "/repos/{owner}/{repo}"
PATHS = tuple(
    REPOSITORY + path
    for path in (
        "/actions/artifacts/{artifact_id}",
        "/actions/artifacts/{artifact_id}/{archive_format}",
        "/actions/runs",
        "/actions/runs/{run_id}",
        "/actions/runs/{run_id}/artifacts",
        "/check-runs",
        "/check-runs/{check_run_id}",
        "/collaborators/{username}/permission",
        "/commits/{commit_sha}/pulls",
        "/commits/{ref}",
        "/compare/{basehead}",
        "/contents/{path}",
        "/git/blobs/{file_sha}",
        "/git/trees/{tree_sha}",
        "/issues/comments/{comment_id}",
        "/issues/{issue_number}/comments",
        "/issues/{issue_number}/events",
        "/issues/{issue_number}/labels",
        "/issues/{issue_number}/timeline",
        "/pulls",
        "/pulls/{pull_number}",
        "/pulls/{pull_number}/files",
        "/statuses/{sha}",
    )
)
FORMATS = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    "email": "a@example.com",
    "uri": "http://127.0.0.1/x",
    "uri-template": "http://127.0.0.1/x{/y}",
}


@cache
def document(name: str) -> dict[str, Any]:
    """Load a description by its name: ``api.github.com`` or ``ghes-3.19``."""
    loaded: dict[str, Any] = json.loads((need("octokit-openapi") / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


def trimmed(name: str, *, prefix: str = "") -> dict[str, Any]:
    """Keep the paths in use, moved under ``prefix``, and the components that they reach: Prism then starts in 1.5 s.

    GHES serves its API under ``/api/v3``, which the description names in ``servers`` only and Prism does not add.
    """
    whole = document(name)
    paths = {path: whole["paths"][path] for path in PATHS}
    components: dict[str, dict[str, Any]] = {}
    waiting: list[Any] = [paths]
    while waiting:
        for reference in _references(waiting.pop()):
            _, _, kind, component = reference.split("/", 3)
            if component not in components.setdefault(kind, {}):
                components[kind][component] = whole["components"][kind][component]
                waiting.append(components[kind][component])
    components.pop("examples", None)
    return {
        "openapi": whole["openapi"],
        "info": whole["info"],
        "paths": {prefix + path: _without_examples(item) for path, item in paths.items()},
        "components": _without_examples(components),
    }


def write_trimmed(target: Path, name: str, *, prefix: str = "") -> Path:
    """Write the cut description where Prism can read it."""
    target.write_text(json.dumps(trimmed(name, prefix=prefix)), encoding="utf-8")
    return target


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def _without_examples(node: Any) -> Any:
    """Drop examples: validation does not read them and they refer to megabytes of components."""
    if isinstance(node, dict):
        dropped = {"examples"} if "schema" in node else set()
        return {key: _without_examples(value) for key, value in node.items() if key not in dropped}
    if isinstance(node, list):
        return [_without_examples(value) for value in node]
    return node


@cache
def _minimal_json(schema_name: str) -> str:
    whole = document("api.github.com")
    return json.dumps(_minimal(whole, whole["components"]["schemas"][schema_name]))


def minimal(schema_name: str, **fields: Any) -> dict[str, Any]:
    """Give the smallest body of a named schema, with these fields set: what the fake answers with."""
    body: dict[str, Any] = json.loads(_minimal_json(schema_name))
    return body | fields


def _resolve(whole: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        found: Any = whole
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[step.replace("~1", "/")]
        schema = found
    return schema


def _minimal(whole: dict[str, Any], schema: dict[str, Any]) -> Any:
    schema = _resolve(whole, schema)
    if schema.get("nullable"):
        return None
    if "enum" in schema:
        return schema["enum"][0]
    if "properties" in schema:
        return {key: _minimal(whole, schema["properties"][key]) for key in schema.get("required", ())}
    for union in ("oneOf", "anyOf"):
        if union in schema:
            return _minimal(whole, schema[union][0])
    if "allOf" in schema:
        return _merged([_minimal(whole, part) for part in schema["allOf"]])
    return _minimal_scalar(whole, schema)


def _merged(parts: list[Any]) -> Any:
    if not all(isinstance(part, dict) for part in parts):
        return parts[0]
    return {key: value for part in parts for key, value in part.items()}


def _minimal_scalar(whole: dict[str, Any], schema: dict[str, Any]) -> Any:
    kind = schema.get("type")
    if kind == "array":
        return [_minimal(whole, schema["items"]) for _ in range(schema.get("minItems", 0))]
    if kind == "string":
        return FORMATS.get(schema.get("format", ""), "x" * max(1, schema.get("minLength", 1)))
    if kind in {"integer", "number"}:
        return schema.get("minimum", 1)
    return False if kind == "boolean" else {}
