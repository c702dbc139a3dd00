"""The MCP server: hvr's operations as tools, with resources and prompts.

`server.py` is the only module that knows the official SDK's server; `transport.py` runs any such
server over stdio or HTTP, also `hvr tools guard`. Requests are answered by `hvr.doors.service`.
"""
