"""The hazards that a tool's schema may hold for its callers, as a table: what each is, why it bites, what to write.

Levels
- `error`: calls can fail that should not, or a part of the schema is not looked at by anybody.
- `warning`: arguments can be misread, or the same call means different things to different clients.
- `info`: worth knowing before the first call.
"""

import msgspec

LEVELS = ("info", "warning", "error")


class Hazard(msgspec.Struct, frozen=True):
    """One kind of hazard: how bad it is, what it is, why it bites, what to write instead."""

    level: str
    title: str
    why: str
    instead: str


HAZARDS = {
    "root": Hazard(
        "error",
        "the schema of the arguments does not say that they are an object",
        'MCP asks for an inputSchema of type "object"; clients drop the tool, or send what the tool cannot read.',
        'Begin the inputSchema with "type": "object".',
    ),
    "reference-dangling": Hazard(
        "error",
        "a reference points at nothing",
        "Strict clients refuse the whole tool; others check nothing at that place.",
        "Point it at a definition that the same schema holds, as in #/$defs/Name.",
    ),
    "reference-remote": Hazard(
        "error",
        "a reference points outside of the schema",
        "Nobody fetches it (that would be a hole in the client), so the place is not checked, or the tool is refused.",
        "Copy the definition into $defs, and point at it there.",
    ),
    "reference-loop": Hazard(
        "error",
        "a reference leads back to itself",
        "No value can ever be judged by it; a validator loops, crashes or ignores it.",
        "Put at least one property or list between a definition and its use of itself.",
    ),
    "keyword": Hazard(
        "error",
        "a keyword is not what JSON Schema allows",
        "Strict clients refuse the whole tool; others check nothing at that place.",
        "Write it as the draft says: types by their JSON names, required as a list of names beside properties.",
    ),
    "pattern": Hazard(
        "error",
        "a pattern does not compile",
        "Strict clients refuse the whole tool; others do not check the pattern at all.",
        "Keep to what ECMA-262 with the u flag and Python both read: no needless backslash, no Python-only groups.",
    ),
    "impossible": Hazard(
        "error",
        "nothing can be sent that fits",
        "Every call that has this argument is refused, whatever the model tries.",
        "Make the bounds meet, or declare the argument that is required.",
    ),
    "required-undeclared": Hazard(
        "error",
        "a required argument is not declared",
        "A model is shown the declared arguments and never learns of this one, so its calls are refused.",
        "Declare it under properties, with its type, or take it out of required.",
    ),
    "header": Hazard(
        "error",
        "x-mcp-header stands where it may not",
        "Clients of MCP 2026-07-28 must drop the whole tool.",
        "Put it on a declared text, integer or boolean property, reached by properties alone, each header name once.",
    ),
    "text-or-other": Hazard(
        "warning",
        "text and another type will both do",
        'A model may send "5" or 5, "[1]" or [1]: both fit, so nobody can tell which was meant, and none is repaired.',
        "Take one type. Where the two mean different things, give them two arguments.",
    ),
    "untyped": Hazard(
        "warning",
        "the argument has no type",
        "A client shows the model no type, and the model sends a list or an object as text, which then fits.",
        "Name the type; where there are many, a list of types, so that a client can show them.",
    ),
    "untyped-items": Hazard(
        "warning",
        "a list says nothing of its items",
        "The model is told nothing of what goes into the list, and whatever it puts there fits.",
        'Say what an item is: {"type": "array", "items": {"type": "string"}}.',
    ),
    "big-integer": Hazard(
        "warning",
        "integers above 2^53 are numbers here",
        "Every JavaScript client, and every transport that makes floats of numbers, changes the last digits unseen.",
        'Take such ids as text, {"type": "string", "pattern": "^[0-9]+$"}, or bound them: "maximum": 9007199254740991.',
    ),
    "members-alike": Hazard(
        "warning",
        "listed values differ in case only",
        "A model mixes them up, and a value in another case cannot be told to be one or the other.",
        "Keep one of them, or say the difference in the description.",
    ),
    "names-alike": Hazard(
        "warning",
        "names differ in case, _ or - only",
        "A model mixes them up, and a misspelt name cannot be told to be one or the other.",
        "Keep one of them.",
    ),
    "default-null": Hazard(
        "warning",
        "the default is null, which the type does not take",
        "A model or a client that sends the default as it is told sends null, and a strict server refuses it.",
        "Leave the default out (not required is enough), or allow null in the type.",
    ),
    "default-misfit": Hazard(
        "warning",
        "the default does not fit its own schema",
        "A model or a client that sends the default as it is told is refused.",
        "Give a default that the schema takes.",
    ),
    "member-misfit": Hazard(
        "warning",
        "a listed value does not fit its own schema",
        "A model that picks it from the list is refused.",
        "Give listed values of the type that stands beside them.",
    ),
    "backtracking": Hazard(
        "warning",
        "a pattern may take exponential time",
        "A validator that backtracks (JavaScript's, Python's) can be kept busy for minutes by one short text.",
        "Let a loop have one way through a text only: no loop or option inside it that takes what may follow it.",
    ),
    "closed-empty": Hazard(
        "warning",
        "a closed object has no properties",
        "Only {} fits, so whatever a model writes is refused. Often a client or converter lost the properties.",
        "Declare the properties, or leave additionalProperties out.",
    ),
    "nullable": Hazard(
        "warning",
        "nullable is OpenAPI, and no keyword of JSON Schema",
        "A client that knows JSON Schema only refuses null here.",
        'Write {"type": ["string", "null"]}, or leave the argument out of required.',
    ),
    "root-union": Hazard(
        "warning",
        "the arguments as a whole are told by a union or a condition",
        "Some models' APIs refuse such a tool, and others drop the keyword: the model does not see what goes together.",
        "Declare all arguments under properties, and let the tool refuse what does not go together by name.",
    ),
    "draft": Hazard(
        "warning",
        "$schema names a draft that nobody knows",
        "Clients refuse the tool or read it as another draft, each its own.",
        "Name https://json-schema.org/draft/2020-12/schema, or leave $schema out.",
    ),
    "format": Hazard(
        "info",
        "a format may not be checked",
        "A format describes unless a validator is told to check it; most are not, and each knows other formats.",
        "Say what counts with pattern, or minimum and maximum, and show an example in the description.",
    ),
    "null-union": Hazard(
        "info",
        "a list or an object is in a union with null",
        "Some clients show the model no type for such an argument, and it sends the list or the object as text.",
        "Leave null out: that the argument is not required is enough.",
    ),
    "open": Hazard(
        "info",
        "undeclared arguments are taken",
        "A misspelt name is not refused: the tool runs without it and reports success.",
        'Close the schema with "additionalProperties": false.',
    ),
}
