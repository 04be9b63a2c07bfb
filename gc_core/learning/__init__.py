"""Facts about users and their environment, learned from users' messages and compared with known facts."""
