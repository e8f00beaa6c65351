from __future__ import annotations

import random
import string
from collections.abc import Callable, Mapping

import pytest

from ci_action.core.config.committed import ABSENT, CommittedFile, committed
from ci_action.core.config.entries import Benchmark, Config, Limit, OutputCheck, Target
from ci_action.core.config.file import find_config, load_config
from ci_action.errors import ConfigError

FULL = """\
schema-version = 1
accept-label = "torchscan: accepted"
threads = 2
seed = 7
timeout-seconds = 30
memory-limit = "2 GiB"
max-seconds = 1200.5
import-paths = ["src", "lib"]
pass-env = ["HF_HOME"]
environment = "separate"
install = ["pip", "install", "-e", "."]
comment = "on-change"

[[targets]]
id = "classifier"
factory = "bench/models.py:classifier"
analysis = "full"
device = "cpu"
paths = ["models", "bench/*.py"]
[targets.benchmark]
metrics = ["latency", "peak_memory"]
pairs = 12
output-check = { rtol = 1e-4, atol = 1e-5 }

[[targets]]
id = "decoder"
factory = "zoo.decoder:build"

[[limits]]
targets = ["*"]
metric = "operator_macs"
max-increase = "5%"
max-increase-by = "2 M"
max = "4.2 G"

[[limits]]
targets = ["class*"]
metric = "latency"
max-increase-by = "0.5 ms"
on-exceed = "warn"
"""
MINIMAL = '[[targets]]\nid = "net"\nfactory = "bench.py:net"\n'
INSTRUCTIONS = MINIMAL + '[targets.benchmark]\nmetrics = ["instructions"]\n[[limits]]\nmetric = "instructions"\n'


def load(text: str) -> Config:
    return load_config(text, source="torchscan.toml")


def commit(files: Mapping[str, str | bytes | CommittedFile]) -> Callable[[str], CommittedFile]:
    """Return what one commit has at a path."""

    def read(path: str) -> CommittedFile:
        found = files.get(path, ABSENT)
        if isinstance(found, CommittedFile):
            return found
        return committed(found if isinstance(found, bytes) else found.encode())

    return read


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(text)
    return str(caught.value)


def test_every_key_becomes_a_value() -> None:
    assert load(FULL) == Config(
        source="torchscan.toml",
        accept_label="torchscan: accepted",
        threads=2,
        seed=7,
        timeout_seconds=30.0,
        memory_limit_bytes=2 * 1024**3,
        max_seconds=1200.5,
        import_paths=("src", "lib"),
        pass_env=("HF_HOME",),
        environment="separate",
        install=("pip", "install", "-e", "."),
        comment="on-change",
        targets=(
            Target(
                id="classifier",
                factory="bench/models.py:classifier",
                paths=("models", "bench/*.py"),
                benchmark=Benchmark(
                    metrics=("latency", "peak_memory"), pairs=12, output_check=OutputCheck(rtol=1e-4, atol=1e-5)
                ),
            ),
            Target(id="decoder", factory="zoo.decoder:build"),
        ),
        limits=(
            Limit(
                targets=("*",),
                metric="operator_macs",
                max_increase=0.05,
                max_increase_by=2e6,
                max=4.2e9,
                text="+5% and +2 M, max 4.2 G",
                line=29,
            ),
            Limit(
                targets=("class*",),
                metric="latency",
                max_increase_by=5e-4,
                text="+0.5 ms",
                on_exceed="warn",
                line=36,
            ),
        ),
    )


def test_defaults_are_those_of_the_dataclasses() -> None:
    assert load(MINIMAL) == Config(source="torchscan.toml", targets=(Target(id="net", factory="bench.py:net"),))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('metric = "latency"', 'metric = "latancy"', "torchscan.toml:38: limits[1].metric: found 'latancy'"),
        ('metric = "latency"', 'metric = "latancy"', "did you mean 'latency'?"),
        ("on-exceed", "on-exced", "torchscan.toml:40: limits[1].on-exced: unknown key; did you mean 'on-exceed'?"),
        ("[targets.benchmark]", "[targets.benchmrk]", "torchscan.toml:20: targets[0].benchmrk: unknown key"),
        ('"5%"', "5", "torchscan.toml:32: limits[0].max-increase: found 5; accepted: A percentage in quotes"),
        ('"2 M"', '"2 MiB"', "limits[0].max-increase-by: found '2 MiB'; accepted: a number and a unit"),
        (
            '"0.5 ms"',
            '"0.5"',
            "limits[1].max-increase-by: found '0.5'; accepted: a number and a unit (ns, µs, us, ms, s)",
        ),
        ('"0.5 ms"', "0.5", "found 0.5 without a unit"),
        ('["class*"]', '["clasifier"]', "found 'clasifier', but no target has this id; did you mean 'classifier'?"),
        ('["class*"]', '["dec*"]', "latency is not measured for 'decoder'; add it to its benchmark metrics"),
        ('id = "decoder"', 'id = "classifier"', "torchscan.toml:26: targets[1].id: found 'classifier' again"),
        ("pairs = 12", "pairs = 5", "found 5; 1 timing limit(s) need at least 6 pairs"),
        ("pairs = 12", "pairs = true", "targets[0].benchmark.pairs: found True; accepted: a whole number"),
        ("rtol = 1e-4", "rtol = nan", "targets[0].benchmark.output-check.rtol: found nan; accepted: a finite number"),
        ("rtol = 1e-4", "rtl = 1e-4", "output-check.rtl: unknown key; did you mean 'rtol'?"),
        ('max-increase-by = "0.5 ms"\n', "", "torchscan.toml:36: limits[1]: this limit has no threshold"),
        ('max = "4.2 G"', 'max-decrease = "1%"', "max-decrease: has no meaning for operator_macs"),
        ('id = "decoder"\n', "", "torchscan.toml:25: targets[1]: the key 'id' is missing"),
        ('"zoo.decoder:build"', '"../zoo.py:build"', "targets[1].factory: found '../zoo.py:build'"),
        ('"zoo.decoder:build"', '"/zoo.py:build"', "targets[1].factory: found '/zoo.py:build'"),
        ('["src", "lib"]', '["src", "../x"]', "import-paths[1]: found '../x'; accepted: A path inside the repository"),
        ('"HF_HOME"', '"GITHUB_TOKEN"', "pass-env[0]: found 'GITHUB_TOKEN'; it can hold a token"),
        ('environment = "separate"\n', "", 'install: environment = "separate" and install belong together'),
        ('"2 GiB"', '"2 GB"', "memory-limit: found '2 GB'; accepted: a number and a unit (B, KiB, MiB, GiB, TiB)"),
        ("threads = 2", "lfs = 1", "torchscan.toml:3: lfs: found 1; accepted: true or false"),
        ("threads = 2", 'submodules = "recursive"', "submodules: found 'recursive'; accepted: true or false"),
        ("threads = 2", "threads = 0", "torchscan.toml:3: threads: found 0; accepted: at least 1"),
        ("schema-version = 1", "schema-version = 2", "schema-version: found 2; accepted: 1"),
        ("threads = 2", "threads = ", "torchscan.toml:3: not TOML: Invalid value"),
    ],
)
def test_message_says_where_what_and_what_is_accepted(old: str, new: str, message: str) -> None:
    assert old in FULL
    assert message in refusal(FULL.replace(old, new, 1))


def test_throughput_is_limited_downwards() -> None:
    text = MINIMAL + '[targets.benchmark]\nmetrics = ["throughput"]\n[[limits]]\nmetric = "throughput"\n'

    assert load(text + 'max-decrease = "3%"').limits[0].max_decrease == 0.03
    assert "higher is better" in refusal(text + 'max-increase = "3%"')


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ('max-increase = "0.4%"', "max-increase: found '0.4%'; counts of equal code differ by up to 0.5%"),
        ("max-increase = 0", "max-increase: found 0; counts of equal code"),
        ('max-increase-by = "2 M"', "max-increase-by: no max-increase; counts of equal code"),
    ],
)
def test_a_limit_under_the_noise_of_equal_code_is_refused(keys: str, problem: str) -> None:
    assert problem in refusal(INSTRUCTIONS + keys)


@pytest.mark.parametrize("keys", ['max-increase = "0.5%"', 'max-increase = "1%"\nmax-increase-by = 9', 'max = "2 G"'])
def test_a_limit_over_the_noise_of_equal_code_or_a_cap_is_taken(keys: str) -> None:
    assert load(INSTRUCTIONS + keys).limits[0].metric == "instructions"


def test_zero_limit_needs_no_unit() -> None:
    limits = load(MINIMAL + '[[limits]]\nmetric = "parameters"\nmax-increase = 0\nmax-increase-by = 0').limits

    assert (limits[0].max_increase, limits[0].max_increase_by, limits[0].text) == (0.0, 0.0, "+0 and +0")


def test_a_target_that_measures_nothing_is_refused() -> None:
    assert "nothing of this target would be measured" in refusal(MINIMAL + 'analysis = "off"')


def test_config_may_stand_in_pyproject() -> None:
    text = '[project]\nname = "x"\n\n[tool.torchscan-ci]\nseed = 3\n[[tool.torchscan-ci.targets]]\n'
    text += 'id = "net"\nfactory = "b.py:n"\n'
    found = find_config(commit({"pyproject.toml": text}))

    assert found is not None
    assert load_config(found.text, source=found.source, kind=found.kind).seed == 3


def test_line_is_right_in_pyproject() -> None:
    with pytest.raises(ConfigError, match=r"^pyproject.toml:4: seeed: unknown key"):
        load_config(
            '[project]\nname = "x"\n[tool.torchscan-ci]\nseeed = 1\n', source="pyproject.toml", kind="pyproject"
        )


def test_two_configs_are_an_error() -> None:
    files = {"torchscan.toml": MINIMAL, "pyproject.toml": "[tool.torchscan-ci]\nseed = 1\n"}

    with pytest.raises(ConfigError, match=r"torchscan.toml and pyproject.toml"):
        find_config(commit(files))


def test_a_pyproject_of_others_is_no_config() -> None:
    assert find_config(commit({"pyproject.toml": "this is [not toml"})) is None


def test_config_is_looked_for_in_the_working_directory() -> None:
    found = find_config(commit({"packages/a/.github/torchscan.toml": MINIMAL}), working_directory="packages/a")

    assert found is not None
    assert found.source == "packages/a/.github/torchscan.toml"


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5_000,
        "seed = " + "9" * 5_000,
        "x" * (1 << 21),
        "seed = 1979-05-27",
        'targets = [{id = "\\u0000", factory = "a:b"}]',
    ],
    ids=["deep", "digits", "long", "date", "control"],
)
def test_hostile_text_is_one_clear_error(text: str) -> None:
    assert len(refusal(text)) < 1_000


VALUES = (
    *("1", "0", "-1", "1.5", "nan", "-inf", "1e400", "9" * 40, "true", '""', '"5%"', '"1e9 G"', '"x"', '"*"', '"[!a"'),
    *("[]", "[1]", '["a"]', "[[]]", "{}", "{ rtol = 1 }", "1979-05-27", '"""\n"""', "'a:b'", '"é\\u202e"', '"skip"'),
)


def mutate(text: str, dice: random.Random) -> str:
    """Damage a config: another value for a key, a line dropped or doubled, or stray characters."""
    lines = text.splitlines(keepends=True)
    at = dice.randrange(len(lines))
    match dice.randrange(5):
        case 0 | 1 if "=" in lines[at]:
            lines[at] = f"{lines[at].partition('=')[0]}= {dice.choice(VALUES)}\n"
        case 2:
            del lines[at]
        case 3:
            lines.insert(dice.randrange(len(lines)), lines[at])
        case _:
            middle = dice.randrange(len(lines[at]))
            lines[at] = lines[at][:middle] + dice.choice(string.printable + "\x00é\u2028") + lines[at][middle:]
    return "".join(lines)


def test_500_mutated_configs_give_a_config_or_a_config_error() -> None:
    dice = random.Random(20261129)
    errors = []
    for _ in range(500):
        text = FULL
        for _ in range(dice.randint(1, 3)):
            text = mutate(text, dice)
        try:
            load(text)
        except ConfigError as error:
            errors.append(str(error))
    assert 250 < len(errors) < 490  # the mutations reach both ends
    assert all(error.startswith("torchscan.toml") and len(error) < 2_000 for error in errors)
    assert sum("not TOML" not in error for error in errors) > 100  # and not only the parser


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("schema-version = 1\na = = 2\n", 2, 5),
        ("schema-version = 1\na = [1\n", None, None),  # where a list that never ends should have ended nobody knows
        ("schema-version = 1\n" + MINIMAL + "unknown = 1\n", 5, None),
        ("schema-version = 1\n[[targets]]\nid = 'net'\n", 2, None),  # the key is missing: its table is what there is
        ("schema-version = 1\n" + MINIMAL + "[[limits]]\nmetric = 'latency'\nmax = '2 parsecs'\n", 7, None),
    ],
)
def test_an_error_carries_its_place(text: str, line: int | None, column: int | None) -> None:
    with pytest.raises(ConfigError) as caught:
        load(text)
    assert (caught.value.file, caught.value.line, caught.value.column) == ("torchscan.toml", line, column)


def test_of_two_configs_the_later_one_is_the_place() -> None:
    with pytest.raises(ConfigError) as caught:
        find_config(commit({"torchscan.toml": "", ".github/torchscan.toml": ""}))
    assert (caught.value.file, caught.value.line) == (".github/torchscan.toml", None)
