"""MirrorMaker 2's metrics under the names that dashboards for it ask for."""
