"""The `heliograph` command. Exit codes: 0 ok, 1 failed, 2 usage or bad configuration."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from heliograph import __version__
from heliograph.cli.choices import Kind, Output
from heliograph.cli.escaping import visible
from heliograph.config.formats.format import Form
from heliograph.config.security.role import Role
from heliograph.errors import ConfigError, HeliographError

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="MirrorMaker 2 for Kafka, in Python, its data pipeline on Spark.",
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
        help="mm2.properties; connectors in JSON (a file or a folder); a KafkaMirrorMaker2 in YAML.",
    ),
]
_Worker = Annotated[
    Path | None,
    typer.Option("--worker", metavar="FILE", help="worker.properties of connectors in JSON."),
]
_Secrets = Annotated[
    list[Path] | None,
    typer.Option("--secrets", metavar="PATH", help="Secrets and ConfigMaps: files or folders."),
]


@app.command()
def run(
    config: _Config,
    clusters: Annotated[
        list[str] | None,
        typer.Option("--clusters", metavar="ALIAS…", help="Serve only flows into these targets."),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Copy what is there now, then exit.")
    ] = False,
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="A Spark cluster; default: this machine.")
    ] = None,
    worker: _Worker = None,
    secrets: _Secrets = None,
) -> None:
    """Mirror clusters as connect-mirror-maker.sh does, from the same file."""
    from heliograph.cli.run import run as run_mirror
    from heliograph.config.formats.load import LoadOptions

    options = LoadOptions(clusters=clusters or (), worker=worker, secrets=secrets or ())
    raise typer.Exit(run_mirror(config, options, once=once, master=master))


@app.command()
def serve(
    config: Annotated[
        Path | None,
        typer.Argument(
            metavar="[WORKER.PROPERTIES]",
            help="Connect's own file; CONNECT_… variables win over it.",
        ),
    ] = None,
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="A Spark cluster; default: this machine.")
    ] = None,
) -> None:
    """A worker of a Connect cluster for MirrorMaker 2's connectors: everything through REST."""
    from heliograph.cli.serve import serve as run_worker

    raise typer.Exit(run_worker(config, master=master))


@app.command()
def password(
    user: Annotated[str, typer.Argument(metavar="USER", help="The name to log in with.")],
    role: Annotated[
        Role, typer.Option("--role", help="read: GET only; write: everything.")
    ] = Role.WRITE,
) -> None:
    """A line for rest.users.file, with the hash of a password that is asked for, or read from a pipe."""
    from heliograph.cli.password import password as make_line

    raise typer.Exit(make_line(user, role))


@app.command()
def demo(
    once: Annotated[
        bool, typer.Option("--once", help="Mirror a known set, compare both sides, exit.")
    ] = False,
) -> None:
    """Two real Kafka clusters, sample data, and a mirror between them. Needs no configuration."""
    from heliograph.cli.demo import demo as run_demo

    raise typer.Exit(run_demo(once=once))


@app.command()
def brokers(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]…", help="Clusters.")] = None,
    nodes: Annotated[int, typer.Option(help="Brokers per cluster: 1 or 3.")] = 1,
    kafka_version: Annotated[str, typer.Option(help="Version of Kafka.")] = "4.3.1",
    data: Annotated[Path | None, typer.Option(help="Keep the data in this folder.")] = None,
) -> None:
    """Start real Kafka clusters to play with; Ctrl-C stops them."""
    from heliograph.cli.brokers import brokers as run_brokers

    run_brokers(names or ("source", "target"), nodes=nodes, kafka_version=kafka_version, data=data)


_CommandConfig = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Client properties, as Kafka's tools take them.")
]
_Output = Annotated[
    Output, typer.Option("--output", "-o", help="Lines for people, or JSON for programs.")
]


@app.command()
def plan(
    config: _Config,
    clusters: Annotated[
        list[str] | None,
        typer.Option("--clusters", metavar="ALIAS…", help="Only flows into these targets."),
    ] = None,
    output: _Output = Output.TEXT,
    everything: Annotated[
        bool, typer.Option("--all", "-v", help="Every topic and group, however many.")
    ] = False,
    worker: _Worker = None,
    secrets: _Secrets = None,
) -> None:
    """What a run would create, alter, mirror and follow; changes nothing."""
    from heliograph.cli.plan import plan as make_plan
    from heliograph.config.formats.load import LoadOptions

    options = LoadOptions(clusters=clusters or (), worker=worker, secrets=secrets or ())
    as_json = output is Output.JSON
    raise typer.Exit(make_plan(config, options, as_json=as_json, everything=everything))


@app.command()
def status(
    config: Annotated[
        Path | None,
        typer.Argument(metavar="[CONFIG]", help="Default: mm2.properties, in this folder."),
    ] = None,
    output: _Output = Output.TEXT,
    watch: Annotated[bool, typer.Option("--watch", help="Look again and again.")] = False,
    partitions: Annotated[
        bool, typer.Option("--partitions", help="Every partition, however many.")
    ] = False,
    worker: _Worker = None,
    secrets: _Secrets = None,
) -> None:
    """Lag and state of every partition and group. Exits with 1 if a flow is not known to be well."""
    from heliograph.cli.status import status as show_status
    from heliograph.config.formats.load import LoadOptions

    options = LoadOptions(worker=worker, secrets=secrets or ())
    as_json = output is Output.JSON
    raise typer.Exit(
        show_status(config, options, as_json=as_json, watch=watch, partitions=partitions)
    )


@app.command()
def convert(
    config: _Config,
    to: Annotated[Form, typer.Option("--to", help="The form to translate into.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Write files there, instead of printing."
        ),
    ] = None,
    worker: _Worker = None,
) -> None:
    """Translate a configuration into another form. What it cannot say is named; then the exit code is 1."""
    from heliograph.cli.convert import convert as run_convert

    raise typer.Exit(run_convert(config, to, worker=worker, folder=output))


@app.command()
def translate(
    source: Annotated[str, typer.Option(metavar="ALIAS", help="Where the groups consume.")],
    config: Annotated[
        Path | None, typer.Argument(metavar="MM2.PROPERTIES", help="MirrorMaker 2's own file.")
    ] = None,
    bootstrap_server: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="The target, if no file is given.")
    ] = None,
    group: Annotated[str | None, typer.Option(help="One group; default: all.")] = None,
    groups: Annotated[str | None, typer.Option(metavar="REGEX", help="Groups, by id.")] = None,
    command_config: _CommandConfig = None,
    output: _Output = Output.TEXT,
) -> None:
    """Where consumer groups of a source go on when they move to the target."""
    from heliograph.cli.translate import Target
    from heliograph.cli.translate import translate as run_translate

    target = Target(config, bootstrap_server, command_config)
    as_json = output is Output.JSON
    raise typer.Exit(run_translate(target, source, group=group, groups=groups, as_json=as_json))


@app.command()
def dump(
    kind: Annotated[Kind, typer.Argument(help="Which internal topic.")],
    bootstrap_server: Annotated[str, typer.Option(metavar="HOST:PORT", help="Its cluster.")],
    topic: Annotated[
        str | None, typer.Option(metavar="NAME", help="If its name is another.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="ALIAS", help="The alias in the topic's name.")
    ] = None,
    command_config: _CommandConfig = None,
    output: _Output = Output.TEXT,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="With partition, offset and timestamp.")
    ] = False,
) -> None:
    """Print an internal topic; MirrorMaker 2's own records as its console formatters do."""
    from heliograph.cli.dump import dump as run_dump

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
    """`--clusters B C` as connect-mirror-maker.sh takes it, into `--clusters B --clusters C`."""
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
