"""Stand-ins for the ports: a GitHub that remembers comments, a sink that remembers words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ci_action.ports import Author, Comment, PullState, TimelineEvent

BOT = Author(id=41898282, login="github-actions[bot]")


@dataclass
class FakeGitHub:
    """One pull request's comments. ``before`` runs ahead of a named call, to let something happen meanwhile."""

    head: str
    is_open: bool = True
    is_locked: bool = False
    me: Author | None = BOT
    stored: list[Comment] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    events: list[TimelineEvent] = field(default_factory=list)
    writers: tuple[str, ...] = ("owner",)
    before: dict[str, Callable[[], None]] = field(default_factory=dict)

    def add(self, body: str, author: Author = BOT) -> Comment:
        number = 1 + max((comment.id for comment in self.stored), default=100)
        is_by_app = author.login.endswith("[bot]")
        comment = Comment(number, body, author.id, author.login, f"https://github.com/c/{number}", is_by_app)
        self.stored.append(comment)
        return comment

    def _note(self, call: str) -> None:
        hook = self.before.pop(call, None)
        if hook:
            hook()
        self.calls.append(call)

    def pull_state(self, number: int) -> PullState:
        self._note("head")
        return PullState(head_sha=self.head, is_open=self.is_open, is_locked=self.is_locked)

    def comments(self, number: int) -> list[Comment]:
        self._note("list")
        return list(self.stored)

    def create_comment(self, number: int, body: str) -> Comment:
        self._note("create")
        return self.add(body)

    def update_comment(self, comment_id: int, body: str) -> Comment | None:
        self._note("update")
        for place, comment in enumerate(self.stored):
            if comment.id == comment_id:
                self.stored[place] = Comment(
                    comment.id, body, comment.author_id, comment.author_login, comment.html_url, comment.is_by_app
                )
                return self.stored[place]
        return None

    def delete_comment(self, comment_id: int) -> None:
        self._note("delete")
        self.stored = [comment for comment in self.stored if comment.id != comment_id]

    def author(self) -> Author | None:
        self._note("author")
        return self.me

    def timeline(self, number: int) -> list[TimelineEvent]:
        self._note("timeline")
        return self.events

    def can_write(self, login: str) -> bool:
        self._note("permission")
        return login in self.writers

    def pause(self, attempt: int) -> None:
        self._note("pause")


@dataclass
class FakeSink:
    """Remembers everything that it is told, in order."""

    folder: Path = Path("/nowhere")
    events: list[str] = field(default_factory=list)
    annotations: list[tuple[str, str]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)

    def write_file(self, name: str, text: str) -> Path:
        self.events.append(f"file {name}")
        self.files[name] = text
        return self.folder / name

    def summary(self, markdown: str) -> None:
        self.events.append("summary")

    def outputs(self, values: Mapping[str, str]) -> None:
        self.values.update(values)

    def annotate(self, kind: str, message: str, *, file: str | None = None, line: int | None = None) -> None:
        self.events.append(kind)
        self.annotations.append((kind, message))

    def progress(self, line: str) -> None:
        self.events.append(line)

    def replay(self, title: str, text: str) -> None:
        self.events.append(title)
