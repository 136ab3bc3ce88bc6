"""Topics, configurations, ACLs, consumer groups and their coordinators."""
