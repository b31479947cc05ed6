"""Sub-agents, one for each requirement: in threads, in other processes, on other machines.

`fan_out.py` is the loop that hands requirements out and takes results in; where a child runs is a `Place`, a protocol
with two of them: `threads.py` and `processes.py`.
"""
