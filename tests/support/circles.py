"""Seeded sessions of agents: honest ones that look alike from round to round, and real circles.

A circle is the same call with the same result again and again, seconds apart, with no word of the user and nothing new
in between.  Honest sessions repeat themselves too, but something always speaks for them: a user message, time that
passes, a result that changes, other arguments, or other work in between.
"""

import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from string import Template
from typing import Any

_SMALLEST, _LARGEST = 10, 2_500  # tokens of a result, by the rough count of `_weight`
_SHORTEST, _LONGEST = 34, 128  # rounds an honest session asks for; its last block may go over by a few
_BEGIN = datetime(2025, 3, 14, 8, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Round:
    """One message of a session, and the seconds that pass before it."""

    seconds: float
    message: dict[str, Any]


@dataclass(frozen=True)
class _Call:
    """A tool's name and the arguments it is called with."""

    name: str
    args: dict[str, Any]

    @property
    def signature(self) -> str:
        """The identity of a call, however its JSON is spelled."""
        return f"{self.name} {json.dumps(self.args, sort_keys=True)}"


@dataclass(frozen=True)
class _Tongue:
    """Sentences of people and agents in one human language."""

    tasks: tuple[str, ...]
    monitor: tuple[str, ...]
    fine: str
    question: tuple[str, ...]
    go_on: str
    again: str
    done: str
    notes: tuple[str, ...]
    openers: tuple[str, ...]
    checks: tuple[str, ...]
    words: tuple[str, ...]
    gap: str = " "


_TONGUES = (
    _Tongue(
        tasks=(
            "Please find out why the nightly import is slow and fix it.",
            "Migrate the billing module to the new client and keep the tests green.",
            "Go through the repository and write down how sessions are stored.",
        ),
        monitor=("Check the service and tell me if anything is wrong.", "Scheduled check: is everything up?"),
        fine="All fine.",
        question=("What is the default timeout?", "Which version is running in production?"),
        go_on="continue",
        again="Try again.",
        done="That part is done.",
        notes=("Now the next one.", "I look at the callers.", "This needs a closer look.", "Next, the helper."),
        openers=("Let me", "I will", "I should", "First let me", "Now I'll"),
        checks=("check again.", "look at this again.", "check that once more.", "re-read this to be sure."),
        words=("the", "import", "runs", "every", "night", "and", "a", "table", "was", "locked", "for", "minutes"),
    ),
    _Tongue(
        tasks=(
            "Bitte räume das Modul für die Rechnungen auf und prüfe danach alles.",
            "Finde heraus, warum die Anmeldung seit gestern fehlschlägt.",
        ),
        monitor=("Prüfe den Server und melde dich, wenn etwas nicht stimmt.", "Stündliche Prüfung, bitte."),
        fine="Alles in Ordnung.",
        question=("Wie hoch ist die Grenze für Anhänge?", "Welcher Port ist eingestellt?"),
        go_on="weiter",
        again="Versuch es noch einmal.",
        done="Dieser Teil ist fertig.",
        notes=("Jetzt die nächste Datei.", "Das sehe ich mir genauer an.", "Weiter mit den Aufrufern."),
        openers=("Ich prüfe das", "Ich sehe mir das", "Ich lese das", "Das schaue ich mir"),
        checks=("noch einmal an.", "lieber nochmals an.", "zur Sicherheit erneut an.", "besser ein weiteres Mal an."),
        words=("die", "Rechnung", "wird", "über", "Nacht", "gebucht", "und", "später", "geprüft", "wenn", "Zähler"),
    ),
    _Tongue(
        tasks=("Corrige la page de paiement et vérifie les appels à l'API.", "Résume les journaux de cette semaine."),
        monitor=("Vérifie l'état du service.", "Contrôle planifié : tout va bien ?"),
        fine="Tout va bien.",
        question=("Quelle est la durée de conservation ?", "Quel est le quota par défaut ?"),
        go_on="continue, s'il te plaît",
        again="Réessaie.",
        done="Cette partie est terminée.",
        notes=("Passons au suivant.", "Je regarde les appels.", "Voyons la suite."),
        openers=("Je vais", "Il faut", "Je dois", "Je préfère"),
        checks=("vérifier encore une fois.", "relire cela.", "revoir ce fichier.", "contrôler à nouveau."),
        words=("le", "paiement", "échoue", "après", "une", "minute", "et", "la", "page", "reste", "vide", "été"),
    ),
    _Tongue(
        tasks=("Actualiza las dependencias y arregla lo que se rompa.", "Averigua por qué crece la cola de correos."),
        monitor=("Revisa el estado de los sensores.", "Control programado: ¿todo en marcha?"),
        fine="Todo en orden.",
        question=("¿Cuál es el límite de peticiones?", "¿Dónde se guardan las copias?"),
        go_on="sigue",
        again="Inténtalo de nuevo.",
        done="Esta parte está lista.",
        notes=("Ahora el siguiente.", "Miro quién lo llama.", "Esto hay que verlo mejor."),
        openers=("Voy a", "Tengo que", "Debo", "Quiero"),
        checks=("comprobarlo otra vez.", "mirarlo de nuevo.", "leerlo una vez más.", "revisarlo de nuevo."),
        words=("la", "cola", "de", "correos", "crece", "cada", "mañana", "y", "el", "servidor", "tarda", "más"),
    ),
    _Tongue(
        tasks=("Разберись, почему отчёт считается дважды.", "Перенеси настройки в новый формат и проверь тесты."),
        monitor=("Проверь состояние сервиса.", "Плановая проверка: всё ли работает?"),
        fine="Всё в порядке.",
        question=("Какой таймаут по умолчанию?", "Какая версия сейчас в работе?"),
        go_on="продолжай",
        again="Попробуй ещё раз.",
        done="Эта часть готова.",
        notes=("Теперь следующий файл.", "Посмотрю, кто это вызывает.", "Дальше."),
        openers=("Сейчас", "Надо", "Лучше", "Пожалуй, стоит"),
        checks=("проверить ещё раз.", "перечитать это снова.", "посмотреть это снова.", "ещё раз убедиться."),
        words=("отчёт", "считается", "ночью", "и", "таблица", "была", "закрыта", "для", "записи", "когда"),
    ),
    _Tongue(
        tasks=("請求モジュールを整理して、テストを通してください。", "ログイン失敗の原因を調べてください。"),
        monitor=("サービスの状態を確認してください。", "定期チェックをお願いします。"),
        fine="問題ありません。",
        question=("既定のタイムアウトは何秒ですか?", "本番のバージョンはどれですか?"),
        go_on="続けて",
        again="もう一度試してください。",
        done="この部分は完了しました。",
        notes=("次のファイルを見ます。", "呼び出し元を確認します。"),
        openers=("念のため、", "もう一度、", "では、", "まず、"),
        checks=("確認します。", "見直します。", "読み直してみます。", "内容をチェックします。"),
        words=("夜間の", "取り込みが", "遅く", "表が", "数分間", "ロックされ", "再試行", "しました。"),
        gap="",
    ),
    _Tongue(
        tasks=("Veja por que o relatório mensal sai vazio.", "Troque a biblioteca de datas em todo o projeto."),
        monitor=("Confira o estado do servidor.", "Verificação agendada: está tudo no ar?"),
        fine="Tudo certo.",
        question=("Qual é o limite de tamanho?", "Onde ficam as cópias de segurança?"),
        go_on="continua",
        again="Tenta outra vez.",
        done="Esta parte está pronta.",
        notes=("Agora o próximo.", "Vou ver quem chama isto.", "Adiante."),
        openers=("Vou", "Preciso", "Deixe-me", "Melhor"),
        checks=("verificar de novo.", "ler isto outra vez.", "conferir mais uma vez.", "olhar novamente."),
        words=("o", "relatório", "sai", "vazio", "quando", "não", "há", "vendas", "e", "a", "página", "fecha"),
    ),
    _Tongue(
        tasks=("请检查导入任务为什么变慢,并修复它。", "把配置迁移到新格式,并保证测试通过。"),
        monitor=("请检查服务状态。", "定时检查:一切正常吗?"),
        fine="一切正常。",
        question=("默认超时是多少?", "线上是哪个版本?"),
        go_on="继续",
        again="再试一次。",
        done="这一部分完成了。",
        notes=("接下来看下一个文件。", "我看一下调用方。"),
        openers=("让我", "我先", "我需要", "还是"),
        checks=("再检查一遍。", "再看一次。", "重新读一下。", "再确认一下。"),
        words=("每天", "夜里", "导入", "任务", "运行", "表", "被", "锁住", "几分钟", "然后", "重试。"),
        gap="",
    ),
)

# A template that is only `$name` stands for the value itself, within other text for the value's text.
_DIALECTS: tuple[dict[str, tuple[str, dict[str, Any]]], ...] = (
    {
        "read": ("Read", {"file_path": "$path", "offset": "$start", "limit": "$count"}),
        "shell": ("Bash", {"command": "$command", "description": "Run a command"}),
        "edit": ("Edit", {"file_path": "$path", "old_string": "$old", "new_string": "$new"}),
        "search": ("Grep", {"pattern": "$pattern", "path": "$path", "output_mode": "content"}),
    },
    {
        "read": ("read_file", {"absolute_path": "$path", "offset": "$start", "limit": "$count"}),
        "shell": ("run_shell_command", {"command": "$command", "directory": "app"}),
        "edit": ("replace", {"file_path": "$path", "old_string": "$old", "new_string": "$new"}),
        "search": ("search_file_content", {"pattern": "$pattern", "path": "$path"}),
    },
    {
        "read": ("shell", {"command": ["bash", "-lc", "sed -n '$start,${end}p' $path"], "timeout_ms": 60000}),
        "shell": ("shell", {"command": ["bash", "-lc", "$command"], "timeout_ms": 120000}),
        "edit": (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Update File: $path\n@@\n-$old\n+$new\n*** End Patch", "dry_run": False},
        ),
        "search": ("shell", {"command": ["bash", "-lc", "rg -n '$pattern' $path"], "timeout_ms": 60000}),
    },
    {
        "read": ("str_replace_editor", {"command": "view", "path": "$path", "view_range": ["$start", "$end"]}),
        "shell": ("execute_bash", {"command": "$command", "is_input": "false"}),
        "edit": (
            "str_replace_editor",
            {"command": "str_replace", "path": "$path", "old_str": "$old", "new_str": "$new"},
        ),
        "search": ("execute_bash", {"command": "grep -rn '$pattern' $path", "is_input": "false"}),
    },
    {
        "read": (
            "fs_read",
            {"target": {"uri": "file://$path", "range": {"first": "$start", "last": "$end"}}, "raw": True},
        ),
        "shell": ("exec", {"argv": ["sh", "-c", "$command"], "cwd": "/srv/app", "env": {"LANG": "C", "TZ": "UTC"}}),
        "edit": ("fs_patch", {"target": {"uri": "file://$path"}, "hunks": [{"del": "$old", "add": "$new"}]}),
        "search": ("code_search", {"query": {"regex": "$pattern", "scope": {"include": ["$path"]}}, "limit": 50}),
    },
    {
        "read": ("python", {"code": "print(''.join(open('$path').readlines()[$start:$end]))", "timeout": 60}),
        "shell": ("python", {"code": "import os\nos.system('''$command''')", "timeout": 600}),
        "edit": (
            "python",
            {
                "code": "t = open('$path').read()\nopen('$path', 'w').write(t.replace('''$old''', '''$new'''))",
                "timeout": 60,
            },
        ),
        "search": ("python", {"code": "import os\nos.system('grep -rn $pattern $path')", "timeout": 60}),
    },
    {
        "read": ("datei_lesen", {"pfad": "$path", "von": "$start", "bis": "$end"}),
        "shell": ("befehl", {"zeile": "$command", "verzeichnis": "/srv/übung"}),
        "edit": ("datei_aendern", {"pfad": "$path", "alt": "$old", "neu": "$new"}),
        "search": ("suchen", {"muster": "$pattern", "ordner": "$path"}),
    },
)

_LINES: dict[str, tuple[str, ...]] = {
    "py": (
        "def {a}_{b}(self, {c}: int = {n}) -> str | None:",
        "    if {a}.{b} is None and {c} > {n}:",
        "        raise ValueError(f'{a} {{{b}!r}} has no {c}')",
        "    for {c} in self._{a}[{n}:]:",
        "        {b} = {a}.get('{c}', {n})",
        "    return self.{a}.{b}({c})",
        "",
    ),
    "go": (
        "func (s *Store) {a}{n}({b} string) (*{c}, error) {{",
        "\tif err := s.{a}.{b}(ctx, {n}); err != nil {{",
        '\t\treturn nil, fmt.Errorf("{a} {b}: %w", err)',
        "\t}}",
        "\t{a} := make([]{b}, 0, {n})",
        "}}",
    ),
    "ts": (
        "export const {a}{n} = async ({b}: string): Promise<{c}> => {{",
        "  const {a} = await this.{b}.find({{ {c}: {n} }});",
        "  if (!{a}) throw new Error(`no {b} in {c}`);",
        "  return {a}.map(({b}) => {b}.{c});",
        "}};",
    ),
    "rs": (
        "pub fn {a}_{b}(&self, {c}: u64) -> Result<(), Error> {{",
        "    let {a} = self.{b}.get(&{n}).ok_or(Error::{c})?;",
        "    match {a} {{ Some({b}) => {b}.{c}(), None => return Err({n}) }}",
        '    tracing::debug!(?{a}, {b} = {n}, "{c}");',
        "}}",
    ),
    "log": (
        "2025-03-13 {n:06d} INFO {a}.{b}: {c} took {n} ms",
        "2025-03-13 {n:06d} WARN {a}.{b}: retry of {c} number {n}",
        "2025-03-13 {n:06d} DEBUG {a}: {b} -> {c} ({n} rows)",
    ),
    "table": (
        "{a}-{n}      {b}      running   {c}",
        "{a}-{n}      {b}      queued    {c}",
        "{a}-{n}      {b}      ready     {c}",
    ),
}
_NAMES = (
    "account", "batch", "cache", "client", "cursor", "digest", "entry", "event", "filter", "graph", "handler", "index",
    "invoice", "job", "ledger", "lock", "mapper", "member", "notice", "order", "parser", "policy", "queue", "record",
    "report", "router", "schema", "session", "shard", "signal", "stream", "ticket", "token", "user", "vector", "worker",
)  # fmt: skip
_FOLDERS = ("src", "lib/core", "internal/api", "app/models", "services/billing", "pkg/store", "tools", "web/pages")
_COMMANDS = (
    "git log --stat -n {n} -- {path}",
    "cat {path}",
    "kubectl describe pod {a}-{n}",
    "docker logs --tail {n} {a}-{b}",
    "find {folder} -name '*{a}*' -size +{n}k",
    "du -ah {folder} | sort -h | tail -{n}",
    "journalctl -u {a}-{b} -n {n}",
)


class _Session:
    """A session as it grows, in one human language, one programming language and one set of tools."""

    def __init__(self, seed: str) -> None:
        self.rng = random.Random(seed)  # noqa: S311
        self.tongue = self.rng.choice(_TONGUES)
        self.tools = self.rng.choice(_DIALECTS)
        self.language = self.rng.choice(("py", "go", "ts", "rs"))
        self.rounds: list[Round] = []
        self._id = self.rng.choice(("call_", "toolu_01", "chatcmpl-tool-", "s1_call_", ""))
        self._named = self.rng.random() < 0.5
        self._seen: set[str] = set()
        self._paths: set[str] = set()
        self._calls = 0

    # What is added to the session

    def user(self, text: str, seconds: float | None = None) -> None:
        """A message of the user."""
        self._add(self.between(5, 300) if seconds is None else seconds, {"role": "user", "content": text})

    def says(self, text: str, seconds: float | None = None) -> None:
        """A message of the agent without a call."""
        self._add(self.between(0.8, 6) if seconds is None else seconds, {"role": "assistant", "content": text})

    def step(
        self,
        *asked: tuple[_Call, str],
        before: float | None = None,
        during: float | None = None,
        said: str | None = None,
        spelled: Callable[[dict[str, Any]], str] | None = None,
    ) -> int:
        """One message of the agent with its calls, and their results; the place of the agent's message."""
        place = len(self.rounds)
        ids = [self._next_id() for _ in asked]
        calls = [
            {
                "id": call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": (spelled or self._plainly)(call.args)},
            }
            for call_id, (call, _) in zip(ids, asked, strict=True)
        ]
        message = {"role": "assistant", "content": said, "tool_calls": calls}
        self._add(self.between(1, 9) if before is None else before, message)
        for call_id, (call, result) in zip(ids, asked, strict=True):
            answer = {"role": "tool", "tool_call_id": call_id, "content": result}
            if self._named:
                answer["name"] = call.name
            self._add(self.between(0.05, 3) if during is None else during, answer)
            self._seen.add(call.signature)
        return place

    def work(self, low: int = _SMALLEST, high: int = _LARGEST) -> None:
        """One step with calls that were never made before in this session."""
        said = self.rng.choice(self.tongue.notes) if self.chance(0.3) else None
        kind = self.rng.random()
        if kind < 0.2:
            path = self.path()
            self.step((self.edit(path), self.edited(path)), said=said)
        elif kind < 0.3:
            self.step(self.lookup(low, high // 2), self.lookup(low, high // 2), said=said)
        else:
            self.step(self.lookup(low, high), said=said)

    def works(self, least: int, most: int, low: int = _SMALLEST, high: int = _LARGEST) -> None:
        """From `least` to `most` steps of new work."""
        for _ in range(self.rng.randint(least, most)):
            self.work(low, high)

    def opens(self, enough: int = 2_500) -> None:
        """A task the user gives, and work on it whose results alone are `enough` tokens for a small window."""
        self.user(self.rng.choice(self.tongue.tasks))
        begin = len(self.rounds)
        while sum(_weight(entry.message["content"] or "") for entry in self.rounds[begin:]) < enough:
            self.work(self.rng.choice((_SMALLEST, 400)))

    # Calls and their results

    def lookup(self, low: int = _SMALLEST, high: int = _LARGEST) -> tuple[_Call, str]:
        """A call that only looks, never made before, and its result."""
        rng = self.rng
        size = self.size(low, high)
        kind = rng.choice(("read", "read", "read", "shell", "shell", "search", "search", "prose", "", "", ""))
        if kind == "read":
            return self.fresh(lambda: self.read(self.path())), self.text(self.language, size)
        if kind == "shell":
            return self.fresh(lambda: self.shell(self._command())), self.text(rng.choice(("log", "table")), size)
        if kind == "search":
            return self.search_with_hits(size)
        if kind == "prose":
            return self.fresh(lambda: self.read(self.path("md"))), self.prose(size)
        return self.outside_lookup(size)

    def outside_lookup(self, size: int) -> tuple[_Call, str]:
        """A look into a database, a web page or a service, never made before, and its result."""
        rng = self.rng
        kind = rng.choice(("sql", "http", "record"))
        a, b = rng.choice(_NAMES), rng.choice(_NAMES)
        if kind == "sql":
            query = f"SELECT {a}, {b} FROM {a}s WHERE {b}_id > {rng.randint(1, 900)} LIMIT"  # noqa: S608
            call = self.fresh(lambda: _Call("sql", {"query": f"{query} {rng.randint(5, 9999)}", "db": "main"}))
            return call, self.text("table", size)
        if kind == "http":
            page = f"https://example.org/{a}/{b}"
            headers = {"Accept": "text/html", "Accept-Language": "en"}
            call = self.fresh(lambda: _Call("fetch_url", {"url": f"{page}-{rng.randint(1, 9999)}", "headers": headers}))
            return call, self.prose(size)
        call = self.fresh(lambda: _Call("get_record", {"kind": a, "id": rng.randint(1000, 99999), "fields": ["*", b]}))
        return call, self.records(size)

    def read(self, path: str, start: int = 1, count: int = 400) -> _Call:
        """The call that reads lines of a file."""
        return self._tool("read", path=path, start=start, end=start + count - 1, count=count)

    def shell(self, command: str) -> _Call:
        """The call that runs a command."""
        return self._tool("shell", command=command)

    def edit(self, path: str) -> _Call:
        """A call that changes a file, never made before."""
        return self.fresh(lambda: self._tool("edit", path=path, old=self._line(), new=self._line()))

    def edited(self, path: str) -> str:
        """What a tool says when it has changed a file: in many tools always the same."""
        return f"The file {path} has been updated."

    def search_with_hits(self, size: int) -> tuple[_Call, str]:
        """A search never made before, and what it finds."""
        rng = self.rng
        folder = rng.choice(_FOLDERS)
        place = f"/srv/app/{folder}"
        call = self.fresh(
            lambda: self._tool("search", pattern=f"{rng.choice(_NAMES)}_{rng.choice(_NAMES)}", path=place)
        )
        lines = self.text(self.language, size).splitlines()
        hits = [f"{folder}/{rng.choice(_NAMES)}.{self.language}:{rng.randint(1, 900)}:{line.strip()}" for line in lines]
        return call, _cut("\n".join(hits), size)

    def fresh(self, make: Callable[[], _Call]) -> _Call:
        """A call that `make` makes and that this session has not seen, which from now on it has."""
        call = make()
        while call.signature in self._seen:
            call = make()
        self._seen.add(call.signature)
        return call

    def path(self, ending: str = "") -> str:
        """A path of a file that this session has not named before."""
        rng = self.rng
        path = ""
        while not path or path in self._paths:
            name = f"{rng.choice(_NAMES)}_{rng.choice(_NAMES)}.{ending or self.language}"
            path = f"/srv/app/{rng.choice(_FOLDERS)}/{name}"
        self._paths.add(path)
        return path

    # Texts

    def text(self, kind: str, size: int) -> str:
        """Lines of code, of a log or of a table, about `size` tokens of them."""
        lines: list[str] = []
        weight = 0.0
        while weight < size:
            line = self._line(kind)
            lines.append(line)
            weight += _weight(line) + 1
        return _cut("\n".join(lines), size)

    def prose(self, size: int) -> str:
        """Sentences without much sense in the session's human language."""
        words: list[str] = []
        weight = 0.0
        while weight < size:
            word = self.rng.choice(self.tongue.words)
            if self.chance(0.1):
                word = f"{word}{self.rng.randint(2, 99)}."
            words.append(word)
            weight += _weight(word) + 0.3
        return self.tongue.gap.join(words)

    def records(self, size: int) -> str:
        """A JSON list of records."""
        rng = self.rng
        rows = [
            {"id": rng.randint(1, 99999), rng.choice(_NAMES): rng.choice(_NAMES), "total": rng.randint(1, 9999) / 100}
            for _ in range(max(1, size // 18))
        ]
        return json.dumps(rows)

    def status(self, head: str) -> str:
        """A state's first line, and in half of all cases a long unchanging report under it."""
        return head if self.chance(0.5) else f"{head}\n{self.text('table', self.size(60))}"

    def now(self) -> str:
        """The session's clock as text."""
        passed = sum(entry.seconds for entry in self.rounds)
        return (_BEGIN + timedelta(seconds=passed)).isoformat(timespec="milliseconds")

    # Chance

    def chance(self, share: float) -> bool:
        """Whether something happens that happens in this share of cases."""
        return self.rng.random() < share

    def between(self, low: float, high: float) -> float:
        """Seconds between the two."""
        return round(self.rng.uniform(low, high), 3)

    def size(self, low: int = _SMALLEST, high: int = _LARGEST) -> int:
        """Tokens of a result: small ones are as frequent as large ones."""
        return round(math.exp(self.rng.uniform(math.log(low), math.log(high))))

    # Parts

    def _add(self, seconds: float, message: dict[str, Any]) -> None:
        self.rounds.append(Round(seconds if self.rounds else 0.0, message))

    def _next_id(self) -> str:
        self._calls += 1
        return f"{self._id}{self._calls:04d}{self.rng.getrandbits(40):010x}"

    def _tool(self, action: str, **values: str | int) -> _Call:
        name, template = self.tools[action]
        return _Call(name, _filled(template, values))

    def _command(self) -> str:
        rng = self.rng
        return rng.choice(_COMMANDS).format(
            a=rng.choice(_NAMES),
            b=rng.choice(_NAMES),
            n=rng.randint(1, 900),
            path=self.path(),
            folder=f"/srv/app/{rng.choice(_FOLDERS)}",
        )

    def _line(self, kind: str = "") -> str:
        rng = self.rng
        return rng.choice(_LINES[kind or self.language]).format(
            a=rng.choice(_NAMES), b=rng.choice(_NAMES), c=rng.choice(_NAMES), n=rng.randint(2, 99999)
        )

    @staticmethod
    def _plainly(args: dict[str, Any]) -> str:
        return json.dumps(args, ensure_ascii=False)


def _filled(template: Any, values: dict[str, str | int]) -> Any:
    if isinstance(template, dict):
        return {key: _filled(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, values) for value in template]
    if not isinstance(template, str):
        return template
    if template.startswith("$") and template[1:] in values:
        return values[template[1:]]
    return Template(template).substitute(values)


def _weight(text: str) -> float:
    """Roughly the tokens of a text."""
    return sum(0.3 if char < "\x80" else 0.4 if char < "\u2e80" else 0.8 for char in text)


def _cut(text: str, size: int) -> str:
    """The text, cut where it becomes much longer than `size` tokens."""
    return text[: max(8, round(size / 0.3))]


def _shuffled(rng: random.Random, value: Any) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        rng.shuffle(keys)
        return {key: _shuffled(rng, value[key]) for key in keys}
    if isinstance(value, list):
        return [_shuffled(rng, entry) for entry in value]
    return value


def _spelling(rng: random.Random) -> Callable[[dict[str, Any]], str]:
    """A way to write the same arguments down differently from last time: order, blanks, escapes."""
    last = ""

    def spelled(args: dict[str, Any]) -> str:
        nonlocal last
        text = last
        while text == last:
            text = json.dumps(
                _shuffled(rng, args),
                ensure_ascii=rng.random() < 0.5,
                indent=rng.choice((None, None, 1, 2, "\t")),
                separators=rng.choice(((",", ":"), (", ", ": "), (" , ", " : "), (",  ", ":"))),
            )
            text = rng.choice(("", "", " ", "\n")) + text + rng.choice(("", "", " ", "\n"))
        last = text
        return text

    return spelled


# Honest sessions: each of these adds about `length` rounds


def _scheduled_monitor(s: _Session, length: int) -> None:
    """The user's schedule sends the same prompt, the same call says that all is well, and so does the agent."""
    end = len(s.rounds) + length
    s.opens()
    prompt = s.rng.choice(s.tongue.monitor)
    service = s.rng.choice(_NAMES)
    address = f"https://{service}.example.org/health"
    probes = [
        (s.shell(f"systemctl is-active {service}"), s.status("status: ok")),
        (_Call("get_status", {"service": service, "verbose": True}), s.status("status: ok")),
        (_Call("http_get", {"url": address, "timeout": 5}), s.status('{"status": "ok"}')),
        (_Call("read_sensor", {"room": service, "unit": "C", "mean_over": {"minutes": 5}}), s.status("21.0")),
    ]
    asked = s.rng.sample(probes, s.rng.choice((1, 1, 1, 2)))
    period = s.between(30, 3600)
    while len(s.rounds) < end:
        s.user(prompt, period + s.between(0, 1))
        for probe in asked:
            s.step(probe)
        s.says(s.tongue.fine)


def _build_poll(s: _Session, length: int) -> None:
    """A build is asked for its state until it ends; what passes between two rounds is time alone."""
    end = len(s.rounds) + length
    s.opens()
    number = s.rng.randint(1000, 9999)
    poll = s.rng.choice(
        (
            s.shell(f"gh run view {number}"),
            _Call("ci_status", {"pipeline": number, "branch": "main"}),
            _Call("jenkins", {"action": "state", "job": {"name": "nightly", "build": number}}),
        )
    )
    running = s.status("status: in_progress")
    period = s.size(20, 560)
    sleep = (s.shell(f"sleep {period}"), "(no output)")
    way = s.rng.choice(("agent waits", "tool waits", "sleep is called", "any time"))
    while len(s.rounds) < end:
        wait = period + s.between(0, 3)
        if way == "agent waits":
            s.step((poll, running), before=wait)
        elif way == "tool waits":
            s.step((poll, running), during=wait)
        elif way == "any time":
            s.step((poll, running), before=s.between(20, 600))
        else:
            s.step(sleep, during=wait)
            s.step((poll, running))
    s.step((poll, "status: completed, conclusion: success"), before=float(period))
    s.says(s.tongue.done)


def _progress_poll(s: _Session, length: int) -> None:
    """The same call within seconds, but its result moves: a percentage, a clock, a count."""
    end = len(s.rounds) + length
    s.opens()
    job = s.rng.randint(100, 999)
    call = s.rng.choice((_Call("job_progress", {"job_id": job, "detail": "full"}), s.shell(f"jobctl show {job}")))
    way = s.rng.choice(("percent", "clock", "count"))
    body = s.text("table", s.size(10, 1500)) if s.chance(0.6) else ""
    done = 0
    while len(s.rounds) < end:
        done += s.rng.randint(1, 9)
        before = s.between(0.5, 12)
        line = {"percent": f"progress: {done / 10:.1f}%", "count": f"rows copied: {done * 317}"}.get(way)
        s.step((call, f"state: running\n{line or 'as of ' + s.now()}\n{body}"), before=before)
    s.says(s.tongue.done)


def _growing_log(s: _Session, length: int) -> None:
    """The same look at a log within seconds; each time there are new lines."""
    end = len(s.rounds) + length
    s.opens()
    log = f"/var/log/{s.rng.choice(_NAMES)}.log"
    count = s.rng.choice((5, 20, 60))
    whole = s.chance(0.5)  # then the result grows, by one line at a time; otherwise it moves on
    call = s.shell(f"cat {log}") if whole else s.shell(f"tail -n {count} {log}")
    lines = s.text("log", 60).splitlines()
    while len(s.rounds) < end:
        before = s.between(1, 15)
        for _ in range(1 if whole else s.rng.randint(1, 8)):
            lines.append(f"{s.now()} {s.text('log', 15)}")
        s.step((call, "\n".join(lines if whole else lines[-count:])), before=before)


def _watched_file(s: _Session, length: int) -> None:
    """The same file read again and again while another program writes to it."""
    end = len(s.rounds) + length
    s.opens()
    call = s.read(f"/srv/app/run/{s.rng.choice(_NAMES)}.state")
    lines = s.text("table", s.size(60, 1500)).splitlines()
    turn = 0
    while len(s.rounds) < end:
        turn += 1
        lines[s.rng.randrange(len(lines))] = f"{s.rng.choice(_NAMES)}-{turn}      moved      {s.rng.choice(_NAMES)}"
        s.step((call, "\n".join(lines)), before=s.between(1, 20))
        if s.chance(0.2):
            s.says(s.rng.choice(s.tongue.notes))
            s.work()


def _test_command(s: _Session) -> _Call:
    commands = {"py": "pytest -q", "go": "go test ./...", "ts": "npm test", "rs": "cargo test"}
    return s.shell(f"cd /srv/app && {commands[s.language]} 2>&1 | tail -80")


def _test_report(s: _Session, failed: int, total: int, size: int) -> str:
    return f"{s.text('log', size)}\n{failed} failed, {total - failed} passed"


def _tests_change(s: _Session, length: int) -> None:
    """Edits, and after them the same test command with another outcome each time."""
    end = len(s.rounds) + length
    s.opens()
    command = _test_command(s)
    total = s.rng.randint(300, 900)
    failed = total - s.rng.randint(0, 9)
    path = s.path()
    while len(s.rounds) < end:
        for _ in range(s.rng.randint(1, 3)):
            s.step((s.edit(path), s.edited(path)))
        failed = max(0, failed - s.rng.randint(1, 4))
        s.step((command, _test_report(s, failed, total, s.size())), during=s.between(1, 40))
        if s.chance(0.3):
            s.work()


def _tests_stay(s: _Session, length: int) -> None:
    """Edits, and after them the same test command, which fails in the same way every time."""
    end = len(s.rounds) + length
    s.opens()
    command = _test_command(s)
    report = _test_report(s, s.rng.randint(1, 9), 41, s.size(40))
    paths = [s.path() for _ in range(s.rng.randint(1, 3))]
    while len(s.rounds) < end:
        for _ in range(s.rng.randint(1, 3)):
            path = s.rng.choice(paths)
            s.step((s.edit(path), s.edited(path)), said=s.rng.choice((None, *s.tongue.notes)))
        s.step((command, report), during=s.between(0.5, 20))
        if s.chance(0.2):
            s.work()


def _read_after_write(s: _Session, length: int) -> None:
    """A file read again after each change; sometimes the change is not within the lines that are read."""
    end = len(s.rounds) + length
    s.opens()
    path = s.path()
    call = s.read(path)
    lines = s.text(s.language, s.size(100, 2000)).splitlines()
    s.step((call, "\n".join(lines)))
    while len(s.rounds) < end:
        for _ in range(s.rng.randint(1, 2)):
            s.step((s.edit(path), s.edited(path)))
        if s.chance(0.75):
            lines[s.rng.randrange(len(lines))] = f"{s.rng.choice(_NAMES)} = {s.rng.randint(1, 10**9)}"
        s.step((call, "\n".join(lines)))
        if s.chance(0.2):
            s.work()


def _pages(s: _Session, length: int) -> None:
    """The same tool, page after page."""
    end = len(s.rounds) + length
    s.opens()
    way = s.rng.choice(("page", "cursor", "lines"))
    path, topic = s.path(), s.rng.choice(_NAMES)
    cursor, page = "", 0
    size = s.size(100, 1800)
    while len(s.rounds) < end:
        page += 1
        if way == "page":
            call = _Call("list_items", {"collection": topic, "page": page, "per_page": 50})
        elif way == "cursor":
            call = _Call("query", {"filter": {"topic": topic}, "after": cursor})
        else:
            call = s.read(path, 1 + 200 * (page - 1), 200)
        cursor = f"{page:03d}{s.rng.getrandbits(32):08x}"
        tail = f"\nnext: {cursor}" if way == "cursor" else ""
        s.step((call, s.text("table" if way != "lines" else s.language, size) + tail), before=s.between(0.5, 5))
    s.says(s.tongue.done)


def _same_question(s: _Session, length: int) -> None:
    """The user asks the same in equal words; the agent looks it up again, and finds the same."""
    end = len(s.rounds) + length
    s.opens()
    question = s.rng.choice(s.tongue.question)
    asked = [s.lookup(60) for _ in range(s.rng.choice((1, 1, 2)))]
    answer = s.prose(s.size(10, 120))
    hurry = s.chance(0.4)
    while len(s.rounds) < end:
        s.user(question, s.between(2, 8) if hurry else s.between(20, 4000))
        for one in asked:
            s.step(one, before=s.between(0.5, 4))
        s.says(answer)
        if s.chance(0.2):
            s.user(s.rng.choice(s.tongue.tasks))
            s.works(1, 2)


def _user_continues(s: _Session, length: int) -> None:
    """The user says no more than to continue; the agent looks at its plan and goes on, or tells a story."""
    end = len(s.rounds) + length
    s.opens()
    plan = (s.read("/srv/app/PLAN.md"), s.prose(s.size(60, 900)))
    way = s.rng.choice(("plan", "work", "story"))
    while len(s.rounds) < end:
        s.user(s.tongue.go_on, s.between(2, 400))
        if way == "story":
            s.says(s.prose(s.size(40, 1200)))
            continue
        if way == "plan":
            s.step(plan)
        s.works(1, 3)
        s.says(s.tongue.done)


def _status_between(s: _Session, length: int) -> None:
    """The state of the repository, always the same, between steps that are not."""
    end = len(s.rounds) + length
    s.opens()
    command = s.rng.choice(("git status", "git status --short && git branch", "git diff --stat", "ls -la /srv/app"))
    status = (s.shell(command), s.status("On branch main\nnothing to commit, working tree clean"))
    while len(s.rounds) < end:
        s.works(1, 4)
        s.step(status)


def _health_between(s: _Session, length: int) -> None:
    """A check that all is still alive, always the same, between steps that are not."""
    end = len(s.rounds) + length
    s.opens()
    check = s.rng.choice(
        (
            (s.shell("curl -s localhost:8080/healthz"), '{"status": "ok", "database": "up"}'),
            (_Call("repl", {"code": "1 + 1", "session": 4}), "2"),
            (_Call("todo_read", {}), s.records(s.size(60, 400))),
            (_Call("browser_console", {"level": "error", "since": "start"}), "[]"),
            (_Call("diagnostics", {"severity": "error", "root": "/srv/app"}), s.status("No problems found.")),
        )
    )
    while len(s.rounds) < end:
        s.works(1, 3)
        s.step(check)


def _config_in_two_tasks(s: _Session, length: int) -> None:
    """Several tasks within one session open the same file, far apart, with other steps between."""
    end = len(s.rounds) + max(length, 80)
    s.opens()
    name = s.rng.choice(("config.yaml", "pyproject.toml", "go.mod", "tsconfig.json"))
    config = (s.read(f"/srv/app/{name}"), s.text("table", s.size(150)))
    while len(s.rounds) < end:
        s.step(config, said=s.rng.choice(s.tongue.notes))
        for _ in range(s.rng.randint(12, 20)):
            if len(s.rounds) < end:
                s.work()
    s.says(s.tongue.done)


def _backoff(s: _Session, length: int) -> None:
    """A server that wants fewer calls: the same call again, each time after a longer wait."""
    end = len(s.rounds) + length
    s.opens()
    while len(s.rounds) < end:
        call, result = s.lookup(60)
        wait = s.between(20, 45)
        s.step((call, "Error 429: too many requests"))
        for _ in range(s.rng.randint(0, 3)):
            s.step((call, "Error 429: too many requests"), before=wait)
            wait = min(600.0, wait * 2)
        s.step((call, result), before=wait)


def _retry_on_request(s: _Session, length: int) -> None:
    """The user wants it tried again, in equal words, and it fails as before."""
    end = len(s.rounds) + length
    s.opens()
    deploy = s.rng.choice(
        (s.shell("make deploy"), _Call("deploy", {"target": "staging", "options": {"force": False, "wait": True}}))
    )
    error = f"Error: the target refuses the connection\n{s.text('log', s.size(20, 1500))}"
    while len(s.rounds) < end:
        s.user(s.tongue.again, s.between(2, 90))
        s.step((deploy, error), before=s.between(0.5, 4))
        if s.chance(0.3):
            s.work()
        s.says(error.splitlines()[0])


def _scrolling(s: _Session, length: int) -> None:
    """A call without arguments of its own, whose result goes on: the next screen, the next message."""
    end = len(s.rounds) + length
    s.opens()
    calls = (_Call("scroll_down", {}), _Call("next_message", {"queue": "inbox"}), _Call("page", {"dir": 1, "tab": 0}))
    call = s.rng.choice(calls)
    low = s.rng.choice((12, 200))
    while len(s.rounds) < end:
        s.step((call, f"{s.rng.getrandbits(32):08x} {s.prose(s.size(low, 1500))}"), before=s.between(0.5, 4))
        if s.chance(0.15):
            s.says(s.rng.choice(s.tongue.notes))


def _help_desk(s: _Session, length: int) -> None:
    """Customer after customer: the same two tools with other numbers, and often the same kind of answer."""
    end = len(s.rounds) + length
    s.user(s.rng.choice(s.tongue.tasks))
    number = s.rng.randint(1000, 5000)
    while len(s.rounds) < end:
        number += s.rng.randint(1, 40)
        s.user(f"{s.rng.choice(s.tongue.question)} #W{number}", s.between(5, 600))
        missing = s.chance(0.4)
        found = "Error: not found" if missing else s.records(s.size())
        s.step((_Call("get_order", {"order_id": f"#W{number}"}), found))
        if not missing:
            s.step((_Call("get_customer", {"of": {"order": f"#W{number}"}}), s.records(s.size(20, 300))))
        s.says(s.prose(s.size(10, 150)))


def _dice(s: _Session, length: int) -> None:
    """A game: the player's words and the call are the same each turn, and numbers often meet."""
    end = len(s.rounds) + length
    s.opens()
    move = s.rng.choice(("I attack.", "/roll", "Ich würfle.", "もう一回"))
    call = _Call("roll_dice", {"sides": s.rng.choice((2, 6, 20)), "count": 1})
    sheet = (_Call("character_sheet", {"name": "Mira"}), s.records(s.size(60, 900)))
    while len(s.rounds) < end:
        s.user(move, s.between(2, 60))
        if s.chance(0.5):
            s.step(sheet)
        s.step((call, f'{{"rolled": {s.rng.randint(1, call.args["sides"])}}}'))
        s.says(s.prose(s.size(10, 300)))


_HONEST: dict[str, Callable[[_Session, int], None]] = {
    "scheduled_monitor": _scheduled_monitor,
    "build_poll": _build_poll,
    "progress_poll": _progress_poll,
    "growing_log": _growing_log,
    "watched_file": _watched_file,
    "tests_change": _tests_change,
    "tests_stay": _tests_stay,
    "read_after_write": _read_after_write,
    "pages": _pages,
    "same_question": _same_question,
    "user_continues": _user_continues,
    "status_between": _status_between,
    "health_between": _health_between,
    "config_in_two_tasks": _config_in_two_tasks,
    "backoff": _backoff,
    "retry_on_request": _retry_on_request,
    "scrolling": _scrolling,
    "help_desk": _help_desk,
    "dice": _dice,
}
HONEST: tuple[str, ...] = tuple(_HONEST)


def honest(seed: int) -> tuple[str, list[Round]]:
    """A kind of honest session and one of it, of 30 to 150 rounds; the kinds take turns as seeds go up."""
    kind = HONEST[seed % len(HONEST)]
    session = _Session(f"honest {seed}")
    _HONEST[kind](session, session.rng.randint(_SHORTEST, _LONGEST))
    return kind, session.rounds


# Circles: each of these adds one to the session, and says where its first repeated call is

_LARGE = 700  # tokens at least, of what a circle reads and of what was read before it


def _turns(
    s: _Session,
    asked: list[tuple[_Call, str]],
    *,
    spelled: Callable[[dict[str, Any]], str] | None = None,
    any_order: bool = False,
) -> int:
    """The calls of one lap, and then at least 30 of them again, in turn or in any order."""
    for one in asked:
        s.step(one, before=s.between(0.5, 2.8), during=s.between(0.5, 1.8), spelled=spelled)
    first = len(s.rounds)
    for turn in range(s.rng.randint(30, 50)):
        one = s.rng.choice(asked) if any_order else asked[turn % len(asked)]
        s.step(one, before=s.between(0.5, 2.8), during=s.between(0.5, 1.8), spelled=spelled)
    return first


def _lookups(s: _Session, count: int) -> list[tuple[_Call, str]]:
    return [s.lookup(_LARGE) for _ in range(count)]


def _one_call(s: _Session) -> int:
    """One call, over and over."""
    return _turns(s, _lookups(s, 1))


def _two_calls(s: _Session) -> int:
    """Two calls that take turns."""
    return _turns(s, _lookups(s, 2))


def _three_calls(s: _Session) -> int:
    """Three calls, always in the same order."""
    return _turns(s, _lookups(s, 3))


def _other_spelling(s: _Session) -> int:
    """One or two calls whose arguments are written down in another order, or with other blanks, each time."""
    return _turns(s, _lookups(s, s.rng.choice((1, 1, 2))), spelled=_spelling(s.rng))


def _same_ranges(s: _Session) -> int:
    """A long file in pieces, and then from its beginning again."""
    path = s.path()
    count = s.rng.choice((100, 200, 250))
    pieces = [
        (s.read(path, 1 + count * piece, count), s.text(s.language, s.size(_LARGE, 2000)))
        for piece in range(s.rng.randint(3, 7))
    ]
    return _turns(s, pieces)


def _same_search(s: _Session) -> int:
    """The same search, which finds the same."""
    return _turns(s, [s.search_with_hits(s.size(_LARGE))])


def _any_order(s: _Session) -> int:
    """A few files, read again in no order, none of them new."""
    return _turns(s, _lookups(s, s.rng.randint(3, 5)), any_order=True)


def _failed_edit(s: _Session) -> int:
    """A file is read, an edit of it fails, and both again: the edit never gets better."""
    path = s.path()
    read = (s.read(path), s.text(s.language, s.size(_LARGE)))
    edit = (s.edit(path), f"Error: the text to replace was not found in {path}.")
    return _turns(s, [read, edit])


def _both_at_once(s: _Session) -> int:
    """Two calls in one message, and the same message over and over."""
    one, two = _lookups(s, 2)
    s.step(one, two, before=s.between(0.5, 2.8), during=s.between(0.5, 0.9))
    first = len(s.rounds)
    for _ in range(s.rng.randint(30, 45)):
        s.step(one, two, before=s.between(0.5, 2.8), during=s.between(0.5, 0.9))
    return first


def _words_between(s: _Session) -> int:
    """One or two calls, and each time the agent says, in slightly other words, that it looks again."""
    asked = _lookups(s, s.rng.choice((1, 1, 2)))
    apart = s.chance(0.5)
    glue = "" if s.tongue.gap == "" else " "
    last, first = "", -1
    for turn in range(len(asked) + s.rng.randint(30, 50)):
        said = last
        while said == last:
            said = s.rng.choice(s.tongue.openers) + glue + s.rng.choice(s.tongue.checks)
        last = said
        if apart:
            s.says(said, s.between(0.5, 1))
        before, during = s.between(0.5, 2), s.between(0.5, 1.5)
        place = s.step(asked[turn % len(asked)], before=before, during=during, said=None if apart else said)
        if turn == len(asked):
            first = place
    return first


def _after_honest_work(s: _Session) -> int:
    """A long honest session of any kind, then a new task, and in it a circle of any other kind."""
    _HONEST[s.rng.choice(HONEST)](s, s.rng.randint(60, 120))
    s.user(s.rng.choice(s.tongue.tasks))
    s.works(2, 6, _LARGE)
    kinds = [make for make in _CIRCLES.values() if make is not _after_honest_work]
    return s.rng.choice(kinds)(s)


_CIRCLES: dict[str, Callable[[_Session], int]] = {
    "one_call": _one_call,
    "two_calls": _two_calls,
    "three_calls": _three_calls,
    "other_spelling": _other_spelling,
    "same_ranges": _same_ranges,
    "same_search": _same_search,
    "any_order": _any_order,
    "failed_edit": _failed_edit,
    "both_at_once": _both_at_once,
    "words_between": _words_between,
    "after_honest_work": _after_honest_work,
}
CIRCLES: tuple[str, ...] = tuple(_CIRCLES)


def circle(seed: int) -> tuple[str, list[Round], int]:
    """A kind of circle, a session that ends in one, and the place of the first call that repeats one of the circle's.

    The kinds take turns as seeds go up.  The circle goes on for at least 30 calls from that place, up to the end.
    """
    kind = CIRCLES[seed % len(CIRCLES)]
    session = _Session(f"circle {seed}")
    if kind != "after_honest_work":
        session.user(session.rng.choice(session.tongue.tasks))
        session.works(5, 18, _LARGE)
        if session.chance(0.3):
            session.says(session.tongue.done)
            session.user(session.rng.choice(session.tongue.tasks))
            session.works(2, 8, _LARGE)
    return kind, session.rounds, _CIRCLES[kind](session)
