"""What a session has cost: both sides read by an independent client, and compared."""
