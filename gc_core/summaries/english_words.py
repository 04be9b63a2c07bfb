"""English words of which a sentence may begin without a subject and yet be no order."""

from __future__ import annotations

from typing import Final


def words_in(text: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(text.split())


BEFORE_NOUNS: Final = words_in(
    "about above across after afterward again against ago albeit all along alongside also although altogether "
    "amid amidst among amongst and another any anyhow anyway are around aside astride atop because been before "
    "beforehand behind being below beneath beside better between beyond both but can concerning could despite did "
    "ditto does doubtless down due during each either else elsewhere even ever every except far few first for "
    "forever from furthermore given granted had half halfway has have he hence here hereafter hitherto how "
    "however indeed inside instead into it its just last later less lest like likewise many may maybe meantime "
    "meanwhile midway might minus more moreover most much must near nearby neither never nevertheless next none "
    "nonetheless nor not now off often once one only onto opposite otherwise our out outside over overall "
    "overnight part past people per perhaps plus post quite rather regardless same second seldom shall she should "
    "since some somehow soon still such than thanks that the then there thereafter thereby therefore thereupon "
    "these they third this those though thrice through throughout till today together tomorrow tonight too toward "
    "twice two under underneath unless unlike until upon versus very via was we well were what whatever when "
    "whence whenever where whereas whereby wherein whereupon wherever whether which whichever while whilst who "
    "whoever whom whose why will with within without worse would yes yesterday yet you your"
)
IRREGULAR_PASTS: Final = words_in(
    "arose ate awoke bade beat became began beheld bent bet bid bit bled blew bore bought bound bred broadcast "
    "broke brought built burnt burst came cast caught chose clad clung cost crept cut dealt did done drank dreamt "
    "drew drove dug fed fell felt fit fled flew flung forbade forecast foresaw forgave forgot fought found froze "
    "gave gone got grew ground had heard held hid hit hung hurt input kept knew knit known laid lay leant leapt "
    "learnt led left lent let lit lost made meant met misread mistook offset outdid overcame overheard overrode "
    "oversaw overtook overwrote paid preset proved put quit ran rang read rebuilt recast redid remade reran "
    "resent reset retold retook rewound rewrote rid rode rose said sang sank sat saw seen sent set shed "
    "shone shook shot showed shown shrank shut slept slew slid slit smelt sold sought spat sped spelt spent spilt "
    "split spoilt spoke sprang spread spun stole stood strove struck stuck sublet sung sunk swept swore swung "
    "taken taught thought threw thrust told took tore trod typeset undercut understood underwent undid unset "
    "unwound upheld upset went wept withdrew withheld withstood woke won wore wound written wrote wrung"
)
