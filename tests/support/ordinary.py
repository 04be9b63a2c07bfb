"""Ordinary LLM sessions made from a seed, and a judge of what a context collector sends for them.

Part 1 makes sessions: `made(seed, kind, turns)` gives OpenAI Chat Completions messages, `moments` says where in them
a model is asked, and `as_anthropic` gives the same session in Anthropic Messages form.

Part 2 judges: `judge(history, sent, count=..., window=...)` compares what was sent with the whole history. It knows
nothing about how the collector works; it compares messages as plain values.

Sizes are in tokens, estimated from characters (no tokenizer is needed): a message may be off by about a third. The
judge counts with the callable that it is given; it may call it often for the same message, so a cache pays off.
"""

import datetime as dt
import itertools
import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import attrs

Message = dict[str, Any]

# ---------------------------------------------------------------------------------------------------------------------
# Languages
# ---------------------------------------------------------------------------------------------------------------------


@attrs.frozen
class Language:
    """Words and sentence frames of one language.

    Frames have the slots {name} {thing} {state} {place} {n} {m} {date} {time} {file}. Things stand in the nominative
    and states fit any gender, so that every filled frame is a correct sentence.
    """

    code: str
    names: tuple[str, ...]
    things: tuple[str, ...]
    states: tuple[str, ...]
    places: tuple[str, ...]
    statements: tuple[str, ...]
    questions: tuple[str, ...]
    asides: tuple[str, ...]
    replies: tuple[str, ...]
    words: tuple[str, ...]
    rules: tuple[str, ...]
    thanks: tuple[str, ...]
    nods: tuple[str, ...]
    dates: str = "{y}-{m:02d}-{d:02d}"
    joint: str = " "
    heavy: float = 0.6
    """Tokens of a character that is not ASCII."""


def _split(text: str, mark: str = "|") -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(mark))


ENGLISH = Language(
    code="en",
    names=_split("Anna|Marcus|Priya|Tom Whitfield|Ms Okafor|Dr Lindqvist|Jamal|Grace|Henry Cole|Sofia|Mr Tanaka|Beth"),
    things=_split(
        "the contract|the invoice|the kitchen tap|the sourdough starter|the login page|the backup job|the garden fence"
        "|the visa application|the second chapter|the sales report|the heating pump|the test suite|the bus timetable"
        "|the blood test|the mortgage offer|the wedding menu|the payment service|the violin lesson|the greenhouse"
        "|the tax return|the search index|the museum tour|the insurance claim|the old laptop|the water meter"
        "|the reading group|the shipping label|the solar panel|the grant proposal|the apple tree"
        "|the database migration"
    ),
    states=_split(
        "ready|late again|cheaper than expected|under review|out of date|almost done|missing a signature|on hold"
        "|working as it should|hard to explain|worth a second look|broken|confirmed|too slow on Mondays"
        "|unusually quiet"
    ),
    places=_split(
        "Leeds|the cellar|Toronto|the second floor|Cape Town|the staging server|Boston|the north field|Dublin"
    ),
    statements=_split(
        "{thing} from {name} has been {state} since {date}.|On {date} {name} paid {n} euros for it in {place}."
        "|If {thing} is {state}, start with step {m} and leave the rest for later."
        "|{name} measured {n} units in {place}, which is {m} percent more than the year before."
        "|You can find the details in {file}, line {n}.|Nobody in {place} expected that {thing} would be {state}."
        "|In my experience {thing} takes about {m} days, and a further {n} minutes for the paperwork."
        "|{name} and a colleague met in {place} at {time} to talk about it."
        "|There are {m} reasons why {thing} may be {state}, and the most common one is a simple mix-up of dates."
        "|After {date} the price rises from {m} to {n}, so it is better to decide early."
        "|The short version: {thing} is {state}, and {name} knows about it."
        "|Keep number {n} at hand, because {place} will ask for it."
        "|Turn it {m} degrees to the left and wait for {n} seconds."
        "|Compared with {date}, {thing} looks {state} now."
        "|{name} wrote that {thing} arrived in {place} with {n} scratches."
    ),
    questions=_split(
        "Why is {thing} {state}, although {name} fixed it on {date}?|How much would {n} of these cost in {place}?"
        "|Can you explain what {file} has to do with {thing}?|What should I tell {name} about {thing} before {time}?"
        "|Is it normal that {thing} needs {n} minutes in {place}?"
        "|Which of the {m} options would you choose for {name}?"
        "|Could you write {name} a friendly note that {thing} is {state}, with {date} as the deadline?"
        "|How do I get from {place} to the station by {time} with {m} bags?|What does code {n} mean?"
    ),
    asides=_split(
        "And step {n}?|What about {name}?|Is {n} enough?|Then number {n}?|Until {time}?|Why {m} and {n}?"
        "|In {place} too?"
    ),
    replies=_split(
        "I can help with that.|Yes, take number {n}.|It is {state}.|Ask {name} first.|No, wait until {time}."
        "|About {n} of them."
    ),
    words=_split("ok|yes|go on|no|next|sure|continue|more|why?|fine|right|done|and?|hm|great"),
    rules=_split(
        "Please never quote prices above {n} euros without tax.|I prefer short answers, at most {m} sentences."
        "|From now on call me {name}.|Always write dates like {date}."
        "|Do not suggest anything in {place}, I live too far away."
        "|Use {file} as the only source for {thing}.|My limit for {thing} is {n}, please remember it."
        "|I am allergic to nuts, and {name} eats no meat: keep that in mind for all menus after {date}."
        "|Indent code with {m} spaces and never use tabs.|Meetings before {time} are not possible for me."
    ),
    thanks=_split(
        "Thanks!|Thank you, that was quick.|Nice weather in {place} today, isn't it?|Great, {name} will be pleased."
        "|Haha, good one.|Good morning, it is {time} and I need a coffee.|You are a star, thanks."
        "|Never mind, just thinking aloud."
    ),
    nods=_split(
        "Got it, I will keep to that.|Noted: {n} it is.|You're welcome!|Understood, from now on I will do it that way."
        "|Glad to hear it. Say hello to {name}.|Happy to help any time.|All right, I have noted it for {thing}."
    ),
    dates="{d} {month} {y}",
)

GERMAN = Language(
    code="de",
    names=_split("Jürgen|Frau Schäfer|Lukas|Herr Yılmaz|Katrin|Familie Böhm|Sabine|Ole|Dr. Reuter"),
    things=_split(
        "der Mietvertrag|die Rechnung|das Dach|die Heizung|der Antrag|das Sommerfest|die Datenbank|der Apfelkuchen"
        "|die Steuererklärung|das Protokoll|der Fahrplan|die Waschmaschine|das Angebot|der Entwurf|die Schnittstelle"
    ),
    states=_split(
        "fertig|schon wieder verspätet|günstiger als gedacht|in Arbeit|unvollständig|genehmigt|kaputt|in Ordnung"
    ),
    places=_split("Köln|Leipzig|Graz|Zürich|Flensburg|Passau|Freiburg"),
    statements=_split(
        "{thing} ist seit dem {date} {state}.|{name} hat in {place} {n} Euro dafür bezahlt."
        "|Laut {file} sind es {n} Stück, also {m} Prozent mehr als im Vorjahr."
        "|In {place} dauert so etwas meist {m} Wochen."
        "|Wenn du bis {time} nichts hörst, ruf am besten {name} an."
        "|Niemand in {place} wusste, dass {thing} {state} ist."
        "|Die Nummer {n} brauchst du später noch einmal."
        "|Am {date} trifft sich {name} mit den Nachbarn, um alles zu klären."
    ),
    questions=_split(
        "Warum ist {thing} {state}, obwohl {name} am {date} dort war?|Was kosten {n} davon in {place}?"
        "|Kannst du mir erklären, was in {file} auf Seite {m} steht?"
        "|Reicht es, wenn ich {name} bis {time} Bescheid gebe?"
        "|Welche der {m} Möglichkeiten würdest du {name} empfehlen?"
    ),
    asides=_split("Und Schritt {n}?|Auch in {place}?|Und {name}?|Bis {time}?|Reichen {n}?"),
    replies=_split("Gern, Nummer {n}.|Ja, bis {time}.|Nein, frag {name}.|Etwa {n} Stück.|Auch in {place}."),
    words=_split("ja|weiter|gut|nein|okay|mehr|genau|und?|fertig|warum?"),
    rules=_split(
        "Bitte duze mich und antworte in höchstens {m} Sätzen.|Ich heiße {name}, merk dir das bitte."
        "|Mehr als {n} Euro möchte ich nicht ausgeben.|Schreib das Datum immer so: {date}."
        "|Nimm für alles nur {file} als Quelle."
    ),
    thanks=_split(
        "Danke!|Super, vielen Dank dir.|Heute regnet es in {place} schon wieder.|Ach, {name} lässt grüßen."
        "|Guten Morgen!"
    ),
    nods=_split(
        "Gern geschehen!|Verstanden, ich halte mich daran.|Alles klar, {n} ist notiert.|Schöne Grüße an {name}!"
    ),
    dates="{d:02d}.{m:02d}.{y}",
)

FRENCH = Language(
    code="fr",
    names=_split("Hélène|M. Dubois|Chloé|Karim|Mme Lefèvre|Bastien|Aïcha|Théo"),
    things=_split(
        "le contrat|la facture|le jardin|la réunion|le dossier|la chaudière|le gâteau|la commande|le rapport"
        "|la recette"
        "|le billet de train|la traduction|le serveur|la lettre"
    ),
    states=_split(
        "en retard|à jour|hors service|en cours|sous contrôle|difficile à expliquer|en attente|facile à corriger"
    ),
    places=_split("Lyon|Nantes|Bruxelles|Genève|Dakar|Strasbourg|Montréal"),
    statements=_split(
        "{thing} de {name} est {state} depuis le {date}."
        "|{name} a payé {n} euros pour cela pendant son séjour à {place}."
        "|D'après {file}, il reste {n} pages à relire."
        "|Il faut compter {m} jours, et parfois {n} minutes de plus au guichet."
        "|À {place}, personne ne savait que c'était déjà réglé.|Si rien ne change avant {time}, appelez {name}."
        "|Notez bien le numéro {n}, on vous le demandera plus tard.|Le {date}, tout le monde se retrouve chez {name}."
    ),
    questions=_split(
        "Pourquoi est-ce que {thing} est toujours {state} depuis le {date} ?"
        "|Combien coûtent {n} exemplaires à {place} ?"
        "|Peux-tu m'expliquer la page {m} de {file} ?|Que dois-je répondre à {name} avant {time} ?"
        "|Laquelle des {m} solutions faut-il choisir pour {name} ?"
    ),
    asides=_split("Et l'étape {n} ?|Et {name} ?|Aussi à {place} ?|Avant {time} ?"),
    replies=_split("Oui, le numéro {n}.|Non, demandez à {name}.|Avant {time}.|Environ {n}."),
    words=_split("oui|non|encore|suite|merci|d'accord|bien|ensuite"),
    rules=_split(
        "Réponds toujours en {m} phrases au maximum.|Je m'appelle {name}, ne l'oublie pas."
        "|Mon budget ne dépasse jamais {n} euros.|Écris toujours les dates ainsi : {date}."
        "|Ne me propose rien à {place}."
    ),
    thanks=_split(
        "Merci !|Parfait, merci beaucoup.|Il fait beau à {place} aujourd'hui.|Bonjour, il est déjà {time}.|Super !"
    ),
    nods=_split("Avec plaisir !|C'est noté, je m'y tiendrai.|Compris : {n}.|Bonne journée à {name} !"),
    dates="{d:02d}/{m:02d}/{y}",
)

SPANISH = Language(
    code="es",
    names=_split("Lucía|Don Ernesto|Mateo|la señora Peña|Íñigo|Camila|Rubén|Marisol"),
    things=_split(
        "el contrato|la factura|el informe|la reserva|el huerto|la lavadora|el pedido|la reunión|el presupuesto"
        "|la tortilla|el servidor|la carta|el examen|la solicitud"
    ),
    states=_split("pendiente|al día|en revisión|fuera de plazo|disponible|en camino|en orden|sin terminar"),
    places=_split("Sevilla|Bogotá|Valencia|Lima|Córdoba|Montevideo|Bilbao"),
    statements=_split(
        "{thing} de {name} está {state} desde el {date}.|En {place} cuesta unos {n} euros, casi un {m} por ciento más."
        "|Según {file}, faltan {n} líneas por revisar.|{name} llegó a las {time} y esperó {m} minutos en la puerta."
        "|Nadie en {place} esperaba una respuesta tan rápida.|Guarda el número {n}, porque te lo pedirán otra vez."
        "|Después del {date} ya no se puede cambiar nada."
        "|Lo mejor es empezar por el paso {m} y dejar lo demás para mañana."
    ),
    questions=_split(
        "¿Por qué {thing} sigue {state} desde el {date}?|¿Cuánto valen {n} piezas en {place}?"
        "|¿Me explicas qué significa la línea {n} de {file}?|¿Qué le digo a {name} antes de las {time}?"
        "|¿Cuál de las {m} opciones le conviene a {name}?"
    ),
    asides=_split("¿Y el paso {n}?|¿Y {name}?|¿También en {place}?|¿Bastan {n}?"),
    replies=_split("Sí, el número {n}.|No, pregunta a {name}.|Unos {n}.|También en {place}."),
    words=_split("sí|no|sigue|vale|más|claro|bien|listo"),
    rules=_split(
        "Contesta siempre en {m} frases como mucho.|Llámame {name}, por favor.|No quiero gastar más de {n} euros."
        "|Escribe las fechas así: {date}.|No uses otra fuente que {file}."
    ),
    thanks=_split(
        "¡Gracias!|Muchas gracias, qué rápido.|Hoy hace calor en {place}.|Buenos días, ya son las {time}.|¡Genial!"
    ),
    nods=_split("¡De nada!|Entendido, así lo haré.|Apuntado: {n}.|¡Saludos a {name}!"),
    dates="{d:02d}/{m:02d}/{y}",
)

PORTUGUESE = Language(
    code="pt",
    names=_split("João|Dona Conceição|Thiago|Inês|Seu Antônio|Beatriz|Vinícius|Luísa"),
    things=_split(
        "o contrato|a fatura|o relatório|a reunião|o pedido|a máquina de lavar|o jardim|a receita|o servidor"
        "|a inscrição"
        "|o orçamento|a viagem|o telhado|a consulta"
    ),
    states=_split("em dia|pendente|em revisão|em atraso|disponível|fora do ar|quase no fim|em ordem"),
    places=_split("Lisboa|Recife|Coimbra|São Paulo|Maputo|Curitiba|Braga"),
    statements=_split(
        "{thing} de {name} está {state} desde {date}."
        "|Em {place} isso custa cerca de {n} reais, uns {m} por cento a mais."
        "|Segundo {file}, ainda faltam {n} linhas.|{name} chegou às {time} e ficou {m} minutos na fila."
        "|Ninguém em {place} sabia que já estava resolvido.|Guarde o número {n}, porque vão pedi-lo de novo."
        "|Depois de {date} não é mais possível mudar nada."
        "|O melhor é começar pelo passo {m} e deixar o resto para amanhã."
    ),
    questions=_split(
        "Por que {thing} continua {state} desde {date}?|Quanto custam {n} peças em {place}?"
        "|Você pode me explicar a linha {n} de {file}?|O que digo a {name} antes das {time}?"
        "|Qual das {m} opções é melhor para {name}?"
    ),
    asides=_split("E o passo {n}?|E {name}?|Também em {place}?|Bastam {n}?"),
    replies=_split("Sim, o número {n}.|Não, pergunte a {name}.|Uns {n}.|Também em {place}."),
    words=_split("sim|não|continua|certo|mais|claro|pronto|ok"),
    rules=_split(
        "Responda sempre em no máximo {m} frases.|Pode me chamar de {name}.|Não quero gastar mais de {n} reais."
        "|Escreva as datas assim: {date}.|Use apenas {file} como fonte."
    ),
    thanks=_split(
        "Obrigado!|Muito obrigada, foi rápido.|Hoje está chovendo em {place}.|Bom dia, já são {time}.|Que ótimo!"
    ),
    nods=_split("De nada!|Entendido, farei assim.|Anotado: {n}.|Um abraço para {name}!"),
    dates="{d:02d}/{m:02d}/{y}",
)

RUSSIAN = Language(
    code="ru",
    names=_split("Марина|Алексей Петрович|Ольга|Тимур|Дарья|Игорь|Светлана|Ринат"),
    things=_split(
        "договор|счёт|отчёт|огород|сервер|заявка|крыша|рецепт пирога|расписание|посылка|смета|письмо"
        "|стиральная машина|перевод"
    ),
    states=_split("в порядке|на проверке|под вопросом|в работе|без изменений|на согласовании|вне графика|на складе"),
    places=_split("Казань|Тверь|Новосибирск|Минск|Алматы|Псков|Самара"),
    statements=_split(
        "С {date} {thing} всё ещё {state}.|{name} платит за это {n} рублей, то есть на {m} процентов больше."
        "|В файле {file} осталось {n} строк, которые надо проверить.|Город {place} далеко, дорога займёт {m} часов."
        "|Если до {time} никто не ответит, начните с шага {m}.|Сохраните номер {n}, он ещё понадобится."
        "|{name} считает, что {date} всё станет ясно.|Обычно на такую работу уходит {m} дней и {n} минут."
    ),
    questions=_split(
        "Почему {thing} до сих пор {state}, если {name} обещает закончить к {date}?|Сколько стоят {n} штук?"
        "|Можешь объяснить строку {n} в файле {file}?|Что ответить до {time}, если спросит {name}?"
        "|Какой из {m} вариантов лучше, если {thing} {state}?"
    ),
    asides=_split("А шаг {n}?|А {name}?|До {time}?|Хватит {n}?"),
    replies=_split("Да, номер {n}.|Нет, после {time}.|Около {n}.|Это {state}."),
    words=_split("да|нет|дальше|хорошо|ещё|ясно|ладно|спасибо"),
    rules=_split(
        "Отвечай не длиннее {m} предложений.|Меня зовут {name}, запомни это.|Больше {n} рублей я тратить не хочу."
        "|Даты пиши всегда так: {date}.|Используй только файл {file}."
    ),
    thanks=_split("Спасибо!|Большое спасибо, очень быстро.|Доброе утро, уже {time}.|Сегодня опять дождь.|Отлично!"),
    nods=_split("Пожалуйста!|Понятно, так и буду делать.|Записано: {n}.|Передавайте привет, {name} — молодец!"),
    dates="{d:02d}.{m:02d}.{y}",
    heavy=0.4,
)

CHINESE = Language(
    code="zh",
    names=_split("王芳|李伟|张老师|陈经理|刘洋|小林|赵敏|周医生"),
    things=_split(
        "合同|发票|销售报告|厨房水管|登录页面|备份任务|花园围栏|签证申请|第二章|测试用例|数据库|体检结果|菜单|快递"
    ),
    states=_split("已经完成|还在审核|又延误了|比预期便宜|需要修改|暂时停用|运行正常|缺少签名"),
    places=_split("上海|成都|三楼会议室|广州|杭州|仓库|西安"),
    statements=_split(
        "从{date}起,{name}负责的{thing}{state}。|{name}在{place}花了{n}元,比去年多百分之{m}。"
        "|根据{file}的记录,还有{n}行没有检查。|如果{time}之前没有回复,请先做第{m}步。|{place}那边没有人知道{thing}{state}。"
        "|请记住编号{n},以后还会用到。|一般来说需要{m}天,手续另外要{n}分钟。|{date}大家会在{place}见面,把这件事说清楚。"
    ),
    questions=_split(
        "为什么{name}说{thing}{state}?|在{place}买{n}个要多少钱?|你能解释一下{file}的第{n}行吗?"
        "|{time}之前我应该怎么回复{name}?|这{m}个方案里哪一个更适合{name}?"
    ),
    asides=_split("第{n}步呢?|{name}呢?|{place}也行吗?|{n}个够吗?"),
    replies=_split("可以,选{n}号。|先问{name}。|大约{n}个。|{place}也行。"),
    words=_split("好|继续|对|嗯|是的|不行|然后呢|明白"),
    rules=_split(
        "回答请不要超过{m}句话。|请叫我{name}。|预算不能超过{n}元。|日期请写成{date}这样。|只能用{file}里的数据。"
    ),
    thanks=_split("谢谢!|太好了,非常感谢。|今天{place}又下雨了。|早上好,现在{time}。|哈哈,有意思。"),
    nods=_split("不客气!|明白了,我会照做。|已记下:{n}。|代我向{name}问好!"),
    dates="{y}年{m}月{d}日",
    joint="",
    heavy=0.85,
)

JAPANESE = Language(
    code="ja",
    names=_split("田中さん|佐藤さん|鈴木部長|美咲さん|高橋先生|健太さん|山本さん|直子さん"),
    things=_split(
        "契約書|請求書|会議の資料|台所の蛇口|ログイン画面|庭の柵|申請書|第二章|売上報告|予約|データベース|洗濯機|荷物|時刻表"
    ),
    states=_split(
        "完成しています|確認中です|また遅れています|予想より安いです|修正が必要です|止まっています|問題ありません"
    ),
    places=_split("京都|札幌|三階の会議室|福岡|横浜|倉庫|仙台"),
    statements=_split(
        "{date}から、{name}の{thing}は{state}。|{name}は{place}で{n}円を払いました。昨年より{m}パーセント高いです。"
        "|{file}によると、まだ{n}行が残っています。|{time}までに返事がなければ、手順{m}から始めてください。"
        "|{place}では、{thing}のことを誰も知りませんでした。|番号{n}は後で必要になるので、控えておいてください。"
        "|普通は{m}日かかり、手続きにさらに{n}分かかります。|{date}に{place}で集まって、詳しく話す予定です。"
    ),
    questions=_split(
        "{name}の{thing}はどうなっていますか?|{place}で{n}個買うといくらですか?|{file}の{n}行目を説明してもらえますか?"
        "|{time}までに{name}に何と返事すればいいですか?|{m}つの案のうち、{name}にはどれがいいですか?"
    ),
    asides=_split("手順{n}は?|{name}は?|{place}でも?|{n}個で足りる?"),
    replies=_split("はい、{n}番です。|{name}に聞いてください。|約{n}個です。|{time}までです。"),
    words=_split("はい|続けて|いいえ|次|了解|もっと|うん|なるほど"),
    rules=_split(
        "答えは{m}文以内にしてください。|私のことは{name}と呼んでください。|予算は{n}円までです。"
        "|日付は{date}のように書いてください。|資料は{file}だけを使ってください。"
    ),
    thanks=_split(
        "ありがとう!|助かりました、ありがとうございます。|今日も{place}は雨です。|おはようございます、もう{time}です。|いいですね!"
    ),
    nods=_split(
        "どういたしまして!|承知しました。そのようにします。|{n}ですね、覚えました。|{name}によろしくお伝えください。"
    ),
    dates="{y}年{m}月{d}日",
    joint="",
    heavy=0.8,
)

ARABIC = Language(
    code="ar",
    names=_split("فاطمة|أحمد|السيد حداد|ليلى|الدكتور يوسف|مريم|خالد|سلمى"),
    things=_split(
        "العقد|الفاتورة|التقرير|الحديقة|الخادم|الطلب|السقف|وصفة الكعك|جدول الرحلات|الطرد|الميزانية|الرسالة|الترجمة"
        "|الموعد"
    ),
    states=_split("قيد المراجعة|على ما يرام|تحت السيطرة|بلا تغيير|في الانتظار|خارج الخدمة|قيد التنفيذ"),
    places=_split("القاهرة|بيروت|الطابق الثالث|عمّان|تونس|الدار البيضاء|دبي"),
    statements=_split(
        "{thing} ما زال الأمر فيه {state} منذ {date}."
        "|المبلغ الذي دفعه {name} في {place} هو {n} دينار، بزيادة {m} بالمئة."
        "|حسب الملف {file} بقي {n} سطرا للمراجعة.|إذا لم يصل رد قبل الساعة {time} فابدأ بالخطوة {m}."
        "|لا أحد في {place} كان يتوقع هذه النتيجة.|احتفظ بالرقم {n} لأنك ستحتاج إليه لاحقا."
        "|يستغرق ذلك عادة {m} أيام، والأوراق {n} دقيقة أخرى.|سيكون اللقاء في {place} بتاريخ {date} لتوضيح كل شيء."
    ),
    questions=_split(
        "لماذا {thing} حتى الآن {state} منذ {date}؟|كم يكلف شراء {n} قطعة في {place}؟"
        "|هل يمكنك شرح السطر {n} في {file}؟"
        "|ماذا أقول إلى {name} قبل الساعة {time}؟|أي خيار من الخيارات وعددها {m} أنسب إلى {name}؟"
    ),
    asides=_split("والخطوة {n}؟|وماذا عن {name}؟|حتى {time}؟"),
    replies=_split("نعم، الرقم {n}.|لا، بعد {time}.|حوالي {n}."),
    words=_split("نعم|تابع|حسنا|لا|المزيد|تمام|شكرا"),
    rules=_split(
        "أجب دائما في {m} جمل على الأكثر.|اسمي {name}، تذكر ذلك.|ميزانيتي لا تتجاوز {n} دينار."
        "|اكتب التاريخ هكذا: {date}.|استخدم الملف {file} فقط."
    ),
    thanks=_split("شكرا!|شكرا جزيلا، كان ذلك سريعا.|الجو جميل اليوم في {place}.|صباح الخير، الساعة {time}.|رائع!"),
    nods=_split("على الرحب والسعة!|مفهوم، سألتزم بذلك.|سجلت الرقم {n}.|تحياتي إلى {name}!"),
    heavy=0.45,
)

HINDI = Language(
    code="hi",
    names=_split("सुनीता|राजेश|अनिल शर्मा|कविता|डॉ. मेहता|प्रिया|विकास|नेहा"),
    things=_split("अनुबंध|बिल|बगीचा|सर्वर|आवेदन|नल|व्यंजन विधि|समय सारणी|पार्सल|बजट|पत्र|अनुवाद|रिपोर्ट|टिकट"),
    states=_split("तैयार|ठीक|जाँच में|बंद|समय पर|सूची में|काम में|बेहतर"),
    places=_split("जयपुर|मुंबई|तीसरी मंज़िल|पुणे|लखनऊ|इंदौर|दिल्ली"),
    statements=_split(
        "{date} से {thing} {state} है।|{name} ने {place} में {n} रुपये दिए, जो {m} प्रतिशत ज़्यादा है।"
        "|{file} के अनुसार अभी {n} पंक्तियाँ बाकी हैं।|अगर {time} तक जवाब न आए, तो चरण {m} से शुरू करें।"
        "|{place} में किसी को इसकी उम्मीद नहीं थी।|संख्या {n} याद रखें, बाद में इसकी ज़रूरत पड़ेगी।"
        "|आम तौर पर इसमें {m} दिन लगते हैं और कागज़ी काम में {n} मिनट।|{date} को सब लोग {place} में मिलेंगे।"
    ),
    questions=_split(
        "{date} के बाद भी {thing} {state} क्यों है?|{place} में {n} चीज़ों का दाम कितना होगा?"
        "|क्या आप {file} की पंक्ति {n} समझा सकते हैं?|{time} से पहले {name} को क्या जवाब दूँ?"
        "|इन {m} विकल्पों में {name} के लिए कौन सा सही है?"
    ),
    asides=_split("और चरण {n}?|और {name}?|{time} तक?"),
    replies=_split("हाँ, संख्या {n}।|नहीं, {time} के बाद।|लगभग {n}।"),
    words=_split("हाँ|आगे|ठीक है|नहीं|और|अच्छा|धन्यवाद"),
    rules=_split(
        "हमेशा {m} वाक्यों में जवाब दें।|मेरा नाम {name} है, याद रखें।|मेरा बजट {n} रुपये से ज़्यादा नहीं है।"
        "|तारीख हमेशा ऐसे लिखें: {date}।|केवल {file} का उपयोग करें।"
    ),
    thanks=_split("धन्यवाद!|बहुत धन्यवाद, बड़ी जल्दी हो गया।|आज {place} में बारिश है।|सुप्रभात, {time} बज गए।|वाह!"),
    nods=_split("आपका स्वागत है!|समझ गया, ऐसा ही होगा।|{n} लिख लिया है।|{name} को मेरा नमस्ते!"),
    dates="{d:02d}/{m:02d}/{y}",
    heavy=0.6,
)

LANGUAGES: dict[str, Language] = {
    one.code: one for one in (ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE, RUSSIAN, CHINESE, JAPANESE, ARABIC, HINDI)
}

_MONTHS = _split("January|February|March|April|May|June|July|August|September|October|November|December")
_STEMS = _split("report|notes|config|orders|draft|budget|users|schedule|readme|index|worker|parser|invoice|sensor|plan")
_ENDINGS = _split("txt|md|py|csv|json|log|yaml|pdf|sql|ts")

# ---------------------------------------------------------------------------------------------------------------------
# Kinds of sessions
# ---------------------------------------------------------------------------------------------------------------------

EVERY = tuple(LANGUAGES)
USUAL = ("en", "en", "en", "en", "de", "fr", "es", "ru", "zh")


@attrs.frozen
class Kind:
    """A kind of session, in plain numbers. Ranges are tokens from (least, most).

    `style` is one of "talk" (questions and answers), "brief" (tiny questions, tiny answers), "words" (the user says one
    word), "preferences" (rules among small talk) and "monitor" (one scheduled prompt, one call, almost one result).
    `spread` is how sizes lie in their range: "even" or "log". `switch` is the chance that a turn changes the language.
    `pasted` is the chance that a question comes with a pasted text. `tools` is "none", "all" or "some" (one turn in
    three). `system` is the chance of a system message, `greeting` lets the assistant speak first, and `doubled` is the
    chance of a second user message in a row.
    """

    name: str
    style: str = "talk"
    question: tuple[int, int] = (5, 40)
    answer: tuple[int, int] = (10, 120)
    spread: str = "even"
    languages: tuple[str, ...] = USUAL
    switch: float = 0.0
    pasted: float = 0.0
    paste: tuple[int, int] = (500, 3000)
    tools: str = "none"
    calls: tuple[int, int] = (1, 5)
    result: tuple[int, int] = (20, 1500)
    system: float = 0.5
    greeting: bool = False
    doubled: float = 0.0


KINDS: tuple[Kind, ...] = (
    Kind("short chat"),
    Kind("very short chat", style="brief", question=(3, 8), answer=(3, 8), languages=("en", "en", "de", "es")),
    Kind("one-word turns", style="words", question=(1, 3), answer=(3, 60), languages=EVERY, switch=0.1),
    Kind("long answers", question=(10, 60), answer=(300, 3000)),
    Kind("pasted texts", question=(8, 40), answer=(20, 300), pasted=0.25),
    Kind("mixed sizes", question=(3, 3000), answer=(3, 3000), spread="log"),
    Kind("several languages", question=(5, 60), answer=(10, 250), languages=EVERY, switch=0.5),
    Kind("preferences and small talk", style="preferences", question=(5, 40), answer=(10, 120)),
    Kind("tools in all turns", question=(8, 60), answer=(20, 250), tools="all"),
    Kind("tools in some turns", question=(8, 60), answer=(20, 250), tools="some"),
    Kind("monitor", style="monitor", languages=("en",), tools="all", calls=(1, 1), result=(60, 300)),
    Kind("assistant first", greeting=True),
    Kind("two user messages in a row", doubled=0.3),
    Kind(
        "everything",
        question=(3, 600),
        answer=(5, 1500),
        spread="log",
        languages=EVERY,
        switch=0.15,
        pasted=0.08,
        tools="some",
        doubled=0.08,
    ),
)


def kind(name: str) -> Kind:
    """The kind of this name."""
    return next(one for one in KINDS if one.name == name)


# ---------------------------------------------------------------------------------------------------------------------
# Sentences
# ---------------------------------------------------------------------------------------------------------------------

_PROSE = 0.28  # tokens of an ASCII character in prose ...
_CODE = 0.31  # ... in code ...
_DIGITS = 0.42  # ... and in logs, tables and JSON


def _size(text: str, language: Language, light: float = _PROSE) -> float:
    """About how many tokens the text has."""
    plain = len(text.encode("ascii", "ignore"))
    return plain * light + (len(text) - plain) * language.heavy


def _pick(rng: random.Random, bounds: tuple[int, int], spread: str = "even") -> int:
    """A size within the bounds."""
    low, high = bounds
    if spread == "log":
        return min(high, max(low, round(math.exp(rng.uniform(math.log(low), math.log(high))))))
    return rng.randint(low, high)


def _day(rng: random.Random) -> dt.date:
    return dt.date(2017, 1, 1) + dt.timedelta(days=rng.randrange(3900))


def _file(rng: random.Random) -> str:
    return f"{rng.choice(_STEMS)}_{rng.randrange(10, 9999)}.{rng.choice(_ENDINGS)}"


def _filled(rng: random.Random, frame: str, language: Language) -> str:
    """The frame with its slots filled, beginning with a capital letter."""
    day = _day(rng)
    date = language.dates.format(y=day.year, m=day.month, d=day.day, month=_MONTHS[day.month - 1])
    text = frame.format(
        name=rng.choice(language.names),
        thing=rng.choice(language.things),
        state=rng.choice(language.states),
        place=rng.choice(language.places),
        n=rng.randint(12, rng.choice((60, 999, 99999))),
        m=rng.randint(2, 30),
        date=date,
        time=f"{rng.randrange(6, 23)}:{rng.randrange(60):02d}",
        file=_file(rng),
    )
    return _raised(text)


def _raised(text: str) -> str:
    return text[0].upper() + text[1:]


def _one(rng: random.Random, frames: tuple[str, ...], language: Language) -> str:
    return _filled(rng, rng.choice(frames), language)


def _nearest(rng: random.Random, frames: tuple[str, ...], language: Language, target: float, tries: int = 6) -> str:
    """Of some filled frames the one whose size is nearest to the target."""
    tried = [_one(rng, frames, language) for _ in range(tries)]
    return min(tried, key=lambda text: abs(_size(text, language) - target))


def _prose(rng: random.Random, language: Language, target: float) -> str:
    """Sentences of about this many tokens together; at least one."""
    if target <= 9:
        return _nearest(rng, language.replies, language, target)
    parts: list[str] = []
    room = target
    while room > 25:
        parts.append(_one(rng, language.statements, language))
        room -= _size(parts[-1], language)
    last = _nearest(rng, language.statements, language, room)
    if not parts or _size(last, language) < 2 * room:
        parts.append(last)
    return language.joint.join(parts)


def _question(rng: random.Random, language: Language, target: float) -> str:
    """What a user asks, with as much story before the question as the size allows."""
    if target <= 9:
        return _nearest(rng, language.asides, language, target)
    asked = _nearest(rng, language.questions, language, min(target, 25), tries=3)
    room = target - _size(asked, language)
    if room < 10:
        return asked
    story = _paragraphs(rng, language, room) if room > 250 else _prose(rng, language, room)
    gap = "\n\n" if room > 250 else language.joint
    return f"{story}{gap}{asked}"


def _paragraphs(rng: random.Random, language: Language, target: float) -> str:
    """Paragraphs and lists of about this many tokens, as long answers have them."""
    parts: list[str] = []
    room = target
    while room > 0:
        block = _block(rng, language, min(room, rng.randint(40, 200)))
        parts.append(block)
        room -= _size(block, language) + 1
    return "\n\n".join(parts)


def _block(rng: random.Random, language: Language, target: float) -> str:
    """One paragraph, list, heading with text, or piece of code."""
    shape = rng.random()
    if shape < 0.6 or target < 40:
        return _prose(rng, language, target)
    if shape < 0.72:
        title = f"## {rng.randint(2, 99)}. {_raised(rng.choice(language.things))}"
        return f"{title}\n\n{_prose(rng, language, target - 8)}"
    if shape < 0.9:
        mark = rng.choice(("-", "*", "1."))
        lines = [f"{mark} {_prose(rng, language, 20)}" for _ in range(max(2, round(target / 25)))]
        return "\n".join(lines)
    return f"```python\n{_code(rng, target)}\n```"


def _answer(rng: random.Random, language: Language, target: float) -> str:
    return _paragraphs(rng, language, target) if target > 150 else _prose(rng, language, target)


# ---------------------------------------------------------------------------------------------------------------------
# Machine text: code, logs, tables, JSON
# ---------------------------------------------------------------------------------------------------------------------

_VERBS = _split("load|send|merge|check|parse|count|sort|render|fetch|store|split|close|retry|match|build|trim")
_NOUNS = _split("order|user|token|page|batch|price|event|queue|cache|report|node|frame|ticket|label|route|lease")
_LEVELS = _split("INFO|INFO|INFO|DEBUG|DEBUG|WARN|ERROR")
_CITIES = _split("Oslo|Lagos|Porto|Pune|Quito|Turin|Hanoi|Perth|Lodz|Accra|Kyoto|Ghent")


def _lines(target: float, light: float, line: Callable[[], str]) -> str:
    """Lines made one by one until they have about this many tokens."""
    parts: list[str] = []
    room = target
    while room > 0:
        parts.append(line())
        room -= _size(parts[-1], ENGLISH, light) + 1
    return "\n".join(parts)


def _moment(rng: random.Random) -> dt.datetime:
    return dt.datetime.combine(_day(rng), dt.time(tzinfo=dt.UTC)) + dt.timedelta(milliseconds=rng.randrange(86400000))


def _stamp(moment: dt.datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _log(rng: random.Random, target: float) -> str:
    clock = _moment(rng)

    def line() -> str:
        nonlocal clock
        clock += dt.timedelta(milliseconds=rng.randrange(1, 90000))
        what = f"{rng.choice(_VERBS)} {rng.choice(_NOUNS)} {rng.randrange(99999)}"
        tail = rng.choice(("done", "started", "skipped", f"failed: timeout after {rng.randrange(9000)} ms", "queued"))
        return f"{_stamp(clock)} {rng.choice(_LEVELS)} {rng.choice(_NOUNS)}-{rng.randrange(40)} {what} {tail}"

    return _lines(target, _DIGITS, line)


def _code(rng: random.Random, target: float) -> str:
    def function() -> str:
        verb, noun, other = rng.choice(_VERBS), rng.choice(_NOUNS), rng.choice(_NOUNS)
        return (
            f"def {verb}_{noun}_{rng.randrange(9999)}({noun}s, limit={rng.randrange(5000)}):\n"
            f'    """{verb.capitalize()} every {noun} that has no {other} yet."""\n'
            f"    found = [{noun} for {noun} in {noun}s if {noun}.{other}_id != {rng.randrange(99999)}]\n"
            f"    if len(found) > limit:\n"
            f'        raise ValueError("too many {noun}s: %d" % len(found))\n'
            f"    return {{item.key: item.{other} for item in found[:{rng.randrange(2, 300)}]}}\n"
        )

    return _lines(target, _CODE, function)


def _table(rng: random.Random, target: float) -> str:
    def row() -> str:
        amount = f"{rng.randrange(90)},{rng.randrange(1, 900)}.{rng.randrange(100):02d}"
        return f"{rng.randrange(10**6)},{_day(rng)},{rng.choice(_CITIES)},{rng.choice(_NOUNS)},{amount}"

    return "id,date,city,item,amount,price\n" + _lines(max(1.0, target - 10), _DIGITS, row)


def _rows(rng: random.Random, target: float) -> str:
    def row() -> str:
        return json.dumps(
            {
                "id": rng.randrange(10**6),
                "item": rng.choice(_NOUNS),
                "city": rng.choice(_CITIES),
                "open": rng.random() < 0.5,
                "updated": _stamp(_moment(rng)),
                "total": rng.randrange(10**5) / 100,
            }
        )

    return "[" + _lines(target, _DIGITS, row).replace("\n", ",\n ") + "]"


def _listing(rng: random.Random, target: float) -> str:
    def line() -> str:
        return f"-rw-r--r-- 1 app app {rng.randrange(10**6):>7} {_day(rng)} src/{rng.choice(_NOUNS)}/{_file(rng)}"

    return _lines(target, _DIGITS, line)


def _error(rng: random.Random) -> str:
    """What a failed call says; it begins with "Error"."""
    where, number = _file(rng), rng.randrange(2, 9999)
    return rng.choice(
        (
            f"Error: no such file or directory: src/{where} (looked in {number} folders)",
            f"Error: HTTP 503 from node {number}, retry after {rng.randrange(2, 90)} s, trace {rng.randrange(10**9)}",
            f'Error: Traceback (most recent call last):\n  File "{where}", line {number}\nKeyError: {number * 7}',
            f"Error: permission denied for user app{number} on table {rng.choice(_NOUNS)}s",
        )
    )


def _paste(rng: random.Random, language: Language, target: float) -> str:
    """A pasted text: a log, code, a table or prose."""
    shape = rng.choice(("log", "code", "table", "prose"))
    if shape == "prose":
        return _paragraphs(rng, language, target)
    body = {"log": _log, "code": _code, "table": _table}[shape](rng, target)
    return f"```\n{body}\n```" if rng.random() < 0.5 else body


# ---------------------------------------------------------------------------------------------------------------------
# Tool calls
# ---------------------------------------------------------------------------------------------------------------------

Arguments = Callable[[random.Random], dict[str, Any]]
Result = Callable[[random.Random, float], str]

_TOOLS: tuple[tuple[str, Arguments, Result], ...] = (
    ("list_files", lambda rng: {"path": f"src/{rng.choice(_NOUNS)}", "depth": rng.randint(1, 5)}, _listing),
    ("read_file", lambda rng: {"path": f"src/{rng.choice(_NOUNS)}/{_file(rng)}"}, _code),
    ("query_orders", lambda rng: {"city": rng.choice(_CITIES), "above": rng.randrange(9999)}, _rows),
    (
        "tail_log",
        lambda rng: {"service": f"{rng.choice(_NOUNS)}-{rng.randrange(90)}", "last": rng.randint(5, 400)},
        _log,
    ),
    ("export_table", lambda rng: {"name": _file(rng), "since": _day(rng).isoformat()}, _table),
    ("search_notes", lambda rng: {"words": f"{rng.choice(_VERBS)} {rng.choice(_NOUNS)} {rng.randrange(999)}"}, _log),
)


def _called(rng: random.Random, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """One tool call of an assistant message."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call_{rng.getrandbits(96):024x}", "type": "function", "function": function}


def _tool_steps(rng: random.Random, kind: Kind, language: Language) -> list[Message]:
    """Calls with their results: at times all calls at once, at times one after the other."""
    left = _pick(rng, kind.calls)
    messages: list[Message] = []
    while left:
        now = rng.randint(1, left)
        left -= now
        picked = [rng.choice(_TOOLS) for _ in range(now)]
        calls = [_called(rng, name, arguments(rng)) for name, arguments, _ in picked]
        said = _prose(rng, language, 12) if rng.random() < 0.4 else None
        messages.append({"role": "assistant", "content": said, "tool_calls": calls})
        for call, (_, _, result) in zip(calls, picked, strict=True):
            failed = rng.random() < 0.1
            text = _error(rng) if failed else result(rng, _pick(rng, kind.result, "log"))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return messages


# ---------------------------------------------------------------------------------------------------------------------
# Sessions
# ---------------------------------------------------------------------------------------------------------------------


def made(seed: int, kind: Kind, turns: int) -> list[Message]:
    """A session of so many turns, the same for the same seed; fewer turns of it are its beginning.

    It ends with the assistant's last answer: `moments` gives the lengths at which a model is asked. Outside of the
    monitor no two turns are equal; single messages may be ("ok", "thanks").
    """
    rng = random.Random(f"{kind.name}/{seed}")  # noqa: S311
    language = LANGUAGES[rng.choice(kind.languages)]
    messages = _opening(rng, kind, language)
    routine = _routine(rng, kind) if kind.style == "monitor" else None
    seen: set[str] = set()
    for place in range(turns):
        if routine is not None:
            messages += _watched(rng, routine, place)
            continue
        if rng.random() < kind.switch:
            language = LANGUAGES[rng.choice(kind.languages)]
        messages += _new_turn(rng, kind, language, place, seen)
    return messages


def _opening(rng: random.Random, kind: Kind, language: Language) -> list[Message]:
    """What stands before the first user message."""
    messages: list[Message] = []
    if rng.random() < kind.system:
        text = f"You are a helpful assistant. {_prose(rng, ENGLISH, _pick(rng, (15, 300), 'log'))}"
        messages.append({"role": "system", "content": text})
    if kind.greeting:
        messages.append({"role": "assistant", "content": f"{_one(rng, language.nods, language)} {language.thanks[-1]}"})
    return messages


def _new_turn(rng: random.Random, kind: Kind, language: Language, place: int, seen: set[str]) -> list[Message]:
    """A turn that differs from every turn seen so far."""
    while True:
        asked, style = _asked(rng, kind, language, place)
        messages = [{"role": "user", "content": asked}]
        if rng.random() < kind.doubled:
            more = _question(rng, language, _pick(rng, kind.question, kind.spread))
            messages.append({"role": "user", "content": more})
        if kind.tools == "all" or (kind.tools == "some" and rng.random() < 1 / 3):
            messages += _tool_steps(rng, kind, language)
        messages.append({"role": "assistant", "content": _answered(rng, kind, language, style)})
        mark = "\0".join(str(message["content"]) for message in messages)
        if mark not in seen:
            seen.add(mark)
            return messages


def _asked(rng: random.Random, kind: Kind, language: Language, place: int) -> tuple[str, str]:
    """What the user says, and the style of the answer to it."""
    if kind.style == "words":
        first = place == 0
        return (_question(rng, language, 30) if first else rng.choice(language.words)), "talk"
    if kind.style == "preferences":
        return _stated(rng, kind, language)
    target = _pick(rng, kind.question, kind.spread)
    if rng.random() < kind.pasted:
        pasted = _paste(rng, language, _pick(rng, kind.paste, "log"))
        question = _question(rng, language, target)
        return (f"{question}\n\n{pasted}" if rng.random() < 0.7 else f"{pasted}\n\n{question}"), "talk"
    if target > 300 and rng.random() < 0.5:
        return f"{_question(rng, language, 20)}\n\n{_paste(rng, language, target - 20)}", "talk"
    return _question(rng, language, target), kind.style


def _stated(rng: random.Random, kind: Kind, language: Language) -> tuple[str, str]:
    """A rule, small talk or a question."""
    shape = rng.random()
    if shape < 0.35:
        return _one(rng, language.rules, language), "nod"
    if shape < 0.7:
        return _one(rng, language.thanks, language), "nod"
    return _question(rng, language, _pick(rng, kind.question)), "talk"


def _answered(rng: random.Random, kind: Kind, language: Language, style: str) -> str:
    if style == "nod":
        return _one(rng, language.nods, language)
    return _answer(rng, language, _pick(rng, kind.answer, kind.spread))


@attrs.frozen
class _Routine:
    """What a monitor says and calls again and again."""

    prompt: str
    tool: str
    arguments: dict[str, Any]
    result: str
    calm: str
    begun: dt.datetime
    every: dt.timedelta


_ORDERS = _split(
    "Scheduled check: call {tool} for {place} and tell me only what is unusual; the limit is {n}."
    "|It is time for the regular look at {thing}. Call {tool}, compare with {n}, answer in one line."
    "|[cron {m}] Watch {tool} and report when more than {m} are pending, otherwise say that all is well."
)
_CALMS = _split("Nothing unusual.|All is well, no action needed.|No change since the last check.|OK, within the limit.")


def _routine(rng: random.Random, kind: Kind) -> _Routine:
    tool, arguments, result = rng.choice(_TOOLS)
    return _Routine(
        prompt=_one(rng, tuple(order.replace("{tool}", tool) for order in _ORDERS), ENGLISH),
        tool=tool,
        arguments=arguments(rng),
        result=result(rng, _pick(rng, kind.result)),
        calm=rng.choice(_CALMS),
        begun=_moment(rng),
        every=dt.timedelta(minutes=rng.choice((5, 15, 60, 1440))),
    )


def _watched(rng: random.Random, routine: _Routine, place: int) -> list[Message]:
    """One round of the monitor: the same prompt and call, a result that differs by its time and one number."""
    call = _called(rng, routine.tool, routine.arguments)
    moment = routine.begun + place * routine.every
    result = f"checked {_stamp(moment)}, pending {rng.randrange(9)}\n{routine.result}"
    said = routine.calm if rng.random() < 0.7 else f"{routine.calm} ({rng.randrange(9)} pending)"
    return [
        {"role": "user", "content": routine.prompt},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": result},
        {"role": "assistant", "content": said},
    ]


def moments(messages: list[Message]) -> list[int]:
    """The lengths of the histories with which a model is asked: each ends right before an assistant message."""
    asking = ("user", "tool")
    pairs = enumerate(itertools.pairwise(messages), start=1)
    return [n for n, (one, two) in pairs if one["role"] in asking and two["role"] == "assistant"]


# ---------------------------------------------------------------------------------------------------------------------
# The same session in Anthropic Messages form
# ---------------------------------------------------------------------------------------------------------------------


def as_anthropic(messages: list[Message]) -> tuple[str, list[Message]]:
    """The system text and the messages in Anthropic form; all results of an assistant message are in one user message.

    A session in which the assistant speaks first keeps that order, which Anthropic's own service may refuse.
    """
    system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    turned: list[Message] = []
    before = ""
    for message in messages:
        role = message["role"]
        if role == "tool" and before == "tool":
            turned[-1]["content"].append(_result_block(message))
        elif role == "tool":
            turned.append({"role": "user", "content": [_result_block(message)]})
        elif role == "assistant" and message.get("tool_calls"):
            turned.append({"role": "assistant", "content": _call_blocks(message)})
        elif role != "system":
            turned.append({"role": role, "content": message["content"]})
        before = role
    return system, turned


def _result_block(message: Message) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
    return {**block, "is_error": True} if message["content"].startswith("Error") else block


def _call_blocks(message: Message) -> list[dict[str, Any]]:
    said = [{"type": "text", "text": message["content"]}] if message["content"] else []
    used = [
        {
            "type": "tool_use",
            "id": call["id"],
            "name": call["function"]["name"],
            "input": json.loads(call["function"]["arguments"]),
        }
        for call in message["tool_calls"]
    ]
    return said + used


# ---------------------------------------------------------------------------------------------------------------------
# The judge
# ---------------------------------------------------------------------------------------------------------------------

Count = Callable[[Message], int]

_SHARED = 20  # so many characters in common make a message one that was shortened, not one that was written


@attrs.frozen
class Judged:
    """What a collector's answer is worth.

    `tokens` of what was sent, whether that `fits`, and its `share` of the window.
    `whole_exchanges` at the end of sent, their `run_tokens`, the tokens that `could_hold` there, and `continuity`:
    the first by the second. It may be above 1 when the collector gave up the system or the first user message.
    `notice_tokens` are those of messages that equal none of the history, and `notice_share` their part of the window.
    `adjacent_notices` counts neighbours that the collector wrote both.
    `user_kept` is the share of all user tokens that stands whole; `first_kept`, `last_kept` and `order_kept` say
    whether the first user message and the last message stand whole, and whether what stands has its old order.
    """

    tokens: int
    fits: bool
    share: float
    whole_exchanges: int
    run_tokens: int
    could_hold: int
    continuity: float
    notice_tokens: int
    notice_share: float
    adjacent_notices: int
    user_kept: float
    first_kept: bool
    last_kept: bool
    order_kept: bool


def judge(history: list[Message], sent: list[Message], *, count: Count, window: int) -> Judged:
    """Compares what a collector sent with the history, whose last message is a user's or a tool's."""
    keys, sent_keys = [_key(one) for one in history], [_key(one) for one in sent]
    known = set(keys)
    places = _places(keys, sent_keys)
    tokens = sum(count(one) for one in sent)
    exchanges = _whole_run(history, keys, sent_keys)
    run_tokens = sum(count(one) for one in history[exchanges[0] : exchanges[-1]]) if exchanges else 0
    could_hold = _could_hold(history, count, window)
    notices = sum(count(one) for one, key in zip(sent, sent_keys, strict=True) if key not in known)
    return Judged(
        tokens=tokens,
        fits=tokens <= window,
        share=tokens / window,
        whole_exchanges=max(0, len(exchanges) - 1),
        run_tokens=run_tokens,
        could_hold=could_hold,
        continuity=run_tokens / could_hold if could_hold else 1.0,
        notice_tokens=notices,
        notice_share=notices / window,
        adjacent_notices=_adjacent(history, sent, sent_keys, known),
        user_kept=_user_kept(history, places, count),
        first_kept=_first_kept(history, keys, sent_keys),
        last_kept=bool(history) and len(history) - 1 in places,
        order_kept=_in_order(places, sent_keys, known),
    )


def _key(message: Message) -> str:
    """Equal messages have equal keys."""
    return json.dumps(message, sort_keys=True, ensure_ascii=False, default=repr)


def _places(keys: list[str], sent_keys: list[str]) -> list[int | None]:
    """For each sent message its place in the history, or None; no place is given twice.

    From the end backwards each takes the newest equal message that stands before what was matched already, and only
    when there is none the newest equal one at all (that one is then out of order).
    """
    free: dict[str, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        free[key].append(place)
    limit = len(keys)
    found: list[int | None] = []
    for key in reversed(sent_keys):
        open_places = free.get(key, [])
        before = [place for place in open_places if place < limit]
        newest = max(before or open_places, default=None)
        if newest is not None:
            open_places.remove(newest)
            limit = min(limit, newest)
        found.append(newest)
    return found[::-1]


def _in_order(places: list[int | None], sent_keys: list[str], known: set[str]) -> bool:
    """Whether the kept messages are a part of the history in its order; a copy too many breaks the order."""
    kept = [place for place in places if place is not None]
    copies = sum(key in known for key in sent_keys)
    return len(kept) == copies and all(one < two for one, two in itertools.pairwise(kept))


def _first_kept(history: list[Message], keys: list[str], sent_keys: list[str]) -> bool:
    """Whether a message equal to the first user message stands in sent (True when there is no user message)."""
    first = next((key for one, key in zip(history, keys, strict=True) if one["role"] == "user"), None)
    return first is None or first in sent_keys


def _user_kept(history: list[Message], places: list[int | None], count: Count) -> float:
    kept = {place for place in places if place is not None}
    sizes = Counter({place: count(one) for place, one in enumerate(history) if one["role"] == "user"})
    whole = sum(size for place, size in sizes.items() if place in kept)
    return whole / sizes.total() if sizes.total() else 1.0


def _starts(history: list[Message]) -> list[int]:
    """Where exchanges begin: at each user message that follows none. The last one is the open exchange."""
    roles = [one["role"] for one in history]
    return [n for n, role in enumerate(roles) if role == "user" and (n == 0 or roles[n - 1] != "user")]


def _whole_run(history: list[Message], keys: list[str], sent_keys: list[str]) -> list[int]:
    """The starts of the exchanges in the unbroken run at the end of sent; the last is the open one's.

    The run is what history and sent have in common at their ends: a message between, after or instead breaks it.
    """
    same = 0
    for one, two in zip(reversed(keys), reversed(sent_keys), strict=False):
        if one != two:
            break
        same += 1
    return [start for start in _starts(history) if start >= len(history) - same]


def _could_hold(history: list[Message], count: Count, window: int) -> int:
    """The tokens of the longest newest run of whole exchanges that fits, without the open one at the end.

    The system message and the first user message are set aside first; a run that reaches back to the first user
    message does not pay for it twice.
    """
    starts = _starts(history)
    if not starts:
        return 0
    room = window - sum(count(one) for one in history[: starts[0]] if one["role"] in ("system", "developer"))
    first = count(history[starts[0]])
    opened = sum(count(one) for one in history[starts[-1] :])
    held, best = opened, 0
    if held + (0 if len(starts) == 1 else first) > room:
        return 0
    for start, end in reversed(list(itertools.pairwise(starts))):
        held += sum(count(one) for one in history[start:end])
        if held + (0 if start == starts[0] else first) > room:
            break
        best = held - opened
    return best


def _adjacent(history: list[Message], sent: list[Message], sent_keys: list[str], known: set[str]) -> int:
    """How many neighbours in sent were both written by the collector."""
    written: dict[int, bool] = {}

    def may_be(n: int) -> bool:
        return sent_keys[n] not in known and sent[n]["role"] in ("user", "system", "developer")

    def is_written(n: int) -> bool:
        if n not in written:
            written[n] = not _shares(_text(sent[n]), _texts(history))
        return written[n]

    pairs = [n for n in range(len(sent) - 1) if may_be(n) and may_be(n + 1)]
    return sum(is_written(n) and is_written(n + 1) for n in pairs)


def _shares(text: str, others: Iterator[str]) -> bool:
    """Whether the text has so many characters in a row that one of the others has too."""
    pieces = {text[n : n + _SHARED] for n in range(len(text) - _SHARED + 1)}
    return bool(pieces) and any(
        other[n : n + _SHARED] in pieces for other in others for n in range(len(other) - _SHARED + 1)
    )


def _texts(history: list[Message]) -> Iterator[str]:
    return (_text(message) for message in history)


def _text(message: Message) -> str:
    """All text of a message: its content, the text of its parts, the arguments of its calls."""
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    calls = [str(call.get("function", {}).get("arguments", "")) for call in message.get("tool_calls") or []]
    return "\n".join([content or "", *calls])
