"""The rule language as text: its words, how they are read, what is said of a mistake, how a formula is written."""
