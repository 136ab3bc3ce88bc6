"""Request and response frames: a thin seam over kafka-python's classes, hot frames by hand. Pure."""
