"""Python functions as tools: a JSON Schema of their parameters, and arguments as their types.

Type hints that have a schema: `str`, `int`, `float`, `bool`, `None`, `Any`, lists, tuples, sets, dicts
with `str` keys, `Literal`, unions, enums, dataclasses, `TypedDict`s, and models of Pydantic.
`Annotated[…, "text"]` describes a parameter or a field; so does the function's docstring, in the form of
Google, NumPy or Sphinx.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import inspect
import re
import textwrap
import types
import typing
from collections.abc import Mapping
from typing import Any, Callable, Literal, Optional, Union

from ._native import Tool, ToolError

_PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_LISTS = (list, set, frozenset, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
_DICTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_UNIONS: tuple[Any, ...] = (Union, getattr(types, "UnionType", Union))


class Parameters:
    """The parameters of a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._hints: dict[str, Any] = {}
        self._name = getattr(function, "__name__", type(function).__name__)
        code = function if inspect.isroutine(function) else type(function).__call__
        try:
            hints = typing.get_type_hints(code, include_extras=True)
        except Exception as error:
            raise ToolError(f"{self._name}: its type hints cannot be read: {error}") from error
        writer, properties, required = _Writer(), dict[str, Any](), list[str]()
        described = _described(inspect.getdoc(code) or "")
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise ToolError(f"{self._name}: the parameter {name} has no name for a model: give one that is named")
            self._hints[name] = hints.get(name, Any)
            try:
                properties[name] = writer.of(self._hints[name])
            except _Unknown as unknown:
                raise ToolError(
                    f"{self._name}: the parameter {name}: no JSON Schema is known for {unknown}: "
                    "annotate it otherwise, or give a pair of a Tool with a schema and the function"
                ) from unknown
            if name in described:
                properties[name].setdefault("description", described[name])
            if parameter.default is parameter.empty:
                required.append(name)
        schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
        if required:
            schema["required"] = required
        if writer.definitions:
            schema["$defs"] = writer.definitions
        self.schema = schema

    def convert(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments that the schema accepts, as the function's types."""
        return {name: _convert(self._hints.get(name, Any), value) for name, value in arguments.items()}


def tool_from_function(
    function: Callable[..., Any], *, name: Optional[str] = None, description: Optional[str] = None
) -> Tool:
    """The tool that a function is: its name, the first paragraph of its docstring, and a schema of
    its type hints."""
    said = (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ").strip()
    called = name or str(getattr(function, "__name__", type(function).__name__))
    return Tool(called, description=description or said or None, input_schema=Parameters(function).schema)


def schema_of(kind: Any) -> dict[str, Any]:
    """The schema of a type, for an answer that is to be one of its values."""
    writer = _Writer()
    try:
        schema = writer.of(kind)
    except _Unknown as unknown:
        raise ToolError(f"output: no JSON Schema is known for {unknown}: give the schema itself") from unknown
    return {**schema, "$defs": writer.definitions} if writer.definitions else schema


def as_type(kind: Any, value: Any) -> Any:
    """A value that the type's schema accepts, as one of the type."""
    return _convert(kind, value)


#: Sections with parameters, and their entries, as Google, NumPy and Sphinx write them.
_DESCRIBED = (
    (r"^(?:Args|Arguments|Parameters):[ \t]*\n((?:[ \t]+.*\n?|\n)*)", r"^\*{0,2}(\w+)(?: *\(.*?\))? *: *(.*(?:\n[ \t]+.*)*)"),
    (r"^Parameters[ \t]*\n-+[ \t]*\n((?:(?!.*\n-+[ \t]*$).*\n?)*)", r"^\*{0,2}(\w+)(?: *:.*)?\n((?:[ \t]+.*\n?)+)"),
    (r"((?:.*\n?)*)", r"^:param (?:[^:\n]* )?\*{0,2}(\w+): *(.*(?:\n[ \t]+.*)*)"),
)


def _described(doc: str) -> dict[str, str]:
    """What a docstring says of parameters, by their names."""
    found: dict[str, str] = {}
    for section, entry in _DESCRIBED:
        if within := re.search(section, doc, re.M):
            entries = re.findall(entry, textwrap.dedent(within[1]), re.M)
            found.update({name: " ".join(said.split()) for name, said in entries})
    return found


class _Unknown(Exception):
    """A hint without a schema."""


class _Writer:
    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self._within: list[Any] = []

    def of(self, hint: Any) -> dict[str, Any]:
        """The schema of a hint."""
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if hasattr(hint, "__metadata__"):
            return self._described(hint)
        if hint in (Any, inspect.Parameter.empty):
            return {}
        if hint in _PLAIN:
            return {"type": _PLAIN[hint]}
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin in _UNIONS:
            return {"anyOf": [self.of(each) for each in arguments]}
        if origin is tuple or hint is tuple:
            return self._tuple(arguments)
        if origin in _LISTS or hint in _LISTS:
            items = {"items": self.of(arguments[0])} if arguments else {}
            unique = {"uniqueItems": True} if (origin or hint) in (set, frozenset) else {}
            return {"type": "array", **items, **unique}
        if origin in _DICTS or hint in _DICTS:
            if arguments and arguments[0] is not str:
                raise _Unknown(hint)
            return {"type": "object", **({"additionalProperties": self.of(arguments[1])} if arguments else {})}
        return self._class(hint)

    def _described(self, hint: Any) -> dict[str, Any]:
        schema = self.of(hint.__origin__)
        for said in hint.__metadata__:
            text = said if isinstance(said, str) else getattr(said, "description", None)
            if isinstance(text, str):
                schema = {**schema, "description": text}
        return schema

    def _tuple(self, arguments: tuple[Any, ...]) -> dict[str, Any]:
        if not arguments:
            return {"type": "array"}
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return {"type": "array", "items": self.of(arguments[0])}
        items = [self.of(each) for each in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}

    def _class(self, hint: Any) -> dict[str, Any]:
        if not _is_class(hint) or hint in self._within:
            raise _Unknown(hint)
        if issubclass(hint, enum.Enum):
            return {"enum": [member.value for member in hint]}
        if hasattr(hint, "model_json_schema"):
            schema: dict[str, Any] = hint.model_json_schema()
            self.definitions.update(schema.pop("$defs", {}))
            return schema
        if not _has_fields(hint):
            raise _Unknown(hint)
        self._within.append(hint)
        fields = {name: self.of(of) for name, of in _fields(hint).items()}
        self._within.pop()
        schema = {"type": "object", "properties": fields, "additionalProperties": False}
        required = _required(hint)
        return {**schema, "required": required} if required else schema


def _is_class(hint: object) -> bool:
    return isinstance(hint, type)


def _has_fields(hint: object) -> bool:
    """Whether it is a dataclass or a `TypedDict`."""
    return dataclasses.is_dataclass(hint) or hasattr(hint, "__required_keys__")


def _fields(kind: Any) -> dict[str, Any]:
    """The hints of its fields, without what a `TypedDict` says of whether they are required."""
    return {name: typing.get_args(hint)[0] if _mark(hint) else hint for name, hint in _hints(kind).items()}


def _hints(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind, include_extras=True)
    named = [field.name for field in dataclasses.fields(kind) if field.init] if dataclasses.is_dataclass(kind) else hints
    return {name: hints[name] for name in named}


def _mark(hint: Any) -> str:
    """`Required`, `NotRequired` or `ReadOnly`, where a hint is one of them."""
    origin: Any = typing.get_origin(hint)
    name = str(getattr(origin, "_name", ""))
    return name if name in ("Required", "NotRequired", "ReadOnly") else ""


def _required(kind: Any) -> list[str]:
    if not dataclasses.is_dataclass(kind):
        # A mark in a hint that is text is not known to the class.
        marked = {name for name, hint in _hints(kind).items() if _mark(hint) == "NotRequired"}
        return sorted(kind.__required_keys__ - marked)
    missing = dataclasses.MISSING
    fields = [field for field in dataclasses.fields(kind) if field.init]
    return [field.name for field in fields if field.default is missing and field.default_factory is missing]


def _convert(hint: Any, value: Any) -> Any:
    """A JSON value as the type of a hint that accepts it."""
    if hasattr(hint, "__metadata__"):
        return _convert(hint.__origin__, value)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in _UNIONS:
        return _convert(next((each for each in arguments if _fits(each, value)), Any), value)
    members: Any = value
    if isinstance(value, list):
        return _convert_items(origin or hint, arguments, members)
    if origin in _DICTS and arguments:
        return {key: _convert(arguments[1], each) for key, each in members.items()}
    return _convert_class(hint, members) if _is_class(hint) else value


def _convert_class(hint: Any, value: Any) -> Any:
    if hint is float:
        return float(value)
    if issubclass(hint, enum.Enum):
        return hint(value)
    if hasattr(hint, "model_validate"):
        return hint.model_validate(value)
    if not _has_fields(hint):
        return value
    fields = _fields(hint)
    return hint(**{name: _convert(fields.get(name, Any), each) for name, each in value.items()})


def _convert_items(kind: Any, arguments: tuple[Any, ...], items: list[Any]) -> Any:
    if kind is tuple and arguments and arguments[-1] is not Ellipsis:
        return tuple(_convert(of, item) for of, item in zip(arguments, items))
    made = [_convert(arguments[0], item) for item in items] if arguments else items
    made_of: Any = kind if kind in (tuple, set, frozenset) else list
    return made_of(made)


def _fits(hint: Any, value: Any) -> bool:
    """Whether a value is one of a member of a union, as far as its kind of JSON goes."""
    if hasattr(hint, "__metadata__"):
        return _fits(hint.__origin__, value)
    origin = typing.get_origin(hint) or hint
    if origin is Any:
        return True
    if origin is Literal:
        return value in typing.get_args(hint)
    if origin is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if origin in _PLAIN:
        return type(value) is origin
    if origin in _LISTS or origin is tuple:
        return isinstance(value, list)
    if origin in _DICTS:
        return isinstance(value, dict)
    try:
        _convert(hint, value)
    except Exception:
        return False
    return isinstance(value, dict) or (isinstance(hint, type) and issubclass(hint, enum.Enum))


def plain(value: Any) -> Any:
    """What a function gives, as JSON has it."""
    kind: Any = value.__class__
    if issubclass(kind, enum.Enum):
        return plain(value.value)
    if dataclasses.is_dataclass(kind):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(kind)}
    if hasattr(kind, "model_dump"):
        return value.model_dump(mode="json")
    if issubclass(kind, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if issubclass(kind, (list, tuple, set, frozenset)):
        return [plain(each) for each in value]
    return value
