"""The REST routes of the fake GitHub: one table, one function per endpoint."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from support.rig import git_data
from support.rig.exchange import Request, Response, error, page
from support.rig.openapi import minimal
from support.rig.state import BODY_LIMIT_CHARACTERS, LATER, GitHubState, PullRequestState, user

Route = Callable[[GitHubState, Request, re.Match[str]], Response]
NOT_FOUND = error(404, "Not Found")


def list_comments(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    return page(request, state.comments_of(int(path["number"])))


def create_comment(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    number = int(path["number"])
    pull_request = state.pull_requests.get(number)
    if pull_request and pull_request.is_locked:
        return error(403, "Unable to create comment because issue is locked.")
    if refusal := _refused_body(request.json.get("body")):
        return refusal
    comment = state.add_comment(number, request.json["body"])
    return Response(201, comment, {"Location": comment["url"]})


def _refused_body(body: Any) -> Response | None:
    if not isinstance(body, str) or not body:
        problem = {"resource": "IssueComment", "code": "missing_field", "field": "body"}
        return error(422, "Validation Failed", errors=[problem])
    if len(body) > BODY_LIMIT_CHARACTERS:
        message = f"Body is too long (maximum is {BODY_LIMIT_CHARACTERS} characters)"
        problem = {"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": message}
        return error(422, "Validation Failed", errors=[problem])
    return None


def get_comment(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    comment = state.comments.get(int(path["id"]))
    return Response(200, comment) if comment else NOT_FOUND


def update_comment(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    comment = state.comments.get(int(path["id"]))
    if comment is None:
        return NOT_FOUND
    if comment["user"]["id"] != state.viewer[1]:
        return error(403, "Resource not accessible by integration")
    if refusal := _refused_body(request.json.get("body")):
        return refusal
    comment.update(body=request.json["body"], updated_at=LATER)
    return Response(200, comment)


def delete_comment(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    return Response(204) if state.comments.pop(int(path["id"]), None) else NOT_FOUND


def list_labels(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    pull_request = state.pull_requests.get(int(path["number"]))
    if pull_request is None:
        return NOT_FOUND
    return page(request, [_label(name) for name in pull_request.labels])


def _label(name: str) -> dict[str, Any]:
    return minimal("label", name=name, color="ff0000", description="")


def list_timeline(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    pull_request = state.pull_requests.get(int(path["number"]))
    return page(request, pull_request.timeline) if pull_request else NOT_FOUND


def get_pull_request(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    pull_request = state.pull_requests.get(int(path["number"]))
    return Response(200, _pull_request(state, pull_request, "pull-request")) if pull_request else NOT_FOUND


def list_pull_requests(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    """Filter by ``head=owner:branch`` and ``state`` like GitHub; a filter it cannot parse is ignored there too."""
    wanted, head = request.query.get("state", "open"), request.query.get("head")
    found = [
        _pull_request(state, pull_request, "pull-request-simple")
        for pull_request in state.pull_requests.values()
        if wanted in {"all", pull_request.state}
        and head in {None, f"{pull_request.head_repository.split('/')[0]}:{pull_request.head_ref}"}
    ]
    return page(request, found)


def list_pull_requests_of_commit(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    """GitHub answers nothing for a fork's commit: it is not in this repository until merged."""
    found = [
        _pull_request(state, pull_request, "pull-request-simple")
        for pull_request in state.pull_requests.values()
        if pull_request.head_sha == path["sha"] and pull_request.head_repository == state.repository
    ]
    return page(request, found)


def _pull_request(state: GitHubState, pull_request: PullRequestState, schema: str) -> dict[str, Any]:
    body = minimal(
        schema,
        number=pull_request.number,
        state=pull_request.state,
        locked=pull_request.is_locked,
        title="a change",
        user=user("octocat", 583231),
        html_url=f"https://github.com/{state.repository}/pull/{pull_request.number}",
        labels=[_label(name) for name in pull_request.labels],
    )
    body["merge_commit_sha"] = pull_request.merge_sha
    body["head"].update(sha=pull_request.head_sha, ref=pull_request.head_ref)
    body["head"]["repo"].update(full_name=pull_request.head_repository)
    body["base"].update(sha=pull_request.base_sha, ref=pull_request.base_ref)
    body["base"]["repo"].update(full_name=state.repository, default_branch="main")
    return body


def get_permission(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    permission = state.permissions.get(path["login"], "none")
    body = minimal("repository-collaborator-permission", permission=permission, role_name=permission)
    return Response(200, body)


def get_run(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    run = state.runs.get(int(path["id"]))
    return Response(200, run) if run else NOT_FOUND


def list_runs(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    wanted = request.query.get("head_sha")
    found = [run for run in state.runs.values() if wanted in {None, run["head_sha"]}]
    return page(request, found, under="workflow_runs")


def list_artifacts(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    found = [
        artifact
        for identifier, artifact in state.artifacts.items()
        if state.artifact_runs[identifier] == int(path["id"])
        and request.query.get("name", artifact["name"]) == artifact["name"]
    ]
    return page(request, found, under="artifacts")


def get_artifact(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    artifact = state.artifacts.get(int(path["id"]))
    return Response(200, artifact) if artifact else NOT_FOUND


def download_artifact(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    artifact = state.artifacts.get(int(path["id"]))
    if artifact is None:
        return NOT_FOUND
    return Response(302, b"", {"Location": f"{request.own_url}/blob/{path['id']}?sig=x"})


def create_status(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    state.statuses.append({"sha": path["sha"], **request.json})
    context = request.json.get("context", "default")
    return Response(201, minimal("status", state=request.json["state"], context=context))


def create_check_run(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    identifier = state.next_id()
    state.check_runs[identifier] = request.json
    return Response(201, _check_run(identifier, request.json))


def update_check_run(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    identifier = int(path["id"])
    if identifier not in state.check_runs:
        return NOT_FOUND
    state.check_runs[identifier] |= request.json
    return Response(200, _check_run(identifier, state.check_runs[identifier]))


def _check_run(identifier: int, fields: dict[str, Any]) -> dict[str, Any]:
    return minimal(
        "check-run",
        id=identifier,
        name=fields["name"],
        head_sha=fields["head_sha"],
        status=fields.get("status", "queued"),
        conclusion=fields.get("conclusion"),
    )


ROUTES: tuple[tuple[str, str, Route], ...] = (
    ("GET", r"/issues/(?P<number>\d+)/comments", list_comments),
    ("POST", r"/issues/(?P<number>\d+)/comments", create_comment),
    ("GET", r"/issues/comments/(?P<id>\d+)", get_comment),
    ("PATCH", r"/issues/comments/(?P<id>\d+)", update_comment),
    ("DELETE", r"/issues/comments/(?P<id>\d+)", delete_comment),
    ("GET", r"/issues/(?P<number>\d+)/labels", list_labels),
    ("GET", r"/issues/(?P<number>\d+)/(timeline|events)", list_timeline),
    ("GET", r"/pulls/(?P<number>\d+)", get_pull_request),
    ("GET", r"/pulls/(?P<number>\d+)/files", git_data.pull_request_files),
    ("GET", r"/pulls", list_pull_requests),
    ("GET", r"/commits/(?P<sha>[0-9a-f]+)/pulls", list_pull_requests_of_commit),
    ("GET", r"/commits/(?P<sha>[^/]+)", git_data.commit),
    ("GET", r"/git/trees/(?P<sha>[0-9a-f]+)", git_data.tree),
    ("GET", r"/git/blobs/(?P<sha>[0-9a-f]+)", git_data.blob),
    ("GET", r"/compare/(?P<base>[^/]+)\.\.\.(?P<head>[^/]+)", git_data.compare),
    ("GET", r"/contents/(?P<file>.+)", git_data.contents),
    ("GET", r"/collaborators/(?P<login>[^/]+)/permission", get_permission),
    ("GET", r"/actions/runs", list_runs),
    ("GET", r"/actions/runs/(?P<id>\d+)", get_run),
    ("GET", r"/actions/runs/(?P<id>\d+)/artifacts", list_artifacts),
    ("GET", r"/actions/artifacts/(?P<id>\d+)", get_artifact),
    ("GET", r"/actions/artifacts/(?P<id>\d+)/zip", download_artifact),
    ("POST", r"/statuses/(?P<sha>[0-9a-f]+)", create_status),
    ("POST", r"/check-runs", create_check_run),
    ("PATCH", r"/check-runs/(?P<id>\d+)", update_check_run),
)


def answer(state: GitHubState, request: Request, *, prefix: str = "") -> Response:
    """Find the route of a REST request. ``prefix`` is what GHES puts before every path."""
    if not request.headers.get("authorization", "").lower().startswith(("bearer ", "token ")):
        return error(401, "Requires authentication")
    if request.method != "GET" and not state.can_write:
        accepted = {"X-Accepted-GitHub-Permissions": "issues=write; pull_requests=write"}
        return error(403, "Resource not accessible by integration", headers=accepted)
    repository = f"{prefix}/repos/{state.repository}"
    if not request.path.startswith(repository):
        return NOT_FOUND
    for method, pattern, route in ROUTES:
        match = re.fullmatch(pattern, request.path.removeprefix(repository))
        if match and method == request.method:
            return route(state, request, match)
    return NOT_FOUND
