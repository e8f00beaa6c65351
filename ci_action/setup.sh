#!/usr/bin/env bash
# setup.sh PYTHON ACTION TEMP: makes a folder for this use of the action, and in it the orchestrator's private
# environment from pinned hashes. pip's own settings (PIP_INDEX_URL, PIP_NO_INDEX, PIP_FIND_LINKS...) count.
set -euo pipefail
python="$1" action="$2" temp="$3"

if ! command -v "$python" > /dev/null; then
  echo "::error title=TorchScan::the interpreter '$python' cannot be found: set up Python 3.11 or newer in the job, or name its path with the input python"
  exit 3
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "::error title=TorchScan::'$python' is older than Python 3.11: name a newer one with the input python"
  exit 3
fi

folder="$(mktemp -d "$temp/torchscan-action.XXXXXXXX")"
venv="$folder/venv"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_REQUIRE_VIRTUALENV=0
if "$python" -c 'import sys, pip; sys.exit(tuple(map(int, pip.__version__.split(".")[:2])) < (22, 3))' 2> /dev/null; then
  # The host's pip can install into another environment: a copy of its own would take seconds.
  "$python" -m venv --without-pip "$venv"
  pip=("$python" -m pip --python "$venv/bin/python")
else
  "$python" -m venv "$venv"
  pip=("$venv/bin/python" -m pip)
fi
"${pip[@]}" install --quiet --no-compile --require-hashes --requirement "$action/ci_action/requirements.txt"
# Our own package has no hash to require, so it comes alone: its dependencies are the pinned ones above.
"${pip[@]}" install --quiet --no-deps --no-build-isolation --no-index "$action"
echo "folder=$folder" >> "$GITHUB_OUTPUT"
