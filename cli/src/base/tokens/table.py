#!/usr/bin/env python3
"""Writes o200k.bin of `o200k_base.tiktoken`, the table that OpenAI publishes with tiktoken (MIT): table.py FILE

The tokens in the order of their bytes: how many there are (4 bytes, little end first, as all numbers), the length of
each (1 byte), the rank of each (3 bytes), then their bytes.
"""
import base64
import sys
from pathlib import Path

ranks = dict(map(bytes.split, Path(sys.argv[1]).read_bytes().splitlines()))
tokens = sorted((base64.b64decode(token), int(rank)) for token, rank in ranks.items())
number = len(tokens).to_bytes(4, "little")
lengths = bytes(len(token) for token, _ in tokens)
written = b"".join(rank.to_bytes(3, "little") for _, rank in tokens)
Path(__file__).with_name("o200k.bin").write_bytes(number + lengths + written + b"".join(token for token, _ in tokens))
