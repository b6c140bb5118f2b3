"""Calls Playwright's tools through Baton, as a program that takes the SDK's client as it comes.

Arguments: the command of the bridge, and the address of a site.
"""

import asyncio, os, sys
from mcp import Client, StdioServerParameters

*BRIDGE, SITE = sys.argv[1:]


def show(answer):
    text = "\n".join(block.text for block in answer.content)
    print("error:" if answer.is_error else "done:", text)


async def main():
    server = StdioServerParameters(command=BRIDGE[0], args=BRIDGE[1:], env=dict(os.environ))
    async with Client(server) as client:
        print(client.session.protocol_version)
        show(await client.call_tool("browser_snapshot"))
        await client.call_tool("session_open", {"name": "shop"})
        show(await client.call_tool("browser_navigate", {"url": SITE}))
        show(await client.call_tool("browser_snapshot"))
        show(await client.call_tool("browser_click", {"target": "nothing"}))


asyncio.run(main())
