"""The entry of the program: `ropewalk`, or `python -m ropewalk`, which launchers of several processes use."""

import os


def main() -> None:
    """Load the command line and run it; an interrupt ends the program quietly from the first moment on."""
    try:
        import signal

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored, as by nohup
            # At once: nothing is open yet, and an exception may be lost or printed in the middle of an import.
            signal.signal(signal.SIGINT, lambda *_: os._exit(130))
        from ropewalk.cli import main as run
    except KeyboardInterrupt:
        os._exit(130)  # what a shell expects of an interrupted program
    run()


if __name__ == "__main__":
    main()
