"""Bounding requests in flight and requests a minute, in one event loop or several."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from amem.llm.limiter import Limiter


class Crowd:
    """Counts who is inside at once."""

    def __init__(self) -> None:
        self.inside = self.peak = self.served = 0
        self.lock = threading.Lock()

    async def enter(self, limiter: Limiter, seconds: float = 0.01) -> None:
        async with limiter.slot():
            with self.lock:
                self.inside += 1
                self.peak = max(self.peak, self.inside)
            await asyncio.sleep(seconds)
            with self.lock:
                self.inside -= 1
                self.served += 1


async def test_no_more_run_at_once_than_allowed():
    crowd, limiter = Crowd(), Limiter(3)
    await asyncio.gather(*(crowd.enter(limiter) for _ in range(20)))
    assert (crowd.peak, crowd.served) == (3, 20)


async def test_waiters_are_served_in_order():
    limiter, order = Limiter(1), []

    async def enter(name):
        async with limiter.slot():
            order.append(name)
            await asyncio.sleep(0)

    await asyncio.gather(*(enter(n) for n in range(6)))
    assert order == list(range(6))


async def test_a_failing_or_cancelled_holder_gives_its_slot_back():
    limiter = Limiter(1)
    with pytest.raises(KeyError):
        async with limiter.slot():
            raise KeyError
    holder = asyncio.create_task(Crowd().enter(limiter, 60))
    await asyncio.sleep(0)
    holder.cancel()
    await asyncio.wait_for(Crowd().enter(limiter), 2)


async def test_a_cancelled_waiter_neither_takes_nor_loses_a_slot():
    for moment in range(4):  # before it is woken, while it is, and after
        limiter = Limiter(1)
        async with limiter.slot():
            waiter = asyncio.create_task(Crowd().enter(limiter, 60))
            await asyncio.sleep(0)
            if moment == 0:
                waiter.cancel()
        for _ in range(moment):
            await asyncio.sleep(0)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
        await asyncio.wait_for(Crowd().enter(limiter), 2)


def test_loops_one_after_another_and_side_by_side_share_one_bound():
    crowd, limiter = Crowd(), Limiter(2)

    async def rush():
        await asyncio.gather(*(crowd.enter(limiter) for _ in range(10)))

    asyncio.run(rush())
    asyncio.run(rush())
    threads = [threading.Thread(target=asyncio.run, args=(rush(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert (crowd.peak, crowd.served) == (2, 50)


def test_a_waiter_whose_loop_was_closed_is_passed_over():
    limiter = Limiter(1)
    here, gone = asyncio.new_event_loop(), asyncio.new_event_loop()
    held = limiter.slot()
    here.run_until_complete(held.__aenter__())
    waiter = gone.create_task(Crowd().enter(limiter))
    gone.run_until_complete(asyncio.sleep(0))
    gone.close()
    here.run_until_complete(held.__aexit__(None, None, None))
    here.run_until_complete(asyncio.wait_for(Crowd().enter(limiter), 2))
    here.close()
    assert not waiter.done()


async def test_no_minute_sees_more_starts_than_allowed():
    limiter, starts = Limiter(50, 4, minute=0.3), []

    async def start():
        await limiter.turn()
        starts.append(time.monotonic())

    await asyncio.gather(*(start() for _ in range(11)))
    starts.sort()
    assert all(later - earlier >= 0.29 for earlier, later in zip(starts, starts[4:], strict=False))
    assert starts[3] - starts[0] < 0.2
