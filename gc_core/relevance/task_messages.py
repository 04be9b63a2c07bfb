"""
Decides which user messages change an agent's task, and which only keep it going.

An acknowledgement, a greeting, a word that says "go on", a control word and a short answer to a question set no task.
Control words and answers are recognised by their form. Acknowledgements are short, and consist of words of a closed
list in several languages: a missing word makes a message count, which is the smaller harm.
"""

from __future__ import annotations

import re
from typing import Final

from gc_core.relevance.compactions import is_compaction
from gc_core.relevance.name_scan import scan
from gc_core.values.patterns import regex

MOST_WORDS: Final = 8
"""The most words of an acknowledgement, or of an answer: longer messages have content."""

MOST_POLITE: Final = 15
"""The most words of a message in which "thanks" or "go on" decides about the rest."""

MOST_ANSWER: Final = 6
"""The most words of an answer to what the agent asked, whatever it begins with."""

MOST_REPLY: Final = 50
"""The most words of one that begins like an answer: with yes, no, sure, sorry, I, my."""

_SEARCHED_CHARS = 400
_CONTROL = regex(
    r"\W*(?:/[\w:.-]+|\[[^\]\n]{0,200}\]|exit|quit|stop|/?clear|:q!?|abort|cancel)\W*",
    re.IGNORECASE,
)
_MARKED = regex(r"(?<![#*=])[#*=]{2,}+[^\w#*=]{0,9}\w{1,99}[^\w#*=]{0,9}[#*=]{2,}+")
_INJECTED = regex(
    r"\s*(?:<(?:system-reminder|local-command-\w+|environment_context|user_instructions|session_context"
    r"|bash-(?:stdout|stderr|input)|task-notification|user-memory-input|instructions)\b"
    r"|caveat: the messages below|this is the gemini cli|base directory for this skill|# ?agents\.md instructions"
    r"|\[request interrupted|operation stopped by hook|ran `)",
    re.IGNORECASE,
)
_SENTENCE = regex(r"[^.!?。！？\n]+[.!?。！？]*")
_QUESTION_ENDS = "?？؟"
_CHOICE = regex(
    r"\W*(?:(?:option|number|no|nr|choice|variant|the|opción|opção|die|den|das|le|la)\W*)*"
    r"(?:[\dA-Da-d]|first|second|third|last|erste\w?|zweite\w?|premi\w+|deuxi\w+|primer\w?|segund\w)\W*"
    r"(?:one|option|please|pls|bitte)?\W*|第?[一二三四1-4]个?\W*",
    re.IGNORECASE,
)
_END = 300
_ASKS = regex(
    r"[?？؟]|\bplease (?:provide|confirm|tell|share|reply|let me know|paste|approve|choose|run|send)"
    r"|\blet me know (?:which|what|if you)|吗|ですか|ください|까요",
    re.IGNORECASE,
)
_OFFERS = regex(
    r"\b(?:anything|something) else\b|\bfurther (?:assistance|help|questions)|\bhow (?:can|may) i help", re.IGNORECASE
)
_DENSE = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MARKS = regex(r"[^\w\s'’]|_", re.UNICODE)
_THANKS = regex(
    r"\W*(?:(?:ok|okay|great|perfect|awesome|no|yes|oh|alright|alles klar|super|wow|haha|well)\W+)*(?:many )?"
    r"(?:thanks?\b|thank you|thx\b|that'?s (?:all|it|everything|perfect|great)|have a (?:great|good|nice)"
    r"|danke|vielen dank|merci|gracias|obrigad[oa]|grazie|спасибо|dzięki|dziękuję|teşekkür|谢谢|多谢"
    r"|ありがとう|감사|شكرا)",
    re.IGNORECASE,
)
_REPLIES = regex(
    r"\W*(?:yes|yeah|yep|yup|no|nope|sure|ok(?:ay)?|oh|alright|sorry|actually|hmm+|well|correct|i'?m|i |i'll|i don'?t"
    r"|my|it'?s|it |the|that'?s|ja|nein|oui|non|sí|si|sim|não|да|нет|tak|nie|evet|hayır|是|不"
    r"|はい|いいえ|네|아니)(?!\w)",
    re.IGNORECASE,
)
_ORDERS = regex(
    r"\b(?:write|create|make|add|fix|build|run|implement|remove|delete|change|update|use|test|check|move|rename|show"
    r"|explain|brainstorm|plan|review|refactor|draft|find|look|commit|push|open|start|instead|also|want|need|now|another"
    r"|additionally|besides|first|but|rather|let'?s|would like|i'd like"
    r"|außerdem|aber|noch|aussi|mais|también|quiero|pero|também|quero|mas|anche|ancora|także|też|тоже|также|ayrıca"
    r"|schreib\w*|mach|erstell\w*|füge?|écri\w*|crée\w*|ajoute\w*|escribe|crea|añade|escreva|crie|adicione)\b",
    re.IGNORECASE,
)

_ACKNOWLEDGED: Final = frozenset(
    """
    ok okay okey k kk yes yep yeah yup ya y no nope nah n sure thanks thank you thx ty cheers great good nice
    perfect cool awesome fine done right correct exactly agreed excellent wonderful amazing brilliant lovely sweet
    neat wow please pls go on ahead continue proceed next keep going carry resume start begin do it that this sounds
    looks works well lgtm so much very a lot for now then and i see got understood makes sense all is was the hello
    hi hey there morning afternoon evening bye goodbye yes! alright let's lets just will help your job work one more
    time again try super ja nee nein gut danke vielen dank bitte weiter mach machen mal genau richtig toll prima
    klar in ordnung los hallo guten tag morgen sehr schön das ist alles passt weitermachen fortfahren gerne jawohl
    stimmt oui non d'accord daccord merci beaucoup bien parfait continue continuez vas-y vas y allez c'est bon très
    la suite bonjour salut génial ça marche exact sí si vale gracias muchas perfecto continúa continua sigue
    adelante claro exacto genial hola buenos días está de acuerdo por favor hazlo va bene grazie mille perfetto
    avanti prosegui certo esatto ottimo ciao buongiorno procedi bravo sim não obrigado obrigada perfeito siga em
    frente ótimo olá oi bom dia beleza pode isso muito vai certo oké dank je wel bedankt goed door verder graag hoi
    doe maar ga mooi tak nie dobrze dzięki dziękuję świetnie kontynuuj dalej proszę cześć idź jasne да нет хорошо
    ладно спасибо отлично продолжай продолжайте дальше давай супер привет здравствуйте ок понятно пожалуйста верно
    класс большое всё отлично работай evet hayır tamam teşekkürler teşekkür ederim harika devam et lütfen merhaba
    güzel نعم لا شكرا شكراً تمام حسنا حسناً استمر تابع ممتاز مرحبا أكمل جزيلا
    """.split()  # noqa: SIM905 - a list of 350 quoted words is harder to read
)
_ACKNOWLEDGED_DENSE: Final = regex(
    r"(?:好的?|谢谢你?|多谢|继续吧?|接着|是的?|不|对|可以|行|嗯|请|没问题|很好|太好了|你好|没错|吧|了|的|下一步|做得好|辛苦"
    r"|はい|いいえ|ありがとう|ございます|ございました|続けて|続き|進めて|ください|下さい|お願い|します|了解|です|いいね|いい|こんにちは"
    r"|オーケー|大丈夫|どうぞ|そのまま|完璧|素晴らしい|うん|ね|よ|で|を|も"
    r"|네|예|아니요|아니오|좋아요?|좋습니다|감사합니다|고마워요?|계속|해|주세요|하세요|진행|안녕하세요|완벽해요?|그래요?|[\s\W])+"
)


def sets_task(text: str, *, asked: bool = False) -> bool:
    """
    Return whether a user's message sets the agent's task; ``asked``: the agent had ended with a question.

    Only reads the beginning. O(1).
    """
    said = _MARKED.sub(" ", text[:_SEARCHED_CHARS]).strip()
    if not said or is_compaction(text) or _INJECTED.match(said) or _CONTROL.fullmatch(said):
        return False
    sentences = [found for each in _SENTENCE.findall(said) if (found := each.strip())]
    if not sentences or (len(said.split()) <= MOST_POLITE and any(map(_drives_on, sentences))):
        return _is_more(sentences)
    if all(_acknowledges(each) or _THANKS.match(each) for each in sentences):
        return False
    return not (_CHOICE.fullmatch(said) or (asked and _answers(said)))


def asks(text: str) -> bool:
    """
    Return whether an agent's text ends with a question, or asks to be given something; nothing else
    counts as asking.
    """
    end = text[-_END:]
    return _ASKS.search(end) is not None and _OFFERS.search(end) is None


def _drives_on(sentence: str) -> bool:
    """Return whether a sentence is an acknowledgement or thanks, and not just "ok," before something else."""
    return _acknowledges(sentence) or _THANKS.match(sentence) is not None


def _is_more(sentences: list[str]) -> bool:
    """Return whether one of the sentences other than acknowledgements orders or asks for something."""
    others = [each for each in sentences if not _drives_on(each)]
    return any(_ORDERS.search(each) or each[-1] in _QUESTION_ENDS or scan(each).names for each in others)


def _acknowledges(sentence: str) -> bool:
    words = _MARKS.sub(" ", sentence).lower().replace("’", "'").split()
    if not words or (len(words) <= MOST_WORDS and _ACKNOWLEDGED.issuperset(words)):
        return True
    return _DENSE.search(sentence) is not None and _ACKNOWLEDGED_DENSE.fullmatch(sentence) is not None


def _answers(said: str) -> bool:
    """Return whether it has few words, or more that begin like an answer; orders and questions are not answers."""
    if said[-1] in _QUESTION_ENDS or _ORDERS.search(said):
        return False
    size = len(said.split()) + len(_DENSE.findall(said)) // 2
    return size <= MOST_ANSWER or (size <= MOST_REPLY and _REPLIES.match(said) is not None)
