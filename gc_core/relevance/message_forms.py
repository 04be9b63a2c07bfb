"""
The forms of what users say, in the words with which languages order, limit, agree and remark.

These are verbs of work and words of grammar. No list of acknowledgements: what is short and has none of these is one.
"""

from __future__ import annotations

import re
from typing import Final

from gc_core.values.patterns import regex

CLAUSE: Final = regex(r"(?:[^.!?,;。！？，、；…—\n]|[.,!?](?=[^\s\"')\].!?]))+[.!?。！？…]*")
"""A clause: dots and commas within names and numbers end none."""

DENSE: Final = regex(r"[\u3400-\u9fff]")
"""A letter of which two are a word."""

SYLLABLE: Final = regex(r"[\u3040-\u30ff]")
"""A letter of which three are a word."""

GOES_ON: Final = regex(
    r"\b(?:s'il (?:te|vous) plaît|go (?:right )?(?:ahead|on)|go for it|carry on|keep (?:it up|at it|on|going)"
    r"|continue|proceed|resume|do (?:it|that|so)|make it so|start|begin|next(?! \w)|try (?:it |that )?again"
    r"|let'?s (?:go|do|start|begin)|weiter\w*|fahr fort|mach(?:en)?|nur zu|allez|vas-y|continue[rz]?|continuar"
    r"|hazlo(?! \w)|continúa|sigue|adelante|avanti|doe maar|ga (?:maar )?door|dalej|продолжай\w*|дальше|devam)\b"
    r"|(?:続け|進め|継続し|続行し)て(?:ください|下さい)?|お願いします|继续|接着|下一步|(?:계속"
    r"|진행)(?:해)?(?: ?주세요| ?줘)?|그렇게 (?:하|해) ?\S*",
    re.IGNORECASE,
)
"""Words that keep the agent going; what is left of a clause without them counts."""

_WORD = regex(r"\w[\w'-]*")
_ORDERS: Final = frozenset(
    """
    write create make add fix build run implement remove delete change update use test check move rename show explain
    brainstorm plan review refactor draft find look commit push open undo revert drop sort translate leave forget deploy
    merge rebase install convert replace summarize summarise rerun extract need needs want
    nimm füg füge kannst könntest brauche möchte change changez faut faudrait peux-tu pouvez voudrais veux
    escribe crea añade cambia quita haz borra arregla quiero necesito puedes podrías escreva escreve crie cria adicione
    adiciona inclua inclui mude muda corrija quero preciso scrivi aggiungi togli correggi sistema vorrei puoi potresti
    maak voeg schrijf verander napraw popraw zrób ustaw przetłumacz dodaj usuń zmień napisz chcę możesz хочу düzelt yaz
    yap çevir ver istiyorum أضف اكتب اجعل ترجم
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
)
_ORDER_FORMS: Final = regex(
    r"\A\W*(?:be|ask|avoid|prefer|always|never(?! mind)) |\b(?:would like\b|i'd (?:like|prefer)\b|(?:can|could"
    r"|would) you\b|let'?s (?!go|do|start|keep|get)|mach \w+ \w|kun je\b|mejor \w+lo\b|schreib|erstell|lösch|änder"
    r"|écri|crée|ajoute|corrige|supprime|enlève|agreg|добавь|исправь|сделай|напиши|убери|удали|измени|нужн"
    r"|(?<!что )надо|ekle|değiştir)|改|删|换|去掉|不要|别|帮我|把|让|修|用(?!户)|加(?!油)|写(?!得)|重新|重来|给我|翻"
    r"|を(?!お)|追加|変更|直し|修正|てください|추가|바꿔|고쳐|빼|번역|요약|[을를] |(?:줘|주세요)\W*$"
    r"|(?<!待っ)て\W*$",
    re.IGNORECASE,
)
_BEGINS: Final = regex(
    r"\A\W*(?:(?:please|pls|now|then|and|also|next|ok|okay|so|first|just|kindly),? ){0,2}(?:"
    r"abort|activate|adapt|adjust|align|analy[sz]e|annotate|anonymi[sz]e|append|archive|arrange|assemble|assign|attach"
    r"|audit|automate|backport|batch|benchmark|bisect|book|bump|bundle|cache|calculate|cancel|capitali[sz]e|cite|clean"
    r"|clone|collapse|collect|color|colour|combine|comment|compare|compile|compress|compute|condense|configure|connect"
    r"|convert|correct|count|crop|debug|decouple|dedupe|deduplicate|define|deprecate|describe|design|detect|diff"
    r"|disable|document|download|draw|duplicate|edit|email|embed|enable|encrypt|enforce|ensure|escape|estimate|evaluate"
    r"|expand|export|expose|extend|filter|finali[sz]e|flatten|forecast|format|freeze|generate|group|harden|highlight"
    r"|import|improve|include|increase|decrease|index|inline|inspect|integrate|internationali[sz]e|invert|invoice"
    r"|isolate|justify|label|lint|list|locali[sz]e|lower|mail|map|measure|migrate|minify|mirror|mock|moderni[sz]e"
    r"|monitor|mute|normali[sz]e|notify|obfuscate|optimi[sz]e|order|outline|package|paginate|parallelize|parameterize"
    r"|paraphrase|parse|patch|pin|plot|polish|port|prepare|print|profile|proofread|publish|query|quote|raise|randomi[sz]e"
    r"|rank|rebuild|recalculate|reconcile|record|redact|redesign|redo|reduce|reformat|register|release|reload|remap"
    r"|rephrase|reply|report|reproduce|resize|resolve|restart|restore|restructure|retrieve|retry|rewrite|reword|rotate"
    r"|round|sanitize|scan|schedule|scrape|search|secure|send|separate|serialize|shorten|shrink|shuffle|silence"
    r"|simplify|sketch|skip|specify|split|stage|standardize|strip|stub|style|submit|suggest|swap|sync|tag|throttle|tidy"
    r"|trace|track|transcribe|transform|transpose|trim|tune|tweak|unify|uninstall|unpack|unpin|update|upgrade|upload"
    r"|validate|vectorize|verify|visuali[sz]e|wire|wrap|zip|(?:turn|switch) (?:off|on)|set up|spin up|clean up|speed up"
    r"|back up|roll back|look up"
    r")(?! (?:it|that|this)?\W*\Z)\s+[^\W_]",
    re.IGNORECASE,
)
"""A verb of work that begins a clause, with what is to be done with it; elsewhere these may be nouns."""

# a verb with its subject, a noun with its article
_NO_ORDERS: Final = regex(
    r"(?<!can )(?<!could )(?<!would )\byou (?!need|want|should|must)\w+|\b(?:nothing|not much) to \w+|\b(?:the|that"
    r"|this|your|an?|my) (?!same|other|rest)\w+",
    re.IGNORECASE,
)
_LIMITS: Final = frozenset(
    """
    also plus only without instead rather another additionally besides but except same still should must wrong broken
    missing error fail fails failing crash crashes doesn't doesnt isn't isnt aren't anymore broke blank denied
    typo otro otra outro outra altro autre
    außerdem aber noch nochmal auch nur ohne statt lieber sondern soll sollte sollen muss gleiche fehlt falsch kaputt
    fehler aussi mais sans plutôt seulement encore même manque erreur también pero sin sino solo sólo además mismo falta
    também sem só apenas mesmo erro anche però senza soltanto niente ancora stesso manca errore ook zonder alleen liever
    geen zelfde fout ontbreekt też także ale bez tylko jeszcze zamiast brakuje błąd
    тоже также но без только ещё еще вместо ошибка також але тільки ще ayrıca ama sadece daha hata eksik çalışmıyor
    också men utan bara fel saknas även også uden kun mangler myös mutta ilman vain αλλά χωρίς μόνο λείπει
    لكن فقط أيضا بدون خطأ
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
)
_LIMIT_FORMS: Final = regex(
    r"\b(?:other way|any more|(?:more|less|fewer) \w|too (?!kind|good|cool|nice)\w|(?<!me )too\W*$|not (?!bad|yet"
    r"|need|now|sure|really|a\b|at\b)\w|don'?t (?!worry|know|mind|think|care|have|need)\w|crash|kein|(?:funktioniert"
    r"|geht|stimmt) nicht|nicht mehr|pas de|marche (?:pas|plus)|n[oã]o? funciona|non funziona|nie działa|не работает"
    r"|no (?!thank|need|way|doubt|question|complaint|objection|preference|idea|one|more|further|that|it)\w)|另外|还有"
    r"|(?<![不没])错|更|再(?!见)|太(?![好棒感谢赞厉强美])|一点|违|違|もっと|だけ|やっぱり|なしで"
    r"|(?:(?<!調子)(?<!それ)で|に)\W*$|더 |말고|안 |(?<!대)로\W*$",
    re.IGNORECASE,
)

TURNS: Final = regex(
    r"\W*+(?:(?:and|und|et|y|e|ok|okay|great) )?(?:(?:now|then|jetzt|dann|maintenant|ahora|agora|ora|adesso|nu|teraz"
    r"|теперь|тепер|şimdi|이제) (?!we|i|you|that|it|mal)\S+\s+\S|(?:今度は|次は|现在)\S{3}|(?:please|bitte|por favor"
    r"|пожалуйста|proszę|lütfen) (?!yes|ja|do|go)\w+ \w+)",
    re.IGNORECASE,
)
"""A beginning that turns to something: "now" or "please" with two more words."""

PRAISES: Final = regex(
    r"\b(?:good|great|nice|fine|perfect|excellent|awesome|wonderful|fantastic|lovely|brilliant|amazing|beautiful"
    r"|loved?|green|grün|cool|neat|happy|glad|super|top|toll|gut|gute|prima|klasse|schön|schönes|bestens|wunderbar|bien"
    r"|bonn?e?|beau|parfait\w*|génial\w*|buen\w*|perfect[oa]|genial|excelente|bom|boa|ótim[oa]|perfeit[oa]|bene"
    r"|ottim[oa]|perfett[oa]|bell[oa]|goed|mooi|dobr\w+|świetn\w+|хорош\w*|отличн\w*|супер|güzel|harika|iyi|bra|fint"
    r"|(?<!a )better|best|besser|mieux|mejor|meglio|melhor|beter|lepiej|лучше|bättre|thanks?|danke?|merci|gracias"
    r"|grazie|content\w*|zufrieden|zadowolon\w*|довол\w*|blij|feliz|delighted|thrilled|impress\w*)\b|好|棒|不错|完美"
    r"|いい|素晴らし|完璧|좋|훌륭|완벽",
    re.IGNORECASE,
)
"""Words of approval."""

OBJECT: Final = regex(
    # a word or two, then an article or a preposition with its noun
    r"(?!\W*(?:works|sounds|looks|feels|reads|hats|runs|seems) ).{0,40}?(?<=\w)\W{1,2}(?:the|an?|these|those|both"
    r"|every|each|my|our|to|in|into|on|onto|from|for|with|as|by|before|after|den|dem|der|die|das|einen?|eine|im|ins"
    r"|auf|mit|für|nach|von|le|la|les|l|un|une|au|dans|avec|en|sur|el|los|las|una|con|para|al|il|lo|gli|o|os|um|uma"
    r"|em|com|del|de|het|een|naar|op|met|voor|na|po|w|z|в|на|с|из|для|till|på|med|för)\W{1,2}(?!(?:me|it|you|us|now"
    r"|sure|all|go|that|this|them|know|hear|see|be|so|one|ones|bit|mal|moment|mir|mich|das|eso|isso|ça)\b)[^\W\d_]"
    # a verb and for whom
    r"|(?!gefällt|tut|freut|passt|\w+s\b)[^\W\d_]+[- ](?:me|us|mir|uns|moi|nous) [^\W\d_]"
    # how, or how many
    r"|\W*(?:(?:and|und|et|y|please|bitte|por favor) )?(?:in|as|for|from|with|into|onto|until|als|auf|mit|für|avec"
    r"|pour|con|para|em|com|per|met|po|z|на|с|på|med|an?|eine?|en|más|più|plus|two|three|four|five|zwei|drei|deux"
    r"|trois|dos|tres|due|the|my|our|der|die|das|mein\w*|les?|la|mon|el|los|las|il|lo|gli|het) (?!(?:that|it|me|you"
    r"|case|order|progress|time|pleasure|ordnung|der tat|geht|vergnügen|effet|bit|domani|presto|moment|sec\w*|few"
    r"|sure|now|gusto|certeza|piacere|plaisir|plezier|удовольствием)\b)[^\W\d_]+\W*(?:[^\W\d_]|$)"
    # how a thing is
    r"|\W*[^\W\d_]{3,} (?:is|are|ist|sind|est|sont|es|son|está|è|sono|jest|są|är) [^\W\d_]"
    # an imperative by its ending
    r"|\W*(?!очень|давай|\w+[ыио]й\b)[а-яё]{2,}(?:и|й|ь)(?:те)? [а-яё]|\W*(?:bigger|smaller|larger|shorter|longer"
    r"|wider|higher|lower|faster|slower|darker|lighter|brighter|simpler|easier|cheaper|earlier|bolder|thicker|thinner"
    r"|größer|kleiner|kürzer|länger|korter|krócej|короче|больше|меньше|kortare)\b",
    re.IGNORECASE,
)
"""What needs no known verb: an object, a recipient, a manner, a number, a comparison."""

SPOKEN: Final = regex(
    r"\W*(?:(?:oh|ah|wow|haha|well|so|and|but|honestly|yes|no|ok|now|jetzt)\b\W*)*(?:i|i'(?:m|ll|ve)|you|you're|we're"
    r"|we'll|we've|we (?!need|want|should|must|can|lost|get)\w+"
    r"|she|he|they|it (?:is|was|\w*works?|worked|looks|runs|did|has|makes|does|will|all|reads|sounds"
    r"|feels|fits)|it's|its|she'll|everything (?:is|was|works?|worked|looks|seems|fine)|all (?:good|set|done|fine"
    r"|clear|right|is|of|tests?)|this is|that (?:is|was|will|did|would|\w+s)|that'?s|that'll|what (?:an?|would)"
    r"|how \w+|see you|have an?|take care|good|nice|very|really|so|quite|pretty|absolutely|much|couldn't|can't"
    r"|exactly|nothing|whatever|sorry|thanks?|thx|danke|merci|gracias|grazie|obrigad[oa]|спасибо|besten|viele|tack"
    r"|tak|kiitos|díky|dzięki|ich|du|er|es|wir|da(?! (?:ist|sind|fehlt))|das (?:ist|war|ha\w+|hätt\w*|ging|lief"
    r"|klingt|freut|macht|stimmt|hilft|geht|passt|reicht|wird)|sehr|genau|je|j'\w*|tu|vous|c'est|ça|cela|ce|quel\w*"
    r"|bonne|très|exactement|rien|me|te|eso|esto|eres|está|qué|ya|ha|buen\w*|muy|justo|exactamente|isso|era|ficou|que"
    r"|foi|você|bo[am]|muito|che|sei|è|mi|così|así|buon\w*|molto|dat|dit|ik|precies|precis|proprio|heel|to|jest|ma"
    r"|bardzo|это|вот|так|ты|вы|я|очень|именно|це|det|du|jag|mycket|çok)(?!\w)|.{0,60}(?:ね|네요|군요|啊|呀|哈)\W*$",
    re.IGNORECASE,
)
"""The form of a remark: who feels or sees it, how much, a "what a", or the sigh at the end."""

THANKS_FOR: Final = regex(
    r"\W*(?:\w+\W+){0,2}?(?:thanks?|thank you|thx|danke|dank|merci|gracias|obrigad[oa]|grazie|спасибо|dzięki"
    r"|dziękuję)\W+(?:(?:again|so much|a lot|very much|you)\W+)?(?:for|für|pour|por|pel[oa]|per|voor|за|za)\b",
    re.IGNORECASE,
)
"""Thanks for something, which is done."""

INTENDS: Final = regex(
    r"\W*(?:\w+\W+)?(?:i|we)(?:'ll| will| hope| guess| appreciate)\b(?! need| want| like)",
    re.IGNORECASE,
)
"""What the user is about to do, hopes or guesses."""

CHATS: Final = regex(
    r"\b(?:how are you|how'?s it|what'?s up|are you (?:there|ready|sure)|still there|is that (?:ok|okay|enough)"
    r"|you know\W*$|what (?:do|should|can) i (?:need to )?do(?: next| now)?|what'?s next|wrong (?:chat|window|tab"
    r"|thread)|let me (?:think|have|see|check)|(?:just|give me) a (?:sec|min|mom)\w*|never mind|my bad|be my guest"
    r"|in (?:bester )?(?:order|ordnung|ordine)\W*$|en ord(?:en|re)|em ordem|a posto|(?:hasta|bis|à|até|alla|until"
    r"|till) (?:la |zum |à )?(?:próxima|prochaine|prossima|nächsten|next time|tomorrow|later)|von mir aus|(?:four"
    r"|five) stars|out of (?:10|ten)|take your time"
    r"|same here|(?:want|like) to (?:thank|say)|doesn'?t matter|are you kidding|at that\W*$"
    r"|isn't (?:it|that|this) \w+\W*$|wait a|hold on|one (?:sec\w*|moment)|wie geht'?s|ça va|qué tal"
    r"|tudo bem|come stai|как дела|(?:no|not a|kein\w*|pas de|sin|sem|nessun\w*|geen|ing[ae]n|nie ma|нет"
    r"|без) (?:hay )?(?:probl\w+|проблем\w*|souci\w*|worries|hurry|rush|prisa|stress))\b|在吗|元気|잘 지내",
    re.IGNORECASE,
)
"""Questions and requests that are no work."""

CHOICE: Final = regex(
    r"\W*(?:(?:option|number|no|nr|choice|variant|the|opción|opção|die|den|das|le|la)\W*)*(?:[\dA-Da-d]|first|second"
    r"|third|last|erste\w?|zweite\w?|premi\w+|deuxi\w+|primer\w?|segund\w)\W*(?:one|option|please|pls|bitte)?\W*"
    r"|第?[一二三四1-4]个?\W*",
    re.IGNORECASE,
)
"""The choice of one thing of several."""

CHANGES: Final = regex(
    r"\b(?:but|also|instead(?! of)|rather|another|additionally|besides|(?<!do )i (?:need|want)|i'd (?:like|prefer)"
    r"|let's (?!proceed|go|do)|aber|außerdem|auch|lieber|mais|aussi|plutôt|pero|también|mas|também|però|anche|maar"
    r"|ook|ale|też|но|тоже|ama)\b|但|不过|でも",
    re.IGNORECASE,
)
"""Words that make more of an answer than an answer."""

AGREES: Final = regex(
    r"\W*(?:(?:oh|ok|okay|great|alright)\W+)?(?:yes|yeah|yep|yup|sure|of course|correct|right|exactly|ja|jawohl|oui"
    r"|sí|si|sim|da|да|tak|evet|是|对|はい|네|예)(?!\w)",
    re.IGNORECASE,
)
"""The beginning of a consent."""

LACKS: Final = regex(
    r"\bi (?:\w+ ){0,2}?(?:(?:don'?t|do not|can'?t|cannot) (?:\w+ )?(?:have|remember|remmeber|recall|know|find)"
    r"|forgot)\b|weiß (?:ich )?nicht|je ne sais|no (?:lo )?sé|não sei|non so|не знаю",
    re.IGNORECASE,
)
"""What the user cannot tell."""

OF_SELF: Final = regex(
    r"\W*(?:(?:oh|ok|okay|sorry|alright|great|hmm+|well|no|\w+ thing)\b\W*)*(?:i'll|i will|i have|i've|i think i|my"
    r"|mine|it'?s|because|weil)\b|\s*\d",
    re.IGNORECASE,
)
"""The beginning of what the user has, or a number."""

POLITE: Final = regex(
    r"\b(?:thanks?|thank you|bye|goodbye|danke|merci|gracias|obrigad[oa]|grazie|спасибо)\b|谢谢|ありがとう",
    re.IGNORECASE,
)
"""Thanks and goodbyes."""

ASKS: Final = regex(
    r"[?？؟]|\bplease (?:provide|confirm|tell|share|reply|let me know|paste|approve|choose|run|send)|\b(?:provide"
    r"|share|give|send|tell)(?: me)?(?: with)? your\b|\blet me know (?:which|what|if you)|吗|ですか|ください|까요",
    re.IGNORECASE,
)
"""An agent asks for something."""

OFFERS: Final = regex(
    r"\b(?:anything|something) else\b|\bfurther (?:assistance|help|questions)|\bhow (?:can|may) i help", re.IGNORECASE
)
"""An agent offers more help."""


def orders(said: str) -> bool:
    """Return whether it has a word that asks for work."""
    plain = _NO_ORDERS.sub(" ", said)
    is_order = not _ORDERS.isdisjoint(_words(plain)) or _ORDER_FORMS.search(plain) is not None
    return is_order or _BEGINS.match(said) is not None


def limits(said: str) -> bool:
    """Return whether it has a word that adds, restricts, compares or complains."""
    plain = _NO_ORDERS.sub(" ", said)
    return not _LIMITS.isdisjoint(_words(plain)) or _LIMIT_FORMS.search(plain) is not None


def _words(said: str) -> list[str]:
    return _WORD.findall(said.lower())
