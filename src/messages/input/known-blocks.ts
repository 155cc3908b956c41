import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { IgnoredFields } from '../../text/ignored-fields.js';
import type { MessagesBody } from '../dto/messages.body.js';

/** A block of the conversation, and its path. */
export interface PlacedBlock {
  readonly block: JsonObject;
  readonly path: string;
}

const TURN = ['role', 'content'];
const CACHE = ['type', 'ttl'];
const COMMON = ['type', 'cache_control'];

/** The known fields of blocks, by their types (decision G-107). */
const BLOCK_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: [...COMMON, 'text', 'citations'],
  image: [...COMMON, 'source'],
  document: [...COMMON, 'source', 'title', 'context', 'citations'],
  search_result: [...COMMON, 'source', 'title', 'content', 'citations'],
  tool_use: [...COMMON, 'id', 'name', 'input', 'caller'],
  tool_result: [...COMMON, 'tool_use_id', 'content', 'is_error'],
  thinking: [...COMMON, 'thinking', 'signature'],
  redacted_thinking: [...COMMON, 'data'],
};
/** The known fields of the sources of images and documents, by their types. */
const SOURCE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  base64: ['type', 'media_type', 'data'],
  url: ['type', 'url'],
  text: ['type', 'media_type', 'data'],
  content: ['type', 'content'],
};
/** Whether a document is cited. The citations of an answer that comes back are a list. */
const CITATIONS = ['enabled'];
const TOOL_FIELDS = [
  ...[...COMMON, 'name', 'description', 'input_schema', 'strict'],
  ...['defer_loading', 'eager_input_streaming', 'input_examples'],
];
/** The known fields of the settings that are objects. */
const SETTINGS = {
  tool_choice: ['type', 'name', 'disable_parallel_tool_use'],
  thinking: ['type', 'budget_tokens', 'display'],
  output_config: ['effort', 'format'],
  metadata: ['user_id'],
  cache_control: CACHE,
} as const;
const FORMAT = ['type', 'schema'];

/**
 * What is known of a checked body, in one walk: unknown fields inside it are left out and noted by their paths, because their
 * clients gain fields every week (decision G-107). Where nothing is unknown, nothing is copied.
 */
export class KnownBlocks {
  /** The known blocks of the messages, those within results of tools included. */
  readonly placed: PlacedBlock[] = [];
  /** Blocks of earlier answers of types that are not known here. They stay as they are. */
  readonly unknown: PlacedBlock[] = [];

  constructor(private readonly ignored: IgnoredFields) {}

  /** The body with known fields only. */
  of(body: MessagesBody): MessagesBody {
    const { messages, system, tools } = body;
    return {
      ...body,
      ...this.settingsOf(body),
      messages: messages.map((turn, index) => this.turn(turn, `messages.${index}`)),
      ...(Array.isArray(system) && { system: this.texts(system, 'system') }),
      ...(tools && { tools: tools.map((tool, index) => this.tool(tool, `tools.${index}`)) }),
    };
  }

  private settingsOf(body: MessagesBody): Partial<MessagesBody> {
    const settings: Record<string, JsonObject> = {};
    for (const [name, known] of Object.entries(SETTINGS)) {
      const value = body[name as keyof typeof SETTINGS];
      if (isJsonObject(value)) settings[name] = this.ignored.without(value, known, name);
    }
    const { output_config: config } = settings;
    if (isJsonObject(config?.format)) {
      const format = this.ignored.without(config.format, FORMAT, 'output_config.format');
      settings.output_config = withField(config, 'format', format);
    }
    return settings;
  }

  private turn(turn: JsonObject, path: string): JsonObject {
    const known = this.ignored.without(turn, TURN, path);
    return withField(known, 'content', this.content(known.content, `${path}.content`));
  }

  /** A text or blocks; the blocks are noted with their paths. */
  private content(content: unknown, path: string): unknown {
    if (!Array.isArray(content)) {
      const isText = typeof content === 'string' && content !== '';
      if (isText) this.placed.push({ block: { type: 'text', text: content }, path: `${path}.0` });
      return content;
    }
    return (content as readonly JsonObject[]).map((block, index) => {
      const at = `${path}.${index}`;
      if (!isKnownBlock(block)) {
        this.unknown.push({ block, path: at });
        return block;
      }
      const known = this.block(block, at);
      this.placed.push({ block: known, path: at });
      return known;
    });
  }

  private block(block: JsonObject, path: string): JsonObject {
    const fields = BLOCK_FIELDS[block.type as string] ?? [];
    const known = this.cited(this.cached(this.ignored.without(block, fields, path), path), path);
    const { content, source } = known;
    if (Array.isArray(content)) {
      return withField(known, 'content', this.content(content, `${path}.content`));
    }
    if (typeof content === 'string') this.content(content, `${path}.content`);
    return isJsonObject(source)
      ? withField(known, 'source', this.source(source, `${path}.source`))
      : known;
  }

  private source(source: JsonObject, path: string): JsonObject {
    const fields = SOURCE_FIELDS[source.type as string] ?? [];
    const known = this.ignored.without(source, fields, path);
    const { content } = known;
    return Array.isArray(content)
      ? withField(known, 'content', this.texts(content as JsonObject[], `${path}.content`))
      : known;
  }

  /** Blocks of text that are no turns of the conversation. */
  private texts(blocks: readonly JsonObject[], path: string): JsonObject[] {
    return blocks.map((block, index) => this.block(block, `${path}.${index}`));
  }

  private tool(tool: JsonObject, path: string): JsonObject {
    return this.cached(this.ignored.without(tool, TOOL_FIELDS, path), path);
  }

  private cited(block: JsonObject, path: string): JsonObject {
    const { citations } = block;
    if (!isJsonObject(citations)) return block;
    const known = this.ignored.without(citations, CITATIONS, `${path}.citations`);
    return withField(block, 'citations', known);
  }

  private cached(object: JsonObject, path: string): JsonObject {
    const { cache_control: cache } = object;
    if (!isJsonObject(cache)) return object;
    const known = this.ignored.without(cache, CACHE, `${path}.cache_control`);
    return withField(object, 'cache_control', known);
  }
}

/** Whether the type of a block is known here; vendors add types to their answers. */
export function isKnownBlock({ type }: JsonObject): boolean {
  return Object.hasOwn(BLOCK_FIELDS, type as string);
}

/** The object with this value of the field; itself where it has that value. */
function withField(object: JsonObject, name: string, value: unknown): JsonObject {
  return object[name] === value ? object : { ...object, [name]: value };
}
