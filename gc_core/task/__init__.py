"""The state of the task: what was demanded, decided, touched, asked and failed, each with its reference."""
