"""A flow whose records are transformed on their way: fetched ► decoded ► chain ► encoded ► produced."""
