"""The task state: demands, decisions, touched entities, questions and failures, each with its reference."""
