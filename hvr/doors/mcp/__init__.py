"""The MCP server: hvr's operations as tools, with resources and prompts.

`server.py` is the only module that uses the official SDK's server, and runs any such server over
stdio or HTTP, including `hvr tools guard`. `hvr.doors.service` answers the requests.
"""
