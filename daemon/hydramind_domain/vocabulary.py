"""Small word lists for text analysis and relevance. Written for this project; English only."""

from __future__ import annotations

from typing import Final

_STOP_WORDS: Final = """
a an the this that these those
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
am is are was were be been being do does did doing done have has had having
will would shall should can could may might must ought
and or but nor so yet if then else than as because while although though unless until
of at by for with about against between into through during before after above below to from up down in out on off
over under within without upon toward towards among per via
again further once here there when where why how what which who whom whose
all any both each few more most other others some such only own same too very just also not no
i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll it's it'd it'll we're we've we'd we'll
they're they've they'd they'll that's that'd that'll there's there're here's what's what're what'd where's where'd
who's who'd who'll when's why's how's how'd let's
"""

STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""Words that carry grammar, not content. Negated contractions ("don't") are content, as they must be findable by themselves."""

_GENERIC_WORDS = """
say tell talk speak mention describe explain discuss call name ask answer share state give show suggest recommend refer
do make get go come take use put set keep let run work try want need like think know believe feel seem look see find
happen become begin start stop end finish continue change move turn bring leave stay live have hold plan decide choose
prefer help mean plan offer provide include involve relate follow lead handle support allow require cause spend
thing stuff something anything everything someone anyone everyone somebody anybody nothing nobody
kind type sort way part side case point fact idea reason result purpose goal example detail information topic subject matter
time day week month year date today tomorrow yesterday recently currently now ago long often usually always never ever
people person man woman friend family group place area location country city event activity experience item
number amount many much lot bit little big small good great new old first last next other another main certain
different similar general specific current recent previous latest particular possible likely able
one two three
database server service system application app tool software program project product component module package library
framework language platform file folder directory code function method class command script config configuration setting
option value key version release user team company process task job test data api endpoint host machine environment
rule policy standard default format style approach strategy technology stack
"""

GENERIC_WORDS: Final = frozenset(_GENERIC_WORDS.split())
"""Words in which questions are asked and categories are named. Whether a memory has them says little about what it tells."""

_IRREGULAR = """
go went gone goes; buy bought; take took taken; get got gotten; make made; see seen; come came; give gave given; tell told
think thought; become became; begin began begun; keep kept; hold held; write wrote written; stand stood; hear heard
mean meant; meet met; run ran; pay paid; sit sat; speak spoken; lead led; grow grew grown; lose lost; fall fallen
send sent; build built; understand understood; draw drew drawn; break broke broken; spend spent; rise risen
drive drove driven; wear wore worn; choose chose chosen; catch caught; teach taught; fight fought; throw threw thrown
sell sold; win won; swim swam swum; sing sang sung; sleep slept; eat ate eaten; drink drank drunk; fly flew flown
ride rode ridden; know knew known; show shown; say said; bring brought; forget forgot forgotten; hide hid hidden
freeze froze frozen; shake shook shaken; steal stolen; swear swore sworn; tear torn; wake woke woken; feed fed
forgive forgave forgiven; seek sought; shrink shrank shrunk; lend lent; deal dealt; dream dreamt; bite bitten
blow blew blown; undo undid undone; redo redid redone; overwrite overwrote overwritten; rewrite rewrote rewritten
child children; person people; woman women; man men; foot feet; tooth teeth; mouse mice; goose geese; wife wives
knife knives; shelf shelves; criterion criteria; index indices; vertex vertices; matrix matrices; analysis analyses
crisis crises; hypothesis hypotheses
"""

IRREGULAR_FORMS: Final = {
    form: base
    for base, *forms in (entry.split() for line in _IRREGULAR.splitlines() for entry in line.split(";") if entry.strip())
    for form in forms
}
"""Irregular form → base, where the form is not also another common word ("left", "saw" and "found" are not here)."""
