"""The studio: hvr in a browser, on top of the HTTP service and the language server.

`application.py` adds the page and its resources: the folder's files and runs, and the language
server over a web socket. The page's sources are in `studio/` at the top of the repository; `npm run
build` compiles them to `assets/`.
"""
