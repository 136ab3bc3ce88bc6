"""Records of MirrorMaker 2, Connect and Heliograph in internal topics, and offset translation. Pure."""
