"""Power: simulated ratings of a design, analysed in a loop, before anyone is paid."""
