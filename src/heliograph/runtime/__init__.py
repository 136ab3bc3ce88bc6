"""The driver process: observes the clusters, plans epochs, follows the tasks."""
