#!/bin/sh
# Creates .venv from the lock file, or prints in one sentence what is missing. Usage: scripts/setup.sh PYTHON
set -eu
python=$1

fail() { echo "error: $1" >&2; exit 1; }

command -v "$python" >/dev/null 2>&1 ||
    fail "Python: '$python' not found; install Python 3.11 or later, or choose one: make PYTHON=/path/to/python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "Python: 3.11 or later is needed, '$python' is $("$python" -c 'import platform; print(platform.python_version())'); choose a later one: make PYTHON=/path/to/python3"

java=${JAVA_HOME:+$JAVA_HOME/bin/}java
command -v "$java" >/dev/null 2>&1 ||
    fail "Java: not found in JAVA_HOME or on the PATH; install Java 17 or later"
version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
[ "${version:-0}" -ge 17 ] ||
    fail "Java: version 17 or later is needed, $java is version ${version:-unknown}; set JAVA_HOME to a later one"

free_kb=$(df -Pk . | awk 'NR == 2 {print $4}')
[ "$free_kb" -ge 3000000 ] ||
    fail "disk: 3 GB are needed for the environment, $((free_kb / 1000)) MB are free in $(pwd)"

echo "Setting up .venv (once; about 1 GB, most of it Spark) …"
[ -x .venv/bin/pip ] || "$python" -m venv .venv ||
    fail "Python: '$python' cannot create a virtual environment; install its venv module (Debian: python3-venv)"
log=.venv/setup.log
if ! .venv/bin/pip install --disable-pip-version-check --require-hashes -r requirements.lock >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    fail "installing packages failed; the first set-up needs a Python package index (full log: $log)"
fi
.venv/bin/pip install --disable-pip-version-check --no-deps --no-build-isolation --no-index -e . >>"$log" 2>&1 ||
    fail "installing heliograph itself failed; see $log"
.venv/bin/python -m heliograph.spark.train
