"""
Words that show what kind a sentence is, in twelve languages: closed lists, from grammars rather than sessions.

Every pattern consists of fixed words and bounded repeats, and is applied to one sentence, so all of it is linear.
"""

from __future__ import annotations

import re
from typing import Final

from gc_core.values.patterns import regex


def _words(*languages: str, dense: str = "", start: bool = False) -> re.Pattern[str]:
    """
    Return a pattern for whole words of alphabetic languages, anywhere or at the start; plain letters for languages
    without blanks.
    """
    spaced = "|".join(language.strip("|") for language in languages)
    every = rf"(?<![\w'-])(?:{spaced})(?![\w'-])" + (f"|{dense}" if dense else "")
    return regex(rf"^\W*(?:{every})" if start else every, re.IGNORECASE)


def _verbs(*languages: str) -> frozenset[str]:
    return frozenset(word for language in languages for word in language.split())


ADDRESS: Final = regex(
    r"^\W*(?:(?:\d{4}-\d\d-\d\d|hi(?: there)?|hello|hey(?: there)?"
    r"|please|pls|now|then|next|first|also|and|so|but|ok(?:ay)?|well|just|kindly|hm+|look|listen|again|sorry"
    r"|additionally"
    r"|by the way|oh|anyway|finally|lastly|one last thing"
    r"|bitte|jetzt|dann|also|und|aber|s'il te plaît|maintenant|ensuite|et|mais|alors|por favor|ahora|luego|y|pero"
    r"|per favore|adesso|poi|ma|agora|depois|mas|graag|nu|dan|en|maar|proszę|teraz|potem|ale"
    r"|пожалуйста|теперь|потом|и|но|а|lütfen|şimdi|sonra|ve|ama)\b\W*)+",
    re.IGNORECASE,
)
"""Words that precede an instruction: greetings, requests, conjunctions."""

ASKS: Final = regex(
    r"^\W*(?:how (?:long|much|many|far|often|old)|where|why|who)(?: \w+){0,3}? (?:is|are|was|were|do|does|did|can"
    r"|will)\b|^\W*what (?:is|are|was|were) (?:the|this|that|these|those)\b(?!.{0,200} (?:is|are)\b)"
    r"|(?:ですか|ますか|でしょうか|ませんか|吗|呢|까요|나요|인가요|니까|mı|mi|mu|mü)[.。]?$",
    re.IGNORECASE,
)
"""A question without its mark."""

QUERIES: Final = regex(
    r"^\W*(?:(?:and|but|so|also|und|aber|et|y|e|en|i|а|и|ve)\W+)?(?:"
    r"(?:who|whose|which|why|how|where|what)\b(?! (?:possible|applicable|needed)\b)(?!.{3,200}\b(?:is|are|stays?|goes"
    r"|belongs?|remains?|gets?|has|have)\b)"
    r"|any (?:news|idea|chance|luck|update|progress|thoughts?|clue|word)\b|(?:do|does|did|have|has|is|are|was|were"
    r"|could"
    r"|would|should|can|will) (?:you|they|we|he|she|i|this|that|there|anyone|anybody|someone|somebody)\b"
    # German, Dutch: a comma would end a clause that is the subject of another one.
    r"|(?:weißt|kannst|hast|bist|könntest) du\b|(?:warum|wieso|weshalb|wann|wo|woher|wohin|wie|wer|was|wem|wen"
    r"|welche[rsnm]?)\b(?! (?:immer|gesagt|gehabt|besprochen|vereinbart|üblich|möglich|bei|beim|im|oben)\b)[^,]*$"
    r"|(?:ist|sind|gibt|geht|hat|war|kann|kommt|macht) (?:es|das|der"
    r"|die|man|ich|wir|er|sie)\b[^,]*$|(?:waarom|wanneer|hoeveel|hoe|welke?|wie|wat|waar)\b[^,]*$|weet (?:je|u)\b"
    # French, Spanish, Italian, Portuguese.
    r"|c'est (?:quoi|qui|où|quand)\b|est-ce\b|qu'est-ce\b|quel(?:le)?s?\b|pourquoi\b|combien\b|où\b|tu sais|vous savez"
    r"|comment (?:ça|on|je|tu|il|elle|vous|se)\b|y a-t-il|(?:por qué|cuál|cuáles|cuánt\w+|cómo|dónde|cuándo|quién"
    r"|qué)\b"
    r"|(?:¿|sabes (?:si|cuándo|dónde|cómo|qué)\b)|perché\b|(?:dove|quale|quali|quant[oaie])\b[^,]*$"
    r"|(?:che )?cosa\b[^,]*$"
    r"|sai (?:se|quando|dove|come|chi|che|cosa|perché)\b|por ?qu[eê]\b(?! )|(?:qual|quais|cadê|será que|tem como)\b"
    r"|(?:vc|você|voce)? ?sabe (?:se|quando|onde|como|qual)\b|dá (?:pra|para)\b"
    # Polish, Russian.
    r"|(?:dlaczego|czemu|czy|gdzie|skąd|ile|kto|który|która|które)\b[^,]*$|jak (?:się|to|mogę|można|długo"
    r"|często)\b[^,]*$"
    r"|(?:почему|зачем|где|когда|сколько|кто|откуда|куда|какой|какая|какие|можно ли)(?![\w-])[^,]*$)"
    r"|\b(?:neden|niye|nasıl|ne zaman|nerede)\b|[а-яё]+ ли\b"
    r"|^.{0,8}(?:为什么|怎么|什么时候|哪[个里些]|多少|几点|是不是|有没有|能不能|可不可以)(?!.{0,40}[都要就])"
    r"|(?:なぜ|どうして|どうやって|いつ|どこ|どれくらい|何).{0,40}(?:か|の|だろう)[。.]?$|(?:の|る|た|い)か[。.]?$"
    r"|(?:かな|だっけ)[。.]?$"
    r"|(?:왜|언제|어디|얼마나|어떻게|무슨|누가|몇) .{0,60}(?:(?<!세)요|까|나|지|죠)[.]?$|क्यों|क्या|कैसे|कहाँ|कौन",
    re.IGNORECASE,
)
"""A question without its mark, by its first words; a norm may begin like one."""

INTERJECTIONS: Final = regex(
    r"^\W*(?:u+gh|argh|meh|aww?|yay|oops|ouch|boh|beh|mah|uff|puh|oje|bah|bof|oups|zut|puxa|nossa|eita|ojej|oho|ух|ой"
    r"|эх"
    r"|ага|угу|ну|vay|haydi|哎|唉|哇|呀|わあ|うわ|おお|いやあ|와|헐|오|아|ok(?:ej|ay)?\W+dalej|no dobra|ciao"
    r"|na\W)(?![\w-])"
    r"|[, ](?:eh|huh|lol|haha|hein|né|hè|mate|buddy)\W*$|^[^(]*\){2,}\W*$|^\W*happy \w+\W*$|^\W*you(?:'re"
    r"| are) (?:an?|the|so)\b"
    r"|^\W*(?:well,? )?(?:that|this) was (?:an?|fun|great|nice|quick|fast|close|easy)\b|^\W*sorry (?:for|about"
    r"|that)\b|\bje vois\b",
    re.IGNORECASE,
)
"""Small talk, by its exclamations."""

FRAGMENT: Final = _words(
    "not even|last (?:week|month|year|night|monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
    r"|(?:around|about|roughly) \\d+",
    "nicht (?:ein)?mal|même pas|vers \\d+|ni siquiera|nemmeno|neanche|nem (?:mesmo|sequer)|niet eens|nawet nie|даже не",
    start=True,
)
"""It begins like the answer to a question, and says nothing by itself."""

SYMPTOM: Final = regex(
    r"^\W*(?:the|that|this|same|der|die|das|le|la|el|il|lo|o|a|de|het) (?:same )?(?:error|bug|crash|problem|issue"
    r"|warning"
    r"|flicker|fehler|absturz|warnung|erreur|plantage|problème|fallo|aviso|errore|problema|erro|fout|melding)\b"
    r" (?!must|should|may|has to)|^\W*(?:same (?:error|bug|problem|issue)|mismo error|même erreur|stesso errore"
    r"|ta sama|та же)",
    re.IGNORECASE,
)
"""It describes something that is wrong."""

YES: Final = _words(
    "yes|yeah|yep|yup|sure|right|correct|exactly|ok|okay|true|indeed|of course|absolutely|definitely",
    "ja|jep|genau|stimmt|richtig|klar|natürlich|doch",
    "oui|ouais|exactement|bien sûr|d'accord|tout à fait",
    "sí|claro|exacto|correcto|vale|por supuesto",
    "certo|esatto|giusto|sì",
    "sim|isso|exatamente|com certeza",
    "inderdaad|klopt|precies|jawel",
    "tak|zgadza się|dokładnie|jasne",
    "да|верно|точно|конечно|именно",
    "evet|doğru|tamam|aynen|tabii",
    dense="是的|对的?[，,。]|没错|嗯|好的|はい|ええ|うん|そうです|네[,. ]|예[,. ]|맞아요|응[,. ]",
    start=True,
)
"""It begins like an agreeing answer."""

UNKNOWING: Final = _words(
    "not sure|no idea|(?:i )?don't know|don't remember|maybe|perhaps|neither of (?:them|the)|none of (?:them|those)",
    "weiß (?:ich )?nicht|keine ahnung|vielleicht|je ne sais pas|peut-être|aucune idée|no (?:lo )?sé|quizás?|tal vez",
    "non (?:lo )?so|forse|não sei|talvez|weet ik niet|geen idee|misschien|nie wiem|może|не знаю|может быть|наверное",
    "bilmiyorum|belki",
    dense="不知道|不清楚|也许|可能吧|わかりません|分かりません|知りません|たぶん|몰라요|모르겠|아마",
)
"""An answer that leaves it open."""

GUESSES: Final = _words(
    "i guess|i suppose|i'd say|possibly|probably|as far as i (?:know|remember)|if i remember|not that i",
    r"(?:ich )?glaub(?:e)? (?:ich|im|in|das|die|der|es)|müsste ich|(?:mir|bin) nicht sicher|wahrscheinlich|soweit ich",
    "je crois|sans doute|pas sûre?|il me semble|probablement|creo|no estoy segur[oa]|me parece|supongo|seguramente",
    "credo|boh|mi (?:pare|sembra)|non sono sicur[oa]|probabilmente|acho(?! (?:melhor|mais|que fica))"
    "|não tenho certeza|se não me engano|provavelmente|volgens mij|ik geloof|waarschijnlijk|ben niet zeker",
    r"wydaje mi się|chyba(?!,? że)|nie jestem pew\w+|nie pamiętam|prawdopodobnie|вроде(?: бы)?|кажется|не помню"
    r"|не уверен\w?|скорее всего|sanırım|gibi(?=\W*$)|galiba|emin değilim|hatırlamıyorum|herhalde",
    dense="不太?确定|应该是.{1,30}吧|好像|大概|可能是|记不清|不记得|かもしれ|気がします|覚えていません|多分|글쎄"
    "|기억이",
)
"""Someone guesses what is the case."""

CHATS: Final = regex(
    r"^\W*(?:haha|hehe|jaja|ha ha|lol|mdr|wow|phew|cheers|anyway|valeu|moin|congrat|happy (?:new|birthday)|nice to"
    r"|how are you)"
    r"|\b(?:i must (?:say|admit)|i have to (?:say|admit)|by the way,? i love|imagine that|no (?:problem|worries)"
    r"|never mind)\b"
    r"|^\W*(?:good (?:morning|evening|afternoon|night)|guten (?:morgen|tag|abend)|bonjour|bonsoir|buen[oa]s"
    r"|buongiorno|buonasera|bom dia|boa (?:tarde|noite)|goede(?:morgen|middag|navond)|dzień dobry|cześć"
    r"|добр(?:ое|ый)|привет|günaydın|merhaba|iyi (?:günler|akşamlar))\b|eline sağlık|kolay gelsin"
    r"|早上好|晚上好|哈哈|辛苦|おはよう|こんばんは|お疲れ|안녕|ㅋㅋ|ㅎㅎ"
    r"|\b(?:made my day|can't believe|your (?:sense|help)|nice work|good job|well done|what a (?:day|week|mess)"
    r"|you(?:'re| are) (?:right|welcome)|talk soon|i (?:\w+ )?need (?:some |your )?(?:help|assistance))\b"
    r"|\bsounds? (?:good|great|fine)\W*$|^\W*(?:\d{4}-\d\d-\d\d\W+)?(?:hi|hello|hey)\W+(?:(?:my|dear|ai)\W+)*\w+\W*$",
    re.IGNORECASE,
)
"""Small talk."""

MYSELF: Final = regex(
    r"^\W*(?:(?:and|but|so|well|no|ok|then|yes|also)\W+)*"
    r"(?!we don't (?!know|have|see|think|remember|get|find|need|want))"
    r"(?:i|we)(?:'m|'ve|'ll|'d)?(?: (?:am|are|was|were|have|had"
    r"|will|would|can|could|did|do"
    r"|don't|didn't|just|also|already|still|only|really|think|thought|guess|hope|see|saw|got|get|tried|try|went|go"
    r"|ran"
    r"|sent|put|took|made|found|wrote|read|looked?|used to|know|knew|feel|felt|heard|remember|understand|need to"
    r"|\w+ed)\b)"
    r"|^\W*(?:i'm|i've|i'll|we've|we're(?! (?:on|using|based|an?)\b)|we'll)\b|^\W*(?:[a-z]{2,}(?:ted|ded|ned|red"
    r"|led|ked|ped|ved|sed|shed|ched"
    r"|med|ced|ged))"
    r" (?:the|my|a|an|it|them|that|those|two|three|some|all|both)\b"
    r"|^\W*you(?:'ll| will| can see|'ve| have (?!to\b))\b"
    r"|^\W*(?:ich (?:bin|hab|habe|hatte|war|werde|sehe|glaube|denke|weiß|brauche?)|(?:bin|hab|habe|war|hat|ist)\b"
    r"|wir (?:sind|haben"
    r"|waren))\b"
    r"|^\W*(?:j'ai|j'étais|je (?:suis|vais|vois|crois|pense|sais)|on a |nous avons|nous sommes)"
    r"|^\W*(?:(?:yo|ya|nosotros|no|lo|la|los|las|le|me|se|te) )*(?:estoy|he|hemos|voy|creo|veo|tengo que|(?!\w+ité\b"
    r"|clé\b|café\b|côté\b)\w{2,}[éí])\b"
    r"|^\W*(?:io |noi )?(?:sono|ho|sto|abbiamo|siamo|credo|penso|vedo)\b"
    r"|^\W*(?:eu |já |nós |não )*(?:estou|vou|acho que|vejo|tenho que|(?!datei|kartei|partei)\w{3,}ei)\b"
    r"|^\W*(?:eu |já |nós )+\w{3,}i\b"
    r"|^\W*(?:ik|we) (?:heb|hebben|ben|zijn|was|waren|zie|denk|zal|ga|zit)\b|^\W*\w{3,}(?:łem|łam|liśmy|łyśmy)\b"
    r"|^\W*(?:я|мы)(?: \w+){0,2} \w+(?:л|ла|ли|лся|лась|лись)\b|^\W*я (?:сейчас|думаю|вижу|знаю)\b"
    r"|\w\w(?:dım|dim|dum|düm|tım|tim(?<!verbatim)|tum(?<!datum)(?<!entum)(?<!antum)(?<!wachstum)|tüm|dık|dik|duk|dük"
    r"|tık|tik(?<![sgil]tik)(?<!optik))\W{0,9}$"
    r"|^我(?:刚|已经|在|正|觉得|看到|想|把|先)|了[。.]?$|ました[。.]?$|(?:았|었|했|였|갔|왔|났)(?:어요?|습니다"
    r"|죠)[.。]?$",
    re.IGNORECASE,
)
"""It reports what someone did, does or thinks."""

ONESELF: Final = regex(
    r"^\W*i(?:'m|'ve|'ll)?\W+(?!\w+i\b)(?!(?:\w+ )?(?:want|expect|insist|prefer|need you|don'?t (?:want|like)|meant"
    r"|said|mean|was))|^\W*never (?!need|feed|speed|seed|embed|exceed|succeed|proceed|shed|shred)(?:\w{2,}ed|saw|got"
    r"|had"
    r"|did|went|been)\b",
    re.IGNORECASE,
)
"""It says what someone must, can, does or never did, and asks nothing of the agent."""

FEELS: Final = regex(
    r"\b(?:i|i'm|i've|i'll)\b(?! (?:prefer|want|\w+i\b))|^\W*(?:lately|recently|sometimes|maybe|no (?:problem"
    r"|worries))\b"
    r"|\b(?:feel|feels|feeling|hope|sorry)\b",
    re.IGNORECASE,
)
"""It is about the speaker."""

THUS: Final = regex(
    r"(?:,\s+|\s(?=so (?:please|don't|never|always|leave|use|keep|avoid|no|stick)\b))(?:(?P<so>so(?! (?:that|far|much"
    r"|many)\b)|also|deshalb|donc|du coup|así que|por eso|quindi|então|por isso|dus"
    r"|więc|поэтому|так что|o yüzden)\s+|(?:and |but |so )?(?=(?:please |bitte )?(?:don't|do not|never|nie|niemals"
    r"|keine?|ne|jamais|nunca|mai|nooit|nigdy|не|никогда|asla)\b))",
    re.IGNORECASE,
)
"""What follows is a conclusion from what precedes it."""

PAST: Final = regex(
    r"^\W*+(?:(?!is\b|are\b|be\b|has\b|have\b|gets?\b|stays?\b|must\b|that\b|who\b|which\b|when\b|if\b)[\w'’.-]+,?"
    r" ){1,5}"
    r"(?!need|feed|speed|seed|embed|exceed|succeed|proceed|shared\b|dedicated|hundred)(?:[a-z]{2,}ed|went|came|got"
    r"|was|were"
    r"|did|said|told|sent|found|saw|took|made|ran|broke|began|left|lost|won|gave|fell|wrote|rang|kept"
    r"|froze|hung|woke|paid|bought|brought|caught|spoke|flew|grew|knew|threw|blew)\b(?! to\b)"
    r"|^\W*(?:it|that \w+|he|she|they) (?:\w+ed|froze|hung|died|quit|broke|went|came|got|fell|ran)\b"
    r"|\bhas (?:been and|answered|replied|arrived|called|written|left|gone|come|started|begun|finished|stopped|failed"
    r"|crashed|signed|paid|sent|closed)\b|(?<!is )(?<!are )(?<!be )\bused to\b"
    r"|^\W*(?:\w{2,}ed (?:in|at|back|out|up|down|off|well|fine|okay)|slept|went|came|got|saw|had|took|lost|forgot)\b"
    r"|\b(?:is|are|'s|'re|am|keeps?) (?:now |still |just |currently )?\w{2,}ing\b(?! \w+ (?:is|are)\b)"
    r"|\b(?:is|are|'s|'re) (?:now |still |all )?(?:down|back|up|blank|green|red|done|ready|fine|broken|gone|stuck"
    r"|empty"
    r"|happy|full|online|offline|finished|live)\b(?: again| now)?(?:\W{0,9}$| and the\b)|\bagain\W{0,9}$|\b(?:went|go"
    r"|goes) through\b"
    r"|(?:^\W*|, )(?:heading|leaving|waiting|going(?! forward)|coming|typing|looking|trying|sitting|driving|walking"
    r"|travell?ing|arriving"
    r"|hoping|wondering|(?:down|up)loading|installing|re(?:boot|start|runn)ing) (?!.{0,120}\b(?:is|are|must|needs)\b)"
    r"|^\W*(?:still|same|accidentally|looks like|seems like|finally)\b",
    re.IGNORECASE,
)
"""It reports what happened, or what is temporarily the case."""

HAPPENED: Final = regex(
    # French: the perfect, and the imperfect of a pronoun.
    r"\b(?:ai|as|a|avons|avez|ont)(?: (?:pas|déjà|encore|jamais|bien|rien|tous|tout))* (?!través|después"
    r"|revés)(?:\w{3,}ée?s?|eu|reçu|vu|lu|mis"
    r"|pris|fini|dit|fait|écrit|ouvert|répondu|perdu|rendu|choisi|réussi|compris|promis)\b"
    r"|\b(?:est|sont|suis|sommes)(?: (?:déjà|bien|encore|pas))* (?:(?:re)?(?:tombé|parti|venu|arrivé|passé|allé|sorti"
    r"|rentré|monté|descendu|resté)|planté|envoyé|fini)e?s?\b|\ben train de\b"
    r"|\b(?:ça|c'|il|elle|on|j'|ils|elles|qui) ?(?:n'|ne |l'|y |m'|me |s'|se )?"
    r"(?!(?:fai|sai|plai|paraî|connaî)t\b)\w{1,20}(?<!r)(?:ait|aient)\b"
    # Spanish, Italian, Portuguese.
    r"|\b(?:he|has|ha|hemos|han)(?: ya)? \w{3,}(?:ado|ido|cho|sto|rto)\b|\b(?!solo\b)\w{2,}(?:ó|ieron)\b(?<!só)"
    r"|\b(?:está|están|sigue|siguen|estoy|seguimos|sta|stanno|sto|estão|estou) \w+(?:ndo)\b"
    r"|\b(?:ho|ha|abbiamo|hanno)(?: (?:già|appena|ancora|anche|solo|mai))* (?!effetto|significato"
    r"|risultato)\w{3,}(?:ato|uto|ito|tto|sso|rso|sto)\b"
    r"|\bè (?:appena |già )?(?:ri)?(?:andat|arrivat|partit|tornat|cadut|uscit|entrat|venut|finit|success|rimast"
    r"|crollat"
    r"|saltat)[oa]\b"
    r"|\b(?!estou\b|you\b)\w{3,}ou\b(?<!caribou)(?<!bayou)|\b\w{2,}(?:(?<![nczsśćź])iu"
    r"|(?<!sep)(?<!comp)(?<!prep)(?<!decl)(?<!rep)(?<!t)(?<!g)[aeií]ram)\b"
    # German, Dutch.
    r"|\b(?:hat|haben|habe|hatten?|heeft|heb|hebben|hadden)\b(?!.{0,120}\b(?:geeinigt|beschlossen|entschieden"
    r"|vereinbart"
    r"|afgesproken|besloten)\b) (?:\S{1,30} ){0,8}(?:\w{0,8}ge\w{2,}(?:t|en|d)|\w{2,}iert|(?:be|er|ver)\w+(?:t|en"
    r"|d))\b"
    r"|\b(?:bin|sind|ist|ben|bent|zijn|is)\b (?:\S{1,30} ){0,8}(?:dabei|aan het \w+en|(?:\w{0,6})ge(?:gangen|kommen"
    r"|fallen"
    r"|laufen|flogen|fahren|stiegen|sunken|storben|stürzt|wesen|worden))\b|^\W*(?:ben|zit|sta|staat|zitten) \w+\W"
    r"|\b(?:siamo|sono|sei|siete) (?:ri)?(?:andat|arrivat|partit|tornat|uscit|entrat|venut|rimast)[ie]\b"
    # Polish, Russian: the first person, and what is said of things that run.
    r"|\b\w{3,}(?:łem|łam|liśmy|łyśmy)\b|\b(?:prze|wy|przy|po|do)?(?:szedł|szł[aoy])\b|\btrwa(?:ją)? (?:już|jeszcze)\b"
    r"|\b(?!\w*(?:kanał|materiał|dział|wspaniał|doskonał|zapał|ideał|sygnał|terminał|protokół)|(?:cał|mał|stał|biał"
    r"|pozostał"
    r"|trwał[aey]\b|był\w*by))\w{2,}[aiyeą]ł[aoy]?\b(?!by)"
    r"|^\W*(?:[а-яё]+\W+){0,4}(?!файл|журнал|канал|терминал|раздел|отдел|протокол|материал|сигнал|интервал|стил|модел"
    r"|школ|числ|дел|стол|цел|прави|символ|начал[оа]|шкал|сил|зала?\b|мал|бел|портал|капитал|филиал|потенциал|персонал"
    r"|оригинал|квартал|метал|уз|уг|тел|нул|рол|парол|контрол|сел|гол|если\b|или\b)[а-яё]{2,}[аиеуыяо](?:л|ла|ло|ли"
    r"|лся|лась|лось|лись)\b(?!.{0,120}\bбы\b)"
    # Turkish: what goes on or not, of a speaker; and the past.
    r"|\w(?<!isti)(?<!m[ıiuü])yorum\W{0,9}$|\b(?-i:(?=.{0,60}[ğışĞŞ]))\w{3,40}[dt][ıiuü]m?(?:,|\W{0,9}$)"
    r"|네요[.!]?$|네요 |는 중(?:이|$)|고 있었|[っいしえれめけきせ]た[。.]?$|ところです|てしまい"
    r"|^(?:没有?|还没)[,，。]",
    re.IGNORECASE,
)
"""It reports what happened or goes on, by the tenses of languages other than English."""

TEMPORARY: Final = _words(
    "tomorrow|next (?:week|month|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|nächste[nrs]? (?:woche|mal)"
    "|demain|la semaine prochaine|mañana|domani|amanhã|semana que vem|volgende week|jutro|завтра|yarın|haftaya",
    "still (?:no|nothing|nobody|waiting|down|broken)|back to normal|at last|for once|endlich|enfin|por fin"
    "|(?<=\\w )finalmente|nog steeds|eindelijk|wreszcie|wciąż|наконец"
    "|опять|снова|nihayet|sonunda|yine|opnieuw|de nuevo|otra vez|di nuovo|de novo|znowu|znów",
    r"weer(?! te\b)|\w+t (?:jetzt|noch|nog|gerade)(?=,|\W*$| und | en )",
    dense="明天|下周|明日|来週|내일|다음 주|终于|やっと|ようやく|드디어",
)
"""It has come at last, is so again, or is about one day to come: it will be over soon."""

POINTS: Final = regex(
    r"^\W*(?:(?:no|yes|nope|well|so|ok|ja|nee|nein|ne|oui|non|sí|si|sim|não|tak|nie|да|нет|evet|hayır)\b\W*)*"
    r"(?:i'd go (?:with|for)\b|(?:both|neither|either|none) (?:of (?:them|those|these|the above)|please)\b"
    r"|option \w\b|doesn't matter"
    r"|the (?:[\w-]+ )?one\b|the (?:first|second|third|last|left|right|other)\b(?=\W*(?:please\W*)?$|[,.])"
    r"|(?:die|der|das|den) (?:erste|zweite|dritte|vierte|letzte|andere|linke|rechte)[nrs]?\b(?=\W*$|[,.]"
    r"| (?:variante|version|option|lösung|datei|bild)\b)|keins? von (?:beiden|denen)"
    r"|(?:plutôt )?(?:le|la|les) (?:premi\w+|deuxième|second\w?|troisième|derni\w+|autres?)\b(?=\W*$|[,.])|cel(?:ui"
    r"|le)-(?:ci|là)"
    r"|(?:el|la|los|las) (?:primer\w|segund\w|tercer\w|últim\w|otr\w|del? \d+)\b(?=\W*$|[,.])|(?:las"
    r"|los) dos(?: cosas)?\b(?=\W*$|[,.])"
    r"|(?:va bene )?(?:il|la|l'|i|le) ?(?:prim|second|terz|ultim|altr)\w\b(?=\W*$|[,.])|solo (?:il|la) prim\w\b"
    r"|(?:o|a|os|as) (?:primeir\w|segund\w|terceir\w|últim\w|outr\w)\b(?=\W*$|[,.])|(?:a opção|o|a) d[oae] (?:meio"
    r"|cima|baixo)"
    r"|(?:de|die|het) (?:eerste|tweede|derde|laatste|andere|linker|rechter)\b(?=\W*$|[,.])|allebei(?=\W*$|[,.])"
    r"|geen van (?:beide|de twee)"
    r"|t[aeęo]n? (?:pierwsz\w|drug\w|trzec\w|ostatni\w?)\b(?=\W*$|[,.])|ob(?:a|ie)(?=\W*$|[,.])|ani jedn\w"
    r"|(?:перв|втор|трет|последн|друг)\w{2,3}\b(?=\W*$|[,.])|об[ае](?=\W*$|[,.])|ни тот"
    r"|(?:ilki|ikincisi|üçüncüsü|sonuncusu|öbürü|diğeri|ikisi|hiçbiri)(?=\W*$|,))"
    r"|^\W*(?:第[一二三四]个|两个都|都可以|都行|(?:左|右|上|下)の?(?:ほう|方)|[一二三]番目|[一二三]つ目|どちらも|両方"
    r"|둘 다"
    r"|첫 번째|두 번째|그거|그걸로)|\bfor this one\W*$",
    re.IGNORECASE,
)
"""It picks one of several things at hand, or says where it is."""

SOFTENED: Final = regex(
    r"\breal quick\b|^\W*\w+ (?:(?:mir|uns|das|die|den|es|doch|bitte) )*mal(?: (?:bitte|den|die|das|ein\w*|kurz"
    r"|schnell|eben"
    r"|nach|ob|was|wie|alle)\b|\W*$)|\beven (?:om|op|af|uit|aan|terug|naar|door|kijken)\b|\bpour voir\W*$|\ba ver\W*$"
    r"|\b(?:pra|para) mim\W*$|^\W*[а-яё]+-ка\b|(?-i:[ğışç]).{0,60}\w(?:iver|uver|üver)\W{0,9}$|\w(?-i:ıver)\W{0,9}$"
    r"|좀 .{0,20}(?:줘|주세요|줄래)|ちょっと.{0,20}て",
    re.IGNORECASE,
)
"""It asks for a favour: once."""

BEGS_DENSE: Final = regex(
    r"(?:て|で)(?:ください|下さい|くれ|もらえ\w*|いただけ\w*|ね)?[。.!！]?$|(?:줘요?|주세요|주십시오|줄래)[.!]?$"
)
SOON_DENSE: Final = regex(
    r"来週|明日|明後日|今週|今夜|今晩|今度|(?:この|その|あの|さっきの)[^、。]{0,12}を|내일|다음 주|이번|오늘|방금"
    r"|(?<!\S)(?:이|그|저) (?!프로젝트|저장소|대화|팀)\S+[을를 ]"
)
"""A polite request, and what fixes it to something at hand or to a day, in languages that end with the verb."""

POINTED: Final = regex(
    r"^\W*(?!(?:if|when|whenever|in|on|for|with|after|before|because|since|as|until|unless|is|was|and|or|but|only|not"
    r"|all"
    r"|of|to|by|from|about|than|while|once|like|se|si|que|cuando|quando|quand|todo|sobre|jeśli|если|wenn|falls|als"
    r"|dass|de|en|con|per|di|da|em|com|für|mit|bei|in|an|auf|nach|vor|zu|pour|dans"
    r"|sur|avec|op|bij|voor|na|w|z|do|po|dla|в|на|с|для|по|о)\b)[^\W\d_]+(?: (?:up|out|down|off|me|mir|mal))? "
    r"(?:this|these|diese[rnsm]?|cet|cette|est[ao]|quest[oa]|deze|tego|эту|этот|bunu|şunu)\b|^\W*(?:şu|şunu|bunu)\b",
    re.IGNORECASE,
)
"""An order whose object is at hand."""

DOCUMENT: Final = regex(
    r"^\W*(?:§|article \d|artikel \d|art[íi]c[ou]lo \d|artigo \d|madde \d|제\d+[조장]"
    r"|第[\d一二三四五六七八九十]+[条章節节]"
    r"|chapter \d|section \d|hoofdstuk \d|kapitel \d|chapitre \d|rozdział|глава|dear (?:mr|ms"
    r"|mrs|sir|madam|customer"
    r"|team|all)"
    r"|hi (?:team|all|everyone)|(?:kind|best|warm) regards|sincerely|mit freundlichen|cordialement|from:|to:|subject:"
    r"|attention:|atenção:|atención:|let op:|uwaga:|внимание:|achtung:|table \d|figure \d|[a-z]+\([\w-]+\)!?:)"
    r"|\bshall\b|\bhereby\b|\bthereof\b|^\W*(?:please note that|warning:|caution:)"
    r"|\b(?:the|each|every) (?:tenant|licensee|contractor|user|customer|party|parties|provider"
    r"|candidates?)\b.{0,200}\b(?:must|may)\b"
    r"|[;{}|]\s{0,9}$|^\s*[|{}]|^\s*\[[ x]\]|:\d+:\d+|\w\(\)|\w = \w|^\W*+[\w.]+: \[|\w(?:Error|Exception)\b|\berror"
    r" [A-Z]+\d+"
    r"|^\W*\d+(?:\.\d+)+\.? [A-Z]|(?-i:^[A-Z][A-Z \d.]{8,}$)|^\S+(?: \S+)? (?:->|=>|→) \S+$",
    re.IGNORECASE,
)
"""It is worded like documents, contracts, letters and programs, not like speech."""

PARTIES: Final = regex(
    r"\b(?:(?:ver)?mieter|auftragnehmer|auftraggeber|lizenznehmer|locataire|bailleur|prestataire|arrendatari[oa]"
    r"|arrendador"
    r"|contratista|conduttore|locatore|appaltatore|locatári[oa]|contratad[oa]|(?:ver)?huurder|opdrachtnemer|najemca"
    r"|zleceniobiorca|wykonawca|арендатор|арендодатель|исполнитель|заказчик|kiracı|yüklenici)\b|乙方|甲方|利用者は"
    r"|[을갑]은 ",
    re.IGNORECASE,
)
"""It names a party to a contract: what one must do is no rule of the user."""

LEANS: Final = regex(
    r"^\W*(?:das|es|dat|c') ?(?:waren?|was|était)\b|^\W*(?:and |but |so )?(?:that|this|it|they|those|these|he"
    r"|she)(?:'s|'re|'ll)?\W+(?:is|are|was|were|would|will"
    r"|means?|\w{3,}s|a|an"
    r"|the|not|just|all|what|why|how|where)\b|^\W*(?:(?:and|but|so|well)\W+)?(?:it|that)'s (?:\w+ ){0,3}\w+\W*$"
    r"|^\W*(?:your|so|therefore|thus|hence|otherwise|apart from that|deshalb|darum|also|donc|du coup|por eso|así que"
    r"|quindi"
    r"|perciò|então|por isso|dus|daarom|więc|dlatego|поэтому|так что|bu yüzden)\b|\b(?:ones|deshalb|deswegen"
    r"|therefore)\b"
    r"|^(?:所以|因此|这样|那样|だから|なので|それ|そのため|그래서|그러니까|그건)",
    re.IGNORECASE,
)
"""It depends on the sentence before it, and says nothing by itself."""

REQUESTS: Final = regex(
    r"^\W*(?:next up|one more time|time to|your turn|up next|on to|how about|what about|what i (?:want|need) next"
    r"|now the|let's"
    r"|can you|could you|would you|will you|we should now|i'm (?:looking|trying|here|calling|writing|happy"
    r"|interested|sorry|not"
    r" sure)"
    r"|als nächstes|jetzt|zeit für|kannst du|ich (?:brauche|bräuchte)|maintenant|il me faudrait|j'ai besoin|peux-tu"
    r"|tu peux"
    r"|ahora|necesito|puedes|vamos|adesso|mi (?:serve|servirebbe)|ho bisogno|puoi|agora|preciso|você pode|podes"
    r"|tijd om|nu|ik heb .* nodig|kun je|wil je|teraz|potrzebuję|możesz|czas na|теперь|мне нужен|мне нужна|можешь"
    r"|пора"
    r"|sırada|şimdi|bana .* lazım)\b|\bwould be great to have\b"
    r"|^(?:接下来|下一步|现在|帮我|请把|把(?:这|那))|^(?:次は|今度は)"
    r"|^이제(?!부터)|^다음은",
    re.IGNORECASE,
)
"""It asks for the next step."""

WANTS: Final = regex(
    r"^\W*(?:i|we)(?:'d|'m| am)?(?: (?:would|will|do|don't|not|wouldn't|really|only|just|also|still|definitely"
    r"|actually))*"
    r" (?:want|like|need|prefer|rather|willing|love|insist|expect)\b",
    re.IGNORECASE,
)
"""It states what someone wants."""

REFUSES: Final = regex(
    r"\b(?:i|we)(?:'d| would| do)? (?:really )?(?:not|don't|do not|wouldn't|only|never)(?: really)? (?:want|like"
    r"|need|wish"
    r"|rather)\b|\bwilling to\b|\bwant\b.{1,60}\b(?:first|only|instead|before|after|not)\b",
    re.IGNORECASE,
)
"""It states what someone does not want, or within which limits."""

DEICTIC: Final = _words(
    "this|that|these|those|diese[rnms]?|ce|cet|cette|ces|est[aeo]s?|ques(?:to|ta|ti|te)|ess[ae]s?|deze|dit|die"
    "|t[ęeąa]"
    "|tym|эт[уо]|этот|эти|bu|şu|şunu|bunu",
    dense="这[个段张篇]?|那[个段张篇]|この|その|あの|이 |그 |저 ",
)
"""It refers to something at hand."""

RECENT: Final = _words(
    r"just (?:\w+ed|called|now|got|sent|found|saw|went|put|ran)|a (?:moment|minute|second|while|bit) ago|\d+ \w+ ago"
    "|meanwhile|while you were|still waiting|today|tonight|this (?:morning|afternoon|evening|time|week)|yesterday"
    "|last (?:night|week|month|time)|earlier|halfway|so far|by now|in a moment|already|again after",
    "gerade|soeben|vorhin|eben|heute|gestern|inzwischen|mittlerweile|bereits|bin wieder",
    "aujourd'hui|(?:avant-)?hier(?= (?:soir|matin|midi|j|on|nous|il|elle|le|la|les)\\b)"
    "|viens de|vient de|à l'instant|tout à l'heure|ce matin|ce soir",
    r"hoy|ayer|acab[oa] de|recién|hace un (?:momento|rato)|esta (?:mañana|tarde)",
    "oggi|ieri|appena|poco fa|stamattina|stasera",
    "hoje|ontem|acab(?:ei|ou) de|há pouco|agora mesmo|esta (?:manhã|tarde)",
    "vandaag|gisteren|zojuist|zonet|daarnet|vanmorgen|vanavond|intussen",
    "dziś|dzisiaj|wczoraj|właśnie|przed chwilą|dopiero co|rano",
    "сегодня|вчера|только что|сейчас|недавно|утром|уже",
    "bugün|dün|az önce|demin|şimdi|biraz önce|bu sabah",
    dense="今天|昨天|刚才|刚刚|刚|今早|已经|今日|昨日|さきほど|先ほど|さっき|たった今|今朝|방금|지금|오늘|어제|아까"
    "|이미",
)
"""It is about this very moment, or what has just happened."""

LASTING: Final = _words(
    "from (?:now|today) on|starting (?:now|today)|henceforth|any ?more|no longer|ab (?:sofort|jetzt|heute)|künftig",
    r"désormais|dorénavant|à partir (?:de maintenant|d'aujourd'hui)|a partir de (?:ahora|hoy|agora|hoje)|d'ora in poi"
    "|da oggi in poi|daqui em diante|voortaan|vanaf (?:nu|vandaag)|od (?:teraz|dziś|dzisiaj)|отныне|впредь"
    "|с (?:сегодняшнего дня|этого момента)|bundan (?:sonra|böyle)|bugünden itibaren",
    dense="从现在起|从今天起|今后|以后|今後|これから|これからは|앞으로|이제부터|오늘부터",
)
"""It applies from this moment on."""

NORM: Final = _words(
    r"must(?:n't)?|always|never|any(?:thing)? (?:over|above|below|that)"
    "|may not|not (?:allowed|permitted|accepted|acceptable)|has to|(?<!\\bi )have to|needs? to|should(?:n't)?"
    "|shall|no more than|no less than"
    "|max(?:imum)?|min(?:imum)?|whenever|unless|forbidden|required|requires?"
    "|by default|from now on|cannot|can't be|are to be|is to be|belongs?|needs|no longer|off limits",
    "immer|nie(?![^\\n]{0,120}[łąęśćżźń])|niemals|muss|müssen|darf|dürfen|soll(?:en|te|ten)?|grundsätzlich"
    "|mindestens|höchstens|ab sofort|verboten|untersagt|verpflichtet|gehören|gehört|sonst",
    "toujours|jamais|doi(?:t|vent)|il faut|uniquement|désormais|interdit|obligatoire",
    "siempre|nunca|jamás|debe[n]?|hay que|como (?:máximo|mínimo)|a partir de ahora|prohibido|no se (?:permiten?"
    "|aceptan?|admiten?)",
    "sempre|(?<!en )(?<!im )(?<!fin )mai|dev(?:e|ono)|bisogna|al massimo|d'ora in poi|vietato",
    "nunca|devem?|tem que|têm que|no máximo|proibido|não (?:é|são) (?:aceit|permitid)[oa]s?",
    "altijd|nooit|moet(?:en)?|mag|mogen|pas (?:als|na|nadat|wanneer|op|vanaf)|minstens|hoogstens|voortaan|verboden",
    r"zawsze|nigdy|mus(?:i|zą)|trzeba|należy|powinn\w{1,3}|co najmniej|najwyżej|od teraz|nie wolno|zabronione",
    r"всегда|никогда|долж\w{2,3}|нужно|надо|следует|не менее|не более|отныне|нельзя|запрещено",
    "her zaman|asla|gerek(?:ir|li)?|lazım|zorunda|en (?:az|fazla|çok)|bundan sonra|yasak",
    dense="必须|一律|总是|永远|不要|不得|禁止|不能|不准|每[个次天条]|只[能有用]|至少|至多|最多|统一|必ず|常に|絶対"
    "|毎回|のみ"
    "|禁止|なければ|べき|반드시|항상|절대|금지|해야",
)
"""It says what must, may not, always or never is."""

EXTENT: Final = _words(
    "only|every(?:thing|where|body|one)?|each|all|at (?:least|most)|nobody|no[ -]one|nothing|stays?|remains?",
    "jede[rsnm]?|alle[rsnm]?(?! (?:\\d|una|due|tre|ore)\\b)|nur|niemand|erst|chaque|tous|toutes|seulement"
    "|au (?:moins|plus)|personne|cada|tod[oa]s|sólo|solo|al menos|nadie|ogni|tutt[ie]|soltanto|almeno|nessuno",
    "só|apenas|somente|pelo menos|ninguém|elke?|ieder(?:e|een)?|alleen|niemand",
    r"każd\w{1,4}|wszystkie|tylko|nikt|кажд\w{2,3}|все[мх]?|только|никто",
    "her(?= (?:zaman|gün|gece|hafta|ay|şey|biri|bir|[^\\n]{0,80}(?-i:[ğışç])))|tüm|bütün|yalnızca|sadece|kimse|hiçbir",
    dense="すべて|全て|모든|전부|만 ",
)
"""It says of how much something is true: a norm, unless it is news."""

GENERAL: Final = _words(
    "always|never|every time|each time|whenever|when|before"
    "|after(?! (?:the|this|that|these|\\d|two|three|four|five|ten|twenty|thirty)\\b)|unless|while|from now on"
    "|in future|without asking"
    "|immer|nie|bevor|wenn|jedes mal|vor jede[mr]|toujours|jamais|avant|quand|chaque fois|siempre|nunca|antes|cuando"
    "|cada vez|sempre|mai|prima|quando|ogni volta|toda vez|altijd|nooit|voordat|telkens|elke keer|zawsze|nigdy|przed"
    "|zanim"
    "|gdy|za każdym razem|всегда|никогда|перед|прежде|когда|каждый раз|önce|asla|daima|her zaman|her seferinde",
    dense="每次|之前|以前|一律|毎回|前に|ときは|場合は|必ず|항상|전에|때마다|때는",
)
"""Its order is carried out more than once."""

THIS_ONE: Final = _words(
    "now|yet|once more|again|right away|immediately|this (?:file|function|one|time|page|paragraph|test|bug|part"
    "|section"
    r"|line|branch|change)|the last (?:commit|one|change)|the (?:second|first|next) (?:one|half|part)|lines? \d+"
    "|yesterday|today|tomorrow|as well|too",
    "jetzt|noch einmal|nochmal|sofort|gleich|eben|maintenant|encore une fois|tout de suite|ahora|otra vez|ya|adesso"
    "|ancora una volta|subito|agora|de novo|outra vez|nu|nog een keer|alvast|even|teraz|jeszcze raz|od razu|сейчас"
    "|ещё раз|еще раз|сразу|şimdi|tekrar|hemen|bir daha",
    dense="现在|再|马上|立刻|一下|一遍|今すぐ|もう一度|다시|지금|한번|바로",
)
"""Its order is carried out once, and now."""

STEP_DENSE: Final = regex(
    r"给我看|看看|看一下|帮我|打开|运行|跑一|画|列出|检查一下|修复|见せて|教えて|直して|作って|調べて|試して|実行して"
    r"|確認して|開いて"
    r"|見て|お願い|보여|고쳐|만들어|알려|확인해|실행해|열어|찾아|돌려|해 봐|해봐"
)
"""An order for one step, in languages that end with the verb or write without blanks."""

PREFERS: Final = _words(
    r"prefer(?:s|red|ence|ably)?|i (?:\w+ ){0,2}(?:like|love|hate|dislike|can't stand|favou?r)|we (?:\w+ )?(?:like"
    r"|favou?r|hate)"
    r"|i'd (?:love|like|rather|sooner|appreciate|sleep|feel|go)|(?:i|we) would (?:\w+ )?(?:rather|sooner|like|love"
    r"|appreciate|prefer)|rather|ideally|suits? me|works? (?:best|better|well) for (?:me|us|our)|works for me"
    r"|beats? [^.]{1,40} for me|helps me|my"
    r" (?:vote|taste"
    r"|favou?rite|preference)|(?:grown )?fond of|easier (?:for me|to read)|(?:feels?|looks?|reads?) (?:\w+"
    r" )?(?:cleaner"
    r"|better|nicer|right|easier)|nicer|as far as i'm concerned|i find|i'm (?:\w+ )?(?:happier|happy with|a fan|for"
    r"|partial|keen|not a fan)|if (?:it were|possible)|would be (?:nice|great|lovely|good)|makes me|bothers me|i"
    r" care",
    r"lieber|am liebsten|bevorzug\w{1,3}|mag (?:ich|keine?)|ich mag|möchte|gern(?:e)?|wünsch\w{0,3}|fände|finde ich"
    "|mir (?:ist|wäre|gefällt|wär)|wäre (?:schön|gut|toll)",
    r"préf[éèe]r\w{1,6}|j'aime(?:rais)?|plutôt|de préférence|je trouve|voudrais|souhait\w{1,5}|ça m'arrange"
    r"|idéalement",
    r"prefier\w{1,3}|preferir\w{1,3}|me gust\w{1,5}|mejor(?= si| que|:)|me viene|quisiera|idealmente|ojalá|encuentro",
    r"prefer\w{2,5}|mi (?:piace|trovo|piacerebbe|va)|meglio|vorrei|idealmente|gradi\w{2,4}",
    r"prefir\w{1,3}|prefer\w{2,4}|gost\w{1,5}|acho (?:melhor|mais|que fica)|de preferência|seria (?:bom|ótimo)"
    r"|queria",
    r"liever|het liefst|graag zien|fijn vinden|ik vind|bij voorkeur|ik hou van|houd van|mijn voorkeur|prettig\w?",
    r"wol(?:ę|ałbym|ałabym|imy)|najchętniej|lubię|preferuj\w{1,3}|chciał(?:bym|abym)|najlepiej|bardziej mi",
    r"предпочита\w{1,3}|предпоч\w{2,4}|мне (?:\w+ )?(?:больше |удобн\w{1,3} |проще |нрав)\w{0,10}|лучше"
    r"|хотел(?:ось)? бы|хотелось"
    "|желательно|по-моему|приятнее",
    r"tercih\w{0,8}|severim|seviyorum|hoşuma|isterim|mümkünse|bence|daha iyi olur|keşke|\w{2,20}(?:meyelim|mayalım)"
    "|rahat ediyorum",
    dense="更?喜欢|偏好|更愿意|倾向|最好|希望|习惯用|好みです|好きです|ほうが|方が|助かります|嬉しい|うれしい"
    "|いいと思|좋아|좋겠|선호"
    "|편해|편합니다|싫어|으면 합니다|면 해요|가능하면",
)
"""It states a preference."""

CORRECTS: Final = regex(
    r"^\W*(?:(?:hm+|oh|ah)\W+)?(?:(?:no )?(?:no|nope|nein|nö|ne|non|não|nie|nee|нет|hayır)\s*[,.;:—–-]|not quite|wrong"
    r"|correction"
    r"|actually|change of plans?|sorry, i|look closer|again:|falsch|eigentlich|pas tout à fait|en fait|en realidad"
    r"|in realtà"
    r"|na verdade|eigenlijk|właściwie|на самом деле|aslında)"
    r"(?!\W*(?:i|we|ich|wir|je|yo|io|eu|ik|я|ben)(?:'ve|'m|'d| haven't| have| didn't| don't| am| was| can't| habe|"
    r" hab|\b))"
    r"|\b(?:i (?:meant|was (?:talking|referring|speaking|unclear)|said|mean)|you(?:'re| are)? (?:\w+ )?(?:mixed"
    r"|mixing|confus\w{2,4}"
    r"|misread|misunderst\w{2,4}|got (?:that|it) wrong|had it)|that(?:'s| is|'s not| isn't) (?:the wrong|not (?:how"
    r"|what|the)|wrong|how)"
    r"|isn't (?:how|what) we|whatever the \w+ (?:says|claims)|change of plans?|on second thought|scrap|forget (?:the"
    r"|what)"
    r"|not \w+ but|and not|instead|new rule|that was about|got (?:cut|changed|moved|raised|lowered))\b"
    r"|\b(?:ich meinte|meinte ich|ich sprach|verwechsel\w{1,3}|stimmt (?:so )?nicht|nicht ganz|sondern"
    r"|statt(?:dessen)?"
    r"|je (?:parlais|voulais dire|disais)|tu confonds|vous confondez|c'est faux|et pas|pas le bon"
    r"|dije|quise decir|me refería|hablaba|te (?:equivoc|confund)\w{1,6}|en lugar de|en vez de|y no"
    r"|intendevo|volevo dire|parlavo|hai capito male|hai confuso|ti sbagli|invece|e non"
    r"|(?:eu )?quis dizer|eu falei|falava|enganaste|você confundiu|te enganaste|está errado|em vez de|e não"
    r"|ik bedoelde|ik had het over|je haalt|je vergist|klopt niet|in plaats van|en niet"
    r"|chodziło mi|miał(?:em|am) na myśli|mówił(?:em|am) o|mylisz|pomyli\w{2,5}|a nie|zamiast"
    r"|я (?:имел[а]? в виду|говорил[а]? про|говорил[а]? о)|ты (?:пере)?путал\w{0,3}|ты перепутал\w?|вы перепутали"
    r"|неверно|а не|вместо"
    r"|kastettim|kastetmiştim|bahsediyordum|demek istedi\w{1,3}|karıştır\w{2,8}|yanlış|değil|yerine)\b"
    r"|^不对|^不是|^错了|搞混|搞错|我(?:说的|指的)是|而不是|改成|改到|^逆です|違います|違って|間違|ではなく(?:て)?"
    r"|じゃなく"
    r"|という意味|^아니(?:요|오)|틀렸|헷갈|말한 (?:건|것은)|말고|아니라",
    re.IGNORECASE,
)
"""It corrects something."""

SOURCE: Final = _words(
    r"read ?me|guide(?:line)?s?|manual|handbook|excerpt|extract|section|licen[cs]e|terms(?: of \w+)?|rfc(?: \d+)?"
    r"|spec"
    r"|quote[ds]?|verbatim|log|logs|output|trace(?:back)?|stack ?trace|console|terminal|stderr|stdout|error(?:"
    r" message)?"
    r"|mail|e-?mail|letter|article|blog|wiki|docs?|documentation|exam|textbook|chapter|paragraph|book|says|said|wrote"
    r"|writes|reads|according to|changelog|commit message|release notes|old \w+|their \w+|notice|instructions?"
    r"|leaflet"
    r"|contract|act|policy text",
    r"auszug|handbuch|anleitung|lizenz|protokoll|ausgabe|laut|schreibt|schrieb|sagt|zitat|wörtlich|vertrag|abschnitt",
    r"extrait|manuel|mail|courriel|notice|licence|sortie|selon|écrit|citation|contrat|article",
    r"extracto|manual|correo|licencia|salida|según|dice|escribió|cita|contrato|texto|artículo|instrucciones",
    r"manuale|estratto|dal|dalla|licenza|secondo|scrive|citazione|contratto|istruzioni|testo",
    r"manual|trecho|licença|saída|segundo|diz|escreveu|citação|contrato|texto|edital|instruções",
    r"handleiding|uittreksel|licentie|uitvoer|volgens|schrijft|citaat|contract|bijsluiter|tekst",
    r"instrukcj\w|podręcznik\w?|fragment|licencj\w|wynik|według|pisze|cytat|umow\w|regulamin\w?|tekst",
    r"инструкци\w|руководств\w|отрывок|лиценз\w\w?|вывод|лог|согласно|пишет|цитата|договор\w?|письм\w|памятк\w|текст",
    r"kılavuz(?:dan|da|un)?|talimat\w{0,4}|lisans\w{0,3}|çıktı|alıntı|sözleşme\w{0,4}|metin|yazıyor|broşür\w{0,4}",
    dense="说明书|手册|摘录|原文|协议|条款|日志|报错|输出|邮件|引用|文档里?写|説明書|マニュアル|抜粋|原文|規約|ログ"
    "|出力|メール|引用|안내문"
    "|설명서|매뉴얼|발췌|원문|약관|로그|출력|메일|인용",
)
"""A label that names the source of the words after it."""

NOTICE: Final = _words(
    "sent|posted|forwarded|pasted|copied|announcement|bekanntmachung|hausordnung|satzung|règlement|avis|aviso|reglamento|avviso|regolamento"
    "|regulamento|huisregels|reglement|regulamin|ogłoszenie|объявление|уведомление|устав|duyuru|yönetmelik",
    dense="通知|公告|通告|守则|お知らせ|通達|掲示|공지|안내|공고",
)
"""A label of what others sent or put up."""

LAYS_DOWN: Final = _words(
    "rules?|reminder|remember|important|correction|note to self|our (?:guide|policy|rule|convention)s?|we|my",
    "regeln?|wichtig|règles?|important|reglas?|importante|regol[ae]|regras?|regels?|belangrijk|zasad[ay]|ważne"
    "|правил\\w"
    "|важно|kural\\w{0,4}|önemli",
    dense="规则|规定|注意|重要|ルール|注意|重要|規則|규칙|중요|주의",
)
"""A label after which the user speaks."""

LASTING_VERBS: Final = _verbs(
    "use keep leave avoid never always don't no prefer follow stick treat assume limit cap quote tag respond reply"
    " refer format indent skip let ensure hands quit prefix suffix abbreviate capitalize capitalise spell pin default"
    " favour favor respect stay restrict reserve address log document cite warn mention nothing nobody",
    "verwende nutze benutze behalte vermeide lass lasst halte achte nie niemals immer keine kein nicht finger nimm",
    "utilise utilisez évite évitez garde gardez laisse laissez respecte n'utilise ne pas jamais toujours réponds"
    " préviens",
    "usa use utiliza evita mantén deja respeta nunca siempre no sin responde pon",
    "usa usate utilizza evita mantieni lascia rispetta mai sempre niente non nessun nessuna rispondi scrivi",
    "use usa utilize evite mantenha deixe respeite nunca sempre não nada sem nenhum nenhuma responda coloque",
    "gebruik vermijd houd laat nooit altijd geen niets respecteer antwoord",
    "używaj unikaj trzymaj zostaw nie nigdy zawsze bez żadnych pisz odpowiadaj stosuj",
    "используй используйте избегай не никогда всегда без держи оставь пиши пишите отвечай соблюдай",
    "kullan kullanın asla hep hiçbir uzak",
)
"""First words of an order about how to work."""

EITHER_VERBS: Final = _verbs(
    "write make give set put name call store add check stop do include exclude ask tell test answer label order sort"
    " group round translate list number comment back return"
)
"""English verbs that order a way to work or one step, depending on what follows: a kind of thing or a certain one."""

STEP_VERBS: Final = _verbs(
    "run show roll count plot print draft refactor propose try fix look find create build implement open close delete"
    " remove rename move explain compare summarise summarize convert tidy generate update install start restart"
    " review"
    " rework commit push pull revert deploy search investigate draw sketch merge split choose pick think see go"
    " continue"
    " send download upload import export migrate wire have get figure debug rerun retry repeat begin finish prepare"
    " extract rewrite reformat clean set-up setup scaffold bump upgrade downgrade bisect profile benchmark measure"
    " analyse analyze describe outline suggest recommend calculate compute estimate fetch grep read scan inspect"
    " investigate trace verify validate reproduce port swap replace undo redo reset clone fork squash rebase tail cat"
    " change edit adjust drop cut expand shorten extend link mock stub hook plan design sum mark help proceed"
    " work turn play load save copy paste paint render resize compress crop take come wait hold forget apply edit"
    " cancel exchange refund reschedule process transfer invoke share",
    "zeig zeige mach mache erstelle erstell lies such suche finde lösche starte führe öffne schau prüfe teste baue"
    " füge"
    " ändere schreib schreibe gib hol korrigiere erkläre vergleiche ergänze räum entwirf sieh",
    "lance lancez montre montrez crée créez ouvre corrige ajoute supprime cherche regarde explique compare vérifie"
    " teste écris reprends fais faites relis prépare envoie donne trouve change modifie refais affiche propose",
    "muestra muéstrame lanza ejecuta crea abre corrige añade agrega borra busca mira explica compara revisa prueba"
    " escribe haz envía dame encuentra cambia prepara enseña vuelve calcula dibuja elimina arregla",
    "mostra mostrami lancia esegui crea apri correggi aggiungi cancella cerca guarda spiega confronta controlla prova"
    " fai fammi manda dammi trova cambia prepara rifai calcola disegna elimina sistema rivedi",
    "mostra mostre rode execute cria crie abra abre corrija adiciona adicione apaga apague procura procure olha olhe"
    " explique compare revise revê teste testa faz faça envia envie dá dê encontre muda mude prepara prepare gera"
    " gere"
    " remove remova calcula calcule desenha refaz refaça",
    "toon laat-zien maak start draai voer open verbeter voeg verwijder zoek kijk leg vergelijk controleer test"
    " schrijf"
    " stuur geef vind verander bereid bekijk haal teken bereken",
    "pokaż uruchom stwórz utwórz otwórz popraw dodaj usuń znajdź zobacz wyjaśnij porównaj sprawdź przetestuj napisz"
    " zrób wyślij daj zmień przygotuj narysuj policz przejrzyj odpal zbuduj",
    "покажи покажите запусти запустите перезапусти обнови отмени закажи переведи создай создайте открой исправь"
    " добавь удали найди посмотри объясни сравни"
    " проверь"
    " протестируй напиши сделай отправь дай измени подготовь допиши нарисуй посчитай перепиши собери",
    "göster çalıştır oluştur aç düzelt ekle sil bul bak açıkla karşılaştır yaz yap gönder ver değiştir hazırla çiz"
    " hesapla",
)
"""First words of an order that is one step."""

BECAUSE: Final = _words(
    "because|since|so (?:i|we)|as (?:it|the|they|there|this|we)|so that|due to|owing to|on account of|given(?:"
    " that)?|in view of"
    "|seeing (?:that|how)|in order (?:to|that)|the reason|reason:|which means|that's why|that is why|therefore|for"
    " that reason"
    "|thanks to|considering",
    "weil|da (?:das|die|der|es|wir|sonst)|denn|deshalb|deswegen|daher|wegen|damit|sodass|aufgrund|um",
    "parce que?|car|puisque|comme|afin (?:de|que)|pour que|c'est pourquoi|grâce à|à cause de|vu que|étant donné",
    "porque|ya que|puesto que|como|para que|debido a|dado que|por eso|gracias a|pues",
    "perché|visto che|poiché|dato che|siccome|così|a causa di|quindi|affinché",
    "porque|pois|já que|como|para que|devido a|dado que|por isso|uma vez que|visto que",
    "omdat|want|aangezien|zodat|daarom|vanwege|doordat|gezien",
    "bo|ponieważ|gdyż|dlatego|aby|żeby|ze względu na|skoro",
    "потому что|так как|поскольку|чтобы|поэтому|из-за|ибо|ведь",
    "çünkü|zira|için|diye|dolayı|yüzünden|nedeniyle|böylece",
    dense="因为|由于|这样|以便|所以|因此|免得|ため|ので|から|なぜなら|때문|거든|니까|므로|위해|아서|어서",
)
"""It gives a reason."""

RESOLVES: Final = regex(
    r"\bi(?:'ll|'m| will| am| have|'ve)?(?: (?:not|now|also|just|simply|therefore|instead|deliberately|only))*"
    r" (?!(?:also|just|now|not|only|simply|don|unable|cannot|recommend\w*|suggest\w*|thinking|sorry|happy|glad"
    r"|afraid|need|want|think|see"
    r"|guess|know|found|noticed|look|looked|looking|read|reading|check|checked|checking|ran|run|running|try|tried"
    r"|trying|search\w*"
    r"|examin\w+|verif\w+|understand|hope|assume|believe|can|could|may|might|would|must|should|apologi\w+|be|been"
    r"|get|got|had|have"
    r"|wait\w*|ask\w*|help|start|begin|continue|proceed|explor\w+|investigat\w+|review\w*|inspect\w*|test|tested"
    r"|testing)\b)\w{3,}"
    r"|^\W*(?:decided|decision|my (?:choice|pick|decision)|we (?:go|stay|stick) with|keeping|leaving|dropping)\b"
    r"|\bich (?:nehme|wähle|lasse|behalte|verwende|nutze|baue|setze|verzichte|entscheide|habe mich|werde|bleibe"
    r"|mache|schreibe)"
    r"|\b(?:baue|nehme|lasse|verwende|behalte|setze|wähle) ich\b"
    r"|\b(?:j'ai (?:choisi|décidé|retenu|opté|gardé|laissé)|je (?:garde|laisse|pars|prends|choisis|retiens|vais"
    r"|passe|mets|reste))\b"
    r"|\b(?:voy a|he (?:elegido|decidido|optado|dejado)|elijo|dejo|uso|opto|mantengo|me quedo con|prefiero)\b"
    r"|\b(?:uso|ho (?:scelto|deciso|lasciato|optato)|scelgo|lascio|tengo|procedo|opto|passo|mantengo)\b"
    r"|\b(?:optei|vou|escolhi|decidi|deixo|mantenho|uso|fico com|escolho|deixei|mantive)\b"
    r"|\bik (?:laat|kies|gebruik|houd|hou|neem|ga|zet|bouw|maak|schrijf|heb gekozen|bewaar)\b"
    r"|\b(?:postanowi\w+|wybieram|wybrał\w+|zostawiam|używam|zdecydowa\w+|rezygnuję|stawiam|trzymam)\b"
    r"|\b(?:решил\w?|выбираю|выбрал\w?|оставляю|использую|беру|перехожу|отказываюсь|оставил\w?)\b"
    r"|\w\w(?:yorum|acağım|eceğim)\b|karar verdim|seçtim"
    r"|我(?:选|用|决定|采用|把|保留|打算|会|将)|^(?:选用|采用|决定|保留)|ことにし|を選び|を採用|にします|とします"
    r"|쓰겠|하겠|두겠|남기겠|하기로|선택했|선택합|사용하겠",
    re.IGNORECASE,
)
"""Someone states a choice and carries it out."""

DECIDES: Final = regex(
    r"\b(?:i(?:'ll|'m| will| am|'ve| have)? (?:\w+ )?(?:go(?:ing)? with|went (?:with|for)|settl\w+ (?:on|for)"
    r"|pick(?:ed|ing)?|chose"
    r"|choos(?:e|ing)|decid\w+|opt(?:ed|ing)?|stick\w* (?:with|to)|leav\w+ .{2,60}(?:as|out|alone)|drop(?:ped|ping)?"
    r"|rewrit\w+ .{2,60}as)"
    r"|we go with|my (?:choice|pick|decision) is|decision:)\b"
    r"|\bich (?:nehme|wähle|entscheide mich)\b|\bje (?:pars sur|choisis|retiens)\b|\b(?:elijo|opto por|me quedo"
    r" con)\b"
    r"|\b(?:scelgo|procedo con|opto per)\b|\b(?:escolho|fico com|opto por|optei)\b|\bik kies\b|\bwybieram\b"
    r"|\bpostanowi\w+"
    r"|\b(?:решил\w?|выбираю|выбрал\w?)\b|karar verdim|seçiyorum|我决定|我选|ことにし|하기로|쓰겠습니다",
    re.IGNORECASE,
)
"""Someone chooses one of several options, with or without a reason."""

HEARSAY: Final = regex(
    r"\b(?:\w+ (?:writes|wrote|says|said|told)|according to|you (?:told|asked|said|wanted)|your (?:choice|decision"
    r"|call)"
    r"|is yours|up to you|if you|would you|which (?:one|of)|should i|shall i|let me know|i could|we could|the"
    r" (?:team|committee"
    r"|board|readme|docs?|minutes|log) )\b"
    r"|(?:möchtest|willst|soll) (?:du|ich)|souhaitez|voulez|vous appartient|preferisc[ei]|vuoi|prefieres|quieres"
    r"|prefere"
    r"|wil je|liever|wolisz|хотите|ister misin|您想|どちら|어느",
    re.IGNORECASE,
)
"""Someone else settled it, or should."""
