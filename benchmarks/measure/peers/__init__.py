"""The peers: each runs in an environment and a process of its own, and only its documented interface is used."""
