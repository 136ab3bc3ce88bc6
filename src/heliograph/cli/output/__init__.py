"""How commands print: tables, live progress, text that is safe on a terminal."""
