"""The smallest strict MCP server: lines in, lines out, no SDK and nothing imported that costs time.

It looks for bytes instead of parsing, which is sound only for what this bench sends: a method
is found by its quoted name, the id by the last `"id":` outside the arguments (none of the
bench's arguments is named `id`), and a whole number spelled as a float by `.0,`. Such a call is
refused, so a relay that should have fitted it and did not is noticed.
"""

import os

# Text, and not made from data here: importing json would lengthen this server's start by a third.
SCHEMA = (
    b'{"type":"object","properties":{"file":{"type":"string"},"line":{"type":"integer","minimum":0},'
    b'"column":{"type":"integer","minimum":0},"end_line":{"type":"integer","minimum":0},'
    b'"title":{"type":"string"},"body":{"type":"string"},"weight":{"type":"number"},'
    b'"draft":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}},'
    b'"reply_to":{"anyOf":[{"type":"string"},{"type":"null"}]}},'
    b'"required":["file","line","body"],"additionalProperties":false}'
)

CALL = b'"tools/call"'

NOTED = b'"result":{"content":[{"type":"text","text":"noted"}],"isError":false}}\n'
TOOLS = b'"result":{"tools":[{"name":"add_note","description":"Add a note.","inputSchema":' + SCHEMA + b"}]}}\n"
HELLO = (
    b'"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},'
    b'"serverInfo":{"name":"tiny","version":"1"}}}\n'
)
REFUSAL = b'"result":{"content":[{"type":"text","text":"a whole number is spelled as a float"}],"isError":true}}\n'
UNKNOWN = b'"error":{"code":-32601,"message":"Method not found"}}\n'
ANSWERS = ((CALL, NOTED), (b'"tools/list"', TOOLS), (b'"initialize"', HELLO), (b'"ping"', b'"result":{}}\n'))


def request_id(line: bytes) -> bytes:
    """The id as it was written; empty for a notification."""
    at = line.rfind(b'"id":')
    if at < 0:
        return b""
    at += 5
    while line[at : at + 1] == b" ":
        at += 1
    end = at + 1
    if line[at : at + 1] == b'"':
        return line[at : line.index(b'"', end) + 1]
    while line[end : end + 1].isdigit():
        end += 1
    return line[at:end]


def answer(line: bytes) -> bytes:
    name = request_id(line)
    if not name:
        return b""
    for method, text in ANSWERS:
        if method in line:
            known = REFUSAL if method == CALL and b".0," in line else text
            break
    else:
        known = UNKNOWN
    return b'{"jsonrpc":"2.0","id":' + name + b"," + known


def main() -> None:
    rest = b""
    while chunk := os.read(0, 65536):
        *lines, rest = (rest + chunk).split(b"\n")
        out = b"".join([answer(line) for line in lines])
        while out:
            out = out[os.write(1, out) :]


if __name__ == "__main__":
    main()
