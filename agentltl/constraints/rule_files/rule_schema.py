"""The shape of a rule file, as a strict model; the JSON schema that editors read is made from it.

`python -m agentltl.constraints.rule_files.rule_schema` writes the schema again after a change.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import CoreSchema

SCHEMA = "rule_file.schema.json"

Name = Annotated[str, Field(min_length=1, pattern=r"\S")]
Scalar = str | int | float | bool | None
Member = Annotated[str, Field(min_length=1, description="A tool name, a glob, or another group as `@name`")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ConstraintModel(_Strict):
    """One constraint."""

    name: Name = Field(description="The name, unique in the file and in what it includes")
    rule: str = Field(description="The rule; write it after `|-` so that YAML leaves it as it is")
    severity: Literal["HARD_STOP", "PERSISTENT_BLOCK", "ASK", "SOFT_BLOCK", "BLOCK_AND_WARN", "TOLERATE"] | None = (
        Field(None, description="What happens when it is broken; the guard's default if it is left out")
    )
    weight: float = Field(1.0, ge=0, allow_inf_nan=False, description="How much it counts in the compliance score")
    description: str = Field("", description="What it means, for people")
    repair: str = Field("", description="What to do instead, for the model")
    where: dict[str, Scalar | list[Scalar]] | None = Field(
        None, description="The traces it is meant for: fields and their values; a list means one of them"
    )
    applies_to_final_answer: bool = Field(
        False, description="Whether what it still owes is asked for before an answer is accepted"
    )
    enforce: bool = Field(True, description="Whether it refuses calls; if not, it is judged and recorded alone")
    max_soft_attempts: int | None = Field(
        None, ge=0, description="How many calls a SOFT_BLOCK refuses before it is escalated"
    )
    soft_block_mode: Literal["cumulative", "consecutive", "hybrid"] | None = Field(
        None, description="How the refusals of a SOFT_BLOCK are counted"
    )


class FileModel(_Strict):
    """A rule file."""

    version: Literal[1] = Field(description="The version of the format")
    include: str | list[str] = Field([], description="Other rule files, relative to this one")
    groups: dict[Name, list[Member]] = Field({}, description="Named groups of tools")
    constraints: list[ConstraintModel] = Field([], description="The constraints, in order")


def schema() -> str:
    """The JSON schema of a rule file, as the text that ships with the package."""
    made = FileModel.model_json_schema(schema_generator=_Schema)
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def shipped() -> str:
    """The schema that ships with the package."""
    return resources.files("agentltl.constraints.rule_files").joinpath(SCHEMA).read_text(encoding="utf-8")


class _Schema(GenerateJsonSchema):
    def generate(self, schema: CoreSchema, mode: JsonSchemaMode = "validation") -> JsonSchemaValue:
        made = super().generate(schema, mode=mode)
        return {"$schema": self.schema_dialect, **made, "title": "agentltl rule file"}


if __name__ == "__main__":
    from pathlib import Path

    Path(__file__).with_name(SCHEMA).write_text(schema(), encoding="utf-8")
