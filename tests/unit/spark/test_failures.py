"""Of what Spark says of a failure, the line that a person wants to read."""

from __future__ import annotations

from heliograph.spark.failures import (
    broken_classes,
    cause_in_full,
    cause_of,
    root_cause,
    with_remedy,
)

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


_JOB = (
    "[STREAM_FAILED] Query terminated with exception: Traceback (most recent call last):\n"
    "py4j.protocol.Py4JJavaError: An error occurred while calling o87.collectToPython.\n"
    ": org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 "
    "times, most recent failure: Lost task 0.0 in stage 0.0 (TID 0) (10.0.0.1 executor driver): "
)
_FIRST = _JOB + (
    "java.lang.ExceptionInInitializerError\n"
    "\tat org.apache.arrow.memory.netty.DefaultAllocationManagerFactory.<clinit>(Factory.java:26)\n"
    "Caused by: java.lang.UnsupportedOperationException\n"
    "\tat io.netty.buffer.EmptyByteBuf.memoryAddress(EmptyByteBuf.java:961)\n"
)


def test_a_class_that_cannot_be_set_up_is_told_with_its_cause_and_a_remedy() -> None:
    """Java 25 without the flag for Unsafe."""
    said = broken_classes(_FIRST)

    assert said is not None
    assert said.startswith(
        "Spark's tasks cannot run on this Java: java.lang.ExceptionInInitializerError, caused by "
        "java.lang.UnsupportedOperationException (in io.netty.buffer.EmptyByteBuf.memoryAddress); "
        "run Spark's executors on Java 17, 21 or 25"
    )
    assert "\n" not in said


def test_a_class_that_an_earlier_task_could_not_set_up_is_no_reason_to_try_again() -> None:
    again = "java.lang.NoClassDefFoundError: Could not initialize class org.apache.spark.sql.util.ArrowUtils$"

    assert f"this Java: {again};" in str(broken_classes(f"{_JOB}{again}\n"))


def test_other_failures_may_pass() -> None:
    assert broken_classes(_TRACEBACK) is None
    mentioned = "heliograph.errors.ConnectionLost: NoClassDefFoundError"
    assert broken_classes(f"{_TRACEBACK}\n{mentioned}") is None


def test_the_cause_of_the_cause_is_found() -> None:
    said = (
        "An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext.\n"
        ": org.apache.spark.SparkException: External scheduler cannot be instantiated\n"
        "\tat org.apache.spark.SparkContext$.create(SparkContext.scala:1)\n"
        "Caused by: io.fabric8.KubernetesClientException: Operation failed\n"
        "Caused by: java.net.UnknownHostException: nowhere.invalid\n"
        "\t... 14 more\n"
    )
    assert root_cause(said) == "java.net.UnknownHostException: nowhere.invalid"
    assert root_cause(said.partition("Caused")[0]) == (
        "org.apache.spark.SparkException: External scheduler cannot be instantiated"
    )


def test_a_failed_task_is_told_with_its_causes_cause() -> None:
    causes = "Caused by: x.First: a\nCaused by: y.Last: full\n"
    failed = f"{_JOB}java.lang.RuntimeException: task\n\tat a.B.c(B.java:1)\n{causes}"

    assert cause_in_full(failed) == f"{cause_of(failed)}, caused by y.Last: full"
    assert cause_in_full(_TRACEBACK) == _LOST  # there is none
    ours = "heliograph.errors.ConnectionLost: driver at here:1: cannot connect"
    assert cause_in_full(f"{failed}\n{ours}") == ours


def test_a_java_without_a_module_has_a_remedy_and_other_reasons_have_their_own() -> None:
    lacking = "java.lang.module.FindException: Module jdk.incubator.vector not found"

    assert with_remedy(lacking).startswith(f"{lacking}; Spark's launcher needs a Java with")
    assert with_remedy("Connection refused") == "Connection refused"
