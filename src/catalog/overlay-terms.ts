import type { Operation } from '../providers/ports/provider-ports.js';
import type { UpstreamTerms } from '../providers/ports/attempt.js';
import type { OverlayTerms } from './overlay-terms.dto.js';

/** Which model works, on what, and in which form. */
const REQUEST_FIELDS = ['model', 'model_id', 'mv', 'messages', 'stream', 'stream_options'];
/** How often it works: more answers would be made than are charged. */
const COUNT_FIELD = 'n';
/** Fields that cannot carry the cap. */
const NO_CAPS: readonly string[] = [...REQUEST_FIELDS, COUNT_FIELD];
/** What prices and records stand on; the last two are the caps. */
const FIXED_FIELDS: readonly string[] = [...REQUEST_FIELDS, 'max_tokens', 'max_completion_tokens'];
/** Those of keys, which stay in the environment, and those that frame a request and its response. */
const FIXED_HEADERS: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'api-key',
  'x-api-key',
  'xi-api-key',
  'tt-api-key',
  'x-goog-api-key',
  'host',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'transfer-encoding',
  'content-length',
  'content-type',
  'content-encoding',
  'accept-encoding',
];
const CHAT_KEYS = ['length_parameter', 'stream_usage', 'pass_fields'] as const;

/**
 * The terms of a row: each key of the entry replaces that of the built-in row. Undefined where neither has one. Throws
 * an Error that names the field for what the gateway alone decides, and for keys that do not fit the operation.
 */
export function termsOf(
  entry: OverlayTerms,
  operation: Operation,
  builtIn: UpstreamTerms | undefined,
): UpstreamTerms | undefined {
  if (operation !== 'chat') rejectKeysOfChat(entry);
  const terms = { ...builtIn, ...given(entry) };
  checkFields(terms);
  for (const name of Object.keys(terms.headers ?? {})) {
    if (FIXED_HEADERS.includes(name)) throw rejection(`headers.${name}`);
  }
  return Object.keys(terms).length === 0 ? undefined : terms;
}

function given(entry: OverlayTerms): UpstreamTerms {
  const headers = entry.headers && Object.entries(entry.headers);
  const terms: Record<keyof UpstreamTerms, unknown> = {
    outputCapParameter: entry.length_parameter,
    streamUsage: entry.stream_usage,
    rename: entry.rename,
    drop: entry.drop,
    headers:
      headers && Object.fromEntries(headers.map(([name, text]) => [name.toLowerCase(), text])),
    constants: entry.constants,
    timeoutMs: entry.timeout_ms,
    passFields: entry.pass_fields,
  };
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined));
}

function checkFields({
  outputCapParameter,
  rename = {},
  drop = [],
  constants = {},
}: UpstreamTerms) {
  if (outputCapParameter !== undefined && NO_CAPS.includes(outputCapParameter)) {
    throw rejection('length_parameter');
  }
  const fixed = [...FIXED_FIELDS, outputCapParameter];
  for (const [from, to] of Object.entries(rename)) {
    const isFixed = fixed.includes(from) || fixed.includes(to) || to === COUNT_FIELD;
    if (isFixed) throw rejection(`rename.${from}`);
  }
  const dropped = drop.find((name) => fixed.includes(name));
  if (dropped !== undefined) throw new Error(`drop must not name ${dropped}: ${DECIDED}`);
  const constant = Object.keys(constants).find((name) => [...fixed, COUNT_FIELD].includes(name));
  if (constant !== undefined) throw rejection(`constants.${constant}`);
}

const DECIDED = 'the gateway decides on it';

function rejection(field: string): Error {
  return new Error(`${field} must not be set here: ${DECIDED}`);
}

function rejectKeysOfChat(entry: OverlayTerms): void {
  const key = CHAT_KEYS.find((name) => entry[name] !== undefined);
  if (key !== undefined) throw new Error(`${key} does not fit this operation`);
}
