"""An event loop in a thread of its own, for fakes that answer while the judge waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, TypeVar

PATIENCE_S = 20
_T = TypeVar("_T")


class BackgroundLoop:
    """``with BackgroundLoop() as loop: loop.do(something())``. What runs in it ends with it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> BackgroundLoop:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.do(_end_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)
        self._loop.close()

    def do(self, what: Coroutine[Any, Any, _T]) -> _T:
        """What it comes to. Raises TimeoutError after `PATIENCE_S`, and whatever `what` raises."""
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(PATIENCE_S)


async def _end_all() -> None:
    """End every conversation that is still going on."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
