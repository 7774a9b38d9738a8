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
