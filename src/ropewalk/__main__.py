"""`python -m ropewalk`, which launchers of several processes use."""

from ropewalk.cli import main

if __name__ == "__main__":
    main()
