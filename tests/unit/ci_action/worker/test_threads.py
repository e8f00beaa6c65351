"""Readings of torch's thread counts where the cores of the reader cannot be had back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import pytest
import torch

from ci_action.worker.threads import ThreadsChanged, ThreadWatch

CORES = frozenset(range(4))


class Machine:
    """Cores that this thread has, and the cpuset that bounds what it may ask for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cores = self.cpuset = CORES
        self.is_sandboxed = False
        self.set_counts(lambda: len(self.cores), monkeypatch)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(self.cores), raising=False)
        monkeypatch.setattr(os, "sched_setaffinity", self._set, raising=False)

    def set_counts(self, count: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(torch, "get_num_threads", count)
        monkeypatch.setattr(torch, "get_num_interop_threads", count)

    def _set(self, _: int, cores: Iterable[int]) -> None:
        if self.is_sandboxed or not self.cpuset & set(cores):
            raise OSError("Operation not permitted" if self.is_sandboxed else "Invalid argument")
        self.cores = self.cpuset & set(cores)  # as Linux does: what lies outside is left out without a word


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


@pytest.mark.parametrize("cores", [{0}, {1, 2}, {3}])
def test_a_smaller_cpuset_is_nobodys_fault(machine: Machine, cores: set[int]) -> None:
    watch = ThreadWatch()
    machine.cpuset = machine.cores = frozenset(cores)
    watch.check()
    watch.check()
    assert machine.cores == cores


def test_other_cores_of_a_moved_cpuset_are_nobodys_fault(machine: Machine) -> None:
    machine.cores = frozenset({0, 1})
    watch = ThreadWatch()
    machine.cpuset = machine.cores = frozenset({3})  # none of those that the first reading was made on
    watch.check()


def test_a_sandbox_that_forbids_the_call_is_nobodys_fault(machine: Machine) -> None:
    watch = ThreadWatch()
    machine.is_sandboxed, machine.cores = True, frozenset({2})
    watch.check()


def test_a_reading_leaves_the_cores_as_they_are(machine: Machine) -> None:
    watch = ThreadWatch()
    machine.cores = frozenset({2})
    watch.check()
    assert machine.cores == {2}


@pytest.mark.parametrize("cpuset", [CORES, {0, 1}])
def test_a_change_after_other_cores_is_noticed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, cpuset: set[int]
) -> None:
    watch = ThreadWatch()
    machine.cpuset, machine.cores = frozenset(cpuset), frozenset({1})
    watch.check()
    machine.set_counts(lambda: 3, monkeypatch)
    with pytest.raises(ThreadsChanged, match="torch's threads from 1 to 3"):
        watch.check()


def test_where_no_cores_are_told_every_change_counts(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    watch = ThreadWatch()
    watch.check()
    machine.set_counts(lambda: 7, monkeypatch)
    with pytest.raises(ThreadsChanged, match="from 4 to 7"):
        watch.check()
