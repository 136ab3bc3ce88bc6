"""`python -m heliograph`: the same as the `heliograph` command."""

from heliograph.cli.main import main

main()
