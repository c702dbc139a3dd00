"""`python -m hvr`: the command line."""

from hvr.cli.main import run

if __name__ == "__main__":
    run()
