"""The task state: what was demanded, decided, touched, asked and failed, each with its reference."""
