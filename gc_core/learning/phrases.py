"""
Phrases that mark statements about a user and their environment, by language.

The patterns are applied to sentences of at most ``extraction.MOST_CHARS`` characters, so that none takes long. In doubt
a sentence is not a statement: a missed fact can be repeated, a wrong one misleads later sessions.
"""

# ruff: noqa: E501 - a shape reads best as one line

from __future__ import annotations

import re
from typing import Final

import attrs

from gc_core.values.patterns import regex

_I = re.IGNORECASE

# A name, an address, a number: the look of a value, if nothing else identifies it.
_NAME = r"(?-i:[A-ZÀ-ÖØ-Þ][\w'’-]*(?: (?:(?:de|van|von|le|la|del|der)? ?)?[A-ZÀ-ÖØ-Þ][\w'’.-]*){0,3})"
_CODE = r"(?:https?://\S+|`[^`]+`|[\w./:@-]*(?:\d|\w[./:@]\w|/\w)[\w./:@-]*)"
_VALUE = rf"(?:{_CODE}|{_NAME})"


def _words(text: str, flags: int = _I) -> re.Pattern[str]:
    return regex(text, flags)


@attrs.frozen(kw_only=True)
class Shape:
    """
    A form of statement.

    Attributes:
        relation: The relation that it states; "" stands for the words of a group "r".
        pattern: Matches a whole clause from its beginning; the group "o" is the object, "s" a subject.
        subject: The subject, if the pattern has no group for it.
        several: See ``Stated``.
        changes: See ``Stated``.

    """

    relation: str
    pattern: re.Pattern[str]
    subject: str = "user"
    several: bool = False
    changes: bool = False


def _shape(relation: str, words: str, *, subject: str = "user", several: bool = False, changes: bool = False) -> Shape:
    return Shape(relation=relation, pattern=_words(words), subject=subject, several=several, changes=changes)


def _any(*words: str) -> re.Pattern[str]:
    return _words(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)")


VALUES: Final = _words(
    rf"(?<=[^.!?\s] ){_NAME}(?: {_CODE})?|(?<![\w/]){_CODE}|(?<=[\u3400-\u9fff])[A-Za-z][\w.+#-]*", 0
)
"""The look of a value anywhere but at the beginning of a sentence, where every word is capitalised."""


# -- what is not a statement
# --------------------------------------------------------------------------------------------

UNSURE: Final = _any(
    # English
    "maybe", "perhaps", "might", "i (?:think|guess|suppose|believe|wonder|wish|hope)", "probably", "if", "imagine",
    "suppose", "assum(?:e|ing)", "let'?s (?:say|pretend|assume|imagine)", "pretend", "what if", "would", "could",
    "say i", "hypothetically", "for example", "e\\.g\\.", "one day", "someday", "i'?ll", "going to", "plan(?:ning)? to",
    # German
    "vielleicht", "angenommen", "wenn", "falls", "ich (?:glaube|denke|vermute)", "vermutlich", "wahrscheinlich",
    "stell(?:en sie|t)? (?:dir|sich|euch) vor", "nehmen wir (?:\\w+ )?an", "würde", "wäre", "hätte", "könnte",
    "zum beispiel", "z\\. ?b\\.", "möglicherweise", "sagen wir",
    # French
    "peut-être", "si", "s'(?:il|ils|elle)(?! (?:te|vous) pla)", "imagin(?:e|ons|ez)", "suppos(?:e|ons|ez)", "mettons que", "disons", "je (?:pense|crois)",
    "pourrait", "serait", "j'aurais", "probablement", "par exemple", "admettons",
    # Spanish
    "quizás?", "tal vez", "a lo mejor", "imagin(?:a|emos|e)", "supon(?:gamos|ga|te)?", "pongamos", "digamos",
    "(?:yo )?creo", "pienso", "podría", "sería", "viviera", "fuera", "probablemente", "por ejemplo",
)  # fmt: skip
UNSURE_ZH: Final = _words(
    "如果|要是|假如|假设|假定|比方说|比如|也许|可能|大概|或许|我觉得|我想|我猜|打算|计划|想象|设想"
)

PASSING: Final = _any(
    "today", "tonight", "right now", "at the moment", "this (?:morning|afternoon|evening|week)", "tomorrow", "in a hurry",
    "in (?:a|an|one|two|three|five|ten|\\d+) (?:minutes?|hours?|days?)", "for a second", "this time", "yet",
    "heute", "morgen", "gerade", "momentan", "diesmal",
    "aujourd'hui", "demain", "ce (?:matin|soir)", "cette fois",
    "hoy", "mañana(?! por)", "ahora mismo", "esta (?:vez|tarde|noche)", "este momento",
)  # fmt: skip
PASSING_ZH: Final = _words("今天|明天|刚才|今晚|这次|目前正在")

REPORTED: Final = _words(
    r"(?:^|(?<!\w))(?:(?:he|she|they|someone|somebody|(?:my|the|our|a) (?:\w+ ){0,2}?(?:colleague|customer|client|friend"
    r"|boss|user|docs?|documentation|paper|manual|readme|article|book|log|error|journal)s?)(?: on \w+)?"
    r" (?:\w+ )?(?:said|says|say|wrote|writes|states?|claims?|told|tells|reads?|asked|wants?)"
    r"|it says|according to|(?:er|sie|man|jemand|kunde|kundin|kollege|kollegin|chef|chefin|anleitung|doku|freund)"
    r" (?:\w+ )?(?:sagte?|schrieb|schreibt|meinte?|will|behauptet)|(?:in|laut) (?:der|dem) (?:anleitung|doku|handbuch)"
    r"|(?:il|elle|on|client|collègue|copine|copain|ami|amie|chef|manuel|doc) (?:m'a |a )?(?:dit|écrit|veut|affirme)"
    r"|(?:él|ella|cliente|colega|amigo|amiga|jefe|jefa|manual|documento) (?:me )?(?:dice|dijo|escribió|quiere))(?!\w)"
)
REPORTED_ZH: Final = _words("(?:客户|同事|朋友|老板|文档|手册|他|她|他们|有人)(?:里|上)?(?:说|写|告诉|让|要|觉得)")

ASKED_FOR: Final = _any(
    "write", "translate", "add", "make", "create", "give me", "fix", "rename", "open", "remove", "cut", "show", "tell me",
    "help", "explain", "can you", "could you", "generate", "draft", "suggest", "find", "check", "delete", "i (?:want|need)",
    "schreib(?:en sie|e)?", "übersetz(?:en sie|e)?", "mach(?:en sie|e)?", "erstell(?:en sie|e)?", "zeig(?:en sie|e)?",
    "füg(?:en sie|e)?", "kannst du", "können sie", "erklär(?:en sie|e)?", "lösch(?:en sie|e)?", "welche[rs]?", "was", "wo",
    "écri(?:s|vez)", "tradui(?:s|sez)", "fai(?:s|tes)", "ajoute[zr]?", "corrige[zr]?", "crée[zr]?", "montre[zr]?",
    "explique[zr]?", "tu peux", "escrib[ea]", "traduc[ei]", "traduzca", "haz", "cambia", "borra", "crea", "muéstrame",
    "explica", "añade", "ayúdame",
)  # fmt: skip
"""The beginning of a request that concerns only this answer."""
ASKED_FOR_ZH: Final = _words("^(?:请)?(?:帮我|写|翻译|把|生成|解释|给我(?!的)|删|改一下|告诉我|假)")

NOTED: Final = _any(
    "note", "fyi", "btw", "by the way", "important", "reminder", "unrelated", "ps", "one more thing", "info", "for the record",
    "hinweis", "wichtig", "übrigens", "nebenbei", "au fait", "rappel", "important", "à noter", "por cierto", "importante",
    "nota", "ojo", "顺便说一下", "注意", "重要", "提醒",
)  # fmt: skip
"""Words before a colon after which the rest is a statement."""

QUOTED: Final = _words(r"[\"“”«»„「」『]")
LOGGED: Final = _words(
    r"^\s*(?:\d{4}-\d\d-\d\d|\[?[A-Z]{4,}\]?[: ](?!.*\b(?:I|we|my)\b)|[>$#%] |\w+Error\b|at \w+\()", 0
)
PRIVATE: Final = _any(
    "passwords?", "passphrase", "secrets?", "api[ _-]?keys?", "(?:access )?tokens?", "pin", "credit card", "passwort",
    "kennwort", "mot de passe", "contraseñas?", "clave",
)  # fmt: skip
"""Content that does not belong in a file of facts."""
PRIVATE_ZH: Final = _words("密码|密钥|口令")

# -- what ends or changes something ----------------------------------------------------------------------------------

ENDS: Final = _any(
    "no longer", "(?:not|n't|n’t)(?: \\w+){0,6} any ?more", "any ?more(?= |$)", "stopped", "(?:got )?rid of", "ripped out",
    "dropped", "abandoned", "is (?:out|history|dead)", "are (?:out|history)", "no more", "gave up on", "no need (?:to|for)", "no longer needed", "has taken over from", "took over from", "traded", "gave up", "(?:migrated|moved|switched|got|went|changed)(?: \\w+)? (?:off|away|over|from)",
    "replaced", "sold", "retired", "left", "quit", "resigned", "instead of", "forget", "ignore what", "scrap", "scratch",
    "disregard", "never ?mind", "is gone", "are gone", "not needed", "is fine now", "are fine now", "moved on from", "and no",
    "nicht mehr", "kein\\w* \\w+ mehr", "vergiss", "vergessen sie", "abgeschafft", "von [\\w.+-]+ (?:zu|auf|nach)", "statt(?= )", "in rente", "gekündigt",
    "hinfällig", "passé", "nicht mehr nötig", "ausgelernt", "verkauft", "gewechselt", "abgelöst", "ersetzt",
    "ne [\\w ]+ plus", "n'(?:est|a|ai|utilis\\w+|habit\\w+|enseign\\w+|\\w+) plus", "oublie[zr]?", "abandonné\\w*", "quitté\\w*",
    "laissé tomber", "ne tient plus", "plus besoin", "nous a quittés?", "n'est plus", "ne sont plus", "c'est (?:terminé|fini)", "remplacé\\w*", "vendu", "parti\\w* à la retraite", "fini",
    "ya no", "migramos", "cambió de", "olvida(?:te)?", "olvid[ae]", "dejamos", "dejé", "abandonamos", "renunció", "se fue", "se jubiló", "vendí",
    "cambiamos", "reemplaz\\w+", "en lugar de", "en vez de",
)  # fmt: skip
ENDS_ZH: Final = _words(
    "不用管|不用了|不再|不是.{1,8}了|不用.{1,8}了|忘掉|忘了吧|作废|取消|从.{1,10}(?:换|改|迁|搬)|走了|离职|退休|卖了|可以用了"
)

CHANGED: Final = _any(
    "changed", "now", "these days", "nowadays", "has (?:been )?moved", "(?:got|was|were|been) (?:moved|changed|renamed)", "we(?:'ve| have) moved",
    "since (?:january|february|march|april|may|june|july|august|september|october|november|december)", "new", "from now on",
    "(?:have |'ve )?(?:moved|switched|migrated|relocated|changed) to", "turned", "going forward",
    "umgebaut", "jetzt", "inzwischen", "mittlerweile", "neue[rsn]?", "neuerdings", "nun", "umgestellt", "umgezogen", "gezogen", "seit",
    "maintenant", "désormais", "à présent", "passe (?:à|au)", "nouve(?:au|lle|l)", "déménagé", "passée?s?", "changé", "finalement",
    "ahora", "actualmente", "pasó a", "pasa a", "nuev[oa]", "mudado", "mudé", "cambió", "pasamos",
)  # fmt: skip
CHANGED_ZH: Final = _words("现在|改成|改为|换成|换到|搬到|变成|新的|已经")

# -- how to work ----------------------------------------------------------------------------

LASTING: Final = _any(
    "from now on", "every (?:single )?time(?=[.! ]*$)", "going forward",
    "only(?=(?:,? (?:please|thanks?|thank you))?[.! ]*$)", "follow [\\w -]{3,40} here", "(?:don't|do not|dont) ever", "without exception", "throughout(?=[.! ]*$)",
    "durchgehend", "ausnahmslos", "sans exception", "sin excepción", "in this (?:repo|repository|project|codebase)", "at all times", "without asking(?: me)?", "(?:always|never|ever)(?=[.! ]*$)",
    "(?:we|please|should|must|shall|and|but|to|be|repo|here|replies|answers|code) (?:always|never)", "always,? please",
    "(?<=[,;] )(?:always|never)", "i want you to (?:always|never)",
    "immer(?! (?:noch|wieder|mehr))", "nie(?= .*(?<!\\w)(?:ohne|mit|in|im|auf|de[rnm]|die|das|eine?n?|direkt)(?!\\w))", "niemals", "stets", "grundsätzlich", "ab (?:jetzt|sofort)", "künftig", "in zukunft", "ohne mich zu fragen",
    "in diesem (?:repo|projekt|repository)",
    "toujours", "jamais", "à partir de maintenant", "désormais", "à l'avenir", "systématiquement", "dans ce (?:dépôt|projet)",
    "siempre", "nunca", "jamás", "a partir de ahora", "de ahora en adelante", "en este (?:repo|repositorio|proyecto)",
)  # fmt: skip
LASTING_ZH: Final = _words(
    "(?:注释|代码|回答|文档|回复|邮件|报告|金额|日期|数字).{0,4}(?:必须|都要|只能|都用|都保留|都写)|以后|一律|永远|总是|始终|一直用|从现在起|今后|绝不|从不|每次都"
)

EVERY: Final = _words(
    r"^(?:every|each|all|any(?:thing)?|whatever you|tous|toutes|tout ce que|jede[rs]?|alle|alles|tod[oa]s?|cada)(?!\w).{0,60}(?<!\w)"
    r"(?:must|has to|have to|needs?(?! (?:a |to be )?(?:fix|rebas|updat))|should|ought to|doit|doivent|muss|müssen|soll|sollen"
    r"|braucht|brauchen|deben?|tienen? que|necesitan?)(?!\w)"
)
"""Words that apply to all of something: a rule without "always"."""

MANNER: Final = _any(
    "when you (?:answer|reply|respond|talk|write)", "(?:in|with) your (?:answers|replies|responses)", "(?:your|all) (?:answers|replies)",
    "talk to me", "address me", "speak to me", "answer me", "reply to me",
    "duz(?:e|en)?(?: wir| sie)? (?:mich|uns|bitte)", "siez(?:e|en)?(?: sie)? mich", "antworte(?:n sie)?(?: mir)?(?: bitte)? (?:nur |auf |in |kurz|knapp)", "sprich mit mir",
    "tutoie[sz]?[- ]moi", "vouvoie[sz]?[- ]moi", "réponds?[- ]moi (?:en|toujours|sans|par)", "parle[- ]moi",
    "trátame", "tutéame", "háblame", "respóndeme (?:en|sin|solo)", "contéstame (?:en|sin|solo)", "en tus respuestas",
)  # fmt: skip
"""How the user wants to be addressed: a rule without "always"."""

LASTING_FIRST: Final = _words(r"^(?:please )?(?:always|never)(?= \w)")
"""The beginning of a rule; elsewhere in a sentence "always" mostly describes someone or something."""

OF_THINGS: Final = _words(
    r"^(?:the|these|some|many|you(?! (?:must|should|always|never|can))|der|die|das|ein|eine|le|la|les|l'|un|une|el|los|las|una)"
    r"(?![\w])(?!.*(?<!\w)(?:please|must|should|shall|bitte|muss|müssen|soll|sollen|doit|doivent|s'il te|s'il vous|por favor"
    r"|deben?|always be|never be)(?!\w))(?!.*, (?:toujours|immer|siempre|always|never|jamais|nie|nunca))"
)
"""Words after which "always" describes something rather than asks for it."""

OF_MYSELF: Final = _words(
    r"^(?:and |but |so |well |actually )?(?:i(?!'d (?:like|prefer|rather)| (?:want|prefer|would|expect))"
    r"|he|she|they|it|this|that|there|ich(?! (?:möchte|will|bevorzuge|hätte))|er|es|das|je(?! (?:veux|préfère|voudrais))"
    r"|j'(?!aimerais)|il|elle|ça|c'est|yo|él|ella|he|ha|my|mein\w*|mon|ma|mi)(?![\w’])"
)
"""Words after which "always" and "never" describe someone and bind no one."""

LEAD: Final = _words(
    r"^(?:(?:hi|hello|hey|good morning|also|and|btw|by the way|ok|okay|so|oh|well|actually|please|fyi|note|unrelated|but"
    r"|hallo|guten tag|moin|also|und|ach|übrigens|bitte|aber|bonjour|salut|et|alors|au fait|mais|hola|buenas|y|bueno|pero"
    r"|por cierto|morning|thanks|danke|merci|gracias)(?![\w'’])[\s,!.:]*){0,4}(?:for|in|pour|dans|para|für) (?:the |our |my |les |le |la |nos |mes |los |las |mis |el )?[\w-]+ (?:(?=(?:i|we|je|on|nous)\s)|(?=j'))"
    r"|^(?:(?:hi|hello|hey|good morning|also|and|btw|by the way|ok|okay|so|oh|well|actually|please|fyi|note|unrelated|but"
    r"|hallo|guten tag|moin|also|und|ach|übrigens|bitte|aber|bonjour|salut|et|alors|au fait|mais|hola|buenas|y|bueno|pero"
    r"|por cierto|morning|thanks|danke|merci|gracias)(?![\w'’])[\s,!.:]*){0,4}"
)
LEAD_ZH: Final = _words("^(?:你好|您好|嗨|对了|顺便说一下|另外|还有|请|那个)+[，,！! ]*")

TAIL: Final = _words(
    r"\s{0,9}(?:(?:,|by the way|btw|now|these days|nowadays|any ?more|too|though|as well|at the moment|currently|last \w+"
    r"|over the (?:summer|winter)|for (?:the|that)\b.*+|since\b.*+|because\b.*+|so that\b.*+|just so\b.*+|every (?:day|week)"
    r"|with my\b.*+|and (?:i|we|it|they)\b.*+|but\b.*+|eigentlich|jetzt|übrigens|seit\b.*+|weil\b.*+|und (?:ich|wir|brauche)\b.*+"
    r"|auch dort|depuis\b.*+|maintenant|désormais|avec (?:ma|mon)\b.*+|cet (?:été|hiver)|parce\b.*+|et (?:je|j'|nous|on)\b.*+"
    r"|desde\b.*+|ahora|porque\b.*+|y (?:yo|me|no)\b.*+|el mes\b.*+|s'il (?:te|vous) plaît|por favor|please|bitte)\s*+)+$"
)

# -- the shapes ------------------------------------------------------------------------------------------------------

_O = r"(?P<o>.{1,80})$"
_NP = r"(?P<s>(?:(?!(?:the|my|our|is|are|it|this|that|there|he|she|they|what|i|we|you)\b)[\w'’-]+ ){0,3}(?!(?:it|this|that|there|he|she|they|what|i|we|you|everything)\b)[\w'’-]+)"
_PLACES = (
    r"(?:server|database|db|postgres|mysql|redis|staging|production|prod|test|dev|host|port|url|endpoint|repo|repository"
    r"|dashboards?|docs|wiki|api|cluster|bucket|registry|region|standup|stand-up|meeting|retro|warehouse|logs?|backups?"
    r"|proxy|vpn|gateway|config|site|website|app|service|queue|cache|environment|data ?set|data|domain|office|deadline)"
)
_KIN = (
    r"(?:son|daughter|kid|child|wife|husband|partner|girlfriend|boyfriend|brother|sister|mother|mom|mum|father|dad|dog|cat"
    r"|boss|manager|supervisor|lead|teacher|doctor|team|company|name|job|email|timezone|time zone|birthday|phone|address"
    r"|editor|stack|language|shell|browser|laptop|pronouns)"
)

_NO_TASK = r"(?!(?:reservation|order|booking|ticket|confirmation|case|tracking|flight|next|last|first|question|problem|issue|guess|point|bad|plan|goal|idea)\b)"
_NO_TASK_DE = r"(?!(?:frage|problem|ziel|idee|plan|fehler|vorschlag)\b)"
_DAYS_DE = r"(?:montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags|jeden \w+|jede woche)"

_ENGLISH = (
    _shape("is called", rf"(?:my name(?:'s| is)|(?:you can |please |just )?call me|i'm called|i go by) (?P<o>{_NAME})"),
    _shape("is called", rf"this is (?P<o>{_NAME})(?: (?:here|from)\b.*)$"),
    _shape("lives in", r"(?:i|we)(?:'ve| have)? (?:just |recently |also )?(?:moved|relocated)(?: from [^,]{2,40})? to (?P<o>[^,]{2,60})$", changes=True),
    _shape("lives in", r"(?:i|we)(?:'m|'re| am| are)? (?:all |both |currently )?(?:live|reside|based|living|located) (?:\w+ )?(?:in|near|outside|at) " + _O),
    _shape("is from", rf"i(?:'m| am) (?:originally )?from (?P<o>{_NAME})$"),
    _shape("works as", r"i(?: currently| now)? work as (?:an? )?" + _O),
    _shape("works at", r"i(?: currently| now)? work (?:at|for) (?P<o>(?:an? |the )?.{2,60})$"),
    _shape("cannot have", r"i(?:'m| am) (?:\w+ )?allergic to " + _O, several=True),
    _shape("cannot have", r"i (?:can't|cannot|can’t|don't|do not) (?:eat|drink|tolerate|stand) " + _O, several=True),
    _shape("runs", r"i (?:run|lead|manage|maintain|own|head) (?P<o>(?:the|a|an|our|my) .{3,60})$", several=True),
    _shape("is", r"i(?:'m| am)(?: doing)? an? (?!(?:bit|little|lot|huge|big|fan|few|while|hurry|minute|moment|loss|mess|total|sure|call)\b)(?P<o>.{3,60}?)(?: (?:working|trying|looking|who|and i)\b.*)?$", several=True),
    _shape("is", r"i(?:'m| am) (?:\w+ )?(?P<o>vegan|vegetarian|left-handed|colou?r-?blind|diabetic|deaf|blind|retired|dyslexic|married|divorced|pregnant)$", several=True),
    _shape("studies", r"i(?:'m| am)? (?:doing|studying|study) (?:an? |my )?(?P<o>(?:phd|master|bachelor|degree|[a-z]+ology)\b.{0,60})$"),
    _shape("is away", r"i(?:'m| am) (?:off|away|out|unavailable|not available) on (?P<o>\w+days?\b.{0,40})$"),
    _shape("has", r"(?:i|we)(?: have|'ve got| have got| own) (?P<o>(?:an? |one|two|three|four|five|\d+ )?(?:\w+ ){0,2}(?:dogs?|cats?|kids?|child(?:ren)?|sons?|daughters?|brothers?|sisters?|horses?|rabbits?|cars?|bikes?|twins|diabetes|asthma|adhd|dyslexia)\b.{0,60})$", several=True),
    _shape("has", rf"(?:i|we)(?:'ve got| now have| have got) an? (?P<o>{_NAME}.{{0,30}})$", several=True),
    _shape("drives", r"i (?:now )?drive " + _O),
    _shape("speaks", rf"i (?:only |also )?speak (?P<o>{_NAME}.{{0,40}})$", several=True),
    _shape("writes", rf"i write (?P<o>{_NAME}.{{0,40}})$", several=True),
    _shape("prefers", r"i (?:really |much |strongly |always )?prefer (?!to\b|not|that|this|it\b)" + _O, several=True),
    _shape("likes", r"(?:i|we) (?:really |absolutely )?(?:love|hate|dislike) (?!to\b|it\b|this|that|the idea|how|your|when)" + _O, several=True),
    _shape("uses", r"(?:i|we)(?: (?:now|all|mostly|only|always|still))? use (?!the (?:same|wrong)|it\b|this|that|them)(?P<o>.{1,60})$", several=True),
    _shape("uses", r"we(?:'re| are) (?:now |all |still )?(?:using|on) (?!the (?:same|wrong)|it\b|this|that|them|track|time)" + _O, several=True),
    _shape("uses", r"(?:i|we)(?:'ve| have)? (?:just |recently |finally )?(?:switched|migrated|changed)(?: over)?(?: from [^,]{1,30}?)? to (?P<o>.{1,40})$", several=True, changes=True),
    _shape("uses", r"(?:i|we)(?:'ve| have)? (?:just |recently )?(?:ripped out|dropped|replaced|ditched) .{1,30} (?:with|for|by) " + _O, several=True, changes=True),
    _shape("does", r"(?:i|we) (?P<r>do|code|program|develop) (?:all |most of )?(?:my |our |the )?(?P<s>[\w ]{2,25}) (?:in|with|on) " + _O),
    _shape("", r"we (?:all )?(?P<r>deploy|ship|host|run|store|schedule|test|build|release|publish|document|log|monitor|track)(?: \w+){0,3}? (?:to|on|with|at|in|using|via) " + _O, subject="we"),
    _shape("runs on", r"(?:everything(?: we have)?|all (?:of )?(?:our|the) [\w ]{2,25}|it's all|all of it)(?: (?:is|are|now))? ?(?:runs?|lives?|scheduled|hosted|deployed|stored|running|built)? ?(?:on|with|in|at) " + _O, subject="we"),
    _shape("runs on", rf"it's all (?P<o>{_VALUE})", subject="we"),
    _shape("is", rf"my (?:new |current )?(?P<s>{_KIN})(?:'s name)?(?: is(?: now)?(?: called| named)?|'s) (?P<o>{_VALUE}.{{0,40}})$"),
    _shape("is", rf"my (?P<s>{_KIN}) (?P<o>{_NAME}(?: (?:is|lives|works|loves)\b.{{1,50}}))$"),
    _shape("is", rf"(?:my|our) (?:new |current )?(?!(?:reservation|order|booking|ticket|confirmation|case|tracking|flight|next|last|first|question|problem|issue)\b)(?P<s>(?:\w+ ){{0,2}}\w+)(?: is(?: now| called| named)?| are(?: now)?|'s) (?P<o>{_VALUE}(?: \w+){{0,3}})$"),
    _shape("is", r"(?:my|our) (?P<s>(?:favou?rite|preferred|default|usual) \w+) (?:is|are) " + _O),
    _shape("is at", rf"(?:the |our |my |all )?(?P<s>(?:[\w'-]+ ){{0,3}}{_PLACES})(?: \w+)? (?:(?:is|are|lives?|runs?|sits?|stays?)(?: now)?(?: located| hosted| running| available| reachable)?|(?:has |have )?(?:been |got |was )?moved)(?: (?:at|in|on|to|under|from))+ (?P<o>(?:port |the )?(?:\w+ ){{0,3}}?{_VALUE}.{{0,30}})$"),
    _shape("is", rf"(?P<o>{_NAME}) (?:is|are) the (?P<s>(?:person|one|guy|admin|lead|manager|contact|owner)(?: who)?[\w ]{{0,40}})$"),
    _shape("is", rf"(?P<s>[\w ]{{3,30}}?) (?:get|are|is) (?P<r>approved|reviewed|handled|done|managed) by (?P<o>{_NAME}).{{0,20}}$", changes=True),
    _shape("is", rf"(?P<s>{_NAME}) (?:just )?turned (?P<o>\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty)(?!\w).{{0,20}}$", changes=True),
)  # fmt: skip

_MORE_ENGLISH = (
    _shape("is called", rf"(?P<o>{_NAME}) (?:here|speaking)$"),
    _shape("is", rf"(?P<o>{_NAME})(?:'s| is) (?:my|our) (?:new |current )?(?P<s>[a-z][\w -]{{2,40}})$"),
    _shape("is", rf"(?:my|our) (?:new |current )?{_NO_TASK}(?P<s>(?:[\w-]+ ){{0,3}}[\w-]+) (?:is|are) (?:now )?(?:called|named|set to) (?P<o>[\w./-]{{1,40}})$"),
    _shape("is", rf"(?:my|our) (?:new |current )?{_NO_TASK}(?P<s>(?:[\w-]+ ){{0,3}}[\w-]+)(?: is|'s| are) (?:now )?(?:an? |the )?(?P<o>{_VALUE}(?: ?\S+){{0,3}})$"),
    _shape("is at", rf"(?:all )?(?:my|our) (?P<s>(?:[\w-]+ ){{0,2}}[\w-]+)(?: is| are)? (?:sits?|lives?|runs?|stored|kept|hosted|located|based) (?:at|in|on|under|with) (?:the )?(?P<o>(?:\w+ ){{0,2}}{_VALUE}.{{0,30}})$"),
    _shape("is on", rf"(?P<s>{_PLACES}) (?:is|are|runs?) (?:still |now )?(?:on|in) (?P<o>{_VALUE}.{{0,30}})$"),
    _shape("uses", rf"(?:we|i)(?:'re|'m| are| am) (?:still |stuck |standardi[sz]ed |all |now ){{0,2}}on (?P<o>{_VALUE}.{{0,40}})$", several=True),
    _shape("uses", r"(?:we|i) (?:swear by|rely on|depend on|stick (?:to|with)|work (?:with|in)|code in|write (?:everything|it all) in|go with|standardi[sz]ed on) (?!it\b|this|that|them)" + _O, several=True),
    _shape("uses", rf"(?:we|i)(?:'ve| have)? (?:just |recently |finally )?(?:adopted|gone (?:back )?to|went back to|had to go back to|chose|picked) (?P<o>{_VALUE}.{{0,20}})$", several=True, changes=True),
    _shape("uses", rf"had to go back to (?P<o>{_VALUE})$", several=True, changes=True),
    _shape("runs on", r"(?:the |our )?whole (?:thing|stack|app|site|system|lot) (?:runs?|lives?|is)(?: hosted| built)? (?:on|in|with) " + _O, subject="we"),
    _shape("", r"(?P<s>(?:all |our |my )?(?:[\w-]+ ){0,3}[\w-]+s) are (?:always |all )?(?P<r>written|kept|stored|hosted|deployed|named|formatted|built|tested|tracked|sent|billed|invoiced|published) (?:in|on|with|at|via|to|by) " + _O),
    _shape("is", r"we(?:'re| are) an? (?!(?:bit|little|lot|few|while|long)\b)(?P<o>.{5,60})$", subject="we", several=True),
    _shape("has", r"(?:i|we) have (?P<o>(?:\w+ )?(?:diabetes|asthma|adhd|arthritis|migraines|celiac|an? (?:dog|cat|son|daughter|nut allergy|allergy)\b).{0,30})$", several=True),
    _shape("is", r"i(?:'m| am) (?P<o>(?:dyslexic|autistic|colou?rblind|deaf|blind|bilingual|self-employed|freelance|left handed|right-handed|a student))$", several=True),
    _shape("studies", r"i(?:'m| am)? (?:study|studying) (?P<o>\w.{2,40})$"),
    _shape("works at", r"(?:i|we)(?:'ve| have)? (?:just )?(?:joined|started (?:at|working (?:at|for))|been transferred to|transferred to) " + _O, changes=True),
)  # fmt: skip

_GERMAN = (
    _shape("is called", rf"(?:ich hei(?:ß|ss)e|ich bin (?:der|die)|mein name ist|nenn(?:en sie|t)? mich) (?:übrigens )?(?P<o>{_NAME})"),
    _shape("lives in", rf"(?:ich|wir) (?:bin|sind) .{{0,30}}?nach (?P<o>{_NAME}) (?:um)?gezogen$", changes=True),
    _shape("lives in", r"(?:ich|wir) (?:wohnen?|leben?)(?: (?:jetzt|in der nähe|zur zeit|seit \w+ \w+))* (?:in|bei|auf|nahe) (?P<o>.{2,50})$"),
    _shape("is from", rf"ich komme (?:ursprünglich )?aus (?P<o>{_NAME})"),
    _shape("works as", r"ich arbeite (?:jetzt )?als " + _O),
    _shape("works as", rf"von beruf bin ich (?:eigentlich )?(?P<o>{_NAME})"),
    _shape("works at", r"ich arbeite (?:jetzt )?(?:in|bei|für|an) " + _O),
    _shape("works at", r"sondern (?:jetzt )?in (?P<o>.{3,50})$", changes=True),
    _shape("cannot have", r"ich (?:vertrage|esse|trinke|mag) (?:kein\w*) " + _O, several=True),
    _shape("cannot have", r"ich bin (?:\w+ )?allergisch (?:gegen|auf) " + _O, several=True),
    _shape("is", r"ich bin (?:von beruf |ein |eine )?(?P<o>(?-i:[A-ZÄÖÜ][\w-]+(?:in|er|ist|ent|or|ant|eur|arzt|frau|mann|kraft|arier|aner|wirt)))$", several=True),
    _shape("has", r"(?:ich|wir) haben? (?P<o>(?:eine?n? |zwei |drei |vier )?(?:\w+ )?(?:hunde?|katzen?|kinder|kind|sohn|söhne|tochter|töchter|autos?|brüder|bruder|schwestern?|diabetes|asthma)\b.{0,50})$", several=True),
    _shape("has", r"(?:ich|wir) haben? (?P<o>(?:eine?n? |zwei |drei |vier )?(?:\w+ )?(?:hunde?|katzen?|kinder|kind))$", several=True),
    _shape("drives", rf"ich fahre (?:jetzt )?(?:eine?n? )(?P<o>{_NAME}.{{0,30}})$"),
    _shape("speaks", rf"ich spreche (?P<o>{_NAME}.{{0,40}})$", several=True),
    _shape("prefers", r"ich bevorzuge (?!es)" + _O, several=True),
    _shape("uses", r"(?:ich|wir) (?:benutzen?|verwenden?|nutzen?|setzen?|arbeiten?)(?: (?:im|in der|auf der|jetzt|nur|hier|alle|mit|auf|intern)(?: (?:büro|arbeit|firma|team|projekt))?)* (?!diese|das|den|die|es)(?P<o>.{2,40}?)(?: ein)?$", several=True),
    _shape("uses", r"(?:ich|wir) (?:sind|bin|haben|habe) .{0,40}?(?:zu|auf) (?P<o>[\w.+-]+(?: [\w.+-]+)?) (?:gewechselt|umgestiegen|umgestellt|umgezogen|gewandert)$", several=True, changes=True),
    _shape("uses", r"(?:inzwischen|mittlerweile|jetzt|seit \w+) (?:haben|sind|nutzen|benutzen|verwenden) wir .{0,20}?(?:auf |zu )?(?P<o>[\w.+-]+)(?: umgestellt| gewechselt| umgestiegen)?$", several=True, changes=True),
    _shape("", r"wir (?P<r>hosten|deployen|betreiben|speichern|bauen|testen|verwalten)(?: \w+){0,2}? (?:bei|auf|in|mit) " + _O, subject="we"),
    _shape("is", rf"(?:mein|meine|unser|unsere|mein neuer|meine neue) (?P<s>(?:neuer? )?[\w-]+) (?:ist|heißt|sind) (?:jetzt |nun )?(?P<o>{_NAME})$"),
    _shape("is at", rf"(?:der|die|das|unser|unsere|mein|meine) (?P<s>[\w-]*(?:server|datenbank|instanz|seite|umgebung|cluster|api|dienst|repo|wiki|stand-?up|meeting)\w*) (?:läuft|liegt|ist|findet|lebt|steht)(?: (?:jetzt|nun|inzwischen))?(?: (?:auf|unter|in|bei|um))? (?P<o>(?:port )?{_CODE}.{{0,20}})$"),
)  # fmt: skip
_MORE_GERMAN = (
    _shape("is called", rf"(?P<o>{_NAME}) (?:mein name|hier|mein name ist das)$"),
    _shape("runs", r"(?:ich|wir) (?:führen?|leiten?|betreiben?|verantworten?) (?P<o>(?:eine?n?|das|die|den|unser\w*) .{3,50})$", several=True),
    _shape("has", r"ich (?:habe|leide an|leide unter) (?P<o>(?:eine )?(?:diabetes|asthma|migräne|rheuma|zöliakie|adhs|heuschnupfen|\w+allergie|\w+intoleranz)\b.{0,20})$", several=True),
    _shape("has weekly", rf"{_DAYS_DE} (?:haben|habe|ist|bin|sind|arbeite|arbeiten|gibt)(?: (?:wir|ich|es|bei uns))* " + r"(?P<o>.{3,40})$", several=True),
    _shape("is", rf"(?:mein|meine|unser|unsere|der|die|das) neue[rs]? (?P<s>[\w-]+) (?:ist|heißt) (?:jetzt |nun )?(?:der |die |das )?(?P<o>{_NAME})$", changes=True),
    _shape("is", rf"(?:mein|meine|unser|unsere) {_NO_TASK_DE}(?P<s>[\w-]+) (?:ist|heißt|sind) (?:jetzt |nun |immer )?(?:der |die |das |am |ein |eine )?(?P<o>{_VALUE}(?: \w+)?)$"),
    _shape("uses", rf"(?:für )?(?:die|den|das|unsere?n?|meine?n?)? ?(?:[\w-]+ )?(?:mache|machen|erledige|erledigen|schreibe|schreiben|verwalte|verwalten|nehme|nehmen|nutze|nutzen|benutze|benutzen|verwende|verwenden) (?:ich|wir) (?:mit|in|über)? ?(?P<o>{_VALUE})$", several=True),
    _shape("uses", rf"(?:ich|wir) (?:schwöre|schwören|setze|setzen|verlasse mich) (?:auf|voll auf) (?P<o>{_VALUE})$", several=True),
    _shape("works at", r"(?:ich|wir) (?:bin|habe) .{0,30}?(?:zu|zur|zum|bei|in die) (?P<o>.{3,40}) (?:gewechselt|angefangen|versetzt)(?: worden)?$", changes=True),
)  # fmt: skip

_FRENCH = (
    _shape("is called", rf"(?:moi c'est|je m'appelle|mon nom est|appelle[- ]moi|appelez[- ]moi) (?P<o>{_NAME})"),
    _shape("lives in", rf"(?:j'ai|on a|nous avons|je suis|on s'est|nous sommes) (?:récemment )?(?:déménagée?s?|installée?s?) (?:à|en|dans|au) (?P<o>{_NAME}).{{0,20}}$", changes=True),
    _shape("lives in", r"(?:j'habite|je vis|je réside|on habite|nous habitons|on vit|je suis basée?)(?: (?:maintenant|désormais))? (?:à|en|dans|au|près de) (?P<o>.{2,50})$"),
    _shape("is from", rf"je viens (?:de|d') ?(?P<o>{_NAME})$"),
    _shape("works as", r"je travaille comme " + _O),
    _shape("works at", r"je travaille (?:chez|pour|à|dans) " + _O),
    _shape("cannot have", r"je suis (?:\w+ )?allergique (?:aux?|à la|à l'|à) ?" + _O, several=True),
    _shape("cannot have", r"je ne (?:mange|bois|supporte) (?:pas|jamais) (?:de |d')?" + _O, several=True),
    _shape("teaches at", r"je suis (?:au|à l[a']|dans un|en) (?P<o>lycée|collège|université|école|fac)\b.{0,30}$", changes=True),
    _shape("is", r"je suis (?:une? )?(?P<o>(?:\w+(?:eure?|euse|rice|iste|ière?|ien(?:ne)?|cien(?:ne)?|ecte|ecin|ocate?|ante?|gaucher|gauchère|végane?|végétarien(?:ne)?|daltonien)|professeure?|prof|gauchère?)(?: (?:de|d'|en|dans|au|à|indépendante?|freelance)\b.{0,50})?)$", several=True),
    _shape("has", r"(?:j'ai|on a|nous avons) (?P<o>(?:une?|deux|trois|quatre) (?:\w+ )?(?:chiens?|chats?|enfants?|fils|filles?|frères?|sœurs?|voitures?)\b.{0,50})$", several=True),
    _shape("speaks", r"je parle (?P<o>(?:français|anglais|allemand|espagnol|italien|breton|chinois).{0,30})$", several=True),
    _shape("prefers", r"je préfère (?!que|ne|ça)" + _O, several=True),
    _shape("does", r"je (?P<r>déploie|travaille|livre|suis absente?) (?P<o>(?:tous les|toutes les|le|chaque) \w+.{0,30})$", several=True),
    _shape("uses", r"(?:j'utilise|on utilise|nous utilisons|je bosse avec|je travaille avec|on travaille avec)(?: (?:maintenant|désormais))? (?!ça|ce |cette)" + _O, several=True),
    _shape("uses", r"(?:maintenant )?je fais tout (?:en|avec) " + _O, several=True, changes=True),
    _shape("uses", r"(?:tous|toutes) (?:mes|nos) [\w ]{3,25} (?:sont|tournent) (?:en|sous|sur|avec) " + _O, several=True),
    _shape("runs on", r"(?:on est|nous sommes|je suis) passée?s? (?:chez|à|sur|sous|en) " + _O, subject="we", changes=True),
    _shape("runs on", r"(?:notre|nos|mon|le|la) (?P<s>[\w-]+) (?:est|sont|tourne|tournent)(?: (?:hébergée?s?|maintenant))? (?:chez|sous|sur) " + _O),
    _shape("is", rf"(?:mon|ma|mes|notre) (?P<s>[\w-]+(?: [\w-]+)?) (?:s'appelle|est|se nomme) (?P<o>{_NAME})$"),
    _shape("is at", rf"(?:le|la|notre|mon|ma) (?P<s>(?:serveur|base|site|api|dépôt|recette|instance|environnement|réunion|port)[\w' -]{{0,30}}?) (?:est|tourne|se trouve|écoute)(?: (?:maintenant|désormais|hébergée?))? (?:à l'adresse|sur|à|au|dans|sous)(?: le port)? (?P<o>{_CODE}.{{0,20}})$"),
    _shape("is at", rf"c'est (?P<o>{_CODE}).{{0,15}}$", changes=True),
)  # fmt: skip
_MORE_FRENCH = (
    _shape("is called", rf"(?:ici )?(?P<o>{_NAME})(?: à l'appareil)?, enchantée?$"),
    _shape("is", r"(?:je suis|on est|nous sommes) (?:une? )?(?P<o>(?:\w+(?:i[eè]re?|eure?|euse|iste|rice|ien|ienne|cteur|ctrice|ant|ante)|médecin|prof|avocate?|chef)(?: (?:à|de|en|dans|chez|au)\b.{0,50})?)$", several=True),
    _shape("is", r"je suis (?P<o>gauch(?:er|ère)|droiti(?:er|ère)|végan\w*|végétari\w+|daltonien\w*|dyslexique|diabétique|asthmatique|intolérante? .{3,30})$", several=True),
    _shape("uses only", r"(?:je|on|nous) n[e'] ?(?:\w+) (?:plus )?qu[e'] ?(?:du |de la |des |le |la |l')?(?P<o>.{3,30})$", several=True),
    _shape("uses", r"(?:j'utilise|on utilise|nous utilisons|je me sers d[e']|on se sert d[e']|je ne jure que par|je bosse sur) (?!ça|ce |cette)" + _O, several=True),
    _shape("is on", rf"(?:mon|ma|notre|mes|nos) (?P<s>[\w-]+(?: [\w-]+)?) (?:tourne|tournent|est|sont) (?:maintenant )?(?:sous|sur|en|chez) (?P<o>{_VALUE}.{{0,20}})$"),
    _shape("is", rf"(?:mon|ma|notre) (?!(?:question|problème|but|idée)\b)(?P<s>[\w-]+(?: [\w-]+)?) (?:est|s'appelle) (?:maintenant |désormais )?(?:le |la |l'|une? )?(?P<o>{_VALUE}(?: \w+)?)$"),
    _shape("is closed", r"(?:l'|le |la |notre )[\w-]+ (?:est|sont) fermée?s? (?P<o>(?:le|tous les|chaque) \w+.{0,20})$"),
    _shape("runs", r"(?:je dirige|je gère|je tiens|on tient|nous tenons) (?P<o>(?:une?|la|le|l') ?.{3,50})$", several=True),
    _shape("works at", r"(?:j'ai été mutée?|j'ai rejoint|j'ai commencé) (?:à|chez|au|dans)? ?" + _O, changes=True),
)  # fmt: skip

_SPANISH = (
    _shape("is called", rf"(?:me llamo|mi nombre es|soy(?= (?-i:[A-ZÁÉÍÓÚÑ]))|llámame|puedes llamarme) (?P<o>{_NAME})$"),
    _shape("lives in", rf"(?:me he mudado|me mudé|nos mudamos|nos hemos mudado) a (?P<o>{_NAME}).{{0,25}}$", changes=True),
    _shape("lives in", rf"(?:vivo|vivimos|resido|(?:te )?escribo desde)(?: (?:ahora|actualmente))?(?: en| cerca de)? (?P<o>{_NAME}.{{0,20}})$"),
    _shape("is from", rf"soy de (?P<o>{_NAME})$"),
    _shape("works as", r"trabajo (?:de|como) " + _O),
    _shape("works at", r"trabajo (?:en|para) (?!un|esto|ello)" + _O),
    _shape("uses", r"trabaj(?:o|amos) (?:ahora )?con (?:una? )?" + _O, several=True),
    _shape("uses", r"ahora (?:trabajamos con|usamos|utilizamos|estamos en) " + _O, several=True, changes=True),
    _shape("uses", r"(?:en la oficina |en el equipo |aquí )?(?:usamos|utilizamos|uso|utilizo)(?: (?:ahora|siempre))? (?!esto|eso|el mismo)" + _O, several=True),
    _shape("cannot have", r"(?:soy alérgic[oa] (?:al?|a los|a las)|no (?:puedo (?:comer|beber|tomar)|como|bebo|tolero)) " + _O, several=True),
    _shape("is", r"soy (?:una? )?(?P<o>[a-záéíóúñ]\w*(?:or|ora|er[oa]|ist[ao]|ic[oa]|ad[oa]|ente|ante|ac[oa]|an[oa]|gr[oa]|urd[oa])(?: (?:de|en)\b.{0,40})?)$", several=True),
    _shape("has", r"(?:tengo|tenemos) (?P<o>(?:una?|dos|tres|cuatro) (?:\w+ )?(?:perr[oa]s?|gat[oa]s?|hij[oa]s?|herman[oa]s?|niñ[oa]s?|coches?|carros?)\b.{0,50})$", several=True),
    _shape("speaks", r"hablo (?P<o>(?:español|inglés|francés|alemán|portugués|chino).{0,30})$", several=True),
    _shape("prefers", r"prefiero (?!que|no|eso)" + _O, several=True),
    _shape("runs on", r"(?:desplegamos|alojamos|corremos|publicamos)(?: \w+){0,2}? (?:en|con|a) " + _O, subject="we"),
    _shape("is away", r"(?:los|las) (?P<o>\w+s) no trabajo$", several=True),
    _shape("is", rf"(?:mi|nuestr[oa]) (?P<s>[\w-]+)(?: ahora)? (?:se llama|es|ahora es) (?P<o>{_NAME})$"),
    _shape("is", rf"mi (?P<s>herman[oa]|hij[oa]|espos[oa]|marido|mujer|novi[oa]|madre|padre) (?P<o>{_NAME} (?:vive|trabaja|tiene|estudia)\b.{{1,40}})$"),
    _shape("is at", rf"(?:el|la|nuestr[oa]|mi) (?P<s>(?:base|servidor|sitio|api|repositorio|reunión|puerto|entorno|clúster)[\w ]{{0,25}}?)(?: ahora)? (?:está|corre|vive|es|escucha)(?: ahora)? (?:en|a|bajo)(?: el puerto)? (?P<o>{_CODE}.{{0,20}})$"),
)  # fmt: skip
_MORE_SPANISH = (
    _shape("is called", rf"(?:aquí|habla) (?P<o>{_NAME})$"),
    _shape("is", r"soy (?:una? )?(?P<o>(?:médic[oa]|enfermer[oa]|maestr[oa]|profesora?|abogad[oa]|estudiante|autónom[oa]|diabétic[oa]|zurd[oa]|dalt[oó]nic[oa]|\w+ist[a])(?: (?:en|de)\b.{0,40})?)$", several=True),
    _shape("works in", r"trabajo (?:siempre )?(?:en|de) (?P<o>(?:el |la |un |una )?.{3,40})$"),
    _shape("works in", r"(?:ahora )?estoy en el (?P<o>turno .{3,20})$", changes=True),
    _shape("works at", r"me han (?:trasladado|destinado|cambiado) a " + _O, changes=True),
    _shape("cannot have", r"(?:el |la |los |las )?(?P<o>[\w ]{3,25}) me (?:sientan?|caen?|hacen?) (?:muy )?mal$", several=True),
    _shape("speaks", r"hablo (?P<o>(?:euskera|catalán|gallego|italiano|ruso|árabe|\w+és)(?: .{0,30})?)$", several=True),
    _shape("uses", r"(?:cambié|cambiamos|cambio) (?:el |la |los |las )?[^,]{1,25} por (?:una? |el |la )?(?P<o>.{2,30})$", several=True, changes=True),
    _shape("is", rf"(?:mi|nuestr[oa]) (?!(?:pregunta|problema|idea|plan)\b)(?P<s>[\w-]+(?: [\w-]+)?) (?:es|se llama)(?: ahora)? (?:una? |el |la )?(?P<o>{_VALUE}(?: \w+)?)$"),
    _shape("runs", r"(?:llevo|dirijo|tengo|tenemos) (?P<o>una? (?:\w+ )?(?:tienda|panadería|empresa|agencia|taller|restaurante|bar|equipo|estudio|negocio)\b.{0,30})$", several=True),
)  # fmt: skip

_CHINESE = (
    _shape("is called", r"(?:我叫|我的名字(?:是|叫)|我是(?=[\u4e00-\u9fff]{2,3}$)|叫我)(?P<o>[\u4e00-\u9fff]{2,4}|[A-Z]\w+)(?:吧|就行|就好)?$"),
    _shape("lives in", r"我们?(?:.{0,4})?(?:已经|刚|刚刚)?搬(?:到|去)了?(?P<o>.{2,10}?)了?$", changes=True),
    _shape("lives in", r"我们?(?:现在|目前)?(?:住在|居住在|家在|人在)(?P<o>.{2,15})$"),
    _shape("lives in", r"我(?:现在)?在(?P<o>.{2,8}?)(?:工作和生活|生活|定居|上班)$"),
    _shape("is from", r"我(?:来自|是)(?P<o>[\u4e00-\u9fff]{2,6}?)人$"),
    _shape("works as", r"(?:我)?是?做(?P<o>[\u4e00-\u9fff]{2,8})的$"),
    _shape("is", r"我是(?:一名|一个|一位|个)(?P<o>.{2,15})$", several=True),
    _shape("cannot have", r"我对(?P<o>.{1,10})(?:严重)?过敏$", several=True),
    _shape("cannot have", r"我(?:不能|不可以|从来不|不)(?:喝|吃)(?P<o>.{1,10})$", several=True),
    _shape("has", r"我(?:们家|家)?(?:养了|有)(?P<o>[一两二三四五六几\d][只条个辆](?:猫|狗|孩子|儿子|女儿|兔子|车).{0,10})$", several=True),
    _shape("prefers", r"我(?:比较|更)?(?:喜欢|偏好)(?!这|那|你)(?P<o>.{1,15})$", several=True),
    _shape("is", r"我们?(?:的|现在的)?(?P<s>老公|丈夫|老婆|妻子|儿子|女儿|狗|猫|哥哥|姐姐|弟弟|妹妹|老板|经理|同桌)(?:的名字)?(?:叫|是)(?P<o>[\u4e00-\u9fff\w]{2,6})$"),
    _shape("is", r"我现在的(?P<s>老公|老婆|老板|经理|公司)(?:叫|是)(?P<o>[\u4e00-\u9fff\w]{2,8})$", changes=True),
    _shape("uses", r"现在(?:我们)?(?:都)?用(?P<o>.{1,12})$", several=True, changes=True),
    _shape("uses", r"我们?(?:公司|团队|组|部门)?(?:都|一直|现在)?(?:使用|用)(?P<o>[^了]{1,12}?)(?:沟通|办公|开发|写代码|管理.*)?$", several=True),
    _shape("uses", r"我们?(?:已经)?从.{1,10}(?:换|迁移|改|搬)(?:到|成|为)了?(?P<o>.{1,12}?)了?$", several=True, changes=True),
    _shape("runs on", r"(?:我们的?)?(?P<s>服务|网站|系统|项目|应用|数据)(?:都|全部)?(?:部署|托管|运行|跑|放)在(?P<o>.{1,15}?)(?:上|里)?$"),
    _shape("is at", r"(?:我们的?)?(?P<s>[\u4e00-\u9fff]{2,6}(?:服务器|数据库|环境|接口|网站)|服务器|数据库)的?(?:端口|地址|域名)?(?:是|在|改成|改为|换成|改到)了?(?P<o>[\w.:/-]{2,40}?)了?$"),
    _shape("does", r"我每(?P<o>(?:周|个星期|天|月).{2,15})$", several=True),
)  # fmt: skip

_MORE_CHINESE = (
    _shape("is called", r"(?:叫我|喊我|我是)(?P<o>[\u4e00-\u9fff]{2,4}?)(?:就行|就好|吧)$"),
    _shape("is responsible for", r"我(?:在公司|主要)?(?:负责|管)(?P<o>.{2,20})$", several=True),
    _shape("uses", r"(?:我们?的?)?(?P<s>[\u4e00-\u9fff]{2,6}?)(?:都|全|全部|全都)?是?用(?P<o>[\w+#.]{1,15}?)(?:写|做|开发|搭建|管理)的$", several=True),
    _shape("uses", r"(?P<s>[\u4e00-\u9fff]{2,6}?)用(?P<o>[\w+#.]{1,15}?)(?:重写|重做)了$", several=True, changes=True),
    _shape("lives in", r"我(?:们)?(?:人|家)?(?:现在|目前)?在(?P<o>[\u4e00-\u9fff]{2,4})$"),
    _shape("lives in", r"(?:我们?)?现在住(?:在|到)?(?P<o>.{2,10})$", changes=True),
    _shape("is at", r"(?:我们的?)?(?P<s>[\u4e00-\u9fff]{0,4}(?:服务器|数据库|网站|仓库|接口))(?:已经)?(?:搬到|迁到|换到|改到|在)了?(?P<o>[\w.:/-]{2,40}?)了?$", changes=True),
    _shape("does", r"我们?每(?P<o>(?:天|周|个?月|个?星期).{3,20})$", several=True),
    _shape("has", r"我有(?P<o>(?:糖尿病|哮喘|高血压|近视|色盲|一?[只条个]\S{1,6}))$", several=True),
)  # fmt: skip

_KIN_OF = (
    r"(?:my|our) (?:new |older |younger |little |big )?(?P<s>son|daughter|kid|wife|husband|partner|girlfriend|boyfriend|fianc\w+|brother|sister"
    r"|mother|mom|mum|father|dad|grandson|granddaughter|aunt|uncle|dog|cat|boss|manager|flatmate|roommate|colleague|assistant)"
)
_LASTS = (
    r"(?:wear|play|teach|grow|collect|keep|ride|raise|sell|bake|brew|paint|coach|practi[cs]e|breed|knit|sew|volunteer|rent|host|speak|sing"
    r"|drink|smoke|commute|cycle|live|work|study|type|sign|bill|invoice|charge|print|pair|take (?=\w+ (?:for|daily))|carry|foster|tutor)"
)
_FORMS = (
    _shape("is", rf"{_KIN_OF} (?P<o>(?-i:[A-Z]\w+)(?: \S.{{1,50}})?)$"),
    # In English the simple present of an action describes a habit.
    _shape("", rf"i (?P<r>{_LASTS}) (?!(?:you|it|this|that|these|those|him|her|them|to|what|how|why|if|so|myself|your)\b)" + _O, several=True),
    _shape("", rf"we (?P<r>{_LASTS}) (?!(?:you|it|this|that|these|those|him|her|them|to|what|how|why|if|so|myself|your)\b)" + _O, subject="we", several=True),
    _shape("is", r"i(?:'m| am) the (?P<o>(?:\w+[ -]){0,3}(?:lead|manager|owner|founder|head|director|admin|maintainer|architect|engineer|developer|designer|cto|ceo|editor)\b.{0,40})$", several=True),
    _shape("lives in", rf"(?:we|i)(?:'ve| have) lived (?:in|near) (?P<o>{_NAME}).{{0,30}}$"),
    _shape("lives in", rf"(?:we|i)(?:'re|'m) (?:\w+ )?in (?P<o>{_NAME})(?: now)?$"),
    _shape("is called", rf"(?P<o>{_NAME}), (?:pleased|nice|good|great) to meet you"),
    _shape("is", r"(?:the )?(?P<s>[a-z]\w+ (?:i|we)) (?:use|drive|run|have|work with|read|play) is (?P<o>.{2,40})$"),
    _shape("is on", rf"(?:my|our) {_NO_TASK}(?P<s>(?:[\w-]+ ){{0,2}}[\w-]+) (?:is|are) (?:all )?(?:on|in|with|at) (?P<o>{_VALUE}.{{0,20}})$"),
    _shape("listens on", r"(?:the |our |my )?(?P<s>(?:[\w-]+ ){0,3}[\w-]+) (?:listens|is listening|is reachable|answers) (?:on|at) (?:port )?(?P<o>[\w.:/-]*\d[\w.:/-]*)$"),
    _shape("meets", r"(?:the |our |my )?(?P<s>(?:[\w-]+ ){0,3}[\w-]+) (?:meets|takes place|happens|opens|closes|is held|is closed|is open) (?P<o>(?:on |at |every )?(?:\w+days?\b|\d|\w+ (?:morning|evening)).{0,40})$"),
    _shape("is", rf"(?P<s>[a-z]\w+) is all (?P<o>{_VALUE})$"),
    _shape("is kept in", r"(?:the |our |my )?(?P<s>(?:[\w-]+ ){0,2}[a-z][\w-]+s) are (?:kept|stored|held|hosted|built|written|deployed) (?:in|on|with|at) (?P<o>.{2,40})$"),
    _shape("is called", rf"ich bin(?: der| die)? (?P<o>{_NAME})(?= (?:aus|von|und)|$)"),
    _shape("is", r"(?:ich )?bin (?P<o>(?-i:[A-ZÄÖÜ]\w+(?:er|in|ist|ent|or|ant|mann|frau|kraft))(?: (?:in|bei|von|und)\b.{0,40})?)$", several=True),
    _shape("is", r"(?:mein|meine|unser|unsere) (?P<s>bruder|schwester|sohn|tochter|frau|mann|mutter|vater|freundin|freund|hund|katze|chefin?|kollegin|kollege|oma|opa|enkel\w*) (?P<o>(?-i:[A-ZÄÖÜ]\w+)(?: \S.{1,50})?)$"),
    _shape("is in", rf"(?:mein|meine|unser|unsere) {_NO_TASK_DE}(?P<s>[\w-]+) (?:ist|steht|liegt|läuft|sind|stehen) (?:jetzt |nun )?(?:in|im|auf|bei|unter|am) (?P<o>(?:der |dem |den )?{_VALUE}(?: \w+)?)$"),
    _shape("uses", rf"(?:[\w ]{{1,30}} )?(?:nehme|nutze|benutze|verwende|kaufe|trage|fahre|spiele|spreche|trinke|esse|lese|sammle|baue|züchte|unterrichte|studiere) ich (?:jetzt |nur |immer )*(?P<o>{_VALUE})$", several=True),
    _shape("", r"ich (?P<r>trage|fahre|spiele|spreche|trinke|lese|sammle|baue|züchte|unterrichte|studiere|lerne|verkaufe|kaufe|produziere) (?!das|es|dich|die seite)(?:jetzt |nur )?" + _O, several=True),
    _shape("is", r"(?:mon|ma|notre) (?P<s>frère|sœur|fils|fille|femme|mari|mère|père|copine|copain|chien|chat|chef|cheffe|collègue|associée?) (?P<o>(?-i:[A-ZÉÈ]\w+)(?: \S.{1,50})?)$"),
    _shape("is", rf"(?:le|la|l'|les) ?(?P<s>(?:[\w-]+ ){{0,3}}[\w-]+) s'appelle(?:nt)? (?P<o>{_NAME})$"),
    _shape("is closed", r"(?:on est|nous sommes|je suis) (?:fermée?s?|ouverte?s?|absente?s?) (?P<o>(?:le|les|tous les|chaque) \w+.{0,20})$", several=True),
    _shape("lives in", rf"(?:je (?:vous |t')?écris|je suis installée?) (?:de|depuis|à) (?P<o>{_NAME})$"),
    _shape("runs", r"je tiens (?P<o>une? .{3,50})$", several=True),
    _shape("", r"je (?P<r>porte|conduis|joue|bois|lis|collectionne|enseigne|vends|élève|étudie|fabrique) (?!ça|ce )(?P<o>(?:du |de la |des |de |un |une |le |la |les |au |à ).{3,40})$", several=True),
    _shape("is called", rf"mi nombre:? (?P<o>{_NAME})$"),
    _shape("lives in", rf"estoy en (?P<o>{_NAME})$"),
    _shape("is on", r"(?:el|la|los|las) (?P<s>[\w-]+) (?:lo|la|los|las) (?:tenemos|tengo|hacemos|llevamos) (?:en|con) (?P<o>.{2,30})$"),
    _shape("listens on", r"(?:el|la|nuestr[oa]|mi) (?P<s>[\w-]+(?: [\w-]+)?) (?:escucha|corre|está) en (?:el puerto )?(?P<o>[\w.:/-]*\d[\w.:/-]*)$"),
    _shape("is", rf"(?P<o>{_NAME}) es (?:la|el) (?P<s>que .{{3,40}}|jef[ea]\b.{{0,20}}|encargad[oa]\b.{{0,20}})$"),
    _shape("has", r"(?:tengo|tenemos) (?P<o>(?:una?|dos|tres|cuatro|cinco) (?!(?:duda|pregunta|problema|error|idea|reunión|cita|minutos?)s?\b)\w.{2,40})$", several=True),
    _shape("", r"(?P<r>llevo gafas|conduzco|toco|colecciono|enseño|estudio|vendo|cultivo|bebo|leo) " + _O, several=True),
    _shape("is called", r"本人(?:叫|是)?(?P<o>[\u4e00-\u9fff]{2,4})$"),
    _shape("is", r"我在.{1,12}(?:当|做|任)(?P<o>.{2,10})$", several=True),
    _shape("is", r"我?(?:现在)?(?:是|当上了)(?P<o>[\u4e00-\u9fff]{0,6}(?:经理|老师|医生|会计|主管|总监|工程师|程序员|设计师|律师|护士|学生|司机|厨师|教授))$", several=True),
    _shape("is", r"(?:我们?的?)?(?P<s>[\u4e00-\u9fff]{1,4}(?:软件|系统|工具|框架|数据库|平台|语言))(?:用的)?是(?P<o>[\w\u4e00-\u9fff.+#]{1,12})$"),
    _shape("is", r"我(?:的)?(?P<s>女儿|儿子|老婆|老公|妈妈|爸爸|哥哥|姐姐|弟弟|妹妹)(?P<o>(?:今年|在|叫|是|上).{1,12})$"),
    _shape("cannot have", r"(?P<o>.{1,8})我(?:吃不了|喝不了|不能吃|不能喝|不吃|不喝)$", several=True),
    _shape("lives in", r"我?家在(?P<o>[\u4e00-\u9fff]{2,8})$"),
)  # fmt: skip

SHAPES: Final = (
    *(*_ENGLISH, *_MORE_ENGLISH, *_GERMAN, *_MORE_GERMAN, *_FRENCH, *_MORE_FRENCH, *_SPANISH, *_MORE_SPANISH),
    *(*_CHINESE, *_MORE_CHINESE, *_FORMS),
)
"""In the order in which they are tried; the first match counts."""

GREETED: Final = _words(
    rf"^(?:hi|hello|hey|good (?:morning|evening))(?: there)?[,!. ]+(?:i'm|i am|it's|this is) (?P<o>{_NAME})(?=[,.!]|$)"
)
"""After a greeting, "I'm" is followed by a name."""

# -- insignificant words -----------------------------------------------------------------------------------------------

OF_RULES_ZH: Final = _words(
    "那条|这条|规则|规定|要求|不用了|忘掉|可以用了|之前|以后|一律|不要|现在|已经|[吧了的们我你]", 0
)
"""Words that two statements about different things may share."""

SAY_NOTHING: Final = frozenset(
    [
        "a",
        "an",
        "the",
        "and",
        "or",
        "but",
        "of",
        "to",
        "in",
        "on",
        "at",
        "for",
        "from",
        "with",
        "by",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "there",
        "here",
        "i",
        "im",
        "ive",
        "we",
        "you",
        "he",
        "she",
        "they",
        "me",
        "us",
        "my",
        "our",
        "your",
        "his",
        "her",
        "their",
        "what",
        "which",
        "who",
        "not",
        "no",
        "any",
        "all",
        "more",
        "now",
        "just",
        "only",
        "also",
        "use",
        "uses",
        "used",
        "using",
        "forget",
        "ignore",
        "drop",
        "dropped",
        "rule",
        "rules",
        "thing",
        "stuff",
        "about",
        "said",
        "again",
        "back",
        "anymore",
        "longer",
        "gone",
        "fine",
        "always",
        "never",
        "every",
        "time",
        "please",
        "everything",
        "moved",
        "move",
        "switched",
        "switch",
        "new",
        "have",
        "has",
        "had",
        "do",
        "does",
        "don",
        "dont",
        "get",
        "gets",
        "can",
        "need",
        "needed",
        "want",
        "over",
        "off",
        "out",
        "up",
        "so",
        "as",
        "well",
        "if",
        "these",
        "days",
        "today",
        "update",
        "whatever",
        "last",
        "month",
        "keep",
        "der",
        "die",
        "das",
        "den",
        "dem",
        "des",
        "ein",
        "eine",
        "einen",
        "einem",
        "und",
        "oder",
        "aber",
        "von",
        "zu",
        "im",
        "am",
        "auf",
        "bei",
        "mit",
        "fur",
        "ist",
        "sind",
        "war",
        "ich",
        "wir",
        "sie",
        "du",
        "es",
        "er",
        "mir",
        "mich",
        "uns",
        "mein",
        "meine",
        "unser",
        "unsere",
        "nicht",
        "mehr",
        "kein",
        "keine",
        "jetzt",
        "immer",
        "nie",
        "bitte",
        "neue",
        "neuer",
        "wieder",
        "regel",
        "gilt",
        "vergiss",
        "vergessen",
        "sondern",
        "seit",
        "haben",
        "hat",
        "bin",
        "le",
        "la",
        "les",
        "l",
        "un",
        "une",
        "des",
        "du",
        "de",
        "d",
        "et",
        "ou",
        "mais",
        "a",
        "au",
        "aux",
        "en",
        "dans",
        "sur",
        "chez",
        "avec",
        "pour",
        "est",
        "sont",
        "je",
        "j",
        "nous",
        "on",
        "tu",
        "vous",
        "il",
        "elle",
        "mon",
        "ma",
        "mes",
        "notre",
        "ne",
        "n",
        "pas",
        "plus",
        "regle",
        "oublie",
        "maintenant",
        "toujours",
        "jamais",
        "c",
        "ce",
        "cette",
        "que",
        "qui",
        "s",
        "desormais",
        "finalement",
        "el",
        "los",
        "las",
        "lo",
        "una",
        "unos",
        "unas",
        "y",
        "o",
        "pero",
        "del",
        "al",
        "con",
        "por",
        "para",
        "es",
        "son",
        "soy",
        "yo",
        "nosotros",
        "mi",
        "mis",
        "nuestro",
        "nuestra",
        "no",
        "ya",
        "ahora",
        "siempre",
        "nunca",
        "que",
        "se",
        "me",
        "olvida",
        "regla",
        "puedes",
        "usamos",
        "usar",
    ]
)
"""The same, by words: in lower case, without accents."""
