"""JSON and YAML with the line of everything in it, so that a complaint can say where."""
