"""Models that behave, and models that spoil their timing in every way; and the real workers that run them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

from support import measuring

from ci_action.core.config.entries import Benchmark
from ci_action.core.spec import WorkerSpec
from ci_action.core.timing.evidence import BenchmarkEvidence
from ci_action.core.timing.lockstep import BenchmarkJob
from ci_action.edges.workers.child import ChildMeasurer
from ci_action.edges.workers.place import ChildLimits

MODELS = dedent("""
    import hashlib, itertools, os, signal, sys, threading, time
    import torch
    from torch import nn

    def linear():
        return nn.Linear(8, 8), (torch.ones(2, 8),)

    def logged():
        def workload():
            with open("BLOCKS", "a") as log:
                log.write(f"{os.getpid()}\\n")
            time.sleep(0.004)
        return {"workload": workload, "work_units": 4, "work_unit": "images"}

    def slower():
        return {"workload": lambda: time.sleep(0.006), "work_units": 4, "work_unit": "images"}

    def wider():
        return nn.Linear(8, 9), (torch.ones(2, 8),)

    def fails_in_its_third_process():
        with open("processes.log", "a") as log:
            log.write("x")
        count = os.path.getsize("processes.log")
        def workload():
            if count >= 3:
                raise RuntimeError("the third time is one too many")
            time.sleep(0.002)
        return {"workload": workload}

    kept = []
    def leaks():
        return {"workload": lambda: kept.append(b"x" * (20 << 20))}

    def forks():
        def workload():
            if not kept and not os.fork():
                time.sleep(60)
            kept.append(1)
        return {"workload": workload}

    def prints():
        line = "x" * 1_000_000
        return {"workload": lambda: print(line)}

    def sleeps():
        return {"workload": lambda: time.sleep(60)}

    def changes_threads():
        counts = iter(range(1, 10_000))
        return {"workload": lambda: torch.set_num_threads(1 + next(counts) % 2)}

    def after_warming_up(act):
        calls = itertools.count()
        return {"workload": lambda: act() if next(calls) == 20 else None}

    def raises(error):
        def act(): raise error
        return after_warming_up(act)

    class Odd(BaseException):
        def __str__(self): raise ValueError("cannot be shown")

    def changes_threads_late():
        return after_warming_up(lambda: torch.set_num_threads(torch.get_num_threads() + 1))
    def changes_interop_threads():
        return after_warming_up(lambda: torch.set_num_interop_threads(torch.get_num_interop_threads() + 1))
    def shows_cores():
        def workload():
            with open("CORES", "a") as log:
                log.write(f"{os.getpid()} {sorted(os.sched_getaffinity(0))}\\n")
            time.sleep(0.002)
        return {"workload": workload}
    def follows_cores():
        torch.get_num_threads = torch.get_num_interop_threads = lambda: len(os.sched_getaffinity(0))
        return linear()
    def pins_itself():
        follows_cores()
        cores = {max(os.sched_getaffinity(0))}
        return {"workload": lambda: os.sched_setaffinity(0, cores)}
    def pins_itself_late():
        follows_cores()
        return after_warming_up(lambda: os.sched_setaffinity(0, {max(os.sched_getaffinity(0))}))
    def unpins_itself():
        follows_cores()
        return after_warming_up(lambda: os.sched_setaffinity(0, range(os.cpu_count())))
    def starts_a_pool_late():
        follows_cores()
        def act():
            size = len(os.sched_getaffinity(0))
            torch.get_num_interop_threads = lambda: size
        return after_warming_up(act)
    def changes_threads_and_cores():
        def act():
            torch.set_num_threads(torch.get_num_threads() + 1)
            os.sched_setaffinity(0, range(os.cpu_count()))
        return after_warming_up(act)
    def threaded():
        def workload():
            work = lambda: hashlib.sha256(bytes(4 << 20))
            thread = threading.Thread(target=work)
            thread.start(), work(), thread.join()
        return {"workload": workload}

    def leaves(): return {"workload": lambda: os._exit(0)}
    def leaves_late(): return after_warming_up(lambda: os._exit(0))
    def exits(): return {"workload": lambda: sys.exit(0)}
    def interrupts(): return raises(KeyboardInterrupt())
    def odd(): return raises(Odd())
    def kills_itself(): return after_warming_up(lambda: os.kill(os.getpid(), signal.SIGKILL))
    def crashes(): return after_warming_up(lambda: os.kill(os.getpid(), signal.SIGSEGV))
    def closes_pipes(): return after_warming_up(lambda: os.closerange(3, 64))
    def closes_pipes_and_stays(): return after_warming_up(lambda: (os.closerange(3, 64), time.sleep(60)))
    def answers_without_end():
        def act():
            for descriptor in range(3, 30):
                try: os.write(descriptor, b"x" * (2 << 20))
                except OSError: pass
        return after_warming_up(act)
    def leaves_the_pipe_to_a_child():
        def act():
            if not os.fork():
                os.setsid()
                time.sleep(60)
            os._exit(0)
        return after_warming_up(act)

    def daemons():
        def act():
            child = os.fork()
            if not child:
                os.setsid()
                if os.fork(): os._exit(0)
                open("daemon", "w").write(str(os.getpid()))
                time.sleep(60)
            os.waitpid(child, 0)
            while not (os.path.exists("daemon") and os.path.getsize("daemon")): time.sleep(0.01)
        return after_warming_up(act)

    def closes_its_output():
        return after_warming_up(lambda: (os.close(1), os.close(2), sys.stdout.close()))
    def asks_for_threads_too_late():
        return after_warming_up(lambda: os.environ.update(OMP_NUM_THREADS="7", MKL_NUM_THREADS="7"))
    def leaves_torch_changed():
        def act():
            torch.set_grad_enabled(False), torch.set_default_dtype(torch.float64), torch.manual_seed(3)
            torch.use_deterministic_algorithms(True), torch.set_default_device("meta")
        return after_warming_up(act)

    def expands(): return {"workload": lambda: torch.zeros(1).expand(1 << 40)}
    def counts(): return {"workload": lambda: ["x" * (1 << 20)] * 300}
    def one_thread():
        torch.set_num_threads(1)
        return linear()
    def three_threads():
        torch.set_num_threads(3)
        return linear()
    def strange_units(): return {"workload": lambda: None, "work_units": -1}
    def lies():
        def workload():
            for descriptor in range(3, 30):
                try: os.write(descriptor, b'{"seconds": NaN}\\n')
                except OSError: pass
        return {"workload": workload}
    def same_outputs(base, head): return bool((base == head).all())
    def no_outputs(base, head): return base.nothing
""")


def two_sides(folder: Path) -> Path:
    """Write the models into a base and a head folder; what they log goes beside these."""
    for side in ("base", "head"):
        (folder / side).mkdir()
        (folder / side / "models.py").write_text(
            MODELS.replace("BLOCKS", str(folder / "blocks.log")).replace("CORES", str(folder / "cores.log"))
        )
    return folder


def spec(folders: Path, side: str, factory: str) -> WorkerSpec:
    """One target of one side, whose threads are left alone."""
    alone = measuring.spec(folders / side, f"models.py:{factory}", side=side, id="net", analysis="off")
    return {**alone, "threads": None}


def measurer(folders: Path) -> ChildMeasurer:
    return measuring.measurer(folders, limits=ChildLimits(timeout_seconds=60))


def timed(folders: Path, base: str | None, head: str, *, control: bool = False, **benchmark: Any) -> BenchmarkEvidence:
    job = BenchmarkJob(
        id="net",
        base=None if base is None else spec(folders, "base", base),
        head=spec(folders, "head", head),
        benchmark=Benchmark(**{"pairs": 1, **benchmark}),
        needs_control=control,
        budget_seconds=None,
    )
    return measurer(folders).benchmark([job])["net"]
