"""Tools of MCP servers: the connections to the servers, and their tools as tools of smolagents.

The official SDK is imported where a connection is opened, so only who uses a server needs the extra `mcp`.
"""
