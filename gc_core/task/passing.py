"""
Words for the moment: orders that name one thing to be done once, states that will be over soon, and answers.

Grammar tells most of them: an object at hand or for the speaker, the perfective aspect of Slavic imperatives, an object
without a topic in Japanese and Korean, a past tense after "nobody" or "everything". Patterns are linear.
"""

from __future__ import annotations

import re
from typing import Final

from gc_core.values.patterns import regex

_SOON: Final = (
    r"(?:please|pls|can you|could you|would you|bitte|kannst du|s'il te plaît|stp|por favor|per favore|graag|proszę"
    r"|пожалуйста|lütfen)"
)

ERRAND: Final = regex(
    r"^\W*+(?:(?:please|pls|now|then|next|also|and|ok(?:ay)?|so)\b\W+){0,2}(?:tell|remind|inform|ask|call|email"
    r"|message|ping|text)"
    r" (?:(?-i:[A-Z][a-z]+)|him|her|them)(?: (?:that|to|about|know|whether|if)\b|\W*$)"
    rf"|[,;–—-]\s{{0,3}}(?:so |and |also |und )?{_SOON}\W+\w+ (?:one|it|them|that|this|es|sie|ihn|le|la|les|lo|los"
    rf"|las|het|ze|go|ją|его|её|их"
    r"|onu)\b(?: \w+)?\W*$",
    re.IGNORECASE,
)
"""Someone by name is to be told something, or what was named is to be done: whatever must be then."""

ONE_STEP: Final = regex(
    r"^\W*+(?:(?:please|pls|now|then|next|also|and|ok(?:ay)?|so|bitte|dann|et|alors|y|e|en|i|и|ve|por favor"
    r"|per favore)\b\W+){0,2}(?:"
    # English: for the speaker, or for something to come.
    r"(?:we|i) (?:could (?:do with|use)|need) (?:an?|some|the) .{2,80}? (?:for (?:the|my|our|tomorrow|monday"
    r"|tuesday|wednesday"
    r"|thursday|friday)|by (?:noon|tomorrow|tonight|five|six|monday|tuesday|wednesday|thursday|friday)|from you)\b"
    r"|could (?:do with|use) (?:an?"
    r"|some)\b|(?:bring|switch|swap|book|arrange|schedule|restore|attach|gather|buy|invite|double-check|archive|dig"
    r"|ring|unpack|print"
    r"|re-?run|re-?do|hand|pass|grab) (?:me |us |up |off |on |out )?(?:the|that|this|my|a|an|two|both|it|them)\b"
    r"|(?:i|we)(?:'d| would)? (?:like|want|need|love) you to (?:translate|write|make|give|put|add|check|list|sort"
    r"|rename|call|test|go|come|have)"
    r" (?:me |us |up )?(?:the|that|this|my|a|an|it|them)\b|what i(?:'d| would)? (?:need|want|like)(?: now"
    r"| next)? is (?:a|an|the|for you)\b"
    r"|quick (?:one|thing|question|favou?r)\b|(?!let |help |teach )\w+ me (?:through|the|an?|your|that|this)\b|(?:i"
    r"|we)(?:'d| would) (?:love|like|appreciate) (?:an?|the|some)"
    r" .{2,60}? (?:by|before) \w+day\b|(?!use |keep |leave |follow |avoid |treat |respect |in |on |at |for |only "
    r"|with |of |to |by |from |as |after |before |when |if |is )"
    r"[a-z]+ (?:up |out |off |down )?(?:all (?:the|of the|my|these|those)|the (?:two|three|four|five|six|latest|last"
    r"|next|attached|failing|red|blue|green)) \w+(?!.{0,80}\b(?:is|are|must"
    r"|has|have|goes?|gets?|stays?|belongs?|needs?|comes?|always|never|holds?)\b)|(?!use |keep |leave )[a-z]+ (?:the"
    r"|that|this|these|those) .{2,80}, please\W*$"
    r"|(?!use |keep |leave |in |on |at |for |with )[a-z]+ (?:the|that|this) \w+ (?:up|out|down|back)(?: to| and|\W*$)"
    r"|(?:let me have|put me|throw out|dig out|draw up) \w+"
    # Clitics for the speaker: of Romance languages, and German.
    r"|\w{3,}-(?:moi|nous|me|mos|nos)\b(?! (?:avant|antes|quand|toujours|sempre|siempre))"
    r"|\w*[áéíó]\w{1,4}[ae]n?me(?:lo|la)?\b"
    r"|\w{3,}[aeiu]mi (?:il|lo|la|l'|i|gli|le|un|una|tutt[ie])\b"
    r"|(?:schick|gib(?! mir \w+ stets)|zeig|such|bring|hol|mach|schreib|sag|besorg|erstell)e? (?:mir|uns)\b"
    # An imperative and a definite object.
    r"|(?!lasse?\b|halte?\b|behalte\b|verwende\b|nutze\b|benutze\b|nimm\b|nur\b|auf\b|für\b|ohne\b|bei\b|durch\b"
    r"|gegen\b|um\b|alle\b|auch\b|erst\b|bis\b|wenn\b"
    r"|dass\b|weil\b|da\b|hier\b|heute\b|über\b|unter\b|vor\b|an\b|in\b|ist\b|sind\b|hat\b"
    r"|wird\b)(?:[a-zäöü]{2,}(?:e|g|b|k|h|f|d|z|l|ck))"
    r" (?:(?:das|den) (?:\w+ )?[A-ZÄÖÜ]\w+|die (?:\w+ )?[A-ZÄÖÜ]\w+(?:ung|heit|keit|ion|schaft|tät))\b(?! (?:ist"
    r"|sind|wird|hat|muss|darf|soll|kann)\b)"
    r"|(?:renomm|mets|mettez|ajout|cré|lanc|chang|remplac|déplac|envo(?:i|y)|télécharg|imprim|relis|tradui|publi"
    r"|range|corrig|enlèv|retir"
    r"|coup|coll|fusionn|convert|génèr|répar|install|démarr|ferm|ouvr|copi)(?:e|es|ez|s)? (?:le|la|l'|les|ce|cette"
    r"|un|une|tous|toutes)\b"
    r"|(?:pon|cambia|sube|baja|mueve|manda|instala|renombra|convierte|traduce|publica|quita|copia|pega|imprime"
    r"|actualiza|reinicia|cierra|enciende"
    r"|apaga|ordena|pasa|lee|haz|trae) (?:el|la|los|las|este|esta|un|una|todos|todas)\b"
    r"|(?:metti|rinomina|sposta|cambia|carica|scarica|installa|converti|traduci|pubblica|togli|copia|incolla|stampa"
    r"|aggiorna|riavvia|chiudi|accendi"
    r"|spegni|ordina|leggi|porta|sostituisci|unisci) (?:il|lo|la|l'|i|gli|le|questo|questa|un|una|tutti|tutte)\b"
    r"|(?:renomei\w|coloca|põe|ponha|move|mova|carrega|baixa|instala|converte|traduz|publica|tira|copia|cola|imprime"
    r"|atualiza|reinicia"
    r"|fecha|liga|desliga|ordena|lê|traz|troca|manda) (?:o|a|os|as|este|esta|um|uma|todos|todas)\b"
    r"|(?:hernoem|zet|draai|verplaats|plaats|installeer|converteer|vertaal|publiceer|haal|kopieer|plak|print"
    r"|herstart|sluit|ververs|sorteer"
    r"|lees|breng|werk|vervang|laad) (?:de|het|deze|dit|een|alle|me|mij)\b"
    r"|(?!die |das |der |den |halt|lass|lege? |nur |bei |mit )\w+ (?:die|das|den) .{2,60} (?:auf|ab|an|aus|ein|um"
    r"|weg|zusammen|zurück|raus|rein|hin)\W*$"
    # Of other verbs, by their endings and a definite object in the singular.
    r"|(?!toda|tutta|cada|sobre|entre|durante|desde|ante|sempre|siempre|usa|deja|respeta|firma|utiliza|evita|lascia"
    r"|rispetta|fuera|hacia|bajo|contra|como|come|prima"
    r"|oltre|anche|mai|nunca|paga|para|quando|cuando|laisse|garde|utilise|respecte|évite|toute|entre|comme|notre"
    r"|contre|même|lorsque|une|che)\w{3,}[aei] (?:(?:el|la|il|lo) |l')\w+(?!.{0,80}[ışğ])(?!.{0,80}"
    r"\b(?:es|è|est|va|está|sta|tiene|debe|doit|deve)\b)|(?!de |het |een |in |op |bij |voor |met |na |als |gebruik "
    r"|houd |laat )\w+ (?:de|het) .{2,60} (?:in|op|af|uit|aan|om|terug|bij|weg|in tot \w+ \w+)\W*$"
    # The perfective aspect.
    r"|(?:пере|при|про|по|со|за|вы|от|до|об|раз|рас|из|под)[а-яё]{1,}(?:[^аеёиоуыэюяй]и|ь|уй|ей|ой)(?:те)?(?: "
    r"|$)(?!.{0,80}\b(?:перед|прежде|когда|если)\b)"
    r"|(?:za|wy|prze|przy|po|do|od|na|w|u|roz|s|z|o)\w+(?:ń|ij|yj|aw|om|łóż|ób|eź|ierz|isz|óć|uć"
    r"|otuj)(?:cie)? (?!.{0,80}\b(?:zanim|przed|gdy|jeśli)\b)"
    r")"
    # Turkish: an object in the accusative, an imperative at the end.
    r"|\w(?:[ıiuü]|[yn][ıiuü]) (?:\S+ ){0,4}(?:koy|yolla|gönder|getir|başlat|çalıştır|düzelt|sil|ekle|oluştur"
    r"|hazırla|değiştir|bul|göster|aç|yap|çiz"
    r"|hesapla|kontrol et|güncelle|taşı|çevir|yükle|indir|kapat|tamamla|listele|özetle)(?:in|ın|un|ün|iver|ıver)?\W*$"
    # Chinese, Japanese, Korean.
    r"|^(?:给我|发我|帮我?|麻烦|劳驾|再?把|先把|请?(?:帮忙|给我|把这|把那))(?!.{0,40}(?:都|每|一律|以后|必须))"
    r"|^(?!.{0,80}(?:は|常に|必ず|前に|とき|時|場合|毎|今後|なら|たら|ずつ|でも|ないで|も)).{2,80}を.{0,40}(?:て"
    r"|で)(?:ください|下さい|くれ|ほしい|もらえ\w*|いただけ\w*|ね)?[。.!！]?$"
    r"|^(?!.{0,80}(?:은 |는 |에는|항상|꼭|마다|때|전에|앞으로|이면|으면|라면|만 |도 |말고|지 마"
    r"|하지 )).{2,80}[을를] .{0,40}(?:줘요?|주세요|주십시오|줄래요?)[.!]?$",
    re.IGNORECASE,
)
"""One thing is to be done, once."""

MOMENT: Final = regex(
    # Of all or of nobody something is told.
    r"^\W*+(?:nobody|no one|everyone|everybody|everything|nothing|all of (?:them|it|us)|half (?:of )?the \w+"
    r"|most of (?:them|it))(?: but \w+| except"
    r" \w+| (?:from|in|at) \w+)? (?:(?:has|have|had)\b|was\b|were\b|did\b|\w{2,}ed\b|went|came|got|said|sent|found"
    r"|saw|took|made|ran|left|knew|told|wrote|rang"
    r"|showed)"
    r"|\b(?:has|have) (?:only|just|already|finally|now|all|both) (?:been |\w{2,}(?:ed|en|wn)\b|gone|come|done|left"
    r"|made|sent|paid|found)|\b(?:has|have) been"
    r" (?!\w+ to \b)(?:uploaded|merged|sent|fixed|closed|updated|moved|done|added|deployed|delivered|signed|received"
    r"|paid|booked|shipped|migrated|restarted)\b"
    r"(?!.{0,80}\b(?:must|never|always|is|are|gets?)\b)"
    r"|^(?!.{0,120}\b(?:if|when|once|until|after|who|that|which|must|always|never)\b).{0,80}\b(?:(?:has|have|hasn't"
    r"|haven't) (?:\w+ )?(?:arrived|replied|answered|finished|failed|passed"
    r"|crashed|started|stopped|left|gone|come|responded|confirmed)|(?:tests?|jobs?|builds?|checks?) (?:passed"
    r"|failed))\b|^\W*+(?:nothing new|all (?:quiet|good|fine|done|set|clear))\b"
    r"|\b(?:noch (?:nicht|kein\w{0,2})|bisher|pas encore|n'(?:a|ont) encore|todavía|aún no|ainda não|ainda\W*$"
    r"|ancora\W*$|non (?:\w+ )?ancora|ha ancora|nog (?:niet|geen)|heeft al"
    r"|jeszcze nie|пока (?:не|никто)|ещё не|henüz)\b|(?:还|还都)没|まだ.{1,20}ません|아직"
    r"|^(?!.{0,120}\b(?:if|when|once|until|after|who|that|which|must|always|never|has to|have to)\b)\W*+(?:every"
    r"|each|all|none|both|no one|nobody|it|the last)\b(?! time).{0,60}?"
    r" (?:(?:was|were) \w+(?:ed|en|wn)\b|went\b|came\b|took\b|(?:has|have) (?:heard|seen|touched|said|told"
    r"|\w{3,}ed)\b)|\b(?:sind|ist) (?:raus|fertig|durch|erledigt)\W*$"
    r"|\bneeds? another\b|\b(?:is|are) (?:out of|halfway)\b|\bonly halfway\b"
    # It is so here and now.
    r"|(?<=\w )(?:on my (?:machine|laptop|side|end|box|computer|branch)|bei mir|chez moi|en mi (?:máquina|equipo"
    r"|lado)|sulla mia macchina|na minha máquina"
    r"|op mijn (?:machine|laptop)|bij mij|u mnie|у меня|bende)\b(?! (?:must|should|is|are|stays?)\b)|我这边"
    r"|こちらでは?(?:通"
    r"|動|成功|失敗)|제 (?:쪽|컴퓨터)"
    r"|\b(?:this time|so far)\W*$|^\W*+(?:works?|loads|runs|compiles|passes|builds) (?:now|again|fine)\b"
    r"|\bout sick\b|\bat customs\b"
    r"|\b(?:is|are) (?:red|green|down|blocked|broken|offline|failing|flaky|late|delayed) (?:because|since|due"
    r"|again|for some reason)\b"
    # What is left.
    r"|(?<!the )(?<!on )(?<!to )\b(?:left|remaining|pending|outstanding|to go)(?: (?:in|on|for|until|before|to) "
    r"|\W*$)|^\W*+(?:il reste|quedan?|faltan?|restano"
    r"|rimangono|manca(?:no)?|faltam?|restam?|sobraram?|zosta(?:ło|ły|je)|brakuje|осталось|остался|остались)\b"
    r"|\b(?:sind|ist|fehlen|bleiben) noch\b|\ber"
    r" (?:staan|zijn|liggen|is) nog\b|(?<!\w)(?:осталось|остал[аи]сь|kaldı|kalan)\b|还剩|還剩|残って(?:い|る)|남았"
    r"|\bwieder (?:da|online|weg|grün|rot|oben)\b"
    # The simple past of German, Dutch and Portuguese after a subject.
    r"|^\W*+(?:niemand|alle|jeder|keiner|der \w+|die \w+|das \w+|er|sie|es|iedereen|de \w+|het \w+|hij|ze|ninguém"
    r"|todos?|todas|ele|ela|[oa] \w+|os \w+|as"
    r" \w+)(?: \w+)? (?:ging(?:en)?|kam(?:en)?|nahm(?:en)?|rief(?:en)?|blieb(?:en)?|fiel(?:en)?|lief(?:en)?"
    r"|fand(?:en)?|wurden?|gab(?:en)?|schrieb(?:en)?"
    r"|nam(?:en)?|kwam(?:en)?|belde|werd(?:en)?|bleef|viel(?:en)?|vond(?:en)?|gaf|schreef|\w{2,}(?<!c)(?:eu|iu|aram"
    r"|eram|iram))\b"
    r"|^(?:没有?人|大家都|全部?都?)?[^，。]{0,12}(?:接了?电话|通过了|完成了|失败了)|ませんでした[。.]?$",
    re.IGNORECASE,
)
"""It is so at the moment, or was so: no strong word makes a rule of it."""

REPLIES: Final = regex(
    r"^\W*+(?:(?:no|nope|nein|ne|non|nee|não|nie|нет|hayır)\W+(?:just|only|nur|seulement|juste|solo|só|alleen|tylko"
    r"|только|sadece)(?: [\w'-]+){1,4}\W*$"
    r"|(?:about|around|roughly|approximately|circa|etwa|ungefähr|environ|cerca de|ongeveer|około|примерно"
    r"|yaklaşık) (?:\d+|ten|twenty|thirty|forty|fifty|sixty|seventy"
    r"|eighty|ninety|a (?:dozen|hundred|thousand|week|day|month|year|hour)|two|three|four|five|six|seven|eight|nine"
    r"|half|zehn|zwanzig|dreißig|vierzig|fünfzig"
    r"|hundert|dix|vingt|trente|quarante|cinquante|cent|veinte|treinta|cuarenta|venti|trenta|quaranta|vinte|trinta"
    r"|quarenta|twintig|dertig|veertig)\b"
    r"|une \w+aine de\b|un[oa]s (?:\w+enta|\w+inte|diez)\b|una \w+ina di\b|(?:both|neither|either|none|beide|keins"
    r"|les deux|ninguno|nessuno|nenhum|geen|oba|оба)[,.]"
    r"|(?:it|they|that)(?:'s|'re| is| are) (?:in|on|at|under|behind|near|next to|inside|over) (?:the|my|our|a)\b"
    r"|that would be\b)"
    r"|\W(?:i think|i guess|i believe|glaube? ich|denke ich|je crois|je pense|creo|credo|penso|acho eu|denk ik"
    r"|geloof ik|chyba|myślę|думаю|наверное|sanırım|galiba)\W*$"
    r"|(?:と思います|かな|같아요|것 같습니다)[。.]?$",
    re.IGNORECASE,
)
"""It answers a question, and says nothing by itself."""

LAUGHS: Final = regex(
    r"\b(?:ha(?:ha)+|hehe+|lol|rofl|ja(?:ja)+|kkk+|rs(?:rs)+|xd|(?:as )?they say|sage ich immer)\W*$"
    r"|(?:哈哈+|呵呵|ㅋㅋ+|ㅎㅎ+|笑|www)\W*$",
    re.IGNORECASE,
)
"""It ends with a laugh, or like a proverb."""
