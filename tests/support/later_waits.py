"""Later honest sessions that wait, watch, are asked again, or run again what somebody ordered."""

from tests.support.later_talk import (
    PLACES,
    bash,
    changed,
    code,
    edit,
    edited,
    hits,
    joined,
    log,
    prose,
    python,
    read,
    rows,
    settings,
    shell,
    snapshot,
    sql,
    swapped,
    words,
)


def sleeps_before_it_asks_ci(talk):
    """The wait stands in the command; the jobs change slowly."""
    talk.user("Push, wait for CI, and fix what fails.")
    number = talk.random.randrange(10**9)
    jobs = settings(talk.random, 90)
    ask = bash(f"sleep 45 && gh run view {number} --json status,conclusion,jobs", timeout=120_000)
    talk.run(bash("git push origin fix-rounding"), "To github.com:acme/billing.git")
    for place in range(talk.random.randrange(9, 14)):
        jobs = changed(talk.random, jobs, place % 2)
        talk.run(ask, jobs, took=46.5)
    talk.run(bash(f"gh run view {number} --log-failed"), log(talk.random, 60))
    talk.tell("One job failed: the rounding test. I have what I need.")


def watches_a_run_until_the_tool_gives_up(talk):
    """``gh run watch`` is cut off by the tool's limit of two minutes, and begun again."""
    talk.user("Tell me when the release build is through.")
    number = talk.random.randrange(10**9)
    steps = settings(talk.random, 110)
    for _ in range(talk.random.randrange(10, 15)):
        steps = changed(talk.random, steps)
        talk.run(bash(f"gh run watch {number} --exit-status --interval 10", timeout=120_000), steps, took=120.0)
    talk.run(bash(f"gh run watch {number} --exit-status --interval 10", timeout=120_000), "Run completed: success")
    talk.tell("The release build is through.")


def is_prompted_by_a_schedule(talk):
    """The same prompt each quarter of an hour; mostly nothing has happened."""
    board = snapshot(talk.random, 80, "Queues")
    for place in range(talk.random.randrange(9, 14)):
        if place % 4 == 3:
            board = changed(talk.random, board, 3)
        talk.user("Look at the queue board. If a queue is over its limit, page the crew on duty.", after=900.0)
        talk.run(("browser_navigate", {"url": "https://ops.example.com/queues"}), board)
        talk.tell("No queue is over its limit.")


def retries_with_growing_waits(talk):
    """An upstream that is busy answers with the same long page; each wait is twice the last."""
    talk.user("Download the timetable and count the stations in it.")
    page = snapshot(talk.random, 70, "429 Too Many Requests")
    for place in range(8):
        wait = 5 * 2**place
        command = f"sleep {wait}; curl -sS https://data.example.org/v2/timetable.json"
        talk.run(shell(command, timeout_ms=900_000), page, took=wait + 0.4)
    talk.run(shell("curl -sS https://data.example.org/v2/timetable.json"), rows(talk.random, 90))
    talk.tell("It came at last: 90 stations.")


def follows_a_rollout(talk):
    """Waits in ``kubectl``, and looks at the pods between."""
    talk.user("Roll out 2.14 to production and stay with it until it stands.")
    pods = rows(talk.random, 45, ("name", "ready", "status", "restarts", "age"))
    for _ in range(talk.random.randrange(12, 17)):
        talk.run(bash("kubectl -n prod rollout status deploy/checkout --timeout=60s"), "timed out waiting", took=60.0)
        pods = changed(talk.random, pods, 2)
        talk.run(bash("kubectl -n prod get pods -l app=checkout -o wide"), pods, took=0.8)
    talk.tell("All pods run 2.14.")


def follows_a_training(talk):
    """The tail of a log that grows, looked at every five minutes."""
    talk.user("Watch the training. Stop it if the loss rises for an hour.")
    lines = log(talk.random, 60, "train").split("\n")
    for _ in range(talk.random.randrange(7, 10)):
        lines = lines[12:] + log(talk.random, 12, "train").split("\n")
        talk.run(bash("sleep 300; tail -n 60 runs/big/train.log", timeout=600_000), joined(lines), took=300.2)
    talk.tell("The loss still falls.")


def waits_for_events_that_seldom_come(talk):
    """A long poll: the tool returns after its timeout with the whole state, which is the same."""
    talk.user("Handle what comes into the queue until I stop you.")
    state = settings(talk.random, 120)
    for place in range(talk.random.randrange(8, 12)):
        if place == 5:
            state = changed(talk.random, state, 2)
        talk.run(("wait_for_event", {"queue": "returns", "timeout_seconds": 30}), state, took=30.0)
    talk.tell("Nothing came but one return, which is booked.")


def is_asked_the_same_by_several_users(talk):
    """A support agent: each customer has a new question that the same articles answer."""
    article, policy = prose(talk.random, 40), prose(talk.random, 35)
    for place in range(talk.random.randrange(6, 9)):
        order = talk.random.randrange(10**6)
        talk.user(f"[ticket {place + 310}] Can I still send back order {order}? It came broken.")
        talk.run(("search_knowledge_base", {"query": "return a broken article", "top_k": 5}), article)
        talk.run(("get_order", {"order_id": str(order)}), settings(talk.random, 15))
        talk.run(("get_policy", {"name": "returns"}), policy)
        talk.tell(f"Yes, order {order} can be sent back for nothing.")


def is_asked_again_about_one_contract(talk):
    """The user puts question after question, and the contract has left the window each time."""
    parts = [prose(talk.random, 70) for _ in range(3)]
    for _ in range(talk.random.randrange(5, 8)):
        talk.user(f"What does the contract say about a {' or a '.join(words(talk.random))}?")
        for place, part in enumerate(parts):
            talk.run(("read_document", {"document_id": "lease-2023", "page": place + 1}), part)
        talk.tell(f"It is settled on page {talk.random.randrange(1, 4)}.")


def runs_what_was_ordered_several_times(talk):
    """A benchmark ten times: the figures are others each time."""
    talk.user("Run the benchmark ten times, one after the other, and give me the median.")
    table = rows(talk.random, 55, ("id", "case", "kind", "mean", "deviation"))
    for _ in range(10):
        table = changed(talk.random, table, 40)
        talk.run(bash("python -m benchmarks --all --seed 7"), table, took=talk.random.uniform(35, 60))
    talk.tell("The median of the means is 41 ms.")


def runs_a_flaky_test_until_it_fails(talk):
    """Ordered by the user; the output is the same but for its time."""
    talk.user("Run test_checkout up to twelve times until it fails, and show me the failure.")
    passed = log(talk.random, 60, "pytest").split("\n")
    for place in range(talk.random.randrange(8, 12)):
        seconds = talk.random.uniform(9, 20)
        output = joined([*passed, f"1 passed in {seconds:.2f}s"])
        talk.run(shell("pytest tests/test_checkout.py -x -vv"), output, took=seconds, text=f"Run {place + 1}.")
    talk.run(shell("pytest tests/test_checkout.py -x -vv"), log(talk.random, 80, "pytest"), took=12.0)
    talk.tell("It failed: the clock of the test is the machine's.")


def makes_a_report_with_other_parameters(talk):
    """One report for each place; the same query with another name in it."""
    talk.user("Make the quarter's report for each of our places.")
    for place in talk.random.sample(PLACES, 13):
        query = f"SELECT id, place, kind, amount FROM sales WHERE place = '{place}' AND quarter = '2025Q3'"  # noqa: S608
        talk.run(sql(query), rows(talk.random, 60))
        code_of_report = f"render('quarter.html.j2', place={place!r}, frame=last_result)"
        talk.run(python(code_of_report), f"written: reports/{place}.html")
    talk.tell("The reports are written.")


def repeats_a_report_for_corrections(talk):
    """The user corrects a parameter each time; what the tool returns is nearly what it returned."""
    table = rows(talk.random, 110)
    for place in range(talk.random.randrange(5, 8)):
        talk.user(f"Again, but with a margin of {place + 3} per cent.")
        table = changed(talk.random, table, 12)
        talk.run(python(f"report(margin=0.0{place + 3}).to_string()"), table, took=3.0)
        talk.run(python("print(notes_for_the_board())"), prose(talk.random, 12))
        talk.tell("Here it is.")


def pages_through_issues(talk):
    """GitHub's server: page after page, each with other issues."""
    talk.user("Which open issues are about time zones? Look at all.")
    for page in range(1, talk.random.randrange(12, 16)):
        arguments = {"owner": "acme", "repo": "roster", "state": "OPEN", "perPage": 30, "page": page}
        talk.run(("list_issues", arguments), hits(talk.random, 50))
    talk.tell("Seven issues are.")


def switches_the_house_in_the_evening(talk):
    """Home automation: an event, all states, a service call; the states are nearly the same."""
    states = settings(talk.random, 130)
    for evening in range(talk.random.randrange(7, 10)):
        talk.user(f"event: sun.sun is below the horizon (evening {evening + 1})", after=86_400.0)
        states = changed(talk.random, states, 2)
        talk.run(("GetLiveContext", {}), states)
        entity = f"light.{words(talk.random)[0]}"
        talk.run(("HassTurnOn", {"name": entity, "domain": ["light"]}), f"{entity} is on")
        talk.tell("The lights are on.")


def waits_for_a_deploy_between_two_looks(talk):
    """The health page is fetched, then the agent sleeps with a tool of its own, then fetches again."""
    talk.user("Deploy the preview and check every page of it once it answers.")
    page = snapshot(talk.random, 75, "Starting up")
    for _ in range(talk.random.randrange(7, 10)):
        talk.run(("browser_navigate", {"url": "https://preview.example.dev/health"}), page)
        talk.run(("browser_wait_for", {"time": 20}), "Waited for 20 seconds", took=20.0)
    talk.run(("browser_navigate", {"url": "https://preview.example.dev/health"}), snapshot(talk.random, 75, "Ready"))
    talk.tell("It answers now.")


def reviews_what_arrives(talk):
    """The user says that something changed; the agent reads the same file and runs the same check again."""
    source = code(talk.random, 180)
    for _ in range(talk.random.randrange(6, 9)):
        talk.user("I have changed it, have a look again.")
        source = changed(talk.random, source, 4)
        talk.run(read("/workspace/app/pricing.py"), source)
        talk.run(bash("ruff check app/pricing.py"), hits(talk.random, 12))
        talk.tell("Better. A name is still unclear.")


def repairs_until_the_server_starts(talk):
    """Edit, restart, wait in the shell, read the log: a different error each time."""
    talk.user("The server does not start. Repair it.")
    for _ in range(talk.random.randrange(6, 9)):
        talk.run(edit("/workspace/app/main.py", *swapped(talk.random)), edited("/workspace/app/main.py"))
        talk.run(bash("docker compose restart web && sleep 8"), "Container web Started", took=9.0)
        talk.run(bash("docker compose logs --tail 60 web"), log(talk.random, 55, "web"))
    talk.tell("It starts.")


LATER_WAITS = [
    sleeps_before_it_asks_ci,
    watches_a_run_until_the_tool_gives_up,
    is_prompted_by_a_schedule,
    retries_with_growing_waits,
    follows_a_rollout,
    follows_a_training,
    waits_for_events_that_seldom_come,
    is_asked_the_same_by_several_users,
    is_asked_again_about_one_contract,
    runs_what_was_ordered_several_times,
    runs_a_flaky_test_until_it_fails,
    makes_a_report_with_other_parameters,
    repeats_a_report_for_corrections,
    pages_through_issues,
    switches_the_house_in_the_evening,
    waits_for_a_deploy_between_two_looks,
    reviews_what_arrives,
    repairs_until_the_server_starts,
]
