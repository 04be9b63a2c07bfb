"""Profiles say what stays first; classes are tried on lines of recorded sessions; the general one changes nothing."""

import itertools
import json

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gc_core import (
    CompressionProfile,
    ConfigError,
    GCConfig,
    GCPolicy,
    GCRemovalItem,
    GCSession,
    Item,
    ItemKind,
    PluginError,
    Plugins,
    hookimpl,
)
from gc_core.collector.profile_order import in_order
from gc_core.providers.token_counting import counter_for, part_tokens
from gc_core.relevance.name_scan import LONG_LINE, scan
from gc_core.relevance.profiles import (
    CODING_PROFILE,
    FIRST_PARTS,
    GENERAL_PROFILE,
    IMPORTANCE_CLASSES,
    OPERATIONS_PROFILE,
    RESEARCH_PROFILE,
    TOOL_KINDS,
    detected,
    tool_kind,
    weighing_by,
)
from gc_core.relevance.profiles.line_classes import LINES, PARAGRAPHS
from gc_core.relevance.profiles.matchers import Reading
from gc_core.relevance.profiles.profile import classed
from gc_core.values.items import Part
from gc_core.values.removals import GAP
from gc_core.window.stubs import write_stub
from tests.support.corpus import corpus_dir, openai_sessions, require_corpus
from tests.support.say import call, result, user

COUNTER = counter_for(None, "openai")
BUILT_IN = [GENERAL_PROFILE, CODING_PROFILE, RESEARCH_PROFILE, OPERATIONS_PROFILE]


def item_of(text, kind=ItemKind.TOOL_RESULT, name="bash"):
    called = name if kind is ItemKind.TOOL_CALL else ""
    tokens = part_tokens(Part(kind=kind, place=(), text=text, name=called), COUNTER)
    return Item(
        id="i7", kind=kind, source="conversation", policy=GCPolicy.EPHEMERAL, tokens=tokens, original_tokens=tokens,
        text=text, unit=1, turn=0, step=0, name=name, scan=scan(text),
    )  # fmt: skip


def found(known, text, **more):
    lines = classed(Reading(text, scan(text), **more), known)
    return [text[start:end] for start, end in sorted(set(lines))]


def session_file(begins):
    require_corpus()
    return next(corpus_dir().glob(f"{begins}*.jsonl"))


def message_text(file, index):
    with session_file(file).open(encoding="utf-8") as lines:
        return json.loads(next(itertools.islice(lines, index, None)))["content"]


# -- values ----------------------------------------------------------------------------------------------------------


def test_an_unknown_class_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"'mine', high_importance: unknown importance class 'vibes'.*file_path"):
        CompressionProfile(name="mine", high_importance=["file_path", "vibes"])


def test_an_unknown_tool_kind_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"unknown tool kind 'telepathy'; known: \['file_read'"):
        CompressionProfile(name="mine", tool_output_trim={"telepathy": 3})


@pytest.mark.parametrize("most", [0, -1, 2.5, True, "many"])
def test_a_trim_is_a_number_of_characters(most):
    with pytest.raises(ConfigError, match=r"tool_output_trim.file_read = .* expected a whole number"):
        CompressionProfile(name="mine", tool_output_trim={"file_read": most})


@pytest.mark.parametrize("twice", ["low_importance", "preserve_verbatim"])
def test_a_class_in_two_lists_is_refused_with_both(twice):
    with pytest.raises(ConfigError, match=f"'git_diff' is in high_importance and in {twice}"):
        CompressionProfile(name="mine", **{"high_importance": ["git_diff"], twice: ["git_diff"]})


def test_a_profile_needs_a_name():
    with pytest.raises(ConfigError, match="expected the name of a profile"):
        CompressionProfile(name="")


def test_a_profile_cannot_be_changed_through_the_table_that_it_was_made_of():
    trims = {"file_read": 5}
    profile = CompressionProfile(name="mine", tool_output_trim=trims)
    trims["file_read"] = 9
    assert profile.tool_output_trim["file_read"] == 5
    with pytest.raises(TypeError):
        profile.tool_output_trim["file_read"] = 9


def test_the_coding_and_research_profiles_are_the_seeds():
    assert CODING_PROFILE.high_importance == (
        "file_path", "function_signature", "test_result", "error_message", "git_diff",
    )  # fmt: skip
    assert CODING_PROFILE.tool_output_trim == {"file_read": 500, "shell_exec": 200, "search_results": 300}
    assert RESEARCH_PROFILE.preserve_verbatim == ("direct_quote", "statistical_result")
    assert RESEARCH_PROFILE.tool_output_trim == {"web_search": 400, "document_read": 600, "database_query": 300}
    assert GENERAL_PROFILE.is_neutral
    assert not any(profile.is_neutral for profile in BUILT_IN[1:])


# -- classes ---------------------------------------------------------------------------------------------------------

WRITTEN = [
    ("file_path", "saved to src/app/main.py now", "either and/or both"),
    ("file_path", "12:see ./build.sh", "the year 2024/01/02 was 12345"),
    ("function_signature", "    12→\tdef total_of(items):", "we define total as a sum"),
    ("function_signature", "func (s *Server) Close() error {", "the function of a server"),
    ("function_signature", "export const load = async (path: string) => {", "const LIMIT = 5;"),
    ("function_signature", "public static void main(String[] args) {", "public opinion was divided"),
    ("test_result", "==== 3 failed, 12 passed in 2.31s ====", "he passed the ball"),
    ("test_result", "--- FAIL: TestLogin (0.02s)", "PASSWORD=x"),
    ("test_result", "ok  \texample.com/pkg\t0.41s", "ok then"),
    ("error_message", "ValueError: no such thing", "isError: message.isError,"),
    ("error_message", "main.c:3:1: error: expected ';'", "} catch (error: unknown) {"),
    ("error_message", "cat: x: No such file or directory", "the file is there"),
    ("git_diff", "diff --git a/x b/x\n@@ -1 +1 @@\n-old\n+new", "- a bullet\n+ a plus"),
    ("verbose_log", "2026-01-02 10:00:00 DEBUG cache warm", "const LEVEL_INFO = INFO(3)"),
    ("verbose_log", 'time=1 level=info msg="up"', "the level was raised"),
    ("package_install_output", "Collecting requests", "collecting stamps"),
    ("package_install_output", "added 214 packages in 3s", "added a package"),
    ("full_file_listing", "drwxr-xr-x  3 me staff 96 Jan  6 14:49 docs", "rw access is needed"),
    ("full_file_listing", "\n".join(f"/usr/lib/x/file_{n}" for n in range(20)), "/usr/lib/x/file_1"),
    ("source_citation", "as shown (Vaswani et al., 2017) there", "it was shown (in 2017) there"),
    ("source_citation", "see https://example.org/paper.pdf", "attrs[0].Key == local_78 [16];"),
    ("source_citation", "doi:10.1000/xyz123", "version 10.2 is out"),
    ("key_finding", "Results show that caching halves the cost.", "show the results"),
    ("data_point", "Revenue rose by 12.5 % in May", "100% sure"[4:]),
    ("data_point", "it cost $ 1,200 and more", "echo $HOME"),
    ("methodology", "a randomized trial with 40 participants", "the old way"),
    ("conclusion", "In conclusion, it works.", "inconclusive"),
    ("search_query", "Search results for: cheap flights", "a query of the heart"),
    ("navigation_step", "Clicked the link 'Next'", "it was not clickbait"),
    ("page_load_status", "HTTP/1.1 200 OK", "200 people"),
    ("direct_quote", "> We never promised that.", "> tsc --noEmit"),
    ("statistical_result", "the effect was small (p < 0.05, n = 120)", "if p < q then"),
    ("system_state", "   Active: active (running) since Mon", "failed to load session state: x"),
    ("system_state", "web-1   1/1   Running   0   5m", "Running the tests"),
    ("anomaly", "CPU spike on node-3", "a spoke of the wheel"),
    ("alert", "[FIRING:1] HighLatency", "the firing of a gun"),
    ("metric_value", "p99 latency: 812 ms", "the latency is fine"),
    ("incident_timeline", "14:02 rolled back release 41", "the release was rolled back"),
    ("command_run", "$ kubectl get pods -n web", "# where the test DB is"),
    ("routine_health_check", 'GET /healthz 200 "kube-probe"', "in good health"),
    ("heartbeat", "heartbeat from worker-3", "the beat of a heart"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "is_one", "is_none"), WRITTEN)
def test_a_class_knows_its_lines_and_leaves_others_alone(name, is_one, is_none):
    assert found(name, f"before\n{is_one}\nafter") == is_one.split("\n")
    assert found(name, f"before\n{is_none}\nafter") == []


def test_the_call_of_a_search_in_the_web_is_a_search_query():
    assert found("search_query", "plain words", kind=ItemKind.TOOL_CALL, name="WebSearch") == ["plain words"]
    assert found("search_query", "plain words", kind=ItemKind.TOOL_CALL, name="Bash") == []


def test_code_and_configuration_are_classes_of_paragraphs():
    code, setting = "def a(b):\n    c = d(b)\n    return c(\n    )", "[tool.x]\nline = 120\nname = 'y'"
    text = f"Some words here.\nAnd some more.\n\n{code}\n\n{setting}\n"
    assert found("code_snippet", text) == ["def a(b):", "    c = d(b)", "    return c(", "    )"]
    assert found("configuration_change", text)[:2] == ["[tool.x]", "line = 120"]


RECORDED = [
    ("file_path", "entire--dfbb", 170, " cmd/entire/cli/state.go  "),
    ("function_signature", "entire--a318", 46, "   248→func (env *TestEnv) InitRepo() {"),
    ("function_signature", "moatless--django__django-13028", 10, "   515\tclass Responsibility(models.Model):"),
    ("function_signature", "pi--before-compaction", 742, "\tprivate handleSessionCommand(): void {"),
    ("test_result", "entire--ac8a", 139, "ok  \tentire.io/cli/cmd/entire/cli\t3.503s"),
    ("test_result", "entire--dfbb", 280, "--- FAIL: TestAgentDetection (0.00s)"),
    ("error_message", "pi--before-compaction", 414, "src/modes/interactive/interactive-mode.ts(1131,12): error TS2339"),
    ("error_message", "gemini-cli--trajectory", 20, "Error: Command failed: tsc --build"),
    ("git_diff", "entire--847f", 9, "+import ("),
    ("verbose_log", "entire--a318", 100, "        2026/01/31 09:10:38 INFO checkpoint saved"),
    ("full_file_listing", "entire--a318", 78, "drwxr-xr-x@  4 soph  staff"),
    ("full_file_listing", "gemini-cli--failed_to_enter_planmode", 9, "/Users/ntaylormullen/GitHub/gemini-cli/"),
    ("code_snippet", "entire--4a36", 223, "    42→\treturn &TestEnv{"),
    ("configuration_change", "entire--dfbb", 57, '    10→REPO_DIR="${REPO_DIR:-/tmp/entire-test'),
    ("source_citation", "pi--session", 79, "5. [Create OAuth client](https://console.cloud.google.com"),
    ("key_finding", "entire--aa40", 210, "   Key finding: `projectHash` is NOT stored"),
    ("data_point", "tau-bench--airline-003-t1", 34, "    - Price: $130"),
    ("conclusion", "entire--aa40", 209, "### Conclusion:"),
    ("alert", "entire--130d", 38, "2026/01/20 16:02:36 WARN warn before init"),
    ("metric_value", "pi--session", 368, "Checked 26 files in 25ms. No fixes applied."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "file", "index", "begins"), RECORDED)
def test_classes_know_lines_of_recorded_sessions(name, file, index, begins):
    assert any(line.startswith(begins) for line in found(name, message_text(file, index)))


NOT_RECORDED = [
    ("error_message", "pi--before-compaction", 742, "\t\t} catch (error: unknown) {"),
    ("error_message", "pi--session", 136, "  // event.isError: boolean"),
    ("source_citation", "swe-agent--rev--rock", 5, "  basic_string<char,std::char_traits<char>,"),
    ("command_run", "moatless--django__django-13448", 3, "    12\t# the test database."),
    ("direct_quote", "pi--session", 338, "> tsc --noEmit"),
]


@pytest.mark.parametrize(("name", "file", "index", "begins"), NOT_RECORDED)
def test_classes_leave_other_lines_of_recorded_sessions_alone(name, file, index, begins):
    text = message_text(file, index)
    assert begins in text
    assert not any(line.startswith(begins) for line in found(name, text))


HARD = {
    "a line of quotes": "“" * 100_000,
    "a minified line": '{"k":' + '"value", 12% p = error: ' * 8_000 + "0}",
    "open brackets": "func (" * 30_000,
    "numbers": "1 " * 60_000,
    "no breaks at all": "passed" * 20_000,
    "blank lines": "\n" * 100_000,
    "short lines": "a = 1\n" * 20_000,
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_hard_texts_are_classed_in_linear_time(text):
    reading = Reading(text, scan(text))
    for name in IMPORTANCE_CLASSES:
        assert all(0 <= start <= end <= len(text) for start, end in classed(reading, name))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([one for _, one, _ in WRITTEN] + ["", "x", "→\n", "\n\n"]), max_size=12), st.data())
def test_every_classed_line_is_a_line_of_the_text(pieces, data):
    text = "\n".join(pieces)
    name = data.draw(st.sampled_from(IMPORTANCE_CLASSES))
    lines = text.split("\n")
    assert all(line in lines for line in found(name, text))


def test_a_profile_names_the_classes_of_each_line():
    text = "plain\nValueError: in src/app.py\nCollecting requests"
    classified = [(text[line.start : line.end], line.classes) for line in CODING_PROFILE.lines(text, item_of(text))]
    assert classified == [
        ("ValueError: in src/app.py", ("error_message", "file_path")),
        ("Collecting requests", ("package_install_output",)),
    ]
    assert GENERAL_PROFILE.lines(text) == ()


# -- kinds of tools --------------------------------------------------------------------------------------------------

KINDS = [
    ("Read", "", "file_read"), ("read_file", "", "file_read"), ("cat", "", "file_read"), ("view", "", "file_read"),
    ("ViewCode", "", "file_read"), ("str_replace_editor", '{"command": "view", "path": "x"}', "file_read"),
    ("str_replace_editor", '{"command": "str_replace"}', "file_write"), ("Edit", "", "file_write"),
    ("write_file", "", "file_write"), ("Bash", "", "shell_exec"), ("shell", "", "shell_exec"),
    ("run_command", "", "shell_exec"), ("execute", "", "shell_exec"), ("run_shell_command", "{", "shell_exec"),
    ("Bash", '{"command": "cd /x && cat y.py | head -5"}', "file_read"),
    ("bash", '{"command": "sed -n 1,5p y"}', "file_read"),
    ("bash", '{"command": "rg -n foo src"}', "search_results"), ("bash", '{"command": "cat > y <<E"}', "file_write"),
    ("bash", '{"command": "npm test"}', "shell_exec"), ("bash", '{"command": 7}', "shell_exec"),
    ("Grep", "", "search_results"), ("search_files", "", "search_results"), ("rg", "", "search_results"),
    ("Glob", "", "search_results"), ("web_search", "", "web_search"), ("WebSearch", "", "web_search"),
    ("WebFetch", "", "document_read"), ("fetch", "", "document_read"), ("browse", "", "document_read"),
    ("sql", "", "database_query"), ("query", "", "database_query"), ("get_logs", "", "log_query"),
    ("query_metrics", "", "metric_query"), ("book_reservation", "", "other"), ("", "", "other"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "kind"), KINDS)
def test_the_kind_of_a_tool_is_known_by_its_name_and_its_command(name, arguments, kind):
    assert tool_kind(name, arguments) == kind
    assert kind in TOOL_KINDS


# -- stubs -----------------------------------------------------------------------------------------------------------

FILLER = "\n".join(f"some_name_{number} went on as it should have gone" for number in range(300))


def stub(text, limit, profile, **more):
    item = item_of(text)
    return write_stub(item, limit, COUNTER, frozenset(), weighing=weighing_by(profile), **more)


def test_important_lines_stay_before_others_of_the_same_worth():
    dense = "\n".join(f"some_{number} other_{number} name_{number}" for number in range(100, 199))
    text = f"{dense}\nsee the path at src/deep/app_main.py there\n{dense.replace('me', 'ma')}"
    assert "app_main.py" not in stub(text, 100, GENERAL_PROFILE).text
    assert "app_main.py" in stub(text, 100, CODING_PROFILE).text


def test_unimportant_lines_go_first():
    text = "\n".join(f"DEBUG cache_key_{n} ok" if n % 2 else f"value_key_{n} is set now" for n in range(200))
    kept = stub(text, 300, CODING_PROFILE).text
    assert kept.count("value_key") > 10
    assert "DEBUG" not in kept


def test_important_lines_that_carry_no_name_stay_too():
    text = f"{FILLER}\ndef run(self):\n{FILLER}"
    assert "def run(self):" in stub(text, 120, CODING_PROFILE).text
    assert "def run(self):" not in stub(text, 120, GENERAL_PROFILE).text


def test_a_line_that_is_shown_elsewhere_is_garbage_under_every_profile():
    text = f"{FILLER}\nValues at src/deep/app_main.py\n{FILLER}"
    shown = scan(text).names
    written = write_stub(item_of(text), 200, COUNTER, shown, weighing=weighing_by(CODING_PROFILE))
    assert "app_main.py" not in written.text


def test_a_snippet_is_kept_whole_or_not_as_one():
    snippet = "func loadAll(dir_name string) error {\n\tx := 1\n\ty(x);\n\treturn nil\n}"
    text = f"{FILLER}\n\n{snippet}\n\n{FILLER}"
    assert snippet in stub(text, 400, CODING_PROFILE).text
    assert snippet not in stub(text, 60, CODING_PROFILE).text


def test_a_trim_limits_only_unimportant_lines():
    paths = "\n".join(f"/srv/data/file_{number}.py" for number in range(10))
    text = f"{FILLER}\n{paths}\n{FILLER.replace('some', 'other')}"
    trimmed = stub(text, 800, CODING_PROFILE, most_ordinary=200).text
    assert sum(len(line) for line in trimmed.split("\n") if "_name_" in line) <= 200
    assert trimmed.count("/srv/data/") == 10
    assert len(stub(text, 800, CODING_PROFILE).text) > 2 * len(trimmed)


@pytest.mark.parametrize("profile", BUILT_IN[1:], ids=lambda profile: profile.name)
def test_outcome_lines_stay_under_every_profile_as_without_one(profile):
    failures = "\n".join(f"Error: src/app_{n}/main_{n}.py and src/lib_{n}/util_{n}.py differ" for n in range(40))
    for end in ("12 passed, 3 failed in 4.5s", "BUILD FAILED", "Tests: 3 failed, 12 passed"):
        text = f"{FILLER}\n{failures}\n{end}"
        for limit in (100, 200, 400):
            assert (end in stub(text, limit, profile).text) == (end in stub(text, limit, GENERAL_PROFILE).text)


def sample():
    """Large results of recorded sessions, one in seven."""
    require_corpus()
    texts = (
        message["content"]
        for path in openai_sessions()
        if not path.name.startswith("concat")
        for message in map(json.loads, path.read_text(encoding="utf-8").splitlines())
        if message["role"] == "tool" and isinstance(message.get("content"), str)
    )
    return list(itertools.islice((text for text in texts if 3_000 < len(text) < 40_000), 0, None, 17))


def test_stubs_under_any_profile_fit_and_keep_lines_of_the_original_and_their_reference():
    for text, profile in zip(sample(), itertools.cycle(BUILT_IN[1:]), strict=False):
        item = item_of(text)
        lines = set(text.split("\n"))
        for limit in (80, 300, item.tokens // 2):
            written = stub(text, limit, profile)
            assert written.tokens <= max(limit, 60)
            *kept, reference = written.text.split("\n")
            assert "tokens left out: i7" in reference
            if max(map(len, lines)) <= LONG_LINE // 2:
                assert lines.union({GAP}).issuperset(kept)


def collected(profile, messages, plugins=None):
    config = GCConfig(strategy="gc_budget", context_limit=32_000, output_reservation=0, compression_profile=profile)
    with GCSession(config, plugins=plugins) as session:
        for message in messages:
            if message["role"] == "assistant":
                session.pre_send()
            session.append(message)
        session.collect_now(target_percent=50)
        return session.profile.name, json.dumps(session.pre_send().messages)


def recorded(file, most=70):
    lines = session_file(file).read_text(encoding="utf-8").splitlines()
    return [message for message in map(json.loads, lines[:most]) if message["role"] != "system"]


class Offering:
    def __init__(self, *profiles):
        self._profiles = profiles

    @hookimpl
    def gc_register_profiles(self, register):
        for profile in self._profiles:
            register(profile)


def offering(*profiles):
    plugins = Plugins.discover()
    plugins.register(Offering(*profiles), name="mine")
    return plugins


@pytest.mark.parametrize("file", ["pi--session", "gemini-cli--trajectory"])
def test_a_neutral_profile_gives_the_same_window_as_none_and_another_a_different_one(file):
    messages = recorded(file)
    neutral = offering(CompressionProfile(name="nothing"))
    assert collected("nothing", messages, neutral)[1] == collected("general", messages)[1]
    assert collected("coding", messages)[1] != collected("general", messages)[1]


TESTS = "\n".join(f"tests/test_{{0}}_{n}.py::test_case_{n} FAILED" for n in range(12))
NOTES = "\n".join(f"line {n} of note {{0}} says that nothing of it matters" for n in range(12))


def standing(profile, *, strategy, named):
    """Which of the first 35 of 40 results are still in the window; those ``named`` are of tests."""
    config = GCConfig(strategy=strategy, context_limit=16_000, output_reservation=0, compression_profile=profile)
    with GCSession(config) as session:
        session.append({"role": "user", "content": "Go on until all of it works."})
        for n in range(40):
            session.pre_send()
            session.append(call((f"c{n}", "bash", {"command": f"step {n}"})))
            session.append(result(f"c{n}", (TESTS if n in named else NOTES).format(n)))
        session.collect_now(target_percent=25)
        text = json.dumps(session.pre_send().messages)
    return {n for n in range(35) if (f"test_{n}_11.py" if n in named else f"line 11 of note {n} says") in text}


@pytest.mark.parametrize("strategy", ["gc_budget", "gc_truncate"])
@pytest.mark.parametrize("named", [{0, 1, 2}, {3, 9, 14}, {5, 6, 13, 14}])
def test_results_that_a_profile_holds_for_important_leave_after_others_of_their_kind(strategy, named):
    assert not named & standing("general", strategy=strategy, named=named)
    stayed = standing("coding", strategy=strategy, named=named)
    assert named <= stayed
    assert len(stayed) < 35


def removal(n, text, reason="oldest"):
    item = attrs.evolve(item_of(text), id=f"i{n}")
    return item, GCRemovalItem.stub(item, reason=reason)


def test_the_order_of_a_strategys_phases_stays():
    made = [
        removal(n, text.format(n), reason)
        for n, (text, reason) in enumerate(
            [(TESTS, "stale"), (NOTES, "stale"), (TESTS, "oldest"), (NOTES, "oldest"), (NOTES, "oldest")]
        )
    ]
    items = {item.id: item for item, _ in made}
    ordered = in_order((each for _, each in made), CODING_PROFILE, items)
    assert [each.items[0] for each in ordered] == ["i1", "i0", "i3", "i4", "i2"]


def test_no_more_is_pulled_of_a_strategy_than_is_asked_for_and_an_endless_one_is_passed_on():
    item, proposal = removal(1, TESTS.format(1))
    other, ordinary = removal(2, NOTES.format(2))
    items = {each.id: each for each in (item, other)}
    pulled = in_order(iter([ordinary, "never pulled", "nor this"]), CODING_PROFILE, items)
    assert next(pulled) is ordinary
    assert list(itertools.islice(in_order(itertools.repeat(proposal), CODING_PROFILE, items), 5)) == [proposal] * 5
    assert list(in_order([proposal, "no proposal", ordinary], CODING_PROFILE, items)) == [
        proposal,
        "no proposal",
        ordinary,
    ]


def test_without_a_profile_at_work_a_stub_is_what_it_was():
    for text in sample()[:20]:
        item = item_of(text)
        plain = write_stub(item, item.tokens // 4, COUNTER, frozenset())
        assert stub(text, item.tokens // 4, GENERAL_PROFILE).text == plain.text


# -- choosing --------------------------------------------------------------------------------------------------------


def test_an_unknown_profile_ends_the_start_of_a_session_and_names_the_known_ones():
    with pytest.raises(
        ConfigError, match=r"no compression profile 'cooking'; installed: \['coding', 'general',.*'auto'\]"
    ):
        GCSession(GCConfig(compression_profile="cooking"))


@pytest.mark.parametrize("name", ["", 3, None])
def test_a_profile_is_named_by_a_word(name):
    with pytest.raises(ConfigError, match="compression_profile"):
        GCConfig(compression_profile=name)


def test_the_profile_of_a_third_party_is_used_by_name():
    mine = CompressionProfile(name="mine", high_importance=["alert"])
    config = GCConfig(compression_profile="mine")
    with GCSession(config, plugins=offering(mine)) as session:
        assert session.profile == mine
        assert "profile mine" in session.explain()


@pytest.mark.parametrize("wrong", [CODING_PROFILE, CompressionProfile(name="auto"), "mine", CompressionProfile])
def test_what_cannot_be_offered_as_a_profile_registers_nothing(wrong):
    plugins = Plugins()
    good = CompressionProfile(name="good")
    with pytest.raises(PluginError, match="mine"):
        plugins.register(Offering(good, wrong), name="mine")
    with pytest.raises(ConfigError, match="good"):
        plugins.profile("good")


def parts(*calls):
    return [Part(kind=ItemKind.TOOL_CALL, place=(), name=name, text=text) for name, text in calls]


def test_a_session_is_detected_by_its_tools_and_its_words():
    coding = parts(("Read", ""), ("Edit", ""), ("Bash", '{"command": "pytest -q"}')) * 8
    research = parts(("WebSearch", ""), ("WebFetch", ""), ("Read", "")) * 8
    operating = parts(("bash", '{"command": "kubectl get pods"}'), ("get_logs", ""), ("Read", "")) * 8
    chatting = [Part(kind=ItemKind.USER_TEXT, place=(), text="What a nice day.")] * FIRST_PARTS
    names = [detected(first).name for first in (coding, research, operating, chatting)]
    assert names == ["coding", "research", "operations", "general"]
    assert detected(coding[: FIRST_PARTS - 1]) is None
    assert detected([*coding, *research * 9]).name == "coding"


def test_recorded_coding_sessions_are_detected_and_conversations_are_not():
    found_names = {}
    for name in (
        "pi--session", "gemini-cli--trajectory", "moatless--sympy__sympy-13647",
        "entire--0822", "memorybank--Ivy", "tau-bench--airline-003-t1",
    ):  # fmt: skip
        with GCSession(GCConfig(compression_profile="auto", auto_trigger=False)) as session:
            session.extend(recorded(name, 60))
            found_names[name] = session.profile.name
    assert list(found_names.values()) == ["coding"] * 4 + ["general"] * 2


def test_what_was_detected_stays_and_is_the_same_after_opening_again(tmp_path):
    config = GCConfig(compression_profile="auto", auto_trigger=False)
    steps = [(call((f"c{n}", "Edit", {"path": f"f{n}.py"})), result(f"c{n}", "done")) for n in range(14)]
    later = [(call((f"w{n}", "WebSearch", {"query": "x"})), result(f"w{n}", "found")) for n in range(40)]
    with GCSession(config, directory=tmp_path / "s") as session:
        session.append(user("Do it."))
        assert session.profile is GENERAL_PROFILE
        session.extend(itertools.chain.from_iterable(steps))
        assert session.profile is CODING_PROFILE
        session.extend(itertools.chain.from_iterable(later))
        assert session.profile is CODING_PROFILE
    with GCSession.open(tmp_path / "s") as session:
        assert session.profile is CODING_PROFILE


def test_every_class_is_tried_here_and_belongs_to_one_way_of_finding_it():
    assert not set(LINES) & set(PARAGRAPHS)
    assert {name for name, _, _ in WRITTEN} | set(PARAGRAPHS) == set(IMPORTANCE_CLASSES)
