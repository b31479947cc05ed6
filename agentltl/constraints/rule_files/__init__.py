"""What a rule file may hold, and where in the file a mistake stands."""
