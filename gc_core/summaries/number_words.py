"""Numbers in words, from two on, in the languages that most people write in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gc_core.values.patterns import regex

_FROM_TWO: Final = """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen \
    eighteen nineteen twenty
    zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn \
    achtzehn neunzehn zwanzig
    deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix- \
    neuf vingt
    dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho \
    diecinueve veinte
    due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette \
    diciotto diciannove venti
    dois três quatro cinco seis sete oito nove dez onze doze treze quatorze quinze dezesseis dezessete dezoito \
    dezenove vinte
    twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien \
    negentien twintig
    två tre fyra fem sex sju åtta nio tio elva tolv tretton fjorton femton sexton sjutton arton nitton tjugo
    dua tiga empat lima enam tujuh delapan sembilan sepuluh sebelas
    два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать четырнадцать пятнадцать \
    шестнадцать семнадцать восемнадцать девятнадцать двадцать
    две трёх четырёх пяти шести семи восьми девяти десяти одиннадцати двенадцати
    двух трех четырех пятью шестью семью
    дві три чотири п'ять шість сім вісім дев'ять десять
    dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście trzynaście czternaście \
    piętnaście
    dwóch trzech czterech pięciu sześciu siedmiu ośmiu dziewięciu dziesięciu jedenastu dwunastu trzynastu
    iki üç dört beş altı yedi sekiz dokuz on
    दो तीन चार पाँच छह सात आठ नौ दस
    দুই তিন চার পাঁচ ছয় সাত আট নয় দশ
    دو تین چار پانچ چھ سات آٹھ نو دس
    اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة
    اثنين ثلاث أربع خمس ست سبع ثماني تسع عشر
    두 세 네 다섯 여섯 일곱 여덟 아홉 열
""".strip().split("\n")
"""English to Indonesian, Russian to Turkish, Hindi, Bengali, Urdu, Arabic and Korean, each from two on."""

_OTHERS: Final = {
    "both": 2, "zwo": 2, "beide": 2, "deuxième": 2, "duas": 2, "dwie": 2, "двое": 2, "трое": 3, "dozen": 12,
    "twenty-one": 21, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    "dreißig": 30, "vierzig": 40, "fünfzig": 50, "sechzig": 60, "siebzig": 70, "achtzig": 80, "neunzig": 90,
    "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60, "treinta": 30, "cuarenta": 40, "cincuenta": 50,
    "sesenta": 60, "setenta": 70, "ochenta": 80, "noventa": 90, "trenta": 30, "quaranta": 40, "cinquanta": 50,
    "trinta": 30, "quarenta": 40, "cinquenta": 50, "dertig": 30, "veertig": 40, "vijftig": 50, "тридцать": 30,
    "сорок": 40, "пятьдесят": 50,
}  # fmt: skip

SPELT: Final = {
    **_OTHERS,
    **{word: number for words in _FROM_TWO for number, word in enumerate(words.split(), start=2)},
}
"""The number that a word in small letters stands for."""

_OTHER_WORDS: Final = frozenset({"once", "on", "due", "both", "beide", "deuxième", "dozen", "دو", "نو"})
"""What is another word as well, in some language."""

SAID: Final = {word: number for word, number in SPELT.items() if word not in _OTHER_WORDS}
"""Those that say a number wherever they stand."""

LETTER: Final = r"[^\W\d_\u0900-\u0dff]|[\u0900-\u0dff]"
"""A letter, or what Indian scripts add to one."""

_WORD = regex(rf"(?:{LETTER})+(?:['-](?:{LETTER})+)?")
_CHINESE = regex(r"[两二三四五六七八九]?十[二三四五六七八九一]?|[两二三四五六七八九]")
_CHINESE_DIGITS: Final = {sign: number for number, sign in enumerate("一二三四五六七八九", start=1)} | {"两": 2}


def spelt_in(text: str) -> Iterator[int]:
    """Yield the numbers in words of a text; the same may come more than once."""
    for word in set(_WORD.findall(text.lower())):
        yield from (SPELT[part] for part in {word, *word.split("-")} if part in SPELT)
    yield from map(chinese, set(_CHINESE.findall(text)))


def chinese(signs: str) -> int:
    """Return the value of a Chinese number below a hundred."""
    tens, ten, ones = signs.rpartition("十")
    return (10 * _CHINESE_DIGITS.get(tens, 1) if ten else 0) + _CHINESE_DIGITS.get(ones, 0)
