"""
Whose words a sentence repeats, and whether it speaks of what is the case or of what is only imagined.

A clause of someone else's opinion, advice or document is no rule until the user adopts it, and a condition contrary to
fact lays nothing down. Both show in the grammar: a third person and a verb of saying before the clause, a conditional
mood in it. Every pattern begins at a fixed place or word and has bounded repeats, so all of it is linear.
"""

from __future__ import annotations

import functools
import re
from typing import Final

from gc_core.task import rule_phrases as phrases
from gc_core.values.patterns import regex

_ATTRIBUTED: Final = regex(
    r"^\W*+(?:(?:and|but|well|oh|hm+|also|so) )?(?:"
    # What is only heard, and sources before the clause.
    r"(?:apparently|allegedly|reportedly|supposedly|rumou?r has it|they say|people say|word is|(?:it|there) says"
    r"|legend has it|tradition (?:has it|says))\b"
    r"|i(?:'ve| have)? (?:once )?(?:read|heard|saw|was told|came across)\b.{0,60}\b(?:that|to|never|always|must|should"
    r"|claim\w{0,3}|say\w{0,3})\b"
    r"|(?:according to|as per|judging by|in the words of) (?!our\b|my\b|(?:the )?(?:law|regulations?)\b)"
    r"|in (?:the|his|her|their|some|an?)(?: [\w'-]+){1,4},? (?:it says|one reads|you read|it (?:is|was) (?:said"
    r"|written))"
    # Third persons whose opinion or advice follows.
    r"|(?!(?:i|we|you|if|when|as|like|what|who|whoever|(?:the|our|my) (?:client|customer|boss|lawyers?|accountant"
    r"|auditors?)|legal|nobody|no one|please|don't|do not|never|always|our|use|write)\b)"
    r"(?:[\w'.-]+ ){1,9}?(?:(?:says(?! [\"“«'])|said|thinks|thought|believes?|believed|insist(?:s|ed)|swears|swore"
    r"|reckons?"
    r"|holds that|feels that|demands that|proposes|asserts|recommend(?:s|ed)?|suggest(?:s|ed)|advis(?:es?|ed)"
    r"|argue[sd]?|preach(?:es|ed)|maintain(?:s|ed) that|wrote|writes"
    r"|would (?:have|like|want|love) (?:us|me|everyone|everybody|all)\b|(?:tells|told|urge[sd]?|ask(?:s"
    r"|ed)) (?!you\b|me"
    r" (?:he|she|they)\b)[\w' -]{1,24}(?:\bto|\bthat|\bnever|\bnot)\b|(?:keeps?|kept) (?:saying|telling|insisting"
    r"|asking)"
    r"|once (?:told|taught|said)|(?:has|have|had)(?: always)? (?:told|said|argued|suggested|insisted|recommended)"
    r"|claim(?:s|ed) (?:that |to |it |you |we |one |all |every |no |never |the )|(?:is|are|was) (?:convinced|of the"
    r" (?:opinion|view)|adamant|sure|all for)\b|had (?:a|this|the) (?:strict )?(?:rule|policy|habit)\b"
    r"|used to \w+ (?:that|us|me|everyone)\b|(?:reads?|warns?) (?:that|never|not|against)|preach|used to (?:say"
    r"|insist|require|demand|forbid|make|have))\b"
    r"|(?:opinion|view|advice|idea|motto|mantra|suggestion|take|theory|position)\b.{0,20}\b(?:is|was)\b)"
    r"|(?!my (?:own )?rule|our )[\w.-]{1,20}(?: [\w.-]{1,20}){0,3}'s? (?:\w+ )?(?:rule|policy|guideline|handbook|docs?"
    r"|manual|wiki|style guide|contract|terms|book|blog)s?\b(?! (?:lives?|is (?:at|in|on)|are (?:at|in|on)))"
    # An owner who is not here, with whatever they demand.
    r"|(?:(?:my|the|our|an?|their|his|her) )?(?:old|former|previous|ex|last|other|rival|competing)[ -](?:\w+ ){0,3}?"
    r"(?:employer|boss|job|team|company|office|firm|landlord|teacher|owner|manager|vendor|supplier|agency|wiki|manual"
    r"|handbook|readme|docs?|guide|guidelines|policy|client|contractor)\b(?! (?:is|was|are|were) (?:gone|dead"
    r"|obsolete))"
    r"|(?:their|his|her|its) (?:\w+ ){0,3}?(?:guide|guidelines|rules?|policy|docs?|handbook|manual|readme|contract"
    r"|terms"
    r"|wiki|team|company|office)\b"
    r"|(?:our|a|the|my) (?:competitors?|rivals?)\b(?! (?:names?|brands?|logos?))"
    r"|(?:over|back) (?:at|in) [\w' ]{2,30}|(?:at|in) (?-i:[A-Z])\w+,? they\b|at (?:her|his|their|my (?:last|old"
    r"|former|first))\b|one [\w'-]+ (?:wants|says|thinks|insists)\b"
    r"|there(?:'s| is| are) (?:a school|people|some|those|folks)\b[\w ]{0,30}\b(?:that|who)\b"
    r"|[\w ]{2,24}'s (?:letter|mail|note|talk|view|opinion|faq|motto|advice"
    r"|post|article|blog|paper|lecture|leaflet|sign)\b|(?:back (?:at|in|when)|in the old days|years ago|in my day"
    r"|früher|autrefois"
    r"|vroeger|dawniej|раньше|eskiden|antigamente|un tempo|antiguamente)\b|(?:yesterday's|last \w+'s|today's|some"
    r"|this|that|an?)"
    r" (?:article|paper|talk|blog post|post|book|video|podcast)\b(?= \w+s\b)|the (?:tutorial|course|article|book"
    r"|template) (?:has|had|makes|made)"
    r" (?:you|us|everyone)\b|(?:in|on|im|sur|en el|en|nel|sul|no|na|in het|op het|w|на|в) (?:the |le |el |il |o "
    r"|het )?(?:forums?|foro|fórum"
    r"|foren|форуме|forumie)\b|forum\w* herkes"
    r"|(?:some|many|most|other|a lot of) (?:people|folks|teams|companies|projects|shops|developers|experts|blogs|guides"
    r"|places|schools)\b(?= (?:always|never|only|think|say|believe|insist|swear|claim|prefer|recommend|argue|tell"
    r"|would|want)\b)"
    # German, Dutch.
    r"|(?:laut|gemäß) (?!unser|mein|gesetz|§)|(?:angeblich|es heißt)\b|(?:im|in (?:der|dem|einem|einer|seinem|ihrem))"
    r" [\w-]+(?: [\w-]+){0,3} (?:steht|stand|heißt es)\b|(?!ich\b|wir\b|du\b|was\b|wer\b"
    r"|wie\b)(?:[\w.-]+ ){1,6}?(?:(?:meint|findet"
    r"|glaubt"
    r"|denkt|sagt|behauptet|schreibt|rät|fordert|verlangt|besteht darauf)e?(?:,| uns,| mir,| immer,| ja,| stets,)"
    r"|(?:meinte"
    r"|fand|behauptete|sagte|glaubte|riet|dachte|schwört|schwor|raten|rieten|empfehlen)\b|empf(?:iehlt|ahl)\b"
    r"|schl(?:ägt|ug) vor\b|hat(?:te)?"
    r" (?:uns |mir |immer |mal )?(?:empfohlen|gesagt|vorgeschlagen|behauptet|geraten|verlangt)\b)"
    r"|(?:mein|unser|der|die)e?r? (?:alte|frühere|ehemalige|letzte|vorige)r? \w+ (?:wollte|verlangte|bestand|forderte"
    r"|hatte|verbot|erlaubte)\b"
    r"|volgens (?!ons\b|onze\b|mij\b|de wet)|naar verluidt\b|in (?:het|de|zijn|haar|een) [\w-]+(?: [\w-]+){0,2}"
    r" (?:staat|stond)\b|(?!ik\b|we\b|wij\b|je\b)(?:[\w.-]+ ){1,6}?(?:(?:vindt|zegt|denkt|meent|beweert|gelooft"
    r"|adviseert|zweert)"
    r"(?: ons| me| altijd)?,? (?:dat|om)\b|(?:vond|zei|dacht|beweerde|adviseerde|eiste)\b|raadt (?:ons |me )?aan\b)"
    # French, Spanish, Italian, Portuguese.
    r"|(?:d'après|selon) (?!nous\b|notre\b|nos\b|moi\b|la loi)[^,]{2,60},|il paraît qu|on dit qu"
    r"|(?!je\b|on\b|nous\b|tu\b|vous\b)(?:[\w'’.-]+ ){1,6}?(?:(?:pense|croit|dit|affirme|prétend|estime|trouve|soutient"
    r"|conseille|recommande|suggère|propose|demande|exige|pensait|disait|croyait|voulait|conseillait|veut)(?: toujours"
    r"| souvent)?(?: à [\w ]{2,20}?)? (?:qu|de\b|d'|:)|(?:exigeait|interdisait|imposait|insistait|recommande"
    r"|conseille)\b)"
    r"|según (?!nuestr|nosotros\b|la ley\b)[^,]{2,60},|dicen que\b|se supone que\b|al parecer\b"
    r"|(?!yo\b|no\b)(?:[\w.-]+ ){1,6}?(?:(?:cree|piensa|dice|opina|afirma|sostiene|asegura|decía|creía"
    r"|pensaba)(?: siempre)?"
    r" que\b|insisten? en que\b|(?:recomienda|sugiere|aconseja)n?\b|exigía|insistía|prohibía|recomendaba)\b"
    r"|secondo (?!me\b|noi\b|la legge\b)(?:il |la |l'|lo |i |gli |le |un |una |\w+\b)[^,]{2,60}|si dice che\b"
    r"|pare che\b"
    r"|(?!io\b|noi\b|non\b)(?:[\w'’.-]+ ){1,6}?(?:(?:pensa|crede|dice|sostiene|ritiene|afferma|diceva"
    r"|pensava)(?: sempre)?"
    r" (?:che|di)\b|è (?:convint|sicur)[oa] che\b|giura\b|consiglia|raccomanda|suggerisce|esigeva|pretendeva|vietava"
    r"|consigliava)\b"
    r"|segundo (?!nós\b|a lei\b)(?:o |a |os |as |um |uma )?[^,]{2,60},|de acordo com (?!a lei\b|noss)|dizem que\b"
    r"|(?!eu\b|não\b|nós\b)(?:[\w.-]+ ){1,6}?(?:(?:acha|pensa|diz|afirma|defende|acredita|dizia"
    r"|achava)(?: sempre)? que\b"
    r"|recomenda|sugere|aconselha|exigia|insistia|proibia|recomendava)\b"
    # Polish, Russian, Turkish.
    r"|(?:według|podobno|rzekomo|jakoby)\b(?! nas\b| mnie\b| zasad)|w [\w]+(?: \w+){0,3} (?:napisano|jest napisane"
    r"|stoi,"
    r" że|piszą)\b|(?!ja\b|my\b)(?:[\w.-]+ ){1,5}?(?:(?:uważa|twierdzi|myśli|mówi|sądzi|radzi|pisze|mówił"
    r"|twierdził)[ao]?"
    r"(?: zawsze)?,? (?:że|żeby|aby)\b|(?:wymagał|zalecał|zakazywał|doradzał|zaleca|doradza|sugeruje)[ao]?\b)"
    r"|(?:согласно|по словам|по мнению|говорят|якобы|вроде бы|если верить)(?! наш)(?! закон)\b"
    r"|в [а-яё]+(?: [а-яё]+){0,3}"
    r" (?:написано|сказано|говорится|пишут)\b|(?!я\b|мы\b)(?:[\w.-]+ ){1,5}?(?:(?:считает|уверяет|клянётся|говорит"
    r"|думает|утверждает"
    r"|полагает"
    r"|уверен|пишет|говорил|считал|утверждал)а?,? (?:что|чтобы)\b|(?:советует|рекомендует|предлагает|требовал|запрещал"
    r"|советовал)а?\b)"
    r"|(?:[\w'’.-]+ ){0,3}?(?:(?:eski|onların|üreticinin|satıcının)(?: [\w'’.-]+){1,3}|[\w.-]+['’]\w{1,4}) göre\b"
    r"|sözde\b"
    r")"
    r"|(?:diyor(?:lar|du)?|düşünüyor(?:lar)?|söylüyor(?:lar)?|öneriyor|savunuyor|iddia ediyor|inanıyor|derdi|isterdi"
    r"|yazıyor)\W{0,3}$"
    # Chinese, Japanese, Korean.
    r"|^(?:据说|听说|传说|网上(?:都|有人)?说|有人说|按(?:照)?(?:老|旧|他们|别人))|^(?!我|咱|你|请|不|客户|老板|领导"
    r"|顾客).{1,14}?(?:认为|觉得|主张|声称"
    r"|建议(?:我们|大家"
    r"|每)|(?<!听)说(?!明)(?:过)?(?:.{0,6}(?:绝|千万|不能|一定)|绝|要|不|必|应|最|每|我们|所有|一定))|^(?:他们|别的|那家|前"
    r"|以前的).{0,8}(?:规定|要求"
    r"|强调|禁止)"
    r"|(?:によると|によれば|いわく|曰く)|(?:べきだ|しろ|ろ|な|ように|こと|だ|べし)と(?:言|い|思|考え|主張し|述べ"
    r"|書い|教え)\w{0,3}"
    r"(?:ている|ています|ていた|ていました|てある|てあります|た|ました)|(?:そうです|らしいです|らしい|とのこと"
    r"|だそう)[。.]?$"
    r"|에 (?:따르면|의하면)|^(?!저|나|제|내|우리).{2,60}(?:다고|라고|자고|냐고) (?:해요|합니다|했어요|했습니다"
    r"|말\S{1,5}|생각\S{1,5}|주장\S{1,5}"
    r"|믿\S{1,5}|하던데|해[.]?$)|(?:대요|래요|답니다|랍니다|라고 하더라고요|라고들 해요)[.]?$|と書(?:かれて|いて)"
    r"|と言(?:います|う|っていました)[。.]?$",
    re.IGNORECASE,
)
"""Someone else says, thinks or demands it, or a document does."""

_ADOPTED: Final = regex(
    r"[,;:.–—-]\s{0,3}(?:and |but |so |then |which )*(?:(?:so|please|let's|i agree|we agree|agreed|do (?:that|so|it)"
    r"|stick|follow|keep|that(?:'s| is) (?:our|the) rule|same (?:here|for us|goes)|we (?:do|follow|stick|will|go)"
    r"|(?:he|she"
    r"|they)(?:'s|'re| is| are) right|and rightly|make sure|(?:i|we) want (?:that|it))\b"
    r"|(?:also|so|bitte|also bitte|donc|du coup|alors|por eso|así que|por favor|quindi|perciò|então|por isso|dus|daarom"
    r"|więc|dlatego|поэтому|так что|пожалуйста|bu yüzden|lütfen)\b)|所以|请|就这么|なので|だから|그러니까|그래서",
    re.IGNORECASE,
)
"""The user makes it a rule: a conclusion or a request follows."""

_IMAGINED: Final = regex(
    r"^\W*+(?:(?:and|but|well|oh|ok|hm+|just|now|ja|na|et|y|e|en|и|ve) ){0,2}(?:"
    r"(?:imagine|picture|suppose|supposing|assuming|hypothetically|theoretically|in theory(?=,| (?:we|you|one|all"
    r"|every|nobody|no|it|they|the)\b)|what if|let's (?:pretend"
    r"|imagine|assume|suppose|say (?:that|we|you|every|all|the|no|nobody))|(?:in|on) (?:an?|some|the) (?:perfect|ideal"
    r"|different|alternate|parallel|dream) (?:world|universe|life|place|planet|day)|in another life|some ?day"
    r"|(?:maybe|perhaps)"
    r" (?:one|some) ?day|one (?:fine )?day (?:we|i|they|you|it)|if only|pretend|in my dreams|as if)\b"
    r"|(?:had (?:we|i|they|you|he|she|it|the|there)|were (?:we|i|they|you|he|she|it|this|that|the|there)"
    r"|should (?:we|i|they"
    r"|you|the \w+) ever)\b|(?:if|should) (?:\w+ ){1,3}ever\b|(?:we|they|one|you) (?:might|could)(?: (?:one day|even"
    r"|always"
    r"|also|maybe|perhaps|someday|as well))*\b(?! (?:not|never|be)\b)"
    r"|(?:mal )?angenommen|(?:et )?si tout le monde\b|say (?:an?|the|every|all) \w+ (?:had|were|could|wanted)\b"
    r"|stell(?:t|en)? (?:dir|euch|sie sich)(?: mal| doch| bloß| nur)? vor|nehmen wir (?:mal )?an"
    r"|theoretisch\b"
    r"|in einer idealen|(?:hätten?|wären?|gäbe|dürften?|müssten?|könnten?) (?:wir|ich|man|es|jeder)\b|eines tages\b"
    r"|wenn (?:wir"
    r"|ich|man|sie|er|es)(?: \w+)? (?:je|jemals|irgendwann)\b|(?:bei|mit) mehr \w+ (?:würde|müsste|hätte|wäre"
    r"|könnte)\w{0,3}\b"
    r"|imagin(?:e|ez|ons) (?:qu|une?\b|le\b|la\b|les\b|que\b)|suppos(?:ons|e|ez) que?|admettons|mettons qu"
    r"|dans (?:un monde|l'"
    r"?idéal)|en théorie|(?:un jour|peut-être qu')"
    r"|imagin(?:a|e|ad|emos|en) (?:que|un|una|se|no)\b|supong(?:amos|a) que|supón que|en teoría|en un mundo"
    r"|algún día|(?:si|se)"
    r" (?:algún|um|un) (?:día|dia|giorno)\b|digamos que|pongamos que"
    r"|immagina(?:te|mo)?\b|supponi(?:amo)?\b|metti(?:amo)? (?:che|caso)|in teoria|in un mondo|un giorno\b|poniamo che"
    r"|suponha(?:mos)? que|supõe que|em teoria|num mundo|um dia\b|vamos supor|faz de conta"
    r"|stel (?:je|u|jullie)(?: eens| maar)? voor|stel dat|in theorie|in een ideale|ooit\b|(?:als|mochten?) (?:we|ik"
    r"|wij|je|ze)"
    r" ooit\b"
    r"|gdyby\w{0,5}\b|wyobraź\w{0,4} sobie|załóżmy|przypuśćmy|powiedzmy, że|teoretycznie|w idealnym świecie|kiedyś może"
    r"|если бы|представ(?:ь|ьте|им)\b|допустим|предположим|теоретически|в идеальном мире|будь (?:я|мы|у|он|она)\b"
    r"|вообрази"
    r"|diyelim ki|varsayalım|farz et|hayal et|düşünsene|teoride|bir gün\b"
    r")"
    r"|^\W*(?:假如|假设|想象|倘若|设想|如果有一天|如果哪天|理论上|要是(?:我是|我们有|有一天)|如果我是"
    r"|如果我们(?:改用|有)|说不定|也许(?:有一天|将来))"
    r"|如果.{1,30}就(?:好了|得全)|^(?:仮に|もしも?私が|もしも?自分が|理論上|想像し|いつか)|もし.{1,60}(?:でしょう"
    r"|だろう|かもしれ|のに|ですね)"
    r"|たら(?:大変|いい|面白)|만약.{1,60}(?:거예요|겠죠|텐데|것이다|겠지|겠어요|거야)|라면 .{1,60}(?:거예요|텐데"
    r"|겠죠|겠지|거야)|상상해|가정해|이론적으로|언젠가",
    re.IGNORECASE,
)
"""It is put as imagined by its first words."""

_CONTRARY: Final = (
    (
        regex(
            r"\b(?:if|assuming|provided)\b(?: [\w'-]+){1,6}? (?:were|was|had|did|could|wanted|went|came|got|made"
            r"|took|ran|gave"
            r"|lived|knew|ever|\w{2,}ed)\b",
            re.IGNORECASE,
        ),
        regex(r"\b(?:would|could|might)\b|\w'd\b", re.IGNORECASE),
    ),
    (
        regex(r"\b(?:wenn|falls|sofern)\b", re.IGNORECASE),
        regex(r"\b(?:müsste|dürfte|würde|könnte|gäbe|bräuchte|wäre|hätte)(?:n|t|st)?\b", re.IGNORECASE),
    ),
    (regex(r"\bals\b", re.IGNORECASE), regex(r"\bzou(?:den)?\b", re.IGNORECASE)),
    (regex(r"\bsi\b.{1,80}?\w(?:ait|aient|ions|ais)\b", re.IGNORECASE), regex(r"\wr(?:ait|aient|ions|ais)\b")),
    (
        regex(r"\bsi\b.{1,80}?\w(?:[aeé]ra|[áéi]ramos|[ae]ran|[aei]se)s?\b", re.IGNORECASE),
        regex(r"\w{2}ría(?:n|mos|s)?\b"),
    ),
    (regex(r"\bse\b.{1,80}?\wss[ei](?:mo|ro)?\b", re.IGNORECASE), regex(r"\wr(?:ebbe|emmo|ebbero|ei)\b")),
    (regex(r"\bse\b.{1,80}?\w(?:sse|ssem|ssemos)\b", re.IGNORECASE), regex(r"\w{2}ria(?:m|mos|s)?\b")),
    (regex(r"\w[sş][ae]yd[ıi]\w{0,3}\b"), regex(r"\w[dt][ıiuü]\w{0,3}\b")),
)
"""Conditions contrary to fact, by two moods each: of the condition, and of what follows from it."""


_DISTANCED: Final = regex(
    r"[,;–—-]\s{0,3}(?:but |and |though )?(?:i(?:'m| am) not (?:convinced|sure|so sure|a believer|buying)|i (?:don't"
    r"|do not) (?:agree|buy|care|think)"
    r"|i disagree|i haven't decided|nobody (?:here )?(?:follows|does|cares)|we (?:don't|never) (?:do|follow|agree)"
    r"|i hear|i'm told|i've heard"
    r"|they say|apparently|not (?:us|me|here)|for what it's worth|whatever that means|supposedly)\b",
    re.IGNORECASE,
)
"""The user keeps away from it."""

_CONDITIONAL: Final = regex(
    r"\b(?:would|'d) (?:have to|need|never|always|no longer|require)\b|\b(?:it )?(?:might|could) be that\b"
    r"|\b(?:i wonder|wouldn't it be|ojalá)\b"
    r"|\b(?:würden?|müssten?|bräuchten?|gäbe|dürften?|hätten|käme[n]?)\b"
    r"|(?!(?:retrait|portrait|extrait|attrait|trait|devr|faudr)\w*)\b\w{2,}r(?:ait|aient"
    r"|ions)\b(?<!devrait)(?<!devraient)(?<!faudrait)(?<!trait)"
    r"|\b(?!deber)\w{2,}(?:ríamos|rían)\b|\b(?:tendr|ser|estar|habr|podr|har|ir)ía\b|\b(?!dov)\w{2,}(?:rebbe|rebbero"
    r"|remmo)\b|\bdovremmo mai\b"
    r"|\b(?!dever)\w{2,}ríamos\b|\b(?:ter|ser|estar|far|poder|haver)ia(?:m)?\b|\bteríamos\b|\bzou(?:den)? (?:we|ik"
    r"|je|ze|niemand|iedereen)\b"
    r"|\b(?:nie )?\w{3,}(?:libyśmy|łybyśmy)\b|\bбы\b|\w(?:[ae]rd[ıi]|m[ae]zd[ıi])(?:k|m|n)?\W*$"
    r"|(?:のに|だろうに)[。.]?$|(?:을|ㄹ|할|갈|될) 텐데|텐데[.]?$",
    re.IGNORECASE,
)
"""What would be: the conditional, except of what ought to be."""


def is_unadopted(plain: str) -> bool:
    """Return whether a sentence is someone else's, or of what is only imagined."""
    return is_attributed(plain) or is_imagined(plain)


@functools.lru_cache(maxsize=4_096)
def is_attributed(plain: str) -> bool:
    """Return whether a sentence repeats what someone else says or demands, and the user does not adopt it; cached."""
    found = _DISTANCED.search(plain) or _ATTRIBUTED.search(plain)
    return found is not None and _ADOPTED.search(plain, found.end()) is None


@functools.lru_cache(maxsize=4_096)
def is_imagined(plain: str) -> bool:
    """Return whether a sentence speaks of what is only imagined, and concludes nothing for what is; cached."""
    found = _IMAGINED.search(plain) is not None or (phrases.PREFERS.search(plain) is None and _is_contrary(plain))
    return found and _ADOPTED.search(plain) is None


def _is_contrary(plain: str) -> bool:
    if _CONDITIONAL.search(plain):
        return True
    return any(condition.search(plain) and mood.search(plain) for condition, mood in _CONTRARY)
