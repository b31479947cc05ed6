"""Measuring the engine beside its peers; `benchmarks/engine.py` is the command.

Nothing here imports `agentltl`: the peers' processes load this package too, and one of them has a package of that name.
"""
