"""Agents as servers: the A2A protocol over HTTP, with the parts of the official SDK.

The SDK is imported when an agent is deployed, so only who does that needs the extra `serve`.
"""
