"""`python -m streambound`: the command line."""

from streambound.cli import main

if __name__ == "__main__":
    main(prog_name="streambound")
