"""How the API's document describes the engine's own classes, which are sent in the JSON form of ``judgement_json``."""

from __future__ import annotations

import copy
from typing import Any

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import DEFAULT_REF_TEMPLATE, GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from judge.judgement_json import to_json


class StoredForm:
    """Marks a field that holds one of the engine's classes: written by ``to_json``, and described field by field."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(to_json)
        return {**handler(source), "serialization": written}

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Describes the class itself: of a function that serializes, pydantic knows nothing."""
        return handler({key: value for key, value in schema.items() if key != "serialization"})


class _Description(GenerateJsonSchema):
    """Describes a number of the engine's classes as ``to_json`` writes it: one that is not finite becomes a string."""

    _depth = 0

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        self._depth += 1
        try:
            return super().dataclass_schema(schema)
        finally:
            self._depth -= 1

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        number = super().float_schema(schema)
        if not self._depth:
            return number
        # No enumeration: generators would name a class for each place.
        return {"anyOf": [number, {"type": "string", "description": "nan, inf or -inf"}]}


class Answer(BaseModel):
    """A part of a response."""

    @classmethod
    def model_json_schema(
        cls,
        by_alias: bool | None = True,
        ref_template: str = DEFAULT_REF_TEMPLATE,
        schema_generator: type[GenerateJsonSchema] = _Description,
        mode: JsonSchemaMode = "validation",
        **options: Any,
    ) -> dict[str, Any]:
        """Returns the description of the response in the API's document."""
        described = super().model_json_schema
        if options:
            return described(by_alias, ref_template, schema_generator, mode, **options)
        # SpecTree asks for each operation and status anew, six times for each class.
        key = (cls, by_alias, ref_template, schema_generator, mode)
        if key not in _descriptions:
            _descriptions[key] = described(by_alias, ref_template, schema_generator, mode)
        return copy.deepcopy(_descriptions[key])


_descriptions: dict[tuple[object, ...], dict[str, Any]] = {}
