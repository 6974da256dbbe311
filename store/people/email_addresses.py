"""Says what an e-mail address may be, and when two are the same.

Accounts and invitations belong to whoever confirms an address, so no two mailboxes may count as one. Outside of ASCII,
case folding and compatibility forms make one text of what mail servers hold apart, and letters of several scripts look
alike: what users and teachers type is ASCII alone.
"""

from __future__ import annotations

import re

#: Only what SMTP needs: a mail with a link decides whether the address exists.
_ADDRESS = re.compile(r"[^\s@<>\",;:\\()\[\]\x00-\x1f\x7f]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,180}[A-Za-z0-9])?")
#: The most characters of an address, as SMTP has it.
MOST_CHARACTERS = 254


def address_fault(text: str) -> str | None:
    """Returns the fault of an e-mail address as a sentence, or None."""
    odd = next((each for each in text if not each.isascii()), None)
    if odd is not None:
        return f"“{odd}” (U+{ord(odd):04X}) cannot stand in an address: use plain Latin letters, digits and signs."
    if not _ADDRESS.fullmatch(text) or len(text) > MOST_CHARACTERS:
        return f"{text[:100] or 'nothing'} is not an e-mail address."
    return None


def address_key(address: str) -> str:
    """Returns a text that is equal for the same addresses alone: upper case counts as lower case in ASCII only."""
    return address.lower() if address.isascii() else address
