"""The `heliograph` command. Exit codes: 0 ok, 1 failed, 2 usage or bad configuration."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from heliograph import __version__
from heliograph.cli.arguments import items, spread
from heliograph.cli.choices import Kind, LogFormat, Output, RecordOutput, Shell
from heliograph.cli.completion import COMPLETE, answer_shells, completion_script
from heliograph.cli.output.escaping import visible
from heliograph.cli.output.logs import LogOptions
from heliograph.cli.usage_errors import Commands
from heliograph.config.formats.format import Form
from heliograph.config.formats.new_mirror import Mechanism
from heliograph.config.security.role import Role
from heliograph.errors import ConfigError, HeliographError

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A drop-in replacement for Kafka's MirrorMaker 2, in Python on Spark.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"heliograph {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


_Config = Annotated[
    Path,
    typer.Argument(
        metavar="CONFIG",
        help="mm2.properties, connectors in JSON (a file or a folder), or a KafkaMirrorMaker2 in YAML.",
    ),
]
_Worker = Annotated[
    Path | None,
    typer.Option("--worker", metavar="FILE", help="worker.properties for connectors in JSON."),
]
_Secrets = Annotated[
    list[Path] | None,
    typer.Option("--secrets", metavar="PATH", help="Files or folders of Secrets and ConfigMaps."),
]
_LogLevel = Annotated[
    list[str] | None,
    typer.Option(
        "--log-level",
        metavar="LEVEL",
        envvar="HELIOGRAPH_LOG_LEVEL",
        help="TRACE, DEBUG, INFO (default), WARN, ERROR, FATAL or OFF; LOGGER=LEVEL for one logger.",
    ),
]
_LogFile = Annotated[
    Path | None,
    typer.Option(
        "--log-file",
        metavar="FILE",
        envvar="HELIOGRAPH_LOG_FILE",
        help="Log to this file, too; default: connect.log in $LOG_DIR, if that is set.",
    ),
]
_LogFormat = Annotated[
    LogFormat,
    typer.Option("--log-format", envvar="HELIOGRAPH_LOG_FORMAT", help="Format of log lines."),
]


def _logs(level: list[str] | None, file: Path | None, format: LogFormat) -> LogOptions:
    return LogOptions(levels=items(level), file=file, as_json=format is LogFormat.JSON)


_Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="A Spark cluster (spark://HOST:PORT, yarn, k8s://HOST:PORT); default: this machine.",
    ),
]
_Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark; repeatable."),
]
_PropertiesFile = Annotated[
    Path | None,
    typer.Option(
        "--properties-file",
        metavar="FILE",
        help="Settings of Spark, instead of spark-defaults.conf.",
    ),
]


@app.command()
def run(
    config: _Config,
    clusters: Annotated[
        list[str] | None,
        typer.Option("--clusters", metavar="ALIAS…", help="Run only flows to these targets."),
    ] = None,
    once: Annotated[
        bool,
        typer.Option("--once", help="Copy up to the current end of each partition, then exit."),
    ] = False,
    master: _Master = None,
    conf: _Conf = None,
    properties_file: _PropertiesFile = None,
    worker: _Worker = None,
    secrets: _Secrets = None,
    log_level: _LogLevel = None,
    log_file: _LogFile = None,
    log_format: _LogFormat = LogFormat.TEXT,
) -> None:
    """Mirror clusters as connect-mirror-maker.sh does, from the same file."""
    from heliograph.cli.commands.run import run as run_mirror
    from heliograph.cli.spark_options import SparkOptions
    from heliograph.config.formats.load import LoadOptions

    options = LoadOptions(clusters=items(clusters), worker=worker, secrets=_paths(secrets))
    logs = _logs(log_level, log_file, log_format)
    spark = SparkOptions(master, conf or (), properties_file)
    raise typer.Exit(run_mirror(config, options, logs, once=once, spark=spark))


@app.command()
def serve(
    config: Annotated[
        Path | None,
        typer.Argument(
            metavar="[WORKER.PROPERTIES]",
            help="Connect's own file; CONNECT_… variables take precedence.",
        ),
    ] = None,
    master: _Master = None,
    conf: _Conf = None,
    properties_file: _PropertiesFile = None,
    log_level: _LogLevel = None,
    log_file: _LogFile = None,
    log_format: _LogFormat = LogFormat.TEXT,
) -> None:
    """Run a worker of a Connect cluster for MirrorMaker 2's connectors, managed through REST."""
    from heliograph.cli.commands.serve import serve as run_worker
    from heliograph.cli.spark_options import SparkOptions

    logs = _logs(log_level, log_file, log_format)
    spark = SparkOptions(master, conf or (), properties_file)
    raise typer.Exit(run_worker(config, logs, spark=spark))


@app.command()
def password(
    user: Annotated[str, typer.Argument(metavar="USER", help="User name.")],
    role: Annotated[
        Role, typer.Option("--role", help="read: GET only; write: all requests.")
    ] = Role.WRITE,
) -> None:
    """Print a line for rest.users.file with the hash of a password, asked for or read from a pipe."""
    from heliograph.cli.commands.password import password as make_line

    raise typer.Exit(make_line(user, role))


@app.command()
def demo(
    once: Annotated[
        bool,
        typer.Option("--once", help="Mirror a fixed set of records, compare both sides, exit."),
    ] = False,
    log_level: _LogLevel = None,
    log_file: _LogFile = None,
    log_format: _LogFormat = LogFormat.TEXT,
) -> None:
    """Start two real Kafka clusters, write sample data and mirror it. Needs no configuration."""
    from heliograph.cli.commands.demo import demo as run_demo

    raise typer.Exit(run_demo(_logs(log_level, log_file, log_format), once=once))


@app.command()
def brokers(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]…", help="Names of the clusters.")
    ] = None,
    nodes: Annotated[int, typer.Option(help="Brokers per cluster: 1 or 3.")] = 1,
    kafka_version: Annotated[str, typer.Option(help="Version of Kafka.")] = "4.3.1",
    data: Annotated[Path | None, typer.Option(help="Keep the data in this folder.")] = None,
) -> None:
    """Start real Kafka clusters to try things out; Ctrl-C stops them."""
    from heliograph.cli.commands.brokers import brokers as run_brokers

    wanted = items(names) or ("source", "target")
    run_brokers(wanted, nodes=nodes, kafka_version=kafka_version, data=data)


_CommandConfig = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Client properties, as for Kafka's tools.")
]
_Output = Annotated[Output, typer.Option("--output", "-o", help="Output format.")]
_Wide = Annotated[
    bool, typer.Option("--wide", help="Show all columns, whatever the terminal's width.")
]


@app.command()
def plan(
    config: _Config,
    clusters: Annotated[
        list[str] | None,
        typer.Option("--clusters", metavar="ALIAS…", help="Plan only flows to these targets."),
    ] = None,
    output: _Output = Output.TEXT,
    wide: _Wide = False,
    everything: Annotated[
        bool, typer.Option("--all", "-v", help="Show every topic and group.")
    ] = False,
    worker: _Worker = None,
    secrets: _Secrets = None,
) -> None:
    """Show what a run would create, alter, mirror and follow. Changes nothing."""
    from heliograph.cli.commands.plan import plan as make_plan
    from heliograph.config.formats.load import LoadOptions

    options = LoadOptions(clusters=items(clusters), worker=worker, secrets=_paths(secrets))
    raise typer.Exit(make_plan(config, options, output, everything=everything, wide=wide))


@app.command()
def check(
    config: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG",
            help="mm2.properties, connectors in JSON, a KafkaMirrorMaker2 in YAML, or worker.properties.",
        ),
    ],
    write: Annotated[
        bool,
        typer.Option("--write", help="Also create a topic, write a record to it, and remove it."),
    ] = False,
    output: _Output = Output.TEXT,
    worker: _Worker = None,
    secrets: _Secrets = None,
) -> None:
    """Connect to every cluster as each client would: TLS, login, versions, rights. Changes nothing, unless
    --write."""
    from heliograph.cli.commands.check import check as run_check
    from heliograph.config.formats.load import LoadOptions

    options = LoadOptions(worker=worker, secrets=_paths(secrets))
    raise typer.Exit(run_check(config, options, output, write=write))


@app.command()
def status(
    config: Annotated[
        Path | None,
        typer.Argument(metavar="[CONFIG]", help="Default: mm2.properties in this folder."),
    ] = None,
    output: _Output = Output.TEXT,
    wide: _Wide = False,
    watch: Annotated[bool, typer.Option("--watch", help="Refresh every 5 s.")] = False,
    partitions: Annotated[bool, typer.Option("--partitions", help="Show every partition.")] = False,
    worker: _Worker = None,
    secrets: _Secrets = None,
) -> None:
    """Show lag and state of every partition and group. Exits with 1 unless every partition is mirrored."""
    from heliograph.cli.commands.status import status as show_status
    from heliograph.config.formats.load import LoadOptions

    options = LoadOptions(worker=worker, secrets=_paths(secrets))
    raise typer.Exit(
        show_status(config, options, output, watch=watch, partitions=partitions, wide=wide)
    )


@app.command()
def top(
    config: Annotated[
        Path | None,
        typer.Argument(metavar="[CONFIG]", help="Default: mm2.properties in this folder."),
    ] = None,
    interval: Annotated[
        float, typer.Option(min=0.5, metavar="SECONDS", help="Time between two looks.")
    ] = 2.0,
    worker: _Worker = None,
    secrets: _Secrets = None,
) -> None:
    """Show rates, lag and problems of a mirror that runs anywhere, live on the terminal. Changes nothing."""
    from heliograph.cli.commands.top import top as show_top
    from heliograph.config.formats.load import LoadOptions

    options = LoadOptions(worker=worker, secrets=_paths(secrets))
    raise typer.Exit(show_top(config, options, interval=interval))


@app.command()
def init(
    path: Annotated[Path, typer.Argument(metavar="[FILE]", help="The file to write.")] = Path(
        "mm2.properties"
    ),
    source: Annotated[
        str | None, typer.Option(metavar="NAME=HOST:PORT", help="The cluster to mirror.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="NAME=HOST:PORT", help="The cluster to mirror to.")
    ] = None,
    security: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]PROTOCOL", help="PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL."),
    ] = None,
    user: Annotated[
        list[str] | None, typer.Option(metavar="[NAME=]USER", help="User, with SASL.")
    ] = None,
    mechanism: Annotated[Mechanism, typer.Option(help="With SASL.")] = Mechanism.PLAIN,
    truststore: Annotated[
        list[str] | None, typer.Option(metavar="[NAME=]FILE", help="JKS, PKCS12 or PEM, with TLS.")
    ] = None,
    topics: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Names or Java regular expressions.")
    ] = None,
    groups: Annotated[str | None, typer.Option(metavar="NAMES", help="Consumer groups.")] = None,
    both: Annotated[
        bool | None, typer.Option("--both/--one-way", help="Mirror in both directions.")
    ] = None,
    replication_factor: Annotated[
        int, typer.Option(help="Of new topics; -1: the brokers' default.")
    ] = -1,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Then connect, as heliograph check does.")
    ] = False,
) -> None:
    """Write a commented mm2.properties; on a terminal, ask for what no option gives."""
    from heliograph.cli.commands.init import Answers
    from heliograph.cli.commands.init import init as write_file

    answers = Answers(
        source=source,
        target=target,
        security=security or [],
        user=user or [],
        truststore=truststore or [],
        mechanism=mechanism,
        topics=topics,
        groups=groups,
        both=both,
        replication_factor=replication_factor,
    )
    raise typer.Exit(write_file(path, answers, force=force, check=check))


@app.command()
def convert(
    config: _Config,
    to: Annotated[Form, typer.Option("--to", help="The format to write.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Write files to this folder instead of printing.",
        ),
    ] = None,
    worker: _Worker = None,
) -> None:
    """Write a configuration in another format. Exits with 1, and lists what is lost, if any."""
    from heliograph.cli.commands.convert import convert as run_convert

    raise typer.Exit(run_convert(config, to, worker=worker, folder=output))


@app.command()
def translate(
    source: Annotated[
        str, typer.Option(metavar="ALIAS", help="Cluster on which the groups consume.")
    ],
    config: Annotated[
        Path | None, typer.Argument(metavar="MM2.PROPERTIES", help="MirrorMaker 2's own file.")
    ] = None,
    bootstrap_server: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="The target, without a file.")
    ] = None,
    group: Annotated[str | None, typer.Option(help="One group; default: all.")] = None,
    groups: Annotated[
        str | None, typer.Option(metavar="REGEX", help="Groups whose id matches.")
    ] = None,
    command_config: _CommandConfig = None,
    output: _Output = Output.TEXT,
) -> None:
    """Show the offsets at which consumer groups of a source resume on the target."""
    from heliograph.cli.commands.translate import Target
    from heliograph.cli.commands.translate import translate as run_translate

    target = Target(config, bootstrap_server, command_config)
    raise typer.Exit(run_translate(target, source, output, group=group, groups=groups))


@app.command()
def dump(
    kind: Annotated[Kind, typer.Argument(help="Kind of internal topic.")],
    bootstrap_server: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Cluster of the topic.")
    ],
    topic: Annotated[
        str | None, typer.Option(metavar="NAME", help="Topic name, if not the default.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="ALIAS", help="Source alias in the topic's name.")
    ] = None,
    command_config: _CommandConfig = None,
    output: Annotated[
        RecordOutput, typer.Option("--output", "-o", help="Output format.")
    ] = RecordOutput.TEXT,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show partition, offset and timestamp.")
    ] = False,
) -> None:
    """Print an internal topic; MirrorMaker 2's records in the format of its console formatters."""
    from heliograph.cli.commands.dump import dump as run_dump

    code = run_dump(
        kind,
        bootstrap_server,
        command_config,
        topic=topic,
        source=source,
        as_json=output is RecordOutput.JSON,
        verbose=verbose,
    )
    raise typer.Exit(code)


@app.command()
def completion(
    shell: Annotated[Shell, typer.Argument(help="Kind of shell.")],
) -> None:
    """Print a script that completes commands and options: source <(heliograph completion bash)"""
    typer.echo(completion_script(shell))


def _paths(given: list[Path] | None) -> tuple[Path, ...]:
    return tuple(map(Path, items(map(str, given or ()))))


def main() -> None:
    if COMPLETE in os.environ:
        answer_shells()
    try:
        app(args=spread(sys.argv[1:]), prog_name="heliograph")
    except ConfigError as e:
        for problem in e.problems:
            typer.echo(visible(f"error: {problem}", keep="\n"), err=True)
        sys.exit(2)
    except HeliographError as e:
        typer.echo(visible(f"error: {e}", keep="\n"), err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
