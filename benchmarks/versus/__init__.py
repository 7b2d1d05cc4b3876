"""Other libraries on the same workloads, in turns with ours."""
