"""Acknowledged writes survive whatever kills the processes that answered them."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.e2e.product import agent, command, write
from tests.launcher.launched import Launched, kill, wait_until


def count_live(client: httpx.Client) -> int:
    """Walk every page of the list."""
    seen, url = 0, "memories?page_size=200"
    while url:
        page = client.get(url).json()
        seen += len(page["results"])
        url = page["next"]
    return seen


def reconnected(client: httpx.Client) -> httpx.Client:
    """The same agent on connections of its own: the old ones ended with the web server."""
    return httpx.Client(base_url=client.base_url, headers=client.headers, timeout=30)


def test_kill__web_and_worker_after_a_hundred_answers__a_hundred_rows(product: Launched) -> None:
    command(product, "tenant", "create", "killed", "--owner", "owner@killed.example")
    client = agent(product, "killed", "clerk", "support", "project:shop=rw")
    for number in range(100):
        said = f"Drawer {number} of the tall cabinet holds paper of mill {number * 7}."
        assert write(client, said, scope="project:shop")["http"] == 201
    killed = {name: product.runtime()["processes"][name]["pid"] for name in ("web", "worker")}
    for pid in killed.values():
        kill(pid)

    def answers() -> bool:
        """Started anew, and ready; the killed one's children may still answer for a moment."""
        now = product.runtime()["processes"]
        if any(now[name]["pid"] == pid for name, pid in killed.items()):
            return False
        try:
            return httpx.get(f"http://127.0.0.1:{product.port}/readyz").status_code == 200
        except httpx.TransportError:
            return False

    wait_until(answers, 60, "the product answers again")
    client = reconnected(client)
    assert count_live(client) == 100


def test_parallel__fifty_identical_writes_over_http__one_row(product: Launched) -> None:
    command(product, "tenant", "create", "parallel", "--owner", "owner@parallel.example")
    client = agent(product, "parallel", "clerk", "support", "project:shop=rw")

    def call(number: int) -> str:
        answer = write(client, "The press halls open at seven.", scope="project:shop", session=f"s{number}")
        return str(answer["outcome"])

    with ThreadPoolExecutor(50) as pool:
        outcomes = Counter(pool.map(call, range(50)))
    assert outcomes == {"stored": 1, "duplicate": 49}
    assert count_live(client) == 1
