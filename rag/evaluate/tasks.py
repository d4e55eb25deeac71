"""Runs whose place has to be made ready first, one after another, also on a thread of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace

from rag.errors import Cancelled, FootnoteError
from rag.evaluate import kept
from rag.evaluate.bench import Bench
from rag.evaluate.judge import Judge
from rag.evaluate.load import CaseSet
from rag.evaluate.runner import OnProgress, Progress, applicable, execute
from rag.evaluate.runs import Run, RunStore


@dataclass(frozen=True, slots=True)
class Task:
    """A run, and how the place where it is held is opened."""

    run: Run
    open: Callable[[Callable[[int, int], None]], AbstractContextManager[Bench]]
    """Takes what is told how much is done, of how much: opening may embed documents anew."""


def perform(
    task: Task,
    cases: CaseSet,
    store: RunStore,
    *,
    judge: Judge | None = None,
    on_progress: OnProgress = lambda progress: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Run:
    """Opens the task's place and executes its run there; as `execute`.

    Cancelled while the place is being made ready, the run is on disk, `stopped`.
    """
    run = task.run
    if not (store.folder / run.id).exists():
        kept.create(store, run, cases)

    def tell(done: int, total: int) -> None:
        if cancelled():
            raise Cancelled("Cancelled.")
        on_progress(Progress(run.id, 0, run.cases, indexing=f"{done:,} of {total:,}"))

    with ExitStack() as stack:
        try:
            bench = stack.enter_context(task.open(tell))
            if not store.records(run.id):  # else it goes on, and keeps what it was begun with
                described = {f"collection.{key}": v for key, v in bench.describe().items()}
                run = replace(run, config={**run.config, **described})
            # The first search loads models and builds the word index: it is nobody's latency.
            bench.search(applicable(bench, cases, run.mode, run.limit)[0])
        except Cancelled as error:
            run = replace(run, state="stopped", message=str(error))
            store.save(run)
            return run
        except BaseException as error:
            store.save(replace(run, state="stopped", message=f"{type(error).__name__}: {error}"))
            raise
        return execute(
            run,
            bench,
            cases,
            store,
            judge=judge,
            on_progress=on_progress,
            cancelled=cancelled,
        )


class RunJob:
    """Runs on a thread of its own, one after another until one does not finish.

    `run` is the one in hand, `progress` a snapshot that is replaced, never changed.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        cases: CaseSet,
        store: RunStore,
        judge: Judge | None = None,
    ) -> None:
        self.run = tasks[0].run
        self.progress = Progress(self.run.id, 0, self.run.cases)
        self.error = ""
        """Why the run broke off, for the user."""
        self._cancel = threading.Event()

        def work() -> None:
            try:
                for task in tasks:
                    self.progress = Progress(task.run.id, 0, task.run.cases)
                    self.run = task.run
                    self.run = perform(
                        task,
                        cases,
                        store,
                        judge=judge,
                        on_progress=self._update,
                        cancelled=self._cancel.is_set,
                    )
                    if self.run.state != "finished":
                        break
            except FootnoteError as error:
                self.error = str(error)
            except Exception as error:  # shown on the page: a thread's traceback reaches nobody
                self.error = f"The run broke off: {type(error).__name__}: {error}"

        self._thread = threading.Thread(target=work, name=f"run-{self.run.id}", daemon=True)
        self._thread.start()

    @property
    def finished(self) -> bool:
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """Stops after the case in hand; the run can be resumed."""
        self._cancel.set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """True when the run is over."""
        self._thread.join(timeout_s)
        return self.finished

    def _update(self, progress: Progress) -> None:
        self.progress = progress
