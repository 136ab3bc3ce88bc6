"""What the stories share: clusters, files, commands, the protocol that is printed."""
