"""Words that say nothing about the matter of a question, in the languages that users write most."""

from __future__ import annotations

import functools
from collections.abc import Collection
from typing import Final

from gc_core.values.scripts import folded

_LANGUAGES: Final = (
    # English
    """about advice advise advised after again all already also and another any anyone anything are back because been
    before being between bit both but came can come could did does doing done down each else even ever every find
    for from gave get gets give given gives goes going gone good got had has have having hello her here hers him his
    how into its just keep knew know let lets like look lot made make many may mean mention mentioned might mine
    more most much must myself need never next not nothing now off okay once one only onto other our ours out over
    own please put really recall recommend recommended remember remind said same say says see shall she should some
    someone something still such suggest suggested suppose supposed sure take tell than thank thanks that the their
    theirs them then there these they thing things think this those though told too under until upon use used using
    very via want wanted was way well went were what when where which while who whom whose why will with without
    would yes yet you your yours yourself""",
    # German
    """aber alle allem allen alles als also anderen auch auf aus bei beim bin bis bist bitte danke dann darf das dass
    dein deine deinem deinen deiner dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch
    dort durch eigentlich ein eine einem einen einer eines einmal empfahlst empfohlen etwas euch für gab gegen geht
    geraten gern gesagt gib gibt gut gute guten habe haben hallo hast hat hatte hatten hattest hier hinter ich ihm
    ihn ihnen ihr ihre ihrem ihren ihrer ins ist jemand jetzt kann kannst kein keine keinen konnte können mach mache
    machen mal man mehr mein meine meinem meinen meiner mich mir mit muss musste nach nicht nichts noch nochmal nun
    nur oder ohne sag sage sagen sagtest schon sehr sein seine seinem seinen seiner sich sie sind soll sollen sollte
    sollten uns unser unsere unserem unseren unserer unter viel viele vom von vor vorgeschlagen wann war waren warum
    was weil weiß weißt welche welchem welchen welcher welches wem wen wenn wer werden weshalb wessen wie wieder
    wieso will wir wird wirklich wissen woher wohin wollte wollten womit woran worden wozu wurde wurden zum zur
    zwischen über""",
    # French
    """ainsi alors après aujourd aussi aux avaient avais avait avant avec avez avions avoir avons beaucoup bien bon
    bonjour bonne bonsoir car ceci cela celle celui ces cet cette chez chose combien comme comment conseilles
    conseillé dans depuis des dire dis dit dois doit donc dont déjà elle elles encore entre est eux faire fais fait
    faut font fut hui ici ils jamais les leur leurs lui mais merci mes moi moins mon nos notre nous ont par parce
    pas pendant peu peut peux plus pour pourquoi pourrais proposé puis quand que quel quelle quelles quels qui quoi
    rappeler rappelle recommandé rien sais sait salut sans sera ses seulement sois soit son sont sous souvenir
    souviens suggéré suis sur tes toi ton toujours tous tout toute toutes trop très une vers veut veux voici voilà
    vos votre vous étaient était été être""",
    # Spanish
    """aconsejaste algo alguien ante antes aquel aquella así aunque aún buena buenas bueno buenos cada casi como con
    contra cosa cual cuales cuando cuanta cuantas cuanto cuantos decir del desde dijiste dijo dime donde ella ellas
    ellos entonces entre era eran eres esa esas ese eso esos esta estaba estar estas este esto estos estoy está
    están favor fue fueron gracias haber hablamos había habían hacer hacia hago han has hasta hay haz hemos hola las
    les los luego menos mis mismo mucha mucho muchos muy más nada nadie nos nosotros nuestra nuestras nuestro
    nuestros nunca otra otras otro otros para pero poco podemos podría por porque pude puede puedes puedo pues
    pásame que quien quienes quiere quiero recomendado recomendaste recuerda recuerdas recuérdame sabe sabes ser
    siempre sin sino sobre son soy sugeriste sus tal también tampoco tan tanto tenemos tengo tenía tiene tienes toda
    todas todavía todo todos tras tus una unas uno unos usted ustedes vale van vez voy""",
    # Italian
    """abbiamo adesso agli alla alle allo allora anche ancora avere aveva avevamo avevano avevi avevo bene buon buona
    buono che chi ciao ciò come con consigli consigliato consigliavi cosa così cui dagli dal dalla dalle degli dei
    del della delle dello dentro deve devo dice dici dimmi dire dopo dove ecco era erano essere faccio fai fanno
    fare fatto già gli grazie hai hanno infatti lei loro lui mai mia mie miei mio molto nei nel nella nelle nello
    niente noi non nostra nostre nostri nostro nulla ogni per perché più poco poi possiamo posso potresti prego
    prima puoi può qual qualcosa qualcuno quale quali quando quanta quante quanti quanto quella quelle quelli quello
    questa queste questi questo qui quindi ricorda ricordami ricordi ridai sai sei sempre senza sia siamo solo sono
    sopra sotto stata stato stava sua sue suggerito sugli sul sulla sulle suo suoi tanto tra troppo tua tue tuo tuoi
    tutta tutte tutti tutto una uno voglio voi vuoi vuole""",
    # Portuguese
    """aconselhou agora ainda algo alguém antes aos aquela aquele aqui até bem boa bom cada com como consigo dar das
    dela dele deles depois dessa desse desta deste diga disse disso dizer dos ela elas ele eles entre era eram essa
    essas esse esses esta estas estava este estes estou está estão favor faz fazer foi foram isso isto lembra lembre
    lhe mais mas mesmo meu meus minha minhas muita muito nada nas nem nos nossa nosso nunca não nós obrigada
    obrigado olá onde ontem para pela pelas pelo pelos pode poderia porque posso pouco pra quais qual quando quanta
    quantas quanto quantos que quem quer quero recomendou sabe sem sempre ser seu seus sim sobre sou sua suas
    sugeriu também tem temos tenho ter teu tinha toda todas todo todos tua tudo uma umas uns vai vamos vez você vocês
    vou""",
    # Dutch
    """aan aanbevolen aangeraden alle alles als alsjeblieft alweer bedankt ben bent bij daar dag dan dat deze die dit
    doe doen door dus een even geef geen goed goede goeden graag haar had hadden hallo heb hebben heeft hem het hier
    hij hoe hoeveel hun iemand iets jij jou jouw jullie kan kon kun kunnen kunt maar mag meer met mijn moest moet
    moeten naar niet niets nog ons onze ook over uit van veel voor waar waarom wanneer waren was wat weer weet wel
    welk welke werd wie wij wil wilde wilt worden wordt zal zeg zeggen zei zich zij zijn zonder zou""",
    # Polish
    """albo ale bardzo bez być był była było były ciebie cię coś czego czemu czy dla dlaczego dobra dobre dobry
    dziękuję gdzie ich ile jak jaka jaki jakie jakiego jego jej jest jestem jeszcze już kiedy kogo komu kto która
    które którego który którą lub mam mamy masz miał miała mieć między mnie moja moje może możesz mój mówił mówiłem
    nad nam nas nasz nasza nasze nic nie nim oraz pod podaj polecił poleciłaś poleciłeś powiedz powiedział prosze
    proszę przed przez przy przypomnij radziłeś raz się sobie tak tam tego tej temu ten też tobie twoja twój tylko
    tym wam was wiesz wszystko znowu znów żeby""",
    # Russian
    """без больше был была были было быть вам вас ведь весь вот все всего всех всё вчера где говорил говорила говорили
    дай дайте делать для доброе добрый его ему если есть еще ещё зачем здесь или как какая какие какими каких какого
    какое какой каком какую когда кого кому которая который куда лучше между меня мне мной моего моей можем можете
    можешь можно мои мой моя моё надо назови нам напомни нас наш наша наше нашего нашей наши нет нибудь ничего нужно
    она они оно опять очень перед под пожалуйста помнишь порекомендовал после посоветовал посоветовала потом почему
    при привет про просто рекомендовал скажи сказал сказала сказали сколько снова советовал спасибо так такая также
    такой там тебе тебя тем теперь тобой тогда тоже только том тот тут уже чего чей чем чему через что чтобы эта эти
    это этого этой этом этот""",
    # Turkish
    """acaba ama bana bazı belki ben beni benim bile bir biraz biri biz bize bizi bizim buna bunda bundan bunu bunun
    böyle daha dedin demiştin değil diye elin eğer gibi göre hangi hangisi hani hatırla hatırlat hem hep hepsi her
    hiç ile ise iyi için işte kadar kadardı kaç kaçta kim kime kimin lütfen merhaba misin miydi musun müsün mısın
    mıydı nasıl nasılsın neden nedir nelerdi nere nerede nereden nereye neydi neye niye niçin olan olarak oldu
    olduğu olsun olur ona onda onlar onu onun peki rica sana sanki sen seni senin sizin sonra söyle söyledin tavsiye
    tekrar teşekkür teşekkürler var vardı ver verdin verir veya yine yok yoktu zaten çok önce önerdin önermiştin
    ötürü üzere şey şimdi şunu şöyle""",
    # Swedish, Danish, Norwegian
    """aldrig alla allt anbefalte att blev blir bra deg den denna dess det detta dig din dina ditt där efter eller ett
    fick finns foreslog fram från för föreslog förlåt god godt gör göra hade han har hej hela henne hennes hon honom
    hur hva hvad hvem hvilken hvor hvordan hvorfor här icke igen ikke ingen ingenting inte jeg kan kunde man med meg
    mer mig min mina mitt mot mycket måste ned nej när något några och också også oss rekommenderade sade sig sin
    skulle snälla som säg säga tack till tog under upp vad var vara varför varit vart vem vet vid vilka vilken
    vilket ville være vært över""",
)

FUNCTION_CHARACTERS: Final = str.maketrans(
    dict.fromkeys("的了吗呢吧是在和就也都还请把被给让我你您他她它们这那哪什么怎样为从到与及又不没有何谁", " ")
)
"""Han characters that join words in Chinese, or ask in Chinese and Japanese, as a table for ``str.translate``."""


def function_words(words: Collection[str]) -> frozenset[str]:
    """
    Return those of some folded words that say nothing about a matter, in the language that has most of them.

    Of several languages alike in those of each: ``mot`` is a French word, and says nothing in Swedish.
    """
    found = [known.intersection(words) for known in _known()]
    most = max(map(len, found))
    return frozenset().union(*(known for known in found if len(known) == most))


@functools.cache
def _known() -> tuple[frozenset[str], ...]:
    """The words of each language; made with the first question."""
    return tuple(frozenset(folded(words).split()) for words in _LANGUAGES)
