"""From a study to a plan: who sees what in which order. One file per design, one engine for all."""
