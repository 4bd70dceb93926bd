"""What the reference memory server's tools take: its names, lengths that end somewhere, and nothing unknown."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class EntityArgument(Strict):
    name: str = Field(min_length=1, description="The name of the entity.")
    kind: str = Field(min_length=1, alias="entityType", description="The type of the entity.")
    observations: list[str] = Field(
        max_length=100, description="What is known of it: one fact each, in a whole sentence that names it."
    )


class RelationArgument(Strict):
    source: str = Field(min_length=1, alias="from", description="The entity where it starts.")
    target: str = Field(min_length=1, alias="to", description="The entity where it ends.")
    kind: str = Field(min_length=1, alias="relationType", description="In active voice, such as works_with.")


class AdditionArgument(Strict):
    entity: str = Field(min_length=1, alias="entityName", description="The entity that they are about.")
    contents: list[str] = Field(
        max_length=100, description="One fact each, in a whole sentence that names it."
    )


class DeletionArgument(Strict):
    entity: str = Field(min_length=1, alias="entityName", description="The entity that they are about.")
    observations: list[str] = Field(max_length=100, description="Word for word.")


class Entities(Strict):
    entities: list[EntityArgument] = Field(max_length=100)


class Relations(Strict):
    relations: list[RelationArgument] = Field(max_length=100)


class Additions(Strict):
    observations: list[AdditionArgument] = Field(max_length=100)


class EntityNames(Strict):
    entityNames: list[str] = Field(max_length=100, description="Names of entities.")


class Deletions(Strict):
    deletions: list[DeletionArgument] = Field(max_length=100)


class Nothing(Strict):
    pass


class Query(Strict):
    query: str = Field(min_length=1, description="What to look for.")


class Names(Strict):
    names: list[str] = Field(max_length=100, description="Names of entities.")
