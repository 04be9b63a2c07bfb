"""
What a user takes back: a sentence that dismisses a rule, or says that it no longer applies, and what it names.

Such a sentence is no rule itself, unless another clause of it says what applies instead. A verb of dismissal with its
object, a noun for a rule with a verb of ending, and a need that is negated with "any more" are the forms it takes.
"""

from __future__ import annotations

import functools
import re
from typing import Final

import attrs

from gc_core.values.patterns import regex

_RULE = (
    r"rules?|ban|limits?|freeze|requirements?|restrictions?|polic(?:y|ies)|constraints?|instructions?|prohibition"
    r"|guidelines?"
    r"|conventions?|conditions?|demands?|embargo|moratorium|cap|obligation|exception|thing|bit|part|business|stuff"
    r"|remarks?|request"
    r"|comment|point|idea|preference|wish"
)
_REGEL = (
    r"(?:\w*(?:regel|ordnung|verbot|vorgabe|pflicht|sperre|grenze|beschränkung|anweisung|bedingung|limit|vorschrift"
    r"|ansage)n?)"
)
_REGLE = r"(?:règle|consigne|interdiction|limite|obligation|restriction|exigence|contrainte)s?"
_REGLA = (
    r"(?:regla|prohibición|límite|norma|restricción|requisito|condición|obligación|regola|divieto|limite|obbligo"
    r"|restrizione|vincolo"
    r"|requisito|regra|proibição|limitação|restrição|exigência|obrigação|norma|condição)s?"
)
_ZASADA = (
    r"(?:regu[łl]\w|zasad\w|zakaz\w?|limit\w?|ograniczeni\w|wym[óo]g\w?"
    r"|обязательств\w|правил\w|запрет\w?|ограничени\w|лимит\w?|требовани\w|услови\w)"
)
_KURAL = r"(?:kural|yasa[kğ]|sınır|şart|zorunlulu[kğ]|talimat|kısıtlama)\w{0,6}"

_DISMISSES: Final = regex(
    r"(?<!don't )(?<!never )(?<!not )(?<!to )(?<!lest we )\b(?:"
    r"(?:forget|scrap|scratch|ditch|never ?mind|strike|nix)(?! to\b)(?: (?:about|all about))?"
    rf"|(?:ignore|disregard|discard|drop|overlook|lift|cancel|undo|remove|delete|skip|retract|revoke"
    rf"|reverse)(?= (?:[\w'-]+ ){{0,4}}?"
    rf"(?:what i|anything i|everything i|{_RULE})\b)|(?:ignore|disregard|discard|drop|retract) (?:that|it)\b(?=\W*$"
    rf"|[,;.])"
    r"|(?:i(?:'d| would)?(?: like to| want to|'ll| will| hereby)?|let me|we) (?:take back|withdraw|retract|revoke"
    r"|changed my mind"
    r" (?:about|on))|i(?:'m| am) (?:taking back|withdrawing|retracting|dropping)|i was wrong about"
    rf"|(?:i|we)(?:'ve| have)? (?:dropped|abolished|lifted|scrapped|abandoned|cancelled|revoked|withdrew|withdrawn"
    rf"|repealed|removed|ended|retired|relaxed)(?= (?:\w+ ){{0,4}}?(?:{_RULE})\b)"
    r")(?![\w-])(?P<en>.*)"
    r"|(?:ich (?:nehme|nahm)|ik neem|je retire|retiro|ritiro|wycofuję|cofam|беру назад)\b(?P<back>.*)"
    r"|^(?P<verb>.*)\bkannst du vergessen\b"
    r"|\b(?:vergiss|vergesst|vergessen sie|ignoriere?|streiche?)\b(?! nicht)(?P<de>.*)"
    r"|\b(?:oublie|oubliez|laisse tomber|laissez tomber|ignore|ignorez|annule)(?! pas)\b(?P<fr>.*)"
    r"|\b(?:olvida|olvídate de|olvidad|ignora|dimentica(?:te)?|scorda(?:ti)?|lascia(?:te)? (?:perdere|stare)"
    r"|ignora(?:te)?|esquece"
    r"|esqueça|ignore|deixa (?:lá|pra lá))\b(?P<romance>.*)"
    r"|\b(?:vergeet|negeer|laat maar)\b(?! niet)(?P<nl>.*)"
    r"|(?<!nie )\b(?:zapomnij(?:cie)?|zignoruj|ignoruj)\b(?P<pl>.*)|(?<!не )\b(?:забудь(?:те)?|игнорируй(?:те)?"
    r"|отменяю|отмени(?:те)?"
    r"(?= (?:\w+ ){0,2}правил))\b(?P<ru>.*)"
    r"|^(?P<tr>.*)\b(?:unut(?:un)?|boş ver|boşver|yok say)\W{0,3}$"
    r"|(?:忘掉|忘了|别管|不用管|忽略|撤回|当我没说|取消)(?P<zh>.*)|^(?P<ja>.*)(?:忘れて(?:ください|くれ|いい)?"
    r"|なかったことに|無視して|取り消し|撤回)"
    r"|^(?P<ko>.*)(?:잊어|무시해|없던 걸로|취소)",
    re.IGNORECASE | re.DOTALL,
)
"""Somebody is asked to forget it, or it is taken back in so many words."""

_ENDED: Final = regex(
    rf"\b(?:{_RULE})\b.{{0,80}}?\b(?:no longer (?:applies|holds|stands|valid|in force|needed|necessary|matters"
    rf"|exists)|(?:do|does|did)(?:es)?"
    r"(?:n't| not) (?:apply|hold|count|matter|stand|exist)(?: any ?more| any longer|\W*$)|(?:is|are|was|has been"
    r"|have been|got|gets|'s)"
    r" (?:hereby |now |all |officially |since )?(?:lifted|void|off(?! limits)|over|gone|history|cancell?ed|obsolete"
    r"|dropped|withdrawn"
    r"|abolished|waived|suspended|out(?! of)|dead|moot|scrapped|repealed|revoked|no more|rescinded|removed|ended"
    r"|expired)"
    r"|can (?:be (?:dropped|lifted|ignored|scrapped)|go)\W*$|(?:is|was) a joke|goes away|falls away|expired"
    r"|ended|consider it (?:gone|dropped|lifted|void))\b"
    rf"|\bno more (?:\w+ ){{0,2}}(?:{_RULE})\b"
    rf"|\b{_REGEL}\b.{{0,60}}?\b(?:gilt nicht mehr|gelten nicht mehr|ist (?:abgeschafft|aufgehoben|hinfällig|weg"
    rf"|vom tisch|passé"
    rf"|gestrichen|vorbei)"
    r"|entfällt|fällt weg|(?:kann|darf|mag|kan) weg|sind (?:aufgehoben|hinfällig)|geldt niet meer|gelden niet meer"
    r"|is (?:opgeheven|van de baan"
    r"|vervallen|voorbij"
    r"|afgeschaft)|vervalt)"
    rf"|\b(?:{_REGEL}|afspraak|eis|verplichting|beperking)\b.{{0,60}}?\b(?:geld(?:t|en) niet meer|is (?:opgeheven"
    rf"|van de baan|vervallen|voorbij))"
    rf"|\b{_REGLE}\b.{{0,60}}?\b(?:ne (?:s'applique|vaut|tient|compte)(?:nt)? plus|n'est plus (?:valable|en vigueur)"
    rf"|est (?:levée?|annulée?"
    r"|abolie?|caduque|supprimée?)|n'existe plus|tombe)"
    rf"|\b{_REGLA}\b.{{0,60}}?\b(?:(?:ya|já|non|più) (?:no |non |não )?(?:vale|rige|aplica|aplica-se|se aplica|sirve"
    rf"|existe|cuenta|conta)\b"
    r"|não (?:vale|se aplica|existe) mais|(?:queda|está) (?:anulad|levantad|suspendid|cancelad)[oa]|(?:è|foi"
    r"|fica) (?:stat[oa] )?(?:abolit"
    r"|annullat|decadut|revocat|sospes|tolt|cancelad|levantad|anulad|suspens)[oa]|non (?:vale|si applica|esiste"
    r"|conta) più)"
    rf"|\b{_ZASADA}\b.{{0,60}}?(?:(?:już|więcej) nie (?:obowiązuj|działa|istniej)\w*|(?:jest|został\w?) (?:zniesion"
    rf"|uchylon|odwołan|nieaktualn)\w+"
    r"|nieaktualn\w+|(?:больше|уже) не (?:действу|работа|актуальн|нужн|примен)\w+|отмен(?:ено|яется|ён|ена|ены|или)"
    r"|снят[оаы]?|неактуальн\w+)"
    rf"|\b{_KURAL}.{{0,60}}?(?:artık (?:geçerli değil|geçmiyor|yok|kalktı)|kalktı|kaldırıldı|iptal(?: edildi)?"
    rf"|geçersiz)"
    r"|(?:规[定则]|规矩|要求|限制|禁令|约定).{0,20}(?:取消|作废|不(?:再)?(?:适用|算|有效)|没有了|废除|解除)"
    r"|(?:ルール|規則|規定|制限|禁止|条件|決まり).{0,20}(?:もう(?:適用|有効)|なくなり|廃止|撤廃|解除|無効|終わり)"
    r"|(?:규칙|규정|제한|금지|조건|원칙).{0,20}(?:더 이상|이제).{0,12}(?:않|아니|없)|(?:규칙|규정|제한|금지|조건"
    r"|원칙)\S{0,3} (?:폐지|해제|취소|없어)",
    re.IGNORECASE,
)
"""A rule is said to be over."""

_NEEDLESS: Final = regex(
    r"\bbestehe? ich nicht (?:mehr|länger)\b|\bne (?:tiens|insiste) plus\b|\bya no insisto\b|\bnon insisto più\b"
    r"|\bjá não insisto\b|\bsta ik niet meer\b"
    r"|\b(?:больше|уже) не настаиваю\b|\bjuż nie (?:nalegam|upieram)\b|\bcan stop \w+ing\b"
    r"|\b(?:ya no|já não|non) (?:importa|interessa|conta)\b|\bnon importa più\b|\bist (?:jetzt |mir )?(?:egal"
    r"|hinfällig)\b|\bn'(?:a|ont) plus d'importance\b"
    r"|(?:の件|の話|の決まり)は.{0,8}(?:なし|もういい)|不用管了|就算了|\bkuralını (?:kaldırdım|kaldırıyorum|iptal)\b"
    r"|\b(?:(?:you|we|they|one|nobody|it|there)(?:'s| is)? )?(?:don't|do not|doesn't|does not|needn't|need not"
    r"|no need|not (?:have|need|necessary"
    r"|required|needed)|isn't (?:necessary|required|needed))\b(?=.{0,160}\b(?:any ?more|any longer|after all)\b)"
    r"|\b(?:we|i) no longer (?:require|need|insist|enforce|demand|ask|care|want|mind|expect|bother|do)\b"
    r"|\b(?:is|are) no longer (?:required|needed|necessary|mandatory|compulsory|forbidden|banned|prohibited"
    r"|obligatory)\b"
    r"|\bused to (?:insist|require|want|demand|say|ask|forbid|have to|care)\b(?=.{0,160}\b(?:but|though"
    r"|not any ?more|no longer)\b)"
    r"|\b(?:musst|müssen|brauchst|brauchen|muss|müsst|soll(?:st|en)?)\b.{0,60}\bnicht mehr\b|\bnicht mehr (?:nötig"
    r"|notwendig|erforderlich"
    r"|vorgeschrieben|verboten)\b|\bhoe(?:ft|ven)\b.{0,60}\b(?:niet|geen)\b.{0,30}\bmeer\b|\bniet (?:meer"
    r"|langer) (?:nodig|verplicht|vereist|verboten)\b"
    r"|\bplus (?:besoin|la peine|nécessaire|obligatoire|obligé)\b|\bne (?:dois|devez|doit) plus\b"
    r"|\bya no (?:hace falta|es (?:necesario|obligatorio)|hay que|tienes que|necesit\w+|se exige)\b|\bnon (?:serve"
    r"|occorre|bisogna|devi|è"
    r" (?:necessario|obbligatorio)) più\b|\bnon (?:c'è|hai) più bisogno\b|\bjá não (?:é preciso|é necessário"
    r"|precisa\w?|tens de|é obrigatório)\b"
    r"|\bnão (?:precisa\w?|é (?:preciso|necessário|obrigatório)) mais\b"
    r"|\bnie (?:musisz|trzeba|musicie|potrzeba|musimy) (?:\w+ )?już\b|\bjuż nie (?:trzeba|musisz|jest (?:wymagan"
    r"|konieczn)\w+|musimy)\b"
    r"|\b(?:больше|уже) не (?:нужно|надо|обязательно|требуется|должн\w+|обязан\w*)\b"
    r"|\bartık\b.{0,80}\b(?:gerek (?:yok|değil|kalmadı)|gerekmiyor|zorunlu değil|şart değil)\b"
    r"|(?:不用再|不必再|不需要再|不再(?:需要|要求))|もう.{0,30}(?:なくて(?:も)?(?:いい|結構|構い|大丈夫)|(?:必要"
    r"|不要)(?:は?ありません|です|ない))"
    r"|(?:이제|더 이상).{0,40}(?:지 않아도|필요\S{0,2} 없|안 .{1,10}도 (?:돼|됩니다|괜찮))",
    re.IGNORECASE,
)
"""What was needed is needed no more."""

_MISTAKEN: Final = regex(
    r"\b(?:i (?:said|told you|asked(?: you)?|wrote|mentioned)|my (?:\w+ ){0,3}(?:rule|remark|request"
    r"|instruction))\b.{0,160}\b(?:(?:was|is) (?:a mistake"
    r"|wrong|nonsense|silly|an error|rubbish|too strict|not needed)|i take (?:it|that) back|not any ?more)\b"
    r"|^\W*+(?:the )?(?:\w+ ){0,2}(?:freeze|ban|embargo|moratorium|lockdown)\b.{0,30}"
    r"\b(?:is over|ended|has ended|is done|is finished|is off|is lifted)\b"
    r"|\b(?:i|we) don't (?:care|mind|insist|do (?:that|this|it))(?: about \w+)? any ?(?:more|longer)\b",
    re.IGNORECASE,
)
"""What was said is called a mistake."""

_ANAPHORIC: Final = regex(
    r"^\W*(?:(?:that|it|this|the|last|one|about|rule|bit|part|all|of|what|i|just|said|again|please|then|das|es|ça"
    r"|cela|eso|lo|dicho|quello|isso|dat|to"
    r"|это|bunu|onu|das letzte|dernier|última?o?|я|сказал\w?|刚才的?话?|それ|今の|그거|방금)\b\W*)*$",
    re.IGNORECASE,
)
"""It points at what was said last."""

_CLAUSE: Final = regex(
    r"(?:[,:](?!\d)|[;!。，；]|\.(?!\w))\s*|\s[–—-]\s|\s(?:but|und|sondern|mais|pero|ma|mas|maar|ale|но|ama)\s"
)
_FRAME: Final = regex(
    rf"\b(?:(?!freeze|embargo|moratorium)(?:{_RULE})|what|i|said|told|you|about|earlier|previous|old|last|gave|wrote"
    rf"|mentioned|no|longer|applies|lifted|void|over|anymore|more|any"
    r"|longer|regarding|concerning|requirement|that|is|consider|it|gone|dropped|silly|ignore)\b"
    rf"|\b(?:{_REGEL}|was|über|gesagt|gilt|gelten|aufgehoben|mehr|ich|habe|zei|over|wat|ik|geldt|meer|hoeft|musst"
    rf"|brauchst)\b"
    rf"|\b(?:{_REGLE}|{_REGLA}|{_ZASADA}|{_KURAL})\b|\b(?:dit|applique|plus|que|dije|sobre|vale|detto|quello|disse"
    rf"|já|più|tym|mówił\w{{0,2}}|już|nie"
    r"|obowiązuje|говорил\w?|больше|действует|artık|geçerli|değil|hakkında|söylediğimi|söylediklerimi)\b"
    r"|我?(?:之前|刚才)?说(?:过)?的?|关于|的话|规定|规则|について|言った|こと|は|ルール|もう|에 대해|말한|건|규칙은?"
    r"|더 이상",
    re.IGNORECASE,
)


_DEPENDENT: Final = regex(
    r"^\W*+(?:(?:before|because|since|when|if|that|which|as(?! long)|what|unless|until|while|was|dass|weil|bevor"
    r"|wenn|ob|die"
    r"|der|das|que|qu'|ce que"
    r"|avant|parce|porque|antes|lo que|o que|che|perché|prima|wat|dat|omdat|voordat|co|że|zanim|bo|что|потому|прежде"
    r"|чтобы)\b|wegen )",
    re.IGNORECASE,
)
_EXPLICIT: Final = regex(r"\b(?:scrap|scratch|strike|back|retract|withdraw|said|say|rule|instruction)\b", re.IGNORECASE)


_FILLERS: Final = 2
"""The most words before a dismissal that name nothing: "oh, actually"."""


@attrs.frozen
class Withdrawal:
    """
    What is taken back.

    Attributes:
        named: The words that name it, "" for what was said last.
        instead: What applies instead, or "".
        explicit: It says so by itself: a bare "never mind" refers to the same message only.

    """

    named: str
    instead: str = ""
    explicit: bool = True


@functools.lru_cache(maxsize=4_096)
def withdrawal_in(plain: str) -> Withdrawal | None:
    """Return what a sentence takes back, or None; linear, and cached for the newest few thousand."""
    ended = _ENDED.search(plain) or _MISTAKEN.search(plain) or _NEEDLESS.search(plain)
    if ended is not None:
        clause = _CLAUSE.search(plain, ended.end())
        rest = plain[clause.end() :] if clause else ""
        return Withdrawal(_names(plain[: clause.start()] if clause else plain), _independent(rest))
    found = _DISMISSES.search(plain)
    if found is None:
        return None
    rest = next((each for each in found.groups() if each is not None), "")
    named, *others = [each.strip() for each in _CLAUSE.split(rest)]
    if not named and others and _DEPENDENT.match(others[0]):
        named = others.pop(0)
    if _ANAPHORIC.match(named):
        before = plain[: found.start()]
        named = _names(before) if len(before.split()) > _FILLERS else ""
        return Withdrawal(named, _independent(" ".join(others)), bool(_EXPLICIT.search(plain)))
    return Withdrawal(_names(named), _independent(" ".join(others)))


def _independent(clause: str) -> str:
    """Return a clause that is a sentence by itself; "" for one that depends on what precedes it."""
    return "" if _DEPENDENT.match(clause) else clause.strip()


def _names(words: str) -> str:
    """Return what is named, without the words that say that it is a rule."""
    return " ".join(_FRAME.sub(" ", words).split())
