"""Who runs what, and when: the driver and its epochs, leadership, a thread for each connector."""
