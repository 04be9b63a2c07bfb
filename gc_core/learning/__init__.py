"""What sessions learn about users and their environment from what users say, compared with known facts."""
