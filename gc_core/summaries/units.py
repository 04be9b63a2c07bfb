"""Units and other words after numbers, in the languages that most people write in."""

from __future__ import annotations

from typing import Final

SCALES: Final = {
    word: scale
    for scale, words in (
        (10000, "万 萬 만"),
        (1e8, "억 億 亿"),
        (1e5, "lakh lakhs लाख"),
        (1e7, "crore crores करोड़"),
        (1e9, "billion billions bn milliarde milliarden mrd milliard milliards miliard miliarda miliardów миллиард"),
        (1000, "千 k thousand tausend mille mil mila duizend тыс тысяч тысячи tys tysięcy tysiące bin हज़ार हजार"),
        (1e6, "million millions millionen mio millones millón milhões milioni miljoen млн миллион mln"),
        (1e6, "миллиона миллионов miliona milionów milyon"),
    )
    for word in words.split()
}  # fmt: skip
"""By what a word after a number multiplies it."""

_DIMENSIONS: Final = {
    "time": """
        s sec secs second seconds min mins minute minutes minuten h hr hrs hour hours day days week weeks month
        months year years ms milliseconds millisecond millisekunden sekunden sekunde stunden stunde tage tagen
        tag wochen monate monaten jahre jahren seconde secondes heure heures jour jours semaine semaines mois an
        ans segundo segundos minuto minutos hora horas día días dia dias semana semanas mes meses mês año años
        ano anos secondi secondo minuti ora ore giorni giorno settimane settimana mesi mese anni anno seconden
        uur dagen weken maanden maand jaar sekund minut godzin godziny dni tygodni tygodnie miesięcy lat lata
        секунд секунды минут минуты часов часа дней дня недель недели месяцев месяца лет года saniye dakika saat
        gün hafta ay yıl 秒 分钟 分鐘 分間 小时 時間 天 日 日間 周 週間 个月 か月 ヶ月 年 年間 초 분 시간 일 주 개월 년
    """,
    "share": """
        % percent percentage prozent pourcent porcento percento procent процентов процента yüzde パーセント 퍼센트
    """,
    "money": """
        € $ £ ¥ eur usd gbp euro euros dollar dollars pound pounds cent cents franken francs zł złotych рублей рубля
        lira tl 元 円 원
    """,
    "data": """
        b kb mb gb tb pb ki mi gi kib mib gib bytes byte bit bits гб мб гигабайт мегабайт gigaoctets mégaoctets
        gigabytes megabytes gigabyte megabyte
    """,
    "size": """
        pt px km m cm mm kg g mg t ton tonnes tons l ml litres liters meter meters metres kilo kilos ° °c degrees grad
        degrés gradi grados градусов hz khz mhz ghz kilometers kilometres kilometer w kw kwh v 公里 米 公斤
    """,
}
UNITS: Final = {unit: kind for kind, units in _DIMENSIONS.items() for unit in units.split()}
"""The dimensions of units."""

_SIZES: Final = (
    (0.001, "ms mm mg ml millisec millisek"),
    (60, "min мин dakika 分钟 分鐘 分間 분"),
    (2630000, "month mois monat mes mês maand miesi меся ay 个月 か月 ヶ月 개월"),
    (3600, "h stund or uur godz час saat 小 時 시"),
    (604800, "semain semana settiman wee woch wek tygod недел 周 週 주"),
    (86400, "day tag jour día dia giorn dag dni дн gün 天 日 일"),
    (31560000, "year jahr an añ jaar lat год лет yıl 年 년"),
    (1000.0, "kb ki kib km kg kw kwh kilo"),
    (1000000.0, "mb mi mib mega méga мб мега"),
    (1000000000.0, "gb gi gib giga гб гига"),
    (1000000000000.0, "tb tera"),
    (0.01, "cm cent"),
)  # fmt: skip
"""How large units are beside a small one of their dimension, by how they begin."""

_BEGINNINGS: Final = tuple((begin, size) for size, words in _SIZES for begin in words.split())


def size_of(unit: str) -> float:
    """Return how large a unit is beside a small one of its dimension; 1 for what is none."""
    if unit not in UNITS:
        return 1.0
    fitting = [each for each in _BEGINNINGS if unit.startswith(each[0])]
    return max(fitting, key=lambda each: len(each[0]))[1] if fitting else 1.0


TESTS: Final = (
    "test", "passed", "passing", "passes", "failed", "skipped", "spec", "assertion", "прош", "тест", "テスト", "测试",
    "用例", "件",
)  # fmt: skip
"""How words begin for what a run of tests numbers."""

BETWEEN: Final = frozenset(
    """
    after als and are as at auf aus bir but by con da dans das de del della der des di die do dos du e een el em en
    et for from fue für gli had has have het i il ile im in into is ist la las le les lo los mit na nach nel no now
    o of on ont op or os out par para per por pour pro que se sind się sono sont sur than the then to um und van ve
    von voor w war waren was werden were with wurde wurden y z zijn à était были было в за и из на не от по с
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
)
"""What stands between a number and what it counts."""
