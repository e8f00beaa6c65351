from __future__ import annotations

from support.benchmarks import make_benchmark, seconds

from torchscan.measure.terminal import workload_lines
from torchscan.report.metric import complete, partial

# The numbers and lines of the product owner's page "Start with your workload".
PRINTED = """\
Workload on cpu (1 PyTorch threads)
  First call: 0.174 ms
  Latency (block median): 0.006 ms
  Latency IQR: 0.001 ms
  Throughput: 4,191,866.300 samples/s
  Operator FLOPs: 1,048,576.000 FLOPs
  PyTorch peak memory: 0.094 MiB
    Scope: PyTorch tracked CPU tensors
  Process peak RSS: unavailable (not requested)
  Profiler: not requested (separate instrumented pass)"""


def test_the_summary_is_the_owners_to_the_letter() -> None:
    report = make_benchmark(
        0.0000061,
        0.0000009,
        context={"num_threads": 1},
        totals={
            "first_call_latency": seconds(0.000174, "first_call"),
            "throughput": complete(4191866.3, unit="samples/s", scope="warmed_blocks", method="m"),
            "operator_flops": complete(1_048_576, unit="FLOPs", scope="workload", method="m"),
            "peak_memory": complete(98_816, unit="bytes", scope="pytorch_tensor_bytes", method="m"),
        },
    )
    assert "\n".join(workload_lines(report)) == PRINTED


def test_a_lower_bound_is_never_printed_as_the_value() -> None:
    bound = partial(0, unit="FLOPs", scope="workload", method="m")
    lines = workload_lines(make_benchmark(totals={"operator_flops": bound}))
    assert "  Operator FLOPs: at least 0.000 FLOPs (partial)" in lines


def test_rss_and_profile_are_printed_where_they_were_asked_for() -> None:
    rss = complete(3 * 2**20, unit="bytes", scope="child_process_lifetime", method="m")
    lines = workload_lines(make_benchmark(totals={"process_peak_rss": rss}, context={"profile_status": "collected"}))
    assert lines[-3:] == [
        "  Process peak RSS: 3.000 MiB",
        "    Scope: child process lifetime",
        "  Profiler: collected (separate instrumented pass)",
    ]
