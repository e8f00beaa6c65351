#!/usr/bin/env bash
# setup.sh PYTHON ACTION TEMP: finds the interpreter that measures, and lets it make the action's own environment.
#
# Untrusted code can have written every file of the workspace, and a job's variables may lead there. So nothing is started
# with the workspace on a search path: Python always isolated (-I), in a folder of ours. Written for bash 3.2 of macOS.
set -euo pipefail
given="$1" action="$2" temp="$3"
workspace="$(cd -P -- "${GITHUB_WORKSPACE:-.}" && pwd)"

fail() { # MESSAGE
  echo "::error title=TorchScan::$1"
  exit 3
}

outside() { # LIST: its folders that are there, named absolutely, and not in the workspace
  local kept="" real entry rest="$1:"
  while [ -n "$rest" ]; do
    entry="${rest%%:*}" rest="${rest#*:}"
    case "$entry" in /*) real="$(cd -P -- "$entry" 2> /dev/null && pwd)/" || real="" ;; *) real="" ;; esac
    case "$real" in "" | "$workspace"/*) ;; *) kept="$kept:$entry" ;; esac
  done
  printf %s "${kept#:}"
}

# The dynamic loader searches these folders before any program can decide anything. setup-python's own must stay.
export TORCHSCAN_GIVEN_LIBRARIES="${LD_LIBRARY_PATH-}"
export TORCHSCAN_LIBRARIES="$(outside "$TORCHSCAN_GIVEN_LIBRARIES")"
export LD_LIBRARY_PATH="$TORCHSCAN_LIBRARIES"

# A name on PATH or a path below the workspace, as in any other step. From here on it is one absolute path: asked in the
# workspace, since pyenv looks there for .python-version.
python="$(command -v -- "$given")" \
  || fail "the interpreter '$given' cannot be found: set up Python 3.11 or newer in the job, or name its path with the input python"
case "$python" in /* | [A-Za-z]:*) ;; *) python="$PWD/$python" ;; esac
answer="$("$python" -I -c 'import sys
print("%d %s" % (sys.version_info >= (3, 11), sys.executable or ""))' 2> /dev/null)" || answer=""
case "$answer" in # asked so that Python 2 can answer as well
  "1 "*) ;;
  "0 "*) fail "'$given' is older than Python 3.11: name a newer one with the input python" ;;
  *) fail "'$given' is not a working Python: name another interpreter with the input python" ;;
esac
found="${answer#1 }"

# pip starts uname, lsb_release and rustc by name: none of the checkout's. The measuring step has the job's own PATH again.
PATH="$(outside "$PATH")"
cd "$temp"
exec "${found:-$python}" -I -B "$action/ci_action/private_environment.py" "$action"
