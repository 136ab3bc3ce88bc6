"""The records MirrorMaker 2 and Connect keep in their internal topics, byte for byte. Pure."""
