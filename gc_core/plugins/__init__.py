"""What is installed, how it is called in isolation, and what it did wrong."""
