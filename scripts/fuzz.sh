#!/bin/sh
# Searches for input that breaks a parser: repeats tests/unit/fuzz with new examples until a test fails or the time
# is over. Usage: scripts/fuzz.sh PYTEST SECONDS
set -eu
pytest=$1
end=$(($(date +%s) + $2))
rounds=0
while [ "$(date +%s)" -lt "$end" ]; do
    HYPOTHESIS_PROFILE=search nice -n 19 "$pytest" tests/unit/fuzz -q --exitfirst
    rounds=$((rounds + 1))
done
echo "$rounds rounds, no failure"
