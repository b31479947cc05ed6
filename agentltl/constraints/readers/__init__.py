"""Readers: what others have recorded, as a trace: metrics dicts, chats, the memory of smolagents, files of them.

Nothing is guessed: input that does not say what a trace needs is a `TraceError` that names the entry.
"""
