"""How long tests wait for what takes no time on an idle machine, and minutes on a busy one."""

PATIENCE = 180.0  # seconds; only a test that fails waits for so long
