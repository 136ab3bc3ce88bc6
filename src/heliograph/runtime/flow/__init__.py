"""What the driver observes of one flow: its topics, positions, gaps, and where it resumes."""
