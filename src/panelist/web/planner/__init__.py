"""The planner: a page of the dashboard on which the power of a design is simulated live."""
