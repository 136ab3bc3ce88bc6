"""How remote topics are named and which topics are mirrored. Pure."""
