"""Other systems, each in its own virtual environment, measured on the same sessions as gc-core's strategies."""
