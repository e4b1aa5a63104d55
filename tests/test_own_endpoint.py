"""The worked example of an endpoint of one's own, installed and served like one of ours."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from docs_tools import install_example
from ropewalk.errors import OptionError
from ropewalk.serving import api
from ropewalk.serving.application import endpoints
from ropewalk.serving.endpoints import endpoint
from serving_tools import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ropewalk.serving.fields import Fields
    from ropewalk.serving.service import Service
    from serving_tools import Answer, Served

PATH = "/api/v1/tag-counts"


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the package of the page as pip would: its module, and the metadata that name its entry point."""
    site = tmp_path_factory.mktemp("site-packages")
    install_example("docs/own-endpoint.md", site)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]))
    yield site
    sys.modules.pop("tag_counts", None)


def ask(served: Served, **fields: object) -> Answer:
    return served.ask("POST", PATH, json.dumps(fields), {"content-type": "application/json"})


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_it_is_served_described_and_counted(workers: str) -> None:
    with serving("--workers", workers) as served:
        described = json.loads(served.get("/openapi.json").body)["paths"][PATH]["post"]
        assert (described["summary"], described["operationId"]) == ("Count parts of speech.", "tag-counts")
        content = described["requestBody"]["content"]
        assert set(content) == {"application/json", "text/plain", "text/x-conllu"}
        assert content["application/json"]["example"] == {"text": "She walks backwards.", "most": 2, "model": "en"}
        found = ask(served, **content["application/json"]["example"])
        assert found.status == 200, found.text
        assert json.loads(found.body) == {"words": 4, "tags": {"PRON": 1, "VERB": 1}}
        raw = served.ask("POST", PATH, "She walks. They rest.", {"content-type": "text/plain"})
        assert json.loads(raw.body)["tags"] == {"PRON": 2, "VERB": 2, "PUNCT": 2}
        for fields, reason in (
            ({"text": "a", "least": 1}, "unknown field 'least'; known: text, tokens, conllu, model, most"),
            ({"text": "a", "most": 0}, "most is 0; expected an integer from 1 to 20"),
            ({}, "expected exactly one of the fields text, tokens, conllu"),
        ):
            refused = ask(served, **fields)
            assert refused.status == 400
            assert reason in json.loads(refused.body)["error"]["message"]
        assert served.get(PATH).status == 405
        counts = served.get("/metrics").text
        assert 'ropewalk_requests_total{route="tag-counts",status="2xx"} 2\n' in counts
        assert 'ropewalk_requests_total{route="tag-counts",status="4xx"} 4\n' in counts


def test_an_endpoint_of_ours_cannot_be_replaced(site: Path) -> None:
    module = site / "tag_counts.py"
    module.write_text(module.read_text(encoding="utf-8").replace('"tag-counts"', '"parse"'), encoding="utf-8")
    endpoints.cache_clear()
    try:
        rows = [one for one in endpoints() if one.path == "/api/v1/parse"]
    finally:
        endpoints.cache_clear()
    assert rows == [one for one in api.ENDPOINTS if one.label == "parse"]


@pytest.mark.parametrize("name", ["", "Tags", "a/b", 'a"b', "a b"])
def test_names_of_endpoints_are_plain(name: str) -> None:
    async def answer(_fields: Fields, _service: Service) -> object:
        return {}

    with pytest.raises(OptionError, match="use lower case, digits and hyphens"):
        endpoint(name, answer)
