"""What is wrong with rules before anything runs: with their names, their meaning, and with the tools they speak of."""
