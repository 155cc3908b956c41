import { isJsonObject, type JsonObject } from '../common/json-object.js';
import type { ChatBody } from './dto/chat.body.js';

/**
 * The fields of messages, parts and tools that the gateway knows (decision G-92), by path. An object below a field that
 * has fields of its own is looked into; `true` passes unread, as the JSON Schemas of tools do.
 */
interface Known {
  readonly [name: string]: true | Known;
}

const CALL: Known = {
  id: true,
  type: true,
  index: true,
  function: { name: true, arguments: true },
  custom: { name: true, input: true },
  extra_content: true,
};
const PART: Known = {
  type: true,
  text: true,
  refusal: true,
  image_url: { url: true, detail: true },
};
const MESSAGE: Known = {
  role: true,
  content: PART,
  name: true,
  refusal: true,
  tool_calls: CALL,
  tool_call_id: true,
  function_call: { name: true, arguments: true },
  audio: { id: true },
  reasoning_content: true,
  reasoning: true,
  reasoning_details: true,
  extra_content: true,
  annotations: true,
};
const GRAMMAR: Known = { syntax: true, definition: true };
const TOOL: Known = {
  type: true,
  function: { name: true, description: true, parameters: true, strict: true },
  custom: { name: true, description: true, format: { type: true, grammar: GRAMMAR } },
};
const NAMED_TOOL: Known = { type: true, function: { name: true }, custom: { name: true } };
const CHOICE: Known = { ...NAMED_TOOL, allowed_tools: { mode: true, tools: NAMED_TOOL } };
const FORMAT: Known = {
  type: true,
  json_schema: { name: true, description: true, schema: true, strict: true },
};
/** Maximum number of names listed in the response header. */
const MAX_NAMES = 20;
/** Only such a name can be put in a header; any other field is left out without being listed. */
const NAME = /^[\w$-]{1,64}$/;

/** The objects of a request that callers write freely, with known fields only. */
type FreeFields = Pick<ChatBody, 'messages' | 'tools' | 'tool_choice' | 'response_format'>;

/** The fields that are sent, and the names of those that are not, such as `messages.content.cache_control`. */
export interface KnownRequest extends FreeFields {
  readonly ignored: readonly string[];
}

/** Leaves out every unknown field of messages, parts, tools and choices of tools, except those named in `passed`. */
export function knownRequestOf(request: FreeFields, passed: readonly string[] = []): KnownRequest {
  const { messages, tools, tool_choice: choice, response_format: format } = request;
  const sieve = new Sieve(new Set(passed));
  return {
    messages: messages.map((message) => sieve.object(message, MESSAGE, 'messages')),
    ...(tools && { tools: tools.map((tool) => sieve.object(tool, TOOL, 'tools')) }),
    ...(isJsonObject(choice) && { tool_choice: sieve.object(choice, CHOICE, 'tool_choice') }),
    ...(format && { response_format: sieve.object(format, FORMAT, 'response_format') }),
    ignored: [...sieve.ignored],
  };
}

const LEFT_OUT = Symbol('left out');

class Sieve {
  readonly ignored = new Set<string>();

  constructor(private readonly passed: ReadonlySet<string>) {}

  /** Returns the object itself if all its fields are known, which is the normal case. */
  object(object: JsonObject, known: Known, path: string): JsonObject {
    let changed: Record<string, unknown> | undefined;
    for (const name in object) {
      const value = object[name];
      const kept = this.field(value, name, known, path);
      if (kept === value && kept !== LEFT_OUT) continue;
      changed ??= { ...object };
      if (kept === LEFT_OUT) Reflect.deleteProperty(changed, name);
      else changed[name] = kept;
    }
    return changed ?? object;
  }

  private field(value: unknown, name: string, known: Known, path: string): unknown {
    const below = Object.hasOwn(known, name) ? known[name] : undefined;
    if (below === true || this.passed.has(name)) return value;
    if (below === undefined) {
      if (this.ignored.size < MAX_NAMES && NAME.test(name)) this.ignored.add(`${path}.${name}`);
      return LEFT_OUT;
    }
    return this.value(value, below, `${path}.${name}`);
  }

  private value(value: unknown, known: Known, path: string): unknown {
    if (Array.isArray(value)) {
      const items = value.map((item: unknown) => this.value(item, known, path));
      return items.every((item, index) => item === value[index]) ? (value as unknown) : items;
    }
    return isJsonObject(value) ? this.object(value, known, path) : value;
  }
}
