"""
Finds the names of persons by what they do, in a dozen languages: "Marta asked", "ha proposto", 王海燕报告, 佐々木さん.

A sentence that begins with a bare word and goes on with what only a person does tells a name, unless the word is a role
("Support reported", "Nobody agreed"). A plural and a noun of a German, French or Spanish sentence have an article. In
Chinese a common surname and two signs stand before such a verb, or before a title; in Japanese さん follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gc_core.values.patterns import regex

_SAID: Final = (
    # English: "Code reviewed" has no object, "Change requested for" is no person's
    r"(?:asked|wanted|agreed|refused|promised|offered|preferred|requested|insisted)"
    r"(?= (?:to|that|for|on|not|the|an?|it)\b)"
    r"|(?:reported|reviewed|approved|said|told|proposed|complained|wrote|objected|thanked|signed|replied|answered"
    r"|rejected)(?= (?:that|the|an?|it|this|us|him|her|his|their|all|both|PR|MR|[Pp]ull|no)\b)"
    # German, Dutch
    r"|bat|wollte|sagte|meldete|genehmigte|bestätigte|schrieb|antwortete|entschied|verlangte|fragte|berichtete"
    r"|wünschte|empfahl|vroeg|zei|wilde|meldde|bevestigde|schreef|antwoordde|besloot|weigerde|verzocht"
    # Spanish, Portuguese
    r"|pidió|quiso|quería|dijo|informó|propuso|aprobó|confirmó|solicitó|sugirió|respondió|revisó|decidió|rechazó"
    r"|aceptó|escribió|explicó|avisó|prefirió|comentó|contestó|recomendó|pediu|disse|propôs|aprovou|confirmou|relatou"
    r"|sugeriu|respondeu|decidiu|recusou|aceitou|escreveu|explicou|quis|solicitou|avisou"
    # French, Italian
    r"|(?:a|avait) (?:demandé|dit|signalé|proposé|approuvé|confirmé|souhaité|voulu|refusé|accepté|écrit|répondu"
    r"|expliqué"
    r"|relu|décidé|insisté|recommandé)|voulait|souhaitait"
    r"|(?:ha|aveva) (?:chiesto|detto|proposto|approvato|confermato|segnalato|rifiutato|accettato|scritto"
    r"|risposto|deciso"
    r"|suggerito|spiegato|voluto|insistito)|voleva"
    # Polish, Russian
    r"|(?:poprosił|powiedział|zgłosił|zaproponował|zatwierdził|chciał|napisał|zdecydował"
    r"|zapytał)a?|(?:попросил|сообщил|сказал|предложил|одобрил|хотел|написал|решил"
    r"|спросил|потребовал)а?|(?:согласил|пожаловал)(?:ся|ась)"
)
_NAME: Final = r"[A-ZÀ-ÞŁŚŻŹĆА-ЯЁ][a-zà-ÿąćęłńśźżа-яё]{2,40}"
_ACTING = regex(rf"(?:^[ \t\-*•#\d.)]{{0,12}}|[.!?] )({_NAME})(?: {_NAME})? (?:{_SAID})(?!\w)", re.MULTILINE)

_ROLES: Final = frozenset(
    """
        they she who everyone everybody someone somebody anyone nobody none one both neither management support
    staff legal
        security marketing finance sales compliance procurement operations engineering customer client team user
    users author
        reviewer maintainer owner operator manager director agent assistant host doctor teacher landlord tenant
    mother father
        sister brother wife husband colleague infra devops design product accounting people human another later then
    also it
    niemand jemand jeder man kunde kundin nutzer nutzerin user anwender niemand iemand iedereen gebruiker klant
        usuario usuaria cliente nadie alguien todos ella ello nunca después luego también usuário ninguém alguém
    todos ele ela
    utilisateur client personne chacun elle tout cela utente nessuno qualcuno ognuno egli lei lui poi
    użytkownik użytkowniczka klient klientka nikt ktoś potem następnie autor zespół
    пользователь пользовательница клиент клиентка заказчик автор агент ассистент коллега руководитель начальник никто
        code plan design change fix option budget price date deadline contract test log lint linter compiler
    benchmark check
    analysis monitor server script build output search query trace profile docs ci result
        сервер лог тест скрипт анализ линтер компилятор система бот serwer skrypt test kod кто-то потом затем она
    они также
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
)
_NO_NAME = regex(r"(?:ing|ed|tion|ment|ness|ity|ers|ors|ists|ees|ly|ter die)$")

_SURNAMES: Final = (
    "王李张刘陈杨黄赵吴徐孙朱郭林罗郑梁宋唐韩冯邓曹彭肖董袁潘蒋蔡苏魏吕丁沈姚卢姜崔钟谭陆汪范廖贾韦邹孟熊秦邱薛闫"
)
_CHINESE_DOES: Final = (
    "报告|说|表示|要求|指出|提出|建议|确认|同意|负责|认为|批准|审查|审核|通知|反馈|拒绝|决定|验收|签署"
)
_TITLE: Final = "先生|女士|小姐|主管|经理|老师|医生|工程师|总监|主任"
_CHINESE = regex(
    rf"(?:(?<=[。，；：！？、\s])|^)([{_SURNAMES}][\u4e00-\u9fff]{{2}})(?={_CHINESE_DOES})"
    rf"|([{_SURNAMES}][\u4e00-\u9fff]{{1,2}}?)(?={_TITLE})",
    re.MULTILINE,
)
_JAPANESE = regex(r"([\u4e00-\u9fff々]{1,4}|[\u30a1-\u30faー]{2,8})(?=さん(?!かく)|氏(?!名))")
_JAPANESE_ROLES: Final = frozenset({"皆", "客", "奥", "母", "父", "兄", "姉", "嫁", "患者", "業者", "屋", "各"})
_TOWN = regex(r"(?<![\u4e00-\u9fff])([\u4e00-\u9fff]{2,3})(?=[市県](?![\u4e00-\u9fff]))")
_HAN = regex(r"[\u4e00-\u9fff]")


def acting_names(prose: str) -> Iterator[str]:
    """Yield the first words of sentences that tell what a person did, but not roles."""
    for match in _ACTING.finditer(prose):
        name = match[1]
        if name.lower() not in _ROLES and not _NO_NAME.search(name):
            yield name


def unknown_signs(prose: str, whole: str) -> Iterator[str]:
    """Yield Chinese and Japanese names that originals in these languages do not have."""
    if not _HAN.search(whole):
        return
    for match in _CHINESE.finditer(prose):
        name = match[1] or match[2]
        if name not in whole:
            yield name
    yield from (town for town in _TOWN.findall(prose) if town not in whole)
    for match in _JAPANESE.finditer(prose):
        name = match[1]
        if name not in _JAPANESE_ROLES and not any(name[start:] in whole for start in range(max(1, len(name) - 1))):
            yield name
