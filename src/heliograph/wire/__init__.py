"""Request and response frames: kafka-python's classes, and codecs of our own for hot or long ones. Pure."""
