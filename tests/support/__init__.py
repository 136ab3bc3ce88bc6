"""What tests share: clusters, flows, Java as the oracle, files and scripted peers."""
