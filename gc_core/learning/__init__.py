"""What sessions learn of users and their surroundings, found in what users say and compared with what is known."""
