"""The command line: one small module a command; it parses, calls one function, prints."""
