"""What each path of the REST API answers."""
