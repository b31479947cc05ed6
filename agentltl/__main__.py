"""`python -m agentltl` is the command `agentltl`."""

from agentltl.cli import main

main()
