"""Of what Spark says of a failure, the line that a person wants to read."""

from __future__ import annotations

from heliograph.spark.query import cause_of

_LOST = (
    "Lost task 1.0 in stage 0.0 (TID 1) (10.0.0.1 executor 0): ExecutorLostFailure (executor 0 exited "
    "caused by one of the running tasks) Reason: Command exited with code 137"
)
_TRACEBACK = f"""\
[FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred in the user provided function. Traceback:
  File "query.py", line 101, in _on_batch
py4j.protocol.Py4JJavaError: An error occurred while calling o84.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 0.0 failed 1 \
times, most recent failure: {_LOST}
Driver stacktrace:
"""


def test_a_lost_task_is_named_with_its_executor_and_exit_code() -> None:
    assert cause_of(_TRACEBACK) == _LOST


def test_an_error_of_ours_comes_first() -> None:
    ours = "heliograph.errors.ConnectionLost: driver at here:1: cannot connect"

    assert cause_of(f"{_TRACEBACK}\n  {ours}\n") == ours


def test_any_other_error_of_python_is_better_than_its_traceback() -> None:
    assert cause_of("Traceback\n  File x\nKeyError: 'snapshot'\n") == "KeyError: 'snapshot'"


def test_there_is_always_a_word() -> None:
    assert cause_of("") == "unknown"
    assert cause_of("Connection refused") == "Connection refused"
