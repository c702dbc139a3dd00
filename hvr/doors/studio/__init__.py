"""Studio: hvr in a browser, on top of the HTTP service and the language server.

`application.py` adds the page and what only the page needs: the files of the folder, the runs in
it, and the language server through a web socket. The page's sources are in `studio/` at the top of
the repository; `assets/` holds what `npm run build` makes of them.
"""
