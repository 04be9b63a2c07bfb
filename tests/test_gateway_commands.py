"""``ctxgc run`` and ``ctxgc gateway``, as a user starts them, and what points each client at the gateway."""

import contextlib
import importlib.util
import json
import os
import signal
import socket
import socketserver
import subprocess
import sys
import threading
from pathlib import Path

import httpx2
import pytest
from ctxgc.cli.app import app
from gc_gateway.clients import CLIENTS, UNKNOWN, client_of, endpoints_of
from gc_gateway.errors import GatewayError
from typer.testing import CliRunner

from tests.support.standin import StandIn

ROOT = Path(__file__).parents[1]
URL = "http://127.0.0.1:1/secret"
AGENT = """
import json, os, sys, urllib.request
held = [{"role": "user", "content": "Read the files."}]
tools = [{"name": "bash", "description": "Runs.", "input_schema": {"type": "object"}}]
headers = {"x-api-key": "key-1", "anthropic-version": "2023-06-01", "content-type": "application/json"}
while held[-1]["role"] == "user":
    body = {"model": "claude-opus-4-5", "max_tokens": 1000, "messages": held, "tools": tools}
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    sent = urllib.request.Request(url, json.dumps(body).encode(), headers)
    (block,) = json.load(urllib.request.urlopen(sent))["content"]
    held.append({"role": "assistant", "content": [block]})
    if block["type"] == "tool_use":
        text = f"{len(held)}: " + " ".join(f"word{number}" for number in range(400))
        held.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": block["id"], "content": text}]})
print(block["text"])
"""


@pytest.fixture
def environment(tmp_path):
    """Of a user with a home and a directory for temporary files of their own."""
    (tmp_path / "made").mkdir()
    names = ("PATH", "PYTHONPATH", "VIRTUAL_ENV")
    return {
        **{name: os.environ[name] for name in names if name in os.environ},
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path / "made"),
    }


def command(*arguments):
    return [sys.executable, "-m", "ctxgc", *map(str, arguments)]


def run(environment, *arguments):
    return subprocess.run(  # noqa: S603 - our own command
        command("run", *arguments), env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_an_agent_runs_behind_the_gateway_and_the_savings_are_told_in_three_lines(tmp_path, environment):
    with StandIn(calls=40) as provider:
        ended = run(
            {**environment, "ANTHROPIC_BASE_URL": provider.url},
            *("--window", "claude-*=24000", "--directory", tmp_path / "lanes", "--", sys.executable, "-c", AGENT),
        )
    assert (ended.returncode, ended.stdout) == (0, "All files were read.\n")
    assert len(provider.generations) == 41
    assert provider.refusals == []
    calls, saved, report = ended.stderr.splitlines()[-3:]
    assert calls.startswith("ctxgc: 41 calls, ")
    assert not calls.endswith(" 0 collections")
    assert "input tokens" in saved
    assert saved.endswith(" USD")
    directory = report.rpartition(" ")[2]
    assert CliRunner().invoke(app, ["verify", directory]).exit_code == 0
    assert list((tmp_path / "made").iterdir()) == []


@pytest.mark.parametrize(("script", "status"), [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", 137)])
def test_the_exit_status_is_the_commands(tmp_path, script, status):
    ended = CliRunner().invoke(app, ["run", "--directory", str(tmp_path), "--", "sh", "-c", script])
    assert ended.exit_code == status


def test_the_options_behind_the_agents_name_are_the_agents_with_dashes_before_it_or_without(tmp_path):
    for dashes in ([], ["--"]):
        ended = CliRunner().invoke(app, ["run", "--directory", str(tmp_path), *dashes, "sh", "-c", "exit 7"])
        assert ended.exit_code == 7


def test_a_command_that_is_not_there_is_127():
    ended = CliRunner().invoke(app, ["run", "--", "no-such-agent"])
    assert (ended.exit_code, ended.output) == (127, "error: no-such-agent: command not found\n")


def test_a_signal_reaches_the_command_and_nothing_temporary_is_left(tmp_path, environment):
    waits = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done"
    started = subprocess.Popen(  # noqa: S603 - our own command
        command("run", "--", "sh", "-c", waits), env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with started:
        assert started.stdout.readline() == b"ready\n"
        started.send_signal(signal.SIGTERM)
        assert started.wait(30) == 9
    assert list((tmp_path / "made").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--upstream", "anthropic"), "--upstream anthropic: expected a name and a value"),
        (("--upstream", "x=http://a"), "upstreams.x = 'http://a': expected one of the dialects"),
        (("--upstream", "openai=host"), "upstreams.openai = 'host': expected a base URL"),
        (("--window", "gpt=abc"), "--window gpt=abc: expected a number of tokens, as in --window 'gpt-5*=200000'"),
        (("--window", "gpt=0"), "--window gpt=0: expected a number of tokens"),
        (("--window", "gpt=²"), "--window gpt=²: expected a number of tokens"),
        (("--window", "gpt"), "--window gpt: expected a name and a value"),
    ],
)
def test_a_wrong_option_is_named(arguments, said):
    ended = CliRunner().invoke(app, ["run", *arguments, "--", "env"])
    assert ended.exit_code == 2
    assert said in ended.output


@pytest.mark.parametrize("arguments", [("gateway",), ("run", "--", "env")], ids=lambda arguments: arguments[0])
def test_a_strategy_that_is_not_there_ends_the_command_before_anything_listens_or_runs(tmp_path, arguments):
    (tmp_path / "gc.toml").write_text('[gc]\nstrategy = "gc_bugdet"\n')
    first, *rest = arguments
    options = ("--config", str(tmp_path / "gc.toml"), "--directory", str(tmp_path / "lanes"))
    ended = CliRunner().invoke(app, [first, *options, *rest])
    assert ended.exit_code == 2
    assert ended.output.startswith("error: no strategy 'gc_bugdet'; installed: ")
    assert ended.output.endswith("did you mean gc_budget?\n")


def test_calls_that_passed_as_they_came_are_told_at_the_end_with_the_log_that_says_why(tmp_path, environment):
    lanes = tmp_path / "lanes"
    asks = AGENT.replace('"messages": held', '"messages": held, "thread": {"type": "continue"}')
    with StandIn(calls=3) as provider:
        variables = {**environment, "ANTHROPIC_BASE_URL": provider.url}
        ended = run(variables, "--directory", lanes, "--", sys.executable, "-c", asks)
    assert ended.returncode == 0
    calls, _, passed = ended.stderr.splitlines()[-3:]
    assert calls == "ctxgc: 4 calls, 0 collections"
    log = lanes / "gateway.log"
    assert passed == f"ctxgc: 4 of 4 calls were sent as they came, and nothing was collected for that: see {log}"
    assert log.read_text().count("its history is the provider's") == 4


def test_a_command_that_called_no_model_is_told_so(tmp_path):
    ended = CliRunner().invoke(app, ["run", "--directory", str(tmp_path), "--", "true"])
    assert ended.output.endswith(
        f"ctxgc: no conversation passed through the gateway; its log is {tmp_path / 'gateway.log'}\n"
    )


def test_what_a_report_needs_is_named_beside_the_advice_where_it_is_not_installed(tmp_path, monkeypatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "plotly" else find_spec(name))
    with StandIn(calls=1) as provider:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
        ended = CliRunner().invoke(app, ["run", "--directory", str(tmp_path), "--", sys.executable, "-c", AGENT])
    last = ended.output.splitlines()[-1]
    assert last.startswith(f"ctxgc: report: ctxgc report {tmp_path}/")
    assert last.endswith(' (first pip install "ctxgc[report]")')


def test_without_the_distribution_its_name_is_told(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    for arguments in (["gateway"], ["run", "--", "env"]):
        ended = CliRunner().invoke(app, arguments)
        assert ended.exit_code == 2
        assert "pip install gc-gateway" in ended.output


def test_the_gateway_says_its_url_and_ends_in_good_order(tmp_path, environment):
    started = subprocess.Popen(  # noqa: S603 - our own command
        command("gateway", "--directory", tmp_path / "lanes"), env=environment, stdout=subprocess.PIPE, text=True
    )
    with started:
        label, url = started.stdout.readline().split()
        assert label == "gateway:"
        assert httpx2.get(f"{url}/healthz", trust_env=False).text == "ok\n"
        started.send_signal(signal.SIGTERM)
        assert started.wait(30) == 0
        assert started.stdout.read() == ""


@contextlib.contextmanager
def provider_that_streams_on():
    """Yield the URL of a provider whose streams begin, and do not end before the block does."""
    ended = threading.Event()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            self.connection.recv(65_536)
            self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: begun\n\n")
            ended.wait(60)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as provider:
        threading.Thread(target=provider.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield "http://{}:{}".format(*provider.server_address)
        finally:
            ended.set()
            provider.shutdown()


def listens(url):
    with socket.socket() as asking:
        return asking.connect_ex((httpx2.URL(url).host, httpx2.URL(url).port)) == 0


@pytest.mark.parametrize("again", [signal.SIGTERM, signal.SIGINT], ids=lambda again: again.name)
def test_a_second_signal_ends_the_gateway_without_waiting_for_open_streams(tmp_path, environment, again):
    body = {"model": "m", "max_tokens": 9, "stream": True, "messages": [{"role": "user", "content": "Hello."}]}
    with provider_that_streams_on() as upstream:
        options = ("--directory", tmp_path / "lanes", "--upstream", f"anthropic={upstream}")
        with (
            subprocess.Popen(  # noqa: S603 - our own command
                command("gateway", *options),
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ) as started,
            httpx2.Client(trust_env=False, headers={"x-api-key": "key-1"}) as client,
        ):
            url = started.stdout.readline().split()[1]
            with client.stream("POST", f"{url}/v1/messages", json=body) as response:
                arriving = response.iter_raw()
                next(arriving)
                started.send_signal(signal.SIGTERM)
                while listens(url):  # until it has taken the first signal: two at once may count as one
                    threading.Event().wait(0.01)
                started.send_signal(again)
                assert started.wait(30) == 0
            assert "timeout graceful shutdown exceeded" not in started.stderr.read()


def test_a_signal_that_comes_as_the_url_is_printed_stops_the_gateway(tmp_path, environment):
    stops = f"""
import os, signal
from pathlib import Path
from gc_gateway.serving import serve
from gc_gateway.settings import Settings
serve(Settings(directory=Path({str(tmp_path / "lanes")!r})), lambda _: os.kill(os.getpid(), signal.SIGTERM))
print("stopped")
"""
    ended = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", stops], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, "stopped\n")


# -- the table of clients ----------------------------------------------------------------------------------------------


def launched(command, environment, folder, upstreams=None):
    """How the command is started, and the upstreams that the gateway gets."""
    client = client_of(command)
    endpoints = endpoints_of(client.upstreams(environment), upstreams or {})
    urls = {name: URL + endpoint.path for name, endpoint in endpoints.items()}
    return client.launch(command, urls, environment, folder), {name: each.upstream for name, each in endpoints.items()}


@pytest.mark.parametrize("client", [*CLIENTS, UNKNOWN], ids=lambda client: client.name or "unknown")
def test_each_client_is_pointed_at_the_gateway_or_the_user_is_told_how(client, tmp_path):
    given = [*(client.commands or ("agent",))][:1]
    (tmp_path / "made").mkdir()
    cline_settings(tmp_path)
    launch, _ = launched([*given, "--more"], {"PATH": "/bin", "HOME": str(tmp_path)}, tmp_path / "made")
    files = "".join(path.read_text() for path in (tmp_path / "made").iterdir())
    assert URL in json.dumps([*launch.command, *launch.environment.values()]) + files
    assert launch.command[0] == given[0]
    assert launch.command[-1] == "--more"
    assert launch.environment["PATH"] == "/bin"


@pytest.mark.parametrize(
    ("command", "variable", "dialect"),
    [
        ("claude", "ANTHROPIC_BASE_URL", "anthropic"),
        ("/opt/bin/claude", "ANTHROPIC_BASE_URL", "anthropic"),
        ("codex", "OPENAI_BASE_URL", "responses"),
        ("gemini", "GOOGLE_GEMINI_BASE_URL", "gemini"),
        ("llm", "OPENAI_BASE_URL", "openai"),
        ("python", "OPENAI_BASE_URL", "responses"),
    ],
)
def test_the_upstream_is_what_the_user_had_set(command, variable, dialect, tmp_path):
    launch, upstreams = launched([command], {variable: "https://proxy.example/team"}, tmp_path)
    assert upstreams[dialect] == "https://proxy.example/team"
    assert URL in json.dumps([launch.command, launch.environment.get(variable)])


@pytest.mark.parametrize(
    ("base", "upstream", "url"),
    [
        ("https://proxy.example/v1", "https://proxy.example", f"{URL}/v1"),
        ("https://proxy.example/v1/", "https://proxy.example", f"{URL}/v1"),
        ("https://proxy.example/openai", "https://proxy.example/openai", URL),
        ("", "https://api.openai.com", f"{URL}/v1"),
    ],
)
def test_paths_stay_those_of_the_users_base_url(base, upstream, url, tmp_path):
    """A request reaches what it would have reached: the part behind the base URL is the client's."""
    launch, upstreams = launched(["llm"], {"OPENAI_BASE_URL": base}, tmp_path)
    assert (upstreams["openai"], launch.environment["OPENAI_BASE_URL"]) == (upstream, url)


def test_a_flag_goes_before_the_users_variable(tmp_path):
    environment = {"ANTHROPIC_BASE_URL": "https://one.example"}
    _, upstreams = launched(["claude"], environment, tmp_path, {"anthropic": "https://two.example"})
    assert upstreams["anthropic"] == "https://two.example"


def test_the_users_own_configuration_of_opencode_is_kept(tmp_path):
    held = {"model": "openai/gpt-5", "provider": {"openai": {"options": {"timeout": 5}}}}
    launch, _ = launched(["opencode"], {"OPENCODE_CONFIG_CONTENT": json.dumps(held)}, tmp_path)
    merged = json.loads(launch.environment["OPENCODE_CONFIG_CONTENT"])
    assert merged["model"] == "openai/gpt-5"
    assert merged["provider"]["openai"]["options"] == {"timeout": 5, "baseURL": f"{URL}/v1"}


CLINE = {
    "openai-compatible": {"apiKey": "k1", "baseUrl": "https://proxy.example/v1", "model": "m"},
    "anthropic": {"apiKey": "k2"},
    "cline": {"auth": {"refreshToken": "r"}},
}


def cline_settings(home, last="openai-compatible"):
    path = home / ".cline" / "data" / "settings" / "providers.json"
    path.parent.mkdir(parents=True)
    providers = {name: {"settings": {"provider": name, **settings}} for name, settings in CLINE.items()}
    path.write_text(json.dumps({"version": 1, "lastUsedProvider": last, "providers": providers}))
    return path


def test_cline_reads_a_copy_of_its_providers_that_names_the_gateway(tmp_path):
    own = cline_settings(tmp_path)
    before, folder = own.read_text(), tmp_path / "made"
    folder.mkdir()
    launch, upstreams = launched(["cline", "--json"], {"HOME": str(tmp_path)}, folder)
    made = Path(launch.environment["CLINE_PROVIDER_SETTINGS_PATH"])
    providers = json.loads(made.read_text())["providers"]
    assert (upstreams["openai"], upstreams["anthropic"]) == ("https://proxy.example", "https://api.anthropic.com")
    assert providers["openai-compatible"]["settings"] == {
        "provider": "openai-compatible",
        "apiKey": "k1",
        "model": "m",
        "baseUrl": f"{URL}/v1",
    }
    assert providers["anthropic"]["settings"]["baseUrl"] == f"{URL}/v1"
    assert "cline" not in providers  # its login is renewed in the file that it reads
    assert made.stat().st_mode & 0o077 == 0
    assert own.read_text() == before


@pytest.mark.parametrize("last", ["cline", None])
def test_a_provider_of_cline_without_a_base_url_is_refused_and_not_passed_by(tmp_path, last):
    if last:
        cline_settings(tmp_path, last)
    with pytest.raises(GatewayError, match="cline auth -p"):
        launched(["cline"], {"HOME": str(tmp_path)}, tmp_path)


def test_requests_to_the_gateway_pass_by_a_proxy(tmp_path):
    environment = {"HTTP_PROXY": "http://proxy:3128", "NO_PROXY": "intranet"}
    launch, _ = launched(["claude"], environment, tmp_path)
    assert launch.environment["NO_PROXY"] == "intranet,127.0.0.1"
