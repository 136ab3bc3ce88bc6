"""What faults strike: two Kafka clusters behind a proxy, small disks, a Spark cluster."""
