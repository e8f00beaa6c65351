"""Which environment variables a worker sees: an allow-list, and what the owner adds with ``pass-env`` [S12]."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ci_action.core.config.denied import DENIED
from ci_action.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ALLOWED = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TEMP", "TMP", "CI"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
    *("CUDA_*", "CUBLAS_*", "NVIDIA_*", "NCCL_*", "HIP_*", "ROCR_*", "ROCM_*", "MIOPEN_*"),
    *("OMP_*", "MKL_*", "KMP_*", "OPENBLAS_*", "GOMP_*", "BLIS_*", "VECLIB_*", "NUMEXPR_*", "MALLOC_*"),
    *("TORCH_HOME", "TORCH_EXTENSIONS_DIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "PYTORCH_*"),
    *("HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_DATASETS_CACHE", "TRANSFORMERS_CACHE", "TRANSFORMERS_OFFLINE"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "PIP_CACHE_DIR", "UV_CACHE_DIR"),
    *(
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
        "CONDA_DEFAULT_ENV",
        "PYENV_ROOT",
        "PYENV_VERSION",
        "PYTHONUSERBASE",
        "PYTHONUTF8",
    ),
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "USERPROFILE"),
    *("PROGRAMDATA", "PROGRAMFILES", "NUMBER_OF_PROCESSORS"),
)

GIVEN_LIBRARIES = "TORCHSCAN_GIVEN_LIBRARIES"
"""The job's own LD_LIBRARY_PATH: setup.sh takes the workspace out of it for everything but the measured code."""


def worker_environment(environ: Mapping[str, str], pass_env: Iterable[str], python_path: str) -> dict[str, str]:
    """Pick what a worker may see. Raises ConfigError for a ``pass-env`` name that is never passed on."""
    wanted = list(pass_env)
    for name in wanted:
        if _matches(name, DENIED):
            raise ConfigError(f"pass-env: {name!r} is never passed to measured code: remove it from the config")
    passed = {
        name: value
        for name, value in environ.items()
        if not _matches(name, DENIED) and (_matches(name, ALLOWED) or name in wanted)
    }
    if GIVEN_LIBRARIES in environ:
        passed["LD_LIBRARY_PATH"] = environ[GIVEN_LIBRARIES]
    # Sets and dicts of strings must iterate alike on both sides, or equal code may build layers in another order.
    return {**passed, "PYTHONPATH": python_path, "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1"}


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name.upper(), pattern) for pattern in patterns)
