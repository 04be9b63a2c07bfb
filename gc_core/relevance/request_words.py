"""
The commonest words, in fifteen languages, by which a message asks, looks back, draws on something or is done with it.

They are matched without case and accents.
"""

from __future__ import annotations

from gc_core.relevance.deeds import USING
from gc_core.values.patterns import regex

DRAWS_ON = regex(
    r"(?:^\W*|[,;:.]\s|(?<!\w)(?:please|and|then|und|bitte|et|y|e|en|i|и|ve)\s)"
    rf"(?:{USING})(?!\w)|使用|参考|按照|使って|用いて|사용|참고"
    r"|(?<!\w)(?:from|per|for|according to|based on|as in|aus|laut|nach|gemass|fur|selon|d'apres|pour|segun|para"
    r"|secondo|dal|dalla|conforme|segundo|uit|volgens|voor|wedlug|dla|z|из|по|для|согласно|fran|enligt|ur)\s"
    r"(?:\w{1,4}\s)?_(?!\w)"
)
"""What uses a thing, or takes something from it, where ``_`` stands for its name."""

FINISHED = regex(
    r"(?<!\w)(?:done|finished|closed|settled|archived|signed|completed|merged|resolved|cancel+ed|dropped"
    r"|deleted|removed|gone|obsolete|shelved|off the table|behind us|no longer|anymore"
    r"|decommissioned|leave (?:\S+ ){1,6}alone|nothing (?:more|left|else)"
    r"|abgeschlossen|erledigt|fertig|geschlossen|archiviert|unterschrieben|geloscht|entfernt|vom tisch|hinter uns"
    r"|termine\w*|clos|(?:est|sont) closes?|ferme|fermee|archive\w*|signee?|reglee?|finie?|supprimee?"
    r"|cerrad\w*|terminad\w*|archivad\w*|firmad\w*|resuelt\w*|eliminad\w*|chius\w*|finit\w*|archiviat\w*|firmat\w*"
    r"|risolt\w*|conclus[oaie]|fechad\w*|encerrad\w*|arquivad\w*|assinad\w*|resolvid\w*|concluid\w*|removid\w*"
    r"|klaar|afgerond|gesloten|afgehandeld|gearchiveerd|ondertekend|verwijderd|achter ons"
    r"|zamkniet\w*|zakonczon\w*|gotow[aey]?|podpisan\w*|załatwion\w*|usuniet\w*"
    r"|закрыт\w*|заверш[её]н\w*|закончен\w*|готов[аоы]?|подписан\w*|удал[её]н\w*|реш[её]н\w*"
    r"|bitti|tamamland\w*|kapand\w*|imzaland\w*|arsivlen\w*|silindi|avslutad\w*|stangd\w*|arkiverad\w*"
    r"|undertecknad\w*|fardig\w*|raderad\w*|afsluttet|lukket|lezar\w*|befejez\w*)(?!\w)"
    r"|已经?(?:被)?(?:删|关|完成|结束|签|归档|处理|解决)|不用再|搞定|終わ|完了|済み|済んだ|閉じ|끝났|완료|마쳤|종료|해결됐"
)

MARK = regex(r"[?؟？]\W*$|^\W*¿")
INTERROGATIVE = regex(
    r"(?<!\w)(?:what|which|who|whom|whose|when|where|why|how"
    r"|welche\w*|wo(?:r(?:an|auf|aus|in|uber|um|unter)|bei|durch|fur|gegen|her|hin|mit|nach|von|vor|zu)|wer|wem|wen|wessen|wann|warum|wieviel\w*|pourquoi|comment|combien|quels?|quelles?"
    r"|cual\w*|quien\w*|cuando|donde|cuant[oa]s?|cosa|quale|quali|perche|quant[oaie]|quais|quem|onde|quando"
    r"|welke?|wanneer|waar|waarom|hoeveel|jaki\w*|ktor\w*|kiedy|gdzie|dlaczego"
    r"|какие?|какой|какая|какое|кто|когда|где|почему|сколько|чему|nas[ıi]l|hangi\w*|kac|nerede\w*|neden"
    r"|vilke\w*|varfor|hvilke\w*|hvad|mennyi\w*|milyen|miert)(?!\w)"
    r"|^\W*(?:do|does|did|is|are|was|were|has|have|had|wie|wo|wat|hoe|que|qui|qual|come|como|co|ile|что|как|vad|hur|mi"
    r"|mit)(?!\w)"
    r"|什么|哪|谁|多少|怎么|为什么|いくつ|いくら|誰|いつ|どこ|なぜ|どの|どう|何(?!か)|무엇|뭐|어떤|누가|언제|어디|왜|얼마|어떻게"
)
LOOKS_BACK = regex(
    r"(?<!\w)(?:again|once more|recall|remind|remember|tell me|show me|nochmals?|noch (?:ein)?mal|erinner\w*|zeige? mir"
    r"|sage? mir|encore|rappel\w*|remontre\w*|montre\w*|dis-moi|otra vez|de nuevo|recuerd\w*|muestra\w*|dime"
    r"|di nuovo|ancora|ricord\w*|mostrami|dimmi|de novo|novamente|lembr\w*|mostre|diga|opnieuw|nog een\w*|toon|zeg"
    r"|jeszcze raz|ponownie|pokaz\w*|powiedz|przypomni\w*|еще раз|ещё раз|снова|напомни\w*|покажи\w*|скажи\w*"
    r"|tekrar|goster\w*|soyle\w*|hat[ıi]rla\w*|igen|visa mig|ujra|megint|mutasd)(?!\w)"
    r"|再[看读说]|告诉|给我看|もう一度|再度|教えて|見せて|다시|알려|보여"
)
FORGETS = regex(
    r"(?<!\w)(?:forget|ignor\w*|never ?mind|skip|vergiss|vergesst|vergessen wir|oubli\w*|olvid\w*|dimentic\w*"
    r"|lascia\w* perdere|esque[cs]\w*|vergeet|zapomnij\w*|забудь\w*|забыли|bos ?ver\w*|unut|glom|glem)(?!\w)"
    r"|忘了|忘记|忘掉|忘れて|잊어"
)
DOES = regex(
    r"(?<!\w)(?:creat(?:e[sd]?|ing)|delet(?:e[sd]?|ing|ar)|remov(?:e[srd]?|ing|er)|renam(?:e[sd]?|ing)"
    r"|overwrit(?:es?|ing|ten)|execut(?:e[srzd]?|ing|ar?|em|ons|o)"
    r"|(?:^\W*|(?:please|you|now|just|then|let'?s) )(?:run|start|launch)"
    r"|losch(?:e[nt]?|t)?|entfern(?:e[nt]?|t)?|erstell(?:e[nt]?|t)?|anlegen|lege|leg (?=ein|d[aei])|start(?:e|et|en)"
    r"|fuhr(?:en?|t)?|(?:aus|auszu)fuhren"
    r"|cre(?:a[rs]?|ad|al[oa]|ando|amos|emos|e[srz]?|ons|o)|supprim\w*|efface[srz]?|lance[srz]?|borr(?:a[rs]?|al[oa]|ad)"
    r"|elimin(?:a\w{0,3}|e|en|es|i|o)|ejecut(?:a\w{0,3}|e|en|es|o)|cri(?:a[rm]?|em?|emos)|cancell(?:a|are|ate|al[oaei]|i|o)"
    r"|rimuov\w*|esegu\w*|apag\w*|remova|exclu(?:ir|a|am|i|o)|verwijder\w*|maak|wis|draai|usun\w*|utworz\w*|stworz\w*|skasuj\w*|uruchom\w*"
    r"|удали\w*|созда\w*|сотри\w*|запусти\w*|sil|siler\w*|olustur\w*|cal[ıi]st[ıi]r\w*"
    r"|ta bort|radera|skapa|slet|torol\w*"
    r"|from scratch|anew|von grund auf|ganz neu|a partir de zero|de zero|de cero|da zero|do zero|od (?:nowa|zera)"
    r"|с нуля|sıf[ıi]rdan|fran grunden|fra bunden)(?!\w)"
    r"|从头|从零|一から|ゼロから|처음부터"
    r"|删除|删掉|创建|新建|运行|执行|削除|消して|作成|作って|実行|삭제|지워|만들|실행"
)

HAS_DONE = regex(
    r"^\W*(?:and |und |et |y |e |en |och |og |so )?(?:now |just )?(?:(?:i|we)(?:'ve| have)(?! to(?!\w))"
    r"|(?:i|we) (?:now |just )?(?!(?:need|proceed|feed)(?!\w))(?:\w+ed|wrote|made|did|sent)"
    r"|(?:ich habe?|wir haben|habe)(?!.* zu )|j'ai(?! besoin)|nous avons(?! besoin)|he|hemos|ho(?! bisogno)"
    r"|abbiamo(?! bisogno)|(?:ik heb|we hebben)(?!.* nodig)|(?:jag|vi|jeg) har)(?!\w)"
    r"|(?<!\w)я \w+л[аи]?(?!\w)|^\W*\w+(?:łem|łam|lismy|łysmy)(?!\w)|\w(?<!\ba)(?<!\byar)[dt][ıiu][mk]\W*$"
    r"|\w[ıiu]l[dt][ıiu]\W*$|ました\W*$|已经|(?:했|었|았|였)습니다"
)
NOT_FOUND_OR_NEXT = regex(
    r"^\W*(?:now|then|nun|jetzt|dann)(?!\w)|(?<!\w)(?:nothing|rien|nada|niente|nulla|niets|nic|ничего|hicbir|intet|semmi)"
    r"(?!\w)|(?<!\w)(?:not|no|none|nor|never|neither|without|cannot|\w+n['’]t|next|will|going to|let me|let's"
    r"|have to|look(?:ing)? for|search\w*|need\w*|missing"
    r"|(?:i|we)(?:['’]ll|['’]m| now| then)|(?:now|then) (?:i|we)|nicht\w*|kein\w*|nie|ohne|als nachste\w*|werde\w*"
    r"|(?:nun|jetzt|dann) \w+ (?:ich|wir)|such\w+|brauch\w*|fehl\w+"
    r"|pas|n['’]\w+|ne|aucune?|jamais|sans|ensuite|maintenant|vais|allons|cherche\w*|manque\w*"
    r"|ningun\w*|nunca|ahora|despues|siguiente|voy|vamos|busco|falta|non|nessun\w*|senza|mai|adesso|prossim\w*"
    r"|cerco|manca|nao|nenhum\w*|agora|depois|proxim\w*|vou|procuro|niet|geen|zonder|nu|volgende|ga|zoek"
    r"|brak\w*|zaden|teraz|nastepn\w*|szukam|не|нет|ни|без|теперь|сейчас|дальше|далее|ищу|нужно"
    r"|deg[ıi]l\w*|yok|simdi|sonra\w*|ar[ıi]yorum|inte|ingen|inget|utan|nasta|ikke|ingen|naeste|nem|nincs\w*|most)(?!\w)"
    r"|不|没|無|未|接下来|现在|下一|ない|ません|次に|次は|これから|않|없|아니|다음|이제"
)
"""What an agent has not found, or does next."""
