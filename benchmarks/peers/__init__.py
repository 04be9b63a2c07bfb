"""Other systems, each in a virtual environment of its own, measured on the same sessions as gc-core's strategies."""
