"""A sentence ends where its reader would say so: an abbreviation, an ordinal or a number does not end it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gc_core.relevance.demands import demands_in
from gc_core.summaries.sentences import sentences_with
from gc_core.task.phrases import sentences_of
from gc_core.values.sentences import sentence_ends, split_sentences

WHOLE = [
    "From now on address me as Dr. Hall.",
    "Always ship via St. Gallen.",
    "Always use part No. 4711 for the pump.",
    "Always quote prices in U.S. dollars, rounded to tens.",
    "Never use abbreviations, e.g. approx. or etc., in a letter.",
    "Always write to J. R. Smith first.",
    "Never sign as Prof. em. Lee, i.e. without the title.",
    "Always add 2.5 % and never round to 3.",
    "Never delete files in src/v1.2 without asking me first.",
    "Send it to Acme Inc. in Reno, never to Acme Ltd. in Leeds.",
    "Never call me before 9 a.m. on weekdays.",
    "Always cite Fig. 3 and Sec. 4 of vol. 2, pp. 5 to 9.",
    "Never book anything before Oct. 3 or after Jan. 4.",
    "Use at most approx. 40 words, incl. the title.",
    "Nenne mich immer Hr. Dr. Weiß.",
    "Nimm nie Zucker, z. B. in Kuchen, d. h. auch nicht in Torten.",
    "Liefere immer an Nr. 5 in der Str. des Friedens.",
    "Ich kann am 3. Mai nicht, bitte nie an dem Tag.",
    "Buche nie etwas im 2. Stock und nie die 3. Auflage.",
    "Nimm immer ca. 40 g Mehl bzw. 20 g Stärke, vgl. Abs. 2.",
    "Appelle-moi toujours Mme. Petit, jamais par mon prénom.",
    "Escribe siempre a la Sra. Gil, núm. 5, nunca a la Dra. Paz.",
    "Scrivi sempre al Sig. Rossi, mai al Dott. Verdi.",
    "Zawsze pisz np. do ul. Długiej 5, nigdy przed 3. maja.",
    "Пиши всегда А. С. Иванову, т. е. никогда не в офис на ул. Мира.",
]

SEVERAL = [
    ("Is it warm? No. I mean cold. Never say warm.", 4),
    ("Take option 3. Never take 4.", 2),
    ("Take vitamin C. Never take more.", 2),
    ("I live in the U.S. Never quote euros.", 2),
    ("Bring pens, paper etc. Please be brief.", 2),
    ("never use tabs. always run the tests.", 2),
    ("Wait... then go! Really?! Yes.", 4),
    ("It costs 3 €. Nie mehr. Nur bar.", 3),
    ("请用中文回答。不要用英文！好吗？", 3),
    ("हमेशा हिंदी में लिखो। कभी अंग्रेज़ी नहीं।", 2),
    ("One line\nanother line\n\nand a last", 3),
    ("Do not propose flights; I only travel by train.", 1),
]


@pytest.mark.parametrize("sentence", WHOLE)
@pytest.mark.parametrize("around", ["{}", "Thank you very much. {} See you on Monday.", "- {}\n- And so on"])
def test_an_abbreviation_cuts_no_sentence(sentence, around):
    text = around.format(sentence)
    assert sentence in [each.strip().removeprefix("- ") for each in split_sentences(text)]
    assert sentence in sentences_of(text)


@pytest.mark.parametrize("sentence", WHOLE)
def test_a_demand_with_an_abbreviation_is_found_whole(sentence):
    assert [demand.text for demand in demands_in(sentence)] == [sentence]


def test_a_demand_before_a_number_is_found_also_where_a_long_text_goes_on_in_small_letters():
    found = [demand.text for demand in demands_in(f"You must never change part 3. {'and so on ' * 60}")]
    assert found == ["You must never change part 3."]


@pytest.mark.parametrize("sentence", [each for each in WHOLE if "ever" in each or "lways" in each])
def test_so_it_is_in_an_extract(sentence):
    assert sentences_with(f"It was late. {sentence} It is done.", ("never", "always")) == [sentence]


@pytest.mark.parametrize(("text", "number"), SEVERAL)
def test_where_a_sentence_ends_the_next_one_begins(text, number):
    assert len([each for each in split_sentences(text) if each.strip()]) == number


def test_the_number_of_an_item_of_a_list_is_no_sentence():
    assert sentences_of("1. Never use tabs.\n2. Be brief.") == ("Never use tabs.", "Be brief.")


@given(st.text(alphabet="aB1.!?。 \n"), st.integers(0, 20), st.integers(0, 40))
def test_what_is_split_is_the_whole_text_in_order(text, start, stop):
    assert "".join(split_sentences(text)) == text
    ends = list(sentence_ends(text, start, stop))
    assert ends == sorted(set(ends))
    assert all(start < end <= max(start, min(stop, len(text))) for end in ends)


def test_splitting_is_linear_in_stops_that_end_nothing():
    text = "." * 200_000 + "x" + "! " * 100_000 + "e.g. " * 50_000
    assert "".join(split_sentences(text)) == text
