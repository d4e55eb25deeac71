"""Ask the documents; every answer opens the exact words it rests on."""

from __future__ import annotations

import streamlit as st

from pages.ui.asking import answer
from pages.ui.chats import current, draw_chats, go_to
from pages.ui.evaluation_editor import draw_editor, editing_now
from pages.ui.evaluation_from_chat import draw_verdict
from pages.ui.reply import draw_reply
from pages.ui.samples import draw_examples, draw_sample_button
from pages.ui.sidebar import draw_state
from pages.ui.source import draw_source, open_source
from pages.ui.start import workspace as get_workspace
from pages.ui.words import lines, narrowed, plain, translated
from rag.history import Chat, Exchange
from rag.types import Answer

workspace = get_workspace("chat.py")
history = workspace.history
chat = current(history)
exchanges = history.exchanges(chat.id) if chat else []
documents = workspace.documents()
names = {d.id: d.name for d in documents if d.state == "ready"}


def draw_question(exchange: Exchange) -> None:
    with st.chat_message("user", avatar=":material/person:"):
        st.text(exchange.question)
        if exchange.documents and set(exchange.documents) != set(names):
            only = ", ".join(names.get(d, "a deleted document") for d in exchange.documents)
            st.caption(f"Only in {plain(only)}")


def draw_outcome(exchange: Exchange) -> None:
    """The answer, or why there is none."""
    if exchange.answer is None:
        if exchange.error:
            st.error(lines(exchange.error), icon=":material/error:")
        else:
            st.caption("Stopped before the answer was complete.")
        st.button(
            "Ask again",
            icon=":material/refresh:",
            key=f"again_{exchange.id}",
            on_click=ask_again,
            args=(exchange.id,),
        )
        return

    def show(kind: str, number: int) -> None:
        open_source(exchange.id, kind, number)

    draw_reply(exchange.answer, str(exchange.id), show)
    draw_narrowing(exchange)
    draw_translation(exchange.answer)
    draw_verdict(exchange, [e for e in exchanges if e.id < exchange.id], names)


def draw_narrowing(exchange: Exchange) -> None:
    """That the question names the documents that were searched, and the way out of it."""
    searches = exchange.answer.receipt.searches if exchange.answer else ()
    search = next((s for s in searches if s.implied), None)
    if search is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(narrowed(search, names), width="content")
        st.button(
            "Search in all documents",
            icon=":material/travel_explore:",
            key=f"everywhere_{exchange.id}",
            type="tertiary",
            on_click=ask_everywhere,
            args=(exchange.question,),
        )


def draw_translation(answer: Answer | None) -> None:
    """A bad translation explains a bad answer, so it is shown; a model's searches are in the
    receipt."""
    for search in answer.receipt.searches if answer and answer.receipt.engine == "reader" else ():
        if into := translated(search):
            st.caption(into)


def web_key(chat: Chat | None) -> str:
    """Whether the web may be searched is a question of each chat."""
    return f"web_{chat.id if chat else 'new'}"


def ask_again(exchange_id: int) -> None:
    st.session_state.again = exchange_id


def ask_everywhere(question: str) -> None:
    st.session_state.suggested = question
    st.session_state.everywhere = True


def draw_intro() -> None:
    st.title("Ask your documents")
    if names:
        st.write("Every answer shows the exact words it rests on. Click a marker to see the page.")
        draw_examples(documents)
    elif workspace.job and not workspace.job.progress.finished:
        st.write("Your documents are being read. You can ask as soon as the first one is ready.")
        st.page_link("pages/library.py", label="Watch the progress", icon=":material/sync:")
    else:
        st.write("The library is empty: there is nothing to answer from yet.")
        with st.container(horizontal=True, vertical_alignment="center"):
            draw_sample_button(workspace)
            st.page_link(
                "pages/library.py", label="Add your own documents", icon=":material/upload:"
            )


with st.sidebar:
    draw_chats(history, chat)
draw_state(workspace)

with st.bottom:
    if len(names) > 1:
        st.session_state.scope = [d for d in st.session_state.get("scope", []) if d in names]
        st.multiselect(
            "Search in",
            list(names),
            format_func=lambda d: names[d],
            key="scope",
            placeholder="Search in all documents",
            label_visibility="collapsed",
            persist_state="session",
        )
    if workspace.settings.tavily_api_key and workspace.engine != "reader":
        st.toggle(
            "Search the web, too",
            key=web_key(chat),
            help="Words of your question are sent to Tavily. Off in every new chat.",
            persist_state="session",
        )
question = st.chat_input(
    "Ask a question" if names else "Add a document first",
    key="question",
    disabled=not names,
    submit_mode="stop",
) or st.session_state.pop("suggested", None)
again = st.session_state.pop("again", None)

intro = st.empty()  # so that it goes away at once when the first question is asked
if not exchanges and not question:
    with intro.container():
        draw_intro()

pending = None
for exchange in exchanges:
    if exchange.id == again:
        pending = exchange
        continue
    draw_question(exchange)
    with st.chat_message("assistant", avatar=":material/format_quote:"):
        draw_outcome(exchange)

if question:
    if chat is None:
        web = st.session_state.get(web_key(None), False)
        chat = history.new()
        st.session_state[web_key(chat)] = web
        st.session_state.pop(web_key(None), None)
        go_to(chat.id)
    everywhere = st.session_state.pop("everywhere", False)
    scope = list(names) if everywhere else st.session_state.get("scope", [])
    pending = history.ask(chat.id, question, scope)
if pending:
    draw_question(pending)
    with st.chat_message("assistant", avatar=":material/format_quote:"):
        earlier = [e for e in exchanges if e.id < pending.id]
        answer(workspace, pending, earlier, web=st.session_state.get(web_key(chat), False))
    st.rerun()

opened = st.session_state.pop("source", None)
draw_editor(workspace)
if opened and not editing_now():
    exchange_id, kind, number = opened
    for exchange in exchanges:
        if exchange.id == exchange_id and exchange.answer:
            draw_source(workspace, exchange.answer, kind, number)
