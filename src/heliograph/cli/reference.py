"""Writes the man page and docs/cli.md from the commands themselves.

python -m heliograph.cli.reference man > deploy/man/heliograph.1
python -m heliograph.cli.reference markdown > docs/cli.md
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import typer
from typer.main import get_command

from heliograph.cli.main import app

_DESCRIPTION = (
    "Heliograph mirrors topics between Kafka clusters. It reads the configuration of MirrorMaker 2 "
    "(mm2.properties, connectors in JSON, KafkaMirrorMaker2 in YAML) and keeps its offsets and internal "
    "topics."
)
_EXIT_CODES = (
    ("0", "ok"),
    ("1", "failed; status: not every partition is mirrored; plan, check: something is missing"),
    ("2", "the command line or the configuration is wrong"),
)
_VARIABLES = (
    ("LOG_DIR", "folder of connect.log, as with Kafka's scripts"),
    ("HELIOGRAPH_LOG_LEVEL, HELIOGRAPH_LOG_FILE, HELIOGRAPH_LOG_FORMAT", "as --log-level, …"),
    ("CONNECT_…", "settings of a worker (serve), as in Connect's images"),
    ("JAVA_HOME", "the Java that Spark uses: 17 or later"),
    ("NO_COLOR", "no colours, if it is set"),
)


@dataclass(frozen=True, slots=True)
class CommandText:
    name: str
    summary: str
    usage: str
    parameters: tuple[tuple[str, str], ...]


def commands() -> Iterator[CommandText]:
    """In the order of `heliograph --help`."""
    group = get_command(app)
    context = typer.Context(group, info_name="heliograph")
    for name in group.list_commands(context):  # type: ignore[attr-defined]
        command = group.get_command(context, name)  # type: ignore[attr-defined]
        own = typer.Context(command, info_name=name, parent=context)
        pieces = map(_argument, command.collect_usage_pieces(own))
        wanted = (each for each in command.get_params(own) if each.name != "help")
        found = (each.get_help_record(own) for each in wanted)
        yield CommandText(
            name=name,
            summary=" ".join((command.help or "").split()),
            usage=" ".join(["heliograph", name, *pieces]),
            parameters=tuple((_signature(r[0]), _sentence(r[1])) for r in found if r is not None),
        )


def _argument(text: str) -> str:
    """Typer writes {CONFIG} for one that is required, and brackets twice for one that is not."""
    return re.sub(r"\[\[(.*?)\](.*?)\].*", r"[\1]\2", text.strip("{}")).upper()


def _signature(text: str) -> str:
    return re.sub(r" ?<(bool|str|path|int)>", "", text).strip()


def _sentence(text: str) -> str:
    return " ".join(text.split())


def markdown() -> str:
    lines = [
        "# Commands",
        "",
        "Generated from the commands themselves; what they print is described in [commands](commands.md).",
        "",
    ]
    for each in commands():
        lines += [f"## {each.name}", "", each.summary, "", f"    {each.usage}", ""]
        lines += ["| option | meaning |", "|---|---|"]
        lines += [f"| `{_cell(name)}` | {_cell(meaning)} |" for name, meaning in each.parameters]
        lines += [""]
    lines += ["## Exit codes", "", "| code | meaning |", "|---|---|"]
    lines += [f"| {code} | {meaning} |" for code, meaning in _EXIT_CODES]
    lines += ["", "## Environment", "", "| variable | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in _VARIABLES]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def man_page() -> str:
    lines = [
        '.TH HELIOGRAPH 1 "" "Heliograph" "User Commands"',
        ".SH NAME",
        r"heliograph \- MirrorMaker 2 for Kafka, in Python on Spark",
        ".SH SYNOPSIS",
        ".B heliograph",
        r"\fICOMMAND\fR [\fIOPTIONS\fR] [\fIARGUMENTS\fR]",
        ".SH DESCRIPTION",
        _roff(_DESCRIPTION),
        ".SH COMMANDS",
    ]
    for each in commands():
        lines += [
            f".SS {_roff(each.name)}",
            _roff(each.summary),
            ".PP",
            f"\\fB{_roff(each.usage)}\\fR",
        ]
        for name, meaning in each.parameters:
            lines += [".TP", f"\\fB{_roff(name)}\\fR", _roff(meaning)]
    for title, rows in (("EXIT STATUS", _EXIT_CODES), ("ENVIRONMENT", _VARIABLES)):
        lines.append(f".SH {title}")
        for name, meaning in rows:
            lines += [".TP", f"\\fB{_roff(name)}\\fR", _roff(meaning)]
    return "\n".join(lines)


def _roff(text: str) -> str:
    """Hyphens that may be copied; no line begins with a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "\\[u2026]")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    sys.stdout.write((man_page() if sys.argv[1:] == ["man"] else markdown()) + "\n")
