"""One template file: TOML front matter between +++ lines, then a Jinja block for each role.

Text from outside reaches a template only as a value: Jinja syntax inside it is never evaluated, and the
filter `fenced` keeps it from closing the tags that the template puts around it.
"""

from __future__ import annotations

import hashlib
import importlib
import re
import tomllib
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic.json_schema import GenerateJsonSchema

from amem.errors import PromptFormat, PromptVariables
from amem.fences import fenced, fences_of
from amem.llm.protocol import Message
from amem.values import Frozen, canonical_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType

    import jinja2
    from jinja2 import nodes

    Outputs = ModuleType | Mapping[str, type[BaseModel]]
    Schema = dict[str, JsonValue]

Role = Literal["system", "user", "assistant"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant")

_LINE = re.compile(r"\(at line (\d+)")


class FrontMatter(Frozen):
    """What stands between the +++ lines."""

    description: str
    output: str | None = None
    """The model that a reply must satisfy; None for plain text."""
    variables: tuple[str, ...]
    params: dict[str, JsonValue] = {}
    changes: str = ""


@dataclass(frozen=True)
class Template:
    """A parsed template, ready to render."""

    path: str
    source: str
    front: FrontMatter
    output: type[BaseModel] | None
    """The model that a reply must satisfy; None for plain text."""
    schema: Schema | None
    hash: str
    """Eight hex digits over all that reaches the model: body, front matter less its prose, reply schema."""
    compiled: jinja2.Template
    roles: tuple[Role, ...]

    def messages(self, variables: Mapping[str, JsonValue]) -> tuple[Message, ...]:
        """Render each block to a message, in the file's order."""
        return tuple(Message(role=role, content=self._render(role, variables)) for role in self.roles)

    def schema_for(self, variables: Mapping[str, JsonValue]) -> Schema | None:
        """Return the schema of a reply to these variables: that of the output, and what is known of its lists."""
        from amem.replies import Reply

        if self.schema is None or self.output is None or not issubclass(self.output, Reply):
            return self.schema
        properties = cast("dict[str, Schema]", self.schema["properties"])
        known = {
            name: {**properties[name], "minItems": least, "maxItems": most}
            for name, (least, most) in self.output.counts(variables).items()
        } | {
            name: self._begun(properties[name], beginnings)
            for name, beginnings in self.output.beginnings(variables).items()
            if beginnings
        }
        return {**self.schema, "properties": {**properties, **known}} if known else self.schema

    def _begun(self, items: Schema, beginnings: Sequence[Mapping[str, JsonValue]]) -> Schema:
        """Return the schema of a list with as many items as there are beginnings, each of which begins so."""
        item = cast("Schema", items["items"])
        defined = str(item["$ref"]).removeprefix("#/$defs/")
        one = cast("dict[str, Schema]", cast("Schema", self.schema)["$defs"])[defined]
        fields = cast("dict[str, Schema]", one["properties"])
        each: list[JsonValue] = [
            {
                "type": "object",
                "properties": {**fields, **{name: {"const": value} for name, value in begins.items()}},
                "required": one["required"],
            }
            for begins in beginnings
        ]
        rest = {name: value for name, value in items.items() if name != "items"}  # some servers read `items` alone
        return {**rest, "prefixItems": each, "minItems": len(each), "maxItems": len(each)}

    def _render(self, role: Role, variables: Mapping[str, JsonValue]) -> str:
        from jinja2 import TemplateError

        try:
            context = self.compiled.new_context(dict(variables))
            text = "".join(self.compiled.blocks[role](context))
        except (TemplateError, TypeError) as error:
            raise PromptFormat(self.path, f"block {role!r} cannot be rendered: {error}") from error
        return text.removesuffix("\n")  # the one that stands before {% endblock %}


def parse_template(name: str, source: str, path: str, outputs: Outputs | None = None) -> Template:
    """Read a template and check that it says what it needs.

    Args:
        name: The prompt's name, for messages.
        source: The file's text.
        path: Where it stands, for messages.
        outputs: Where its output model is looked up; `amem.replies` if not given.

    Raises:
        PromptFormat: the front matter, the Jinja or the blocks are malformed, or there is no such output.
        PromptVariables: it uses other variables than it declares.
    """
    source = source.replace("\r\n", "\n")
    head, body = _split(source, path)
    front = _front_matter(head, path)
    first_line = head.count("\n") + 4
    with _located(path, first_line):
        environment = _environment(body)
        tree = environment.parse(body)
        compiled = environment.from_string(body)
    roles = _roles(tree, path, first_line)
    _check_variables(name, front, tree)
    output = _output(front.output, path, outputs)
    schema = None if output is None else output.model_json_schema(schema_generator=_Untitled)
    return Template(path, source, front, output, schema, _hash(front, body, schema), compiled, roles)


def _split(source: str, path: str) -> tuple[str, str]:
    if not source.startswith("+++\n"):
        raise PromptFormat(path, "the file must begin with a line +++ and its TOML front matter", 1)
    head, fence, body = source.removeprefix("+++\n").partition("\n+++\n")
    if not fence:
        raise PromptFormat(path, "the front matter has no closing line +++")
    return head, body


def _front_matter(head: str, path: str) -> FrontMatter:
    try:
        front = FrontMatter.model_validate(tomllib.loads(head))
    except tomllib.TOMLDecodeError as error:
        line = _LINE.search(str(error))
        raise PromptFormat(path, f"front matter: {error}", int(line[1]) + 1 if line else None) from error
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise PromptFormat(path, f"front matter: {problems}") from error
    if len(set(front.variables)) != len(front.variables):
        raise PromptFormat(path, "front matter: a variable is declared twice")
    return front


@contextmanager
def _located(path: str, first_line: int) -> Iterator[None]:
    """Turn Jinja's syntax errors into ours, with the line counted from the top of the file."""
    from jinja2 import TemplateSyntaxError

    try:
        yield
    except TemplateSyntaxError as error:
        line = error.lineno + first_line - 1
        raise PromptFormat(path, error.message or "not valid Jinja", line) from error


def _environment(body: str) -> jinja2.Environment:
    """Build the environment of one template; its `fenced` knows the tags which that template closes."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # prompts are no HTML; `fenced` escapes the only tags that matter
    )
    fences = fences_of(body)
    filters = cast("dict[str, Callable[..., Any]]", environment.filters)
    filters["fenced"] = lambda value: fenced(value, fences)
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "ensure_ascii": False}
    return environment


def _roles(tree: nodes.Template, path: str, first_line: int) -> tuple[Role, ...]:
    """Return the blocks in order, refusing whatever would silently be left out of the messages."""
    from jinja2 import nodes

    loads = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
    for other in tree.find_all(loads):
        problem = "a prompt is one file: no include, import or extends"
        raise PromptFormat(path, problem, other.lineno + first_line - 1)
    names: list[Role] = []
    for node in _top_level(tree):
        line = node.lineno + first_line - 1
        if not isinstance(node, nodes.Block) or node.name not in ROLES:
            raise PromptFormat(path, f"only blocks named {', '.join(ROLES)} are rendered", line)
        if next(node.find_all(nodes.Block), None):
            raise PromptFormat(path, "a block stands inside another", line)
        names.append(node.name)
    if not names:
        raise PromptFormat(path, f"there is no block; write at least one of {', '.join(ROLES)}")
    return tuple(names)


def _top_level(tree: nodes.Template) -> Iterator[nodes.Node]:
    """Yield what stands at the top level, less blank text."""
    from jinja2 import nodes

    for node in tree.body:
        parts = node.nodes if isinstance(node, nodes.Output) else [node]
        if not all(isinstance(part, nodes.TemplateData) and not part.data.strip() for part in parts):
            yield node


def _check_variables(name: str, front: FrontMatter, tree: nodes.Template) -> None:
    from jinja2.meta import find_undeclared_variables

    used, declared = find_undeclared_variables(tree), set(front.variables)
    if used != declared:
        raise PromptVariables(name, missing=sorted(declared - used), unused=sorted(used - declared))


class _Untitled(GenerateJsonSchema):
    """A schema without the titles pydantic derives from field names: they cost tokens and say nothing."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def _output(output: str | None, path: str, outputs: Outputs | None) -> type[BaseModel] | None:
    if output is None:
        return None
    outputs = importlib.import_module("amem.replies") if outputs is None else outputs
    found = outputs.get(output) if isinstance(outputs, Mapping) else getattr(outputs, output, None)
    if not (isinstance(found, type) and issubclass(found, BaseModel)):
        where = "the given outputs" if isinstance(outputs, Mapping) else outputs.__name__
        raise PromptFormat(path, f"output {output!r} is no pydantic model in {where}")
    return found


def _hash(front: FrontMatter, body: str, schema: Schema | None) -> str:
    says = {"body": body, "front": front.model_dump(exclude={"description", "changes"}), "schema": schema}
    return hashlib.sha256(canonical_json(says).encode()).hexdigest()[:8]
