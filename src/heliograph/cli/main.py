"""The `heliograph` command. Exit codes: 0 ok, 1 failed, 2 usage or bad configuration."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from heliograph import __version__
from heliograph.cli.choices import Kind, Output
from heliograph.cli.output.escaping import visible
from heliograph.config.formats.format import Form
from heliograph.config.security.role import Role
from heliograph.errors import ConfigError, HeliographError

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
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
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="A Spark cluster; default: this machine.")
    ] = None,
    worker: _Worker = None,
    secrets: _Secrets = None,
) -> None:
    """Mirror clusters as connect-mirror-maker.sh does, from the same file."""
    from heliograph.cli.commands.run import run as run_mirror
    from heliograph.config.formats.load import LoadOptions

    options = LoadOptions(clusters=clusters or (), worker=worker, secrets=secrets or ())
    raise typer.Exit(run_mirror(config, options, once=once, master=master))


@app.command()
def serve(
    config: Annotated[
        Path | None,
        typer.Argument(
            metavar="[WORKER.PROPERTIES]",
            help="Connect's own file; CONNECT_… variables take precedence.",
        ),
    ] = None,
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="A Spark cluster; default: this machine.")
    ] = None,
) -> None:
    """Run a worker of a Connect cluster for MirrorMaker 2's connectors, managed through REST."""
    from heliograph.cli.commands.serve import serve as run_worker

    raise typer.Exit(run_worker(config, master=master))


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
) -> None:
    """Start two real Kafka clusters, write sample data and mirror it. Needs no configuration."""
    from heliograph.cli.commands.demo import demo as run_demo

    raise typer.Exit(run_demo(once=once))


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

    run_brokers(names or ("source", "target"), nodes=nodes, kafka_version=kafka_version, data=data)


_CommandConfig = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Client properties, as for Kafka's tools.")
]
_Output = Annotated[Output, typer.Option("--output", "-o", help="Output format.")]


@app.command()
def plan(
    config: _Config,
    clusters: Annotated[
        list[str] | None,
        typer.Option("--clusters", metavar="ALIAS…", help="Plan only flows to these targets."),
    ] = None,
    output: _Output = Output.TEXT,
    everything: Annotated[
        bool, typer.Option("--all", "-v", help="Show every topic and group.")
    ] = False,
    worker: _Worker = None,
    secrets: _Secrets = None,
) -> None:
    """Show what a run would create, alter, mirror and follow. Changes nothing."""
    from heliograph.cli.commands.plan import plan as make_plan
    from heliograph.config.formats.load import LoadOptions

    options = LoadOptions(clusters=clusters or (), worker=worker, secrets=secrets or ())
    as_json = output is Output.JSON
    raise typer.Exit(make_plan(config, options, as_json=as_json, everything=everything))


@app.command()
def status(
    config: Annotated[
        Path | None,
        typer.Argument(metavar="[CONFIG]", help="Default: mm2.properties in this folder."),
    ] = None,
    output: _Output = Output.TEXT,
    watch: Annotated[bool, typer.Option("--watch", help="Refresh every 5 s.")] = False,
    partitions: Annotated[bool, typer.Option("--partitions", help="Show every partition.")] = False,
    worker: _Worker = None,
    secrets: _Secrets = None,
) -> None:
    """Show lag and state of every partition and group. Exits with 1 unless all flows run without failures."""
    from heliograph.cli.commands.status import status as show_status
    from heliograph.config.formats.load import LoadOptions

    options = LoadOptions(worker=worker, secrets=secrets or ())
    as_json = output is Output.JSON
    raise typer.Exit(
        show_status(config, options, as_json=as_json, watch=watch, partitions=partitions)
    )


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
    as_json = output is Output.JSON
    raise typer.Exit(run_translate(target, source, group=group, groups=groups, as_json=as_json))


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
    output: _Output = Output.TEXT,
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
        as_json=output is Output.JSON,
        verbose=verbose,
    )
    raise typer.Exit(code)


def main() -> None:
    try:
        app(args=_spread(sys.argv[1:]))
    except ConfigError as e:
        for problem in e.problems:
            typer.echo(visible(f"error: {problem}", keep="\n"), err=True)
        sys.exit(2)
    except HeliographError as e:
        typer.echo(visible(f"error: {e}", keep="\n"), err=True)
        sys.exit(1)


def _spread(arguments: list[str]) -> list[str]:
    """Turns `--clusters B C`, as connect-mirror-maker.sh has it, into `--clusters B --clusters C`."""
    spread: list[str] = []
    in_clusters = False
    for argument in arguments:
        if in_clusters and not argument.startswith("-") and spread[-1] != "--clusters":
            spread += ["--clusters", argument]
            continue
        if argument == "--clusters":
            in_clusters = True
        elif argument.startswith("-"):
            in_clusters = False
        spread.append(argument)
    return spread


if __name__ == "__main__":
    main()
