"""Anthropic's memory tool over a session: its commands, and its package's tool runner against a loopback server."""

import asyncio
import stat

import anthropic
import pytest
from anthropic.lib.tools import ToolError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gc_core import AsyncGCSession, GCSession, Plugins, hookimpl
from gc_core.errors import MemoryFileError
from gc_core.integrations.anthropic_memory import AsyncMemoryTool, MemoryTool
from gc_core.integrations.anthropic_memory.files import MOST_CHARS, ROOT, MemoryFiles
from gc_core.plugins.checkpoint_backends import FileBackend, InMemoryBackend, SQLiteBackend
from gc_core.storage.facts import FactKind, FactStore, Promotion
from tests.support.provider import ProviderServer
from tests.support.say import use, user

NOTES = "/memories/notes.md"


@pytest.fixture
def session():
    with GCSession(format="anthropic") as session:
        session.append(user("Never edit generated files. Fix the login."))
        yield session


@pytest.fixture
def files(session):
    return MemoryFiles(session, InMemoryBackend())


@pytest.fixture
def facts(tmp_path):
    return FactStore(tmp_path / "facts.jsonl")


def noted(files, text="alpha\nbeta\ngamma\n", path=NOTES):
    files.run("create", path=path, file_text=text)
    return files


def shown(files, path=NOTES):
    """The text of a file, without its frame."""
    return [line.partition("\t")[2] for line in files.run("view", path=path).split("\n")[1:]]


# --- the commands -----------------------------------------------------------------------------------------------------


def test_a_file_is_shown_with_its_line_numbers(files):
    assert noted(files).run("view", path=NOTES) == (
        f"Here's the content of {NOTES} with line numbers:\n     1\talpha\n     2\tbeta\n     3\tgamma\n     4\t"
    )


@pytest.mark.parametrize(("view_range", "lines"), [([2, 3], ["beta", "gamma"]), ([3, -1], ["gamma", ""])])
def test_part_of_a_file_is_shown(files, view_range, lines):
    text = noted(files).run("view", path=NOTES, view_range=view_range)
    assert [line.partition("\t")[2] for line in text.split("\n")[1:]] == lines


@pytest.mark.parametrize("view_range", [[3, 2], [0, 1], [9, 12], [1], "1-2", [1, "2"], [True, 2]])
def test_an_invalid_range_is_refused(files, view_range):
    with pytest.raises(MemoryFileError, match="Invalid `view_range`"):
        noted(files).run("view", path=NOTES, view_range=view_range)


def test_a_directory_lists_two_levels_with_sizes_and_nothing_hidden(files):
    noted(files)
    for path in ("/memories/a/b.md", "/memories/a/c/d.md", "/memories/.x", "/memories/a/node_modules/y"):
        noted(files, "12", path)
    assert files.run("view", path="/memories").split("\n")[1:] == [
        "25B\t/memories",
        "4B\t/memories/a/",
        "2B\t/memories/a/b.md",
        "2B\t/memories/a/c/",
        "17B\t/memories/notes.md",
    ]
    assert files.run("view", path="/memories/a/").split("\n")[1:] == [
        "6B\t/memories/a",
        "2B\t/memories/a/b.md",
        "2B\t/memories/a/c/",
        "2B\t/memories/a/c/d.md",
    ]


def test_an_empty_memory_can_be_viewed(files):
    assert files.run("view", path="/memories").endswith("\n0B\t/memories")


def test_a_file_is_not_created_twice_and_none_below_another(files):
    noted(files)
    with pytest.raises(MemoryFileError, match=f"File {NOTES} already exists"):
        noted(files)
    with pytest.raises(MemoryFileError, match="is a file"):
        noted(files, path=f"{NOTES}/inner")
    noted(files, path="/memories/a/b")
    with pytest.raises(MemoryFileError, match="already exists"):
        noted(files, path="/memories/a")


def test_a_text_is_replaced_and_its_surroundings_shown(files):
    answer = noted(files).run("str_replace", path=NOTES, old_str="beta", new_str="BETA\nmore")
    assert answer.split("\n")[1:] == ["     1\talpha", "     2\tBETA", "     3\tmore", "     4\tgamma", "     5\t"]
    assert shown(files) == ["alpha", "BETA", "more", "gamma", ""]


@pytest.mark.parametrize(("old", "said"), [("x", "did not appear verbatim"), ("", "did not appear"), ("a", "1, 1, 2")])
def test_a_text_that_does_not_occur_exactly_once_is_not_replaced(files, old, said):
    with pytest.raises(MemoryFileError, match=f"No replacement was performed.*{said}"):
        noted(files).run("str_replace", path=NOTES, old_str=old, new_str="y")
    assert shown(files) == ["alpha", "beta", "gamma", ""]


def test_a_replacement_without_a_text_deletes(files):
    noted(files).run("str_replace", path=NOTES, old_str="beta\n")
    assert shown(files) == ["alpha", "gamma", ""]


@pytest.mark.parametrize(
    ("line", "lines"),
    [(0, ["new", "alpha", "beta", "gamma", ""]), (3, ["alpha", "beta", "gamma", "new", ""])],
)
def test_a_line_is_inserted_after_another(files, line, lines):
    noted(files).run("insert", path=NOTES, insert_line=line, insert_text="new\n")
    assert shown(files) == lines


@pytest.mark.parametrize("line", [-1, 4, "1", True, None])
def test_a_line_that_is_not_there_is_refused(files, line):
    with pytest.raises(MemoryFileError, match="Invalid `insert_line`"):
        noted(files).run("insert", path=NOTES, insert_line=line, insert_text="new")


def test_files_and_directories_are_deleted(files):
    for path in (NOTES, "/memories/a/b", "/memories/a/c/d"):
        noted(files, path=path)
    assert files.run("delete", path="/memories/a") == "Successfully deleted /memories/a"
    files.run("delete", path=NOTES)
    assert files.run("view", path="/memories").endswith("0B\t/memories")


def test_files_and_directories_are_renamed(files):
    for path in (NOTES, "/memories/a/b", "/memories/a/c/d"):
        noted(files, path, path)
    files.run("rename", old_path="/memories/a", new_path="/memories/z/y")
    files.run("rename", old_path=NOTES, new_path="/memories/Grüße, 世界.md")
    assert shown(files, "/memories/z/y/c/d") == ["/memories/a/c/d"]
    assert shown(files, "/memories/Grüße, 世界.md") == [NOTES]
    with pytest.raises(MemoryFileError, match="does not exist"):
        files.run("view", path="/memories/a/b")


def test_a_name_that_is_taken_and_a_directory_into_itself_are_refused(files):
    noted(noted(files), path="/memories/a/b")
    with pytest.raises(MemoryFileError, match=f"The destination {NOTES} already exists"):
        files.run("rename", old_path="/memories/a/b", new_path=NOTES)
    with pytest.raises(MemoryFileError, match="Cannot rename"):
        files.run("rename", old_path="/memories/a", new_path="/memories/a/c")


@pytest.mark.parametrize("command", ["delete", "view", "str_replace", "insert"])
def test_a_missing_path_is_reported(files, command):
    with pytest.raises(MemoryFileError, match="The path /memories/nowhere does not exist"):
        files.run(command, path="/memories/nowhere", old_str="a", new_str="b", insert_line=0, insert_text="c")


def test_the_root_stays(files):
    noted(files)
    for arguments in ({"command": "delete", "path": "/memories"}, {"command": "rename", "old_path": "/memories/"}):
        with pytest.raises(MemoryFileError, match="directory itself"):
            files.run(**arguments, new_path="/memories/a")
    with pytest.raises(MemoryFileError, match="is not a file"):
        files.run("insert", path="/memories", insert_line=0, insert_text="c")


@pytest.mark.parametrize(
    "path",
    [
        *("/memories/../etc/passwd", "/memories/a/../../b", "/memories/./a", "/memories//a", "/memories/a\x00b"),
        *("/memories/..\\x", "/etc/passwd", "memories/a", "/memoriesX/a", "", "/", "/memories/ /a", "/memories/a\nb"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(files, path):
    with pytest.raises(MemoryFileError, match="Path"):
        files.run("create", path=path, file_text="x")
    with pytest.raises(MemoryFileError, match="Path"):
        noted(files).run("rename", old_path=NOTES, new_path=path)


@pytest.mark.parametrize("path", [3, None, ["/memories/a"]])
def test_a_path_that_is_not_text_is_refused(files, path):
    with pytest.raises(MemoryFileError, match="Invalid `path`"):
        files.run("view", path=path)


def test_missing_and_unknown_arguments_are_reported(files):
    with pytest.raises(MemoryFileError, match="create needs the parameter `file_text`"):
        files.run("create", path=NOTES)
    with pytest.raises(MemoryFileError, match="Unknown command: 'append'"):
        files.run("append", path=NOTES)


def test_a_file_and_a_name_are_bounded(files):
    with pytest.raises(MemoryFileError, match="at most 100,000 characters"):
        noted(files, "x" * (MOST_CHARS + 1))
    with pytest.raises(MemoryFileError, match="too long"):
        noted(files, path="/memories/" + "x" * 300)


def test_a_plugin_that_redacts_sees_what_is_kept(tmp_path):
    class Redacts:
        @hookimpl
        def gc_redact(self, text):
            return text.replace("hunter2", "***")

    plugins = Plugins.discover()
    plugins.register(Redacts())
    with GCSession(format="anthropic", plugins=plugins) as session:
        files = noted(MemoryFiles(session, FileBackend(tmp_path / "m")), "the password is hunter2")
        assert shown(files) == ["the password is ***"]
        answer = files.run("str_replace", path=NOTES, old_str="***", new_str="again hunter2")
        assert answer.split("\n")[1:] == ["     1\tthe password is again ***"]


NAMES = st.lists(
    st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="/"), min_size=1, max_size=4),
    min_size=1,
    max_size=3,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=NAMES, text=st.text(max_size=30))
def test_every_name_and_every_text_come_back(session, tmp_path, parts, text):
    path = "/".join([ROOT, *parts])
    for backend in (InMemoryBackend(), SQLiteBackend(tmp_path / "m.db")):
        files = MemoryFiles(session, backend)
        try:
            noted(files, text, path)
        except MemoryFileError as error:
            assert any(part in {".", ".."} or "\\" in part for part in parts) or "too long" in str(error)  # noqa: PT017
        else:
            assert files._kept.read(path) == text
            files.run("delete", path=f"{ROOT}/{parts[0]}")
            assert files._kept.paths() == []


def test_files_outlive_the_session_and_only_their_owner_may_read_them(session, tmp_path):
    noted(MemoryFiles(session, FileBackend(tmp_path / "m")))
    with GCSession() as later:
        assert shown(MemoryFiles(later, FileBackend(tmp_path / "m")))[0] == "alpha"
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in (tmp_path / "m").iterdir())


# --- facts ------------------------------------------------------------------------------------------------------------


def test_facts_are_files_that_the_model_reads_and_edits(session, facts):
    session.promote(facts, [Promotion.add("Never edit generated files", FactKind.CONSTRAINT, "i1")])
    files = MemoryFiles(session, InMemoryBackend(), facts)
    path = "/memories/facts/constraints.md"
    assert path in files.run("view", path="/memories")
    assert shown(files, path) == ["Never edit generated files (f1)"]
    files.run("insert", path=path, insert_line=1, insert_text="Tests run with make test")
    files.run("str_replace", path=path, old_str="generated files", new_str="files below gen/")
    assert shown(files, path) == ["Tests run with make test (f2)", "Never edit files below gen/ (f3)"]
    assert facts.facts["f3"].replaces == "f1"
    assert {fact.item for fact in facts.facts.values()} == {"i1"}
    files.run("str_replace", path=path, old_str="Tests run with make test (f2)\n", new_str="")
    assert [fact.text for fact in facts.facts.values()] == ["Never edit files below gen/"]


def test_an_edit_answers_with_the_lines_of_facts_as_they_are_now(session, facts):
    said = ("Never edit generated files", "Tests run with make test", "Commits are signed", "Tabs, no spaces")
    session.promote(facts, [Promotion.add(each, FactKind.CONSTRAINT, "i1") for each in said])
    files = MemoryFiles(session, InMemoryBackend(), facts)
    path = "/memories/facts/constraints.md"
    answer = files.run("str_replace", path=path, old_str="generated", new_str="vendored")
    assert answer.split("\n")[1:] == [
        "     2\tCommits are signed (f3)",
        "     3\tTabs, no spaces (f4)",
        "     4\tNever edit vendored files (f5)",
    ]
    files.run("str_replace", path=path, old_str="Never edit vendored files (f5)", new_str="Edit any file (f5)")
    answer = files.run("str_replace", path=path, old_str="Commits are signed (f3)\n", new_str="")
    assert answer.split("\n")[1:] == [
        "     1\tTests run with make test (f2)",
        "     2\tTabs, no spaces (f4)",
        "     3\tEdit any file (f6)",
    ]


def test_an_edit_that_leaves_no_fact_answers_with_an_empty_file(session, facts):
    session.promote(facts, [Promotion.add("The port is 8080", FactKind.FACT, "i1")])
    files = MemoryFiles(session, InMemoryBackend(), facts)
    path = "/memories/facts/facts.md"
    answer = files.run("str_replace", path=path, old_str="The port is 8080 (f1)", new_str="\n\n")
    assert answer.split("\n")[1:] == ["     1\t"]


def test_what_another_session_promotes_is_seen(session, facts):
    files = MemoryFiles(session, InMemoryBackend(), facts)
    session.promote(FactStore(facts.path), [Promotion.add("The port is 8080", FactKind.FACT, "i1")])
    assert shown(files, "/memories/facts/facts.md") == ["The port is 8080 (f1)"]


def test_files_of_facts_stay_and_others_do_not_come_among_them(session, facts):
    files = MemoryFiles(session, InMemoryBackend(), facts)
    with pytest.raises(MemoryFileError, match="stays where it is"):
        files.run("delete", path="/memories/facts")
    with pytest.raises(MemoryFileError, match="alone"):
        noted(files, path="/memories/facts/more.md")
    with pytest.raises(MemoryFileError, match="Cannot rename"):
        noted(files).run("rename", old_path=NOTES, new_path="/memories/facts/more.md")
    files.clear()
    assert [path for path in files._paths() if "facts" not in path] == []


def test_a_fact_rests_on_something_that_was_said(facts):
    with GCSession(format="anthropic") as empty:
        files = MemoryFiles(empty, InMemoryBackend(), facts)
        with pytest.raises(MemoryFileError, match="nothing has been said"):
            files.run("insert", path="/memories/facts/facts.md", insert_line=0, insert_text="The port is 8080")


# --- the package's tool runner ----------------------------------------------------------------------------------------


class Threads(ProviderServer):
    """Keeps what was said in a thread, as the API does for the runner of anthropic 2.12: only what is new is sent."""

    def __init__(self, *replies):
        super().__init__(*replies)
        self._said = {}

    def answer(self, provider, body):
        thread = body.pop("thread", None) or {}
        if thread.get("type") == "continue":
            before = self._said[thread["previous_message_id"]]
            body = {**before, "messages": [*before["messages"], *body["messages"]]}
        status, reply = super().answer(provider, body)
        said = {"role": "assistant", "content": reply.get("content")}
        self._said[reply.get("id")] = {**body, "messages": [*body["messages"], said]}
        return status, reply


def memory(key, **arguments):
    return use((key, "memory", arguments))


SCRIPT = [
    memory("m1", command="view", path="/memories"),
    memory("m2", command="create", path=NOTES, file_text="The login fails.\n"),
    memory("m3", command="str_replace", path=NOTES, old_str="fails", new_str="works"),
    memory("m4", command="insert", path=NOTES, insert_line=1, insert_text="Ask Ada."),
    memory("m5", command="rename", old_path=NOTES, new_path="/memories/login.md"),
    memory("m6", command="view", path="/memories/login.md"),
    memory("m7", command="delete", path="/memories/../etc"),
    {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
]


def answers(server):
    """The results that the model got, call by call."""
    messages = [block for block in server.requests[-1]["messages"] if isinstance(block["content"], list)]
    blocks = [block for message in messages for block in message["content"] if block["type"] == "tool_result"]
    return [(block["content"], bool(block.get("is_error"))) for block in blocks]


def check(server):
    assert server.requests[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    results = answers(server)
    assert results[5][0].split("\n")[1:] == ["     1\tThe login works.", "     2\tAsk Ada.", "     3\t"]
    assert [is_error for _, is_error in results] == [False] * 6 + [True]
    assert "would escape /memories" in results[6][0]


def run(client, tool):
    return client.beta.messages.tool_runner(
        model="claude-opus-4-5", max_tokens=500, messages=[user("Remember it.")], tools=[tool]
    )


def test_the_tool_runner_carries_the_commands_out(session, tmp_path):
    with Threads(SCRIPT) as server, anthropic.Anthropic(api_key="k", base_url=server.url) as client:
        tool = MemoryTool(session, FileBackend(tmp_path / "m"))
        assert run(client, tool).until_done().content[0].text == "Done."
        check(server)


def test_the_async_tool_runner_does_too(tmp_path):
    async def main(server):
        async with anthropic.AsyncAnthropic(api_key="k", base_url=server.url) as client, AsyncGCSession() as session:
            tool = AsyncMemoryTool(session, FileBackend(tmp_path / "m"))
            done = await run(client, tool).until_done()
            assert done.content[0].text == "Done."
            assert await tool.clear_all_memory() == "All memory cleared"

    with Threads(SCRIPT) as server:
        asyncio.run(main(server))
        check(server)
    assert list((tmp_path / "m").iterdir()) == []


def test_a_loop_of_ones_own_calls_the_tool_inside_a_session(tmp_path):
    with (
        ProviderServer(SCRIPT) as server,
        anthropic.Anthropic(api_key="k", base_url=server.url) as client,
        GCSession(format="anthropic", model="claude-opus-4-5") as session,
    ):
        tool = MemoryTool(session, FileBackend(tmp_path / "m"), facts=FactStore(tmp_path / "facts.jsonl"))
        session.tools([tool.to_dict()])
        session.append(user("Remember it."))
        while True:
            reply = client.messages.create(model="claude-opus-4-5", max_tokens=500, **session.pre_send().kwargs())
            session.post_turn(reply, usage=reply.usage)
            calls = [block for block in reply.content if block.type == "tool_use"]
            if not calls:
                break
            session.append({"role": "user", "content": [answered(tool, block) for block in calls]})
        assert "Ask Ada." in str(answers(server)[5])
        assert tool.clear_all_memory() == "All memory cleared"


def answered(tool, block):
    try:
        return {"type": "tool_result", "tool_use_id": block.id, "content": tool.call(block.input)}
    except ToolError as error:
        return {"type": "tool_result", "tool_use_id": block.id, "content": str(error), "is_error": True}
