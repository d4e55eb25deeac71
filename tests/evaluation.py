"""Helpers for stories on the evaluation page."""

from __future__ import annotations

from pages.ui import evaluation_jobs
from rag import samples
from rag.evaluate import kept
from rag.evaluate.bench import LibraryBench
from rag.evaluate.load import load
from rag.evaluate.runner import execute, plan
from rag.evaluate.runs import RunStore
from tests.app import go, run, workspace


def store(app) -> RunStore:
    return RunStore(workspace(app).settings.data / "runs")


def ended(app):
    """Waits for the run that was begun, and shows the page as it is then."""
    job = evaluation_jobs.jobs(str(workspace(app).settings.data))[-1]
    assert job.wait(60)
    return run(app)


def measure(app, limit=None, **changes):
    """Starts a run of the sample questions and waits for it."""
    app.query_params["view"] = "measure"
    go(app, "evaluation")
    if limit is not None:
        app.number_input(key="limit").set_value(limit)
    for key, value in changes.items():
        app.get_by_key(key).set_value(value)
    run(app)
    app.button(key="run").click()
    run(app)
    return ended(app)


def kept_run(app, *, asked=8, stop_after=None, change=None):
    """A run made without the page. `change` alters each record before it is kept."""
    cases, bench = load(samples.questions()), LibraryBench(workspace(app))
    made = plan(bench, cases, workspace(app).settings, mode="retrieval", limit=asked)
    kept.create(store(app), made, cases)
    done = [0]

    def stop():
        done[0] += 1
        return stop_after is not None and done[0] > stop_after

    made = execute(made, bench, cases, store(app), cancelled=stop)
    for record in store(app).records(made.id).values() if change else ():
        store(app).append(made.id, change(record))
    return made


def show(app, **where):
    for name, value in where.items():
        app.query_params[name] = value
    return go(app, "evaluation")


def table(app, column):
    """The first table that has the column."""
    return next(t.value for t in app.dataframe if column in t.value)
