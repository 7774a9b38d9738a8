"""Marks contents that read like instructions to a model.

Memory is data: marked contents are shown as such, and never put into automatic context (identity: doors). A mark lowers no
trust and hides nothing; it may be wrong either way.
"""

from __future__ import annotations

import re
import unicodedata

_PATTERNS = re.compile(
    r"""
    \b(ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(previous|prior|above|earlier|all|any|your|these|those)\b
        [^.\n]{0,30}\b(instructions?|prompts?|rules?|guidelines?|directions?|messages?|context)\b
    | \b(ignore|disregard|forget|override)\s+(all\s+(of\s+)?)?
        (the\s+(above|foregoing)|everything\s+(above|before)|(what|everything|anything)\s+(you\s+were|you've\s+been)\s+told)
        (?=\s*([,.;:!]|$|\b(and|then|now|before)\b))
    | \b(new|updated|real|actual|following)\s+(system\s+)?instructions?\s*:
    | \byou\s+are\s+now\b[^.\n]{0,60}\b(assistant|ai|model|agent|dan|mode|unrestricted|jailbroken|developer)\b
    | \b(act|behave|respond)\s+as\s+(if\s+you\s+(are|were)|an?\s+(unrestricted|jailbroken|different))\b
    | \b(do\s+not|don't|never)\s+(tell|inform|mention\s+(this|it)\s+to|reveal\s+(this|it)\s+to|warn)\s+the\s+user\b
    | \b(reveal|print|show|repeat|output|leak|exfiltrate)\b[^.\n]{0,40}\b(system\s+prompt|hidden\s+prompt|your\s+instructions)\b
    | \b(send|post|upload|exfiltrate|forward|email)\b[^.\n]{0,60}\b(api[\s_-]?keys?|passwords?|credentials?|secrets?|tokens?)\b
        [^.\n]{0,40}\b(to|at)\b
    | <\s*/?\s*(system|assistant|user|im_start|im_end|tool_call|instructions?)\b[^>]{0,40}>
    | <\|[a-z_]{2,20}\|>
    | ^\s*(\#+\s*)?(system|assistant|developer)\s*(prompt|message)?\s*:\s
    | \[\s*(system|inst|/inst)\s*\]
    | \bfrom\s+now\s+on\b[^.\n]{0,40}\byou\s+(must|will|should|shall)\b
    | \b(dear|attention|note\s+to|instructions?\s+(to|for))\s+(the\s+)?(ai|llm|language\s+model|assistant|chatbot|claude|gpt)\b
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
# Every pattern needs one of these; most contents hold none, and are spared the patterns.
_TRIGGERS = (
    *("ignore", "disregard", "forget", "override", "bypass", "instruction", "now", "act", "behave", "respond", "user", "prompt"),
    *(
        "key",
        "password",
        "credential",
        "secret",
        "token",
        "<",
        "[",
        "system",
        "assistant",
        "developer",
        "dear",
        "attention",
        "note",
    ),
)
_INVISIBLE = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff\U000e0000-\U000e007f]")
_SCANNED = 65_536


def is_suspicious(content: str) -> bool:
    """Whether the first 64 Ki code points read like an instruction to a model; invisible signs are looked through."""
    head = content[:_SCANNED]
    if head.isascii():
        lowered = head.lower()
        if not any(trigger in lowered for trigger in _TRIGGERS):
            return False
    else:
        head = _INVISIBLE.sub("", unicodedata.normalize("NFKC", head))
    return _PATTERNS.search(head) is not None
