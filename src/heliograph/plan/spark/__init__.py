"""What Spark is asked for: master, protection, settings."""
