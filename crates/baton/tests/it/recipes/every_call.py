"""Calls what agents call, and tells what it heard; with the SDK's client, over the way that is named.

Arguments: the mode (`legacy` shakes hands, `auto` takes the newest version), the address of a site, and
`http` or `stdio`. Over HTTP the node and its key are in `BATON_URL` and `BATON_KEY`.
"""

import asyncio, os, sys
import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

MODE, SITE, WAY = sys.argv[1:]
NAME = f"{WAY}-{MODE}"
told = []


def show(answer):
    text = answer.content[0].text.replace(NAME, "NAME")
    print("error:" if answer.is_error else "done:", text.splitlines()[0].split(" ago")[0].rstrip("0123456789sm: "))


async def confirm(context, question):
    print("asked:", question.message.replace(NAME, "NAME").split("?")[0])
    return ElicitResult(action="accept")


async def progress(done, total, message):
    told.append(message.replace(NAME, "NAME"))


async def story(client):
    print(client.session.server_info.name, client.session.protocol_version)
    tools = await client.list_tools()
    print(len(tools.tools), "tools")
    here = {"sessionId": NAME}
    for last in ["session_close", "session_abandon"]:
        told.clear()
        site = {"name": NAME, "urls": [SITE]}
        show(await client.call_tool("session_open", site, progress_callback=progress))
        print("progress:", told[0])
        if last == "session_close":
            listed = await client.call_tool("list_sessions")
            print([row[1] for row in listed.structured_content["rows"] if row[0] == NAME])
            show(await client.call_tool("session_capture", here))
            history = await client.call_tool("session_history", here)
            print(len(history.structured_content["snapshots"]), "snapshots")
            resources = await client.list_resources()
            print("a resource:", any(resource.name == NAME for resource in resources.resources))
            read = await client.read_resource(f"baton://sessions/{NAME}")
            print(read.contents[0].mime_type, '"state":"active"' in read.contents[0].text)
        show(await client.call_tool(last, here))
    show(await client.call_tool("session_capture", {"sessionId": "nobody"}))
    for refused in [client.read_resource("baton://sessions/nobody"), client.call_tool("nothing", {})]:
        try:
            print(await refused)
        except MCPError as error:
            print("refused:", error.error.message.split(";")[0].split(" or ")[0].split(" among")[0])


async def main():
    if WAY == "stdio":
        server = StdioServerParameters(command="baton", args=["mcp"])
        async with Client(server, mode=MODE, elicitation_callback=confirm) as client:
            return await story(client)
    headers = {"Authorization": f"Bearer {os.environ['BATON_KEY']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        node = streamable_http_client(os.environ["BATON_URL"] + "/mcp", http_client=http)
        async with Client(node, mode=MODE, elicitation_callback=confirm) as client:
            await story(client)


asyncio.run(main())
