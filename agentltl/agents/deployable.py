"""An agent that can be deployed: served to others over HTTP, with the A2A protocol."""

from __future__ import annotations

import importlib

from agentltl.record.deployment import ResultDeploy


class Deployable:
    """The method `deploy` of an agent."""

    def deploy(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
        *,
        public_url: str | None = None,
        description: str | None = None,
        version: str = "1",
        share_tool_calls: bool = False,
        max_body_bytes: int = 1_000_000,
        max_concurrent_runs: int = 8,
        max_contexts: int = 100,
        max_tasks: int = 1000,
    ) -> ResultDeploy:
        """Serve the agent over HTTP, in the A2A protocol, until the result is closed. It needs the extra `serve`.

        `port=0` finds a free port. With `token`, clients must send it as `Authorization: Bearer`; a `host` that other
        machines can reach needs one. `public_url` is the address for others where it is not that of the server, behind
        a proxy. `description` and `version` are for the agent card, which anybody can read.
        Clients hear which tools are called and what becomes of the calls, with `share_tool_calls` arguments and results
        too.
        A request of more than `max_body_bytes` is refused, and a message that comes while `max_concurrent_runs` are
        running. Each conversation has an agent of its own; of more than `max_contexts` the one unused for longest is
        forgotten, and of more than `max_tasks` tasks those that ended first.

        Raises `ConstraintError` for settings that make no sense, `DeployError` when the address cannot be had.
        """
        # The server is the layer above, so it is looked up and not imported.
        server = importlib.import_module("agentltl.server.deploy")
        settings = server.Settings(
            token=token,
            public_url=public_url,
            description=description,
            version=version,
            share_tool_calls=share_tool_calls,
            max_body_bytes=max_body_bytes,
            max_concurrent_runs=max_concurrent_runs,
            max_contexts=max_contexts,
            max_tasks=max_tasks,
        )
        deployed: ResultDeploy = server.deploy(self, host, port, settings)
        return deployed
