"""The command `ropewalk serve`: serve parsers over HTTP, with a page for browsers."""

import logging
import sys
from typing import Annotated

import typer

from ropewalk.cli.shell import say, warn_if_uncompiled, with_parser_options
from ropewalk.options import ParserOptions


@with_parser_options()
def serve(
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen at; 0.0.0.0 admits other machines.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 is any free one.")] = 8080,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME|FOLDER",
            show_default="en",
            help="An installed model, a trained or exported folder, or hub:USER/MODEL; repeatable, the first is the "
            "default. auto: chosen by the text; all: every installed model and auto, loaded when first needed.",
        ),
    ] = None,
    options: ParserOptions = ParserOptions(),
    workers: Annotated[
        int, typer.Option(min=1, max=256, help="Processes that parse, each on a core; 1 parses in the server itself.")
    ] = 1,
    max_models: Annotated[
        int, typer.Option(min=1, help="With --model all, most models in memory for each worker.")
    ] = 8,
    max_bytes: Annotated[int, typer.Option(min=1, help="Largest request, in bytes.")] = 1_000_000,
    max_words: Annotated[int, typer.Option(min=1, help="Longest sentence, in words.")] = 1000,
    max_seconds: Annotated[
        float,
        typer.Option(
            min=0.1,
            max=86_400,
            help="Longest time, in seconds, to receive a request, to answer it, and to send the answer.",
        ),
    ] = 30.0,
    max_requests: Annotated[
        int, typer.Option(min=1, help="Most requests at the same time for each worker; further ones get 503.")
    ] = 256,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN", show_default="none", help="Let pages of this origin read answers, * is all; repeatable."
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            show_default="this machine on a loopback address, else all",
            help="Answer requests whose Host header has this name, * is all; repeatable.",
        ),
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="Log a line for each request, without its text.")] = False,
    log_text: Annotated[
        bool, typer.Option("--log-text", help="Also log the content of requests, with their texts.")
    ] = False,
) -> None:
    """Serve parsers over HTTP, with a page for browsers.

    The server speaks UDPipe's REST protocol and an API of its own, described at /openapi.json; try it at /docs. It
    listens on this machine only, unless --host says otherwise. SIGTERM, SIGHUP and Ctrl-C stop it after running
    requests are answered. The guide is docs/serving.md.
    """
    from ropewalk.errors import MissingExtraError

    try:
        from ropewalk.serving import Settings, run
    except ModuleNotFoundError as missing:
        if missing.name not in {"starlette", "uvicorn", "httptools", "python_multipart"}:
            raise
        raise MissingExtraError("servers", str(missing.name), "serve") from missing
    warn_if_uncompiled()
    logging.basicConfig(
        stream=sys.stderr,
        format="%(asctime)s %(message)s",
        level=logging.INFO if log or log_text else logging.WARNING,
    )
    for name in ("uvicorn", "python_multipart"):
        logging.getLogger(name).setLevel(logging.ERROR)
    settings = Settings(
        models=tuple(model or ["en"]),
        parsing=options,
        max_models=max_models,
        max_bytes=max_bytes,
        max_words=max_words,
        max_seconds=max_seconds,
        max_requests=max_requests,
        allow_origins=tuple(allow_origin or ()),
        allow_hosts=tuple(allow_host or ()),
        log_text=log_text,
    )
    run(
        settings,
        host=host,
        port=port,
        workers=workers,
        started=lambda address: say(f"serving {', '.join(settings.models)} at {address} (Ctrl-C stops it)"),
    )
