import type { Operation } from '../providers/ports/provider-ports.js';
import type { UpstreamTerms } from '../providers/ports/attempt.js';
import type { OverlayTerms } from './overlay-terms.dto.js';

/** Everything that is wrong with an entry of the overlay. */
export class RowFaults extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('; '));
  }
}

/** Fields that choose the model, its input and the form of the response. */
const REQUEST_FIELDS = [
  ...['model', 'model_id', 'mv', 'messages', 'stream', 'stream_options'],
  ...['contents', 'generationConfig', 'input', 'system'],
];
/** The field for the number of answers. The gateway charges one, so the overlay must not ask for more. */
const COUNT_FIELD = 'n';
/** Fields that cannot be the length parameter. */
const NO_CAPS: readonly string[] = [...REQUEST_FIELDS, COUNT_FIELD];
/** Fields that prices and records depend on. The last ones limit the length of the answer. */
const FIXED_FIELDS: readonly string[] = [
  ...REQUEST_FIELDS,
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens'],
];
/** Headers that carry keys, which only the environment may hold, and headers that frame a request or its response. */
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
 * {@link RowFaults} for what the gateway alone decides, and for keys that do not fit the operation.
 */
export function termsOf(
  entry: OverlayTerms,
  operation: Operation,
  builtIn: UpstreamTerms | undefined,
): UpstreamTerms | undefined {
  const terms = { ...builtIn, ...given(entry) };
  const faults = [
    ...(operation === 'chat' ? [] : faultsOfChatKeys(entry)),
    ...faultsOfFields(terms),
    ...Object.keys(terms.headers ?? {}).flatMap((name) =>
      FIXED_HEADERS.includes(name) ? [rejection(`headers.${name}`)] : [],
    ),
  ];
  if (faults.length > 0) throw new RowFaults(faults);
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
    sendsTraceParent: entry.send_traceparent,
    constants: entry.constants,
    timeoutMs: entry.timeout_ms,
    passFields: entry.pass_fields,
  };
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined));
}

function faultsOfFields({
  outputCapParameter,
  rename = {},
  drop = [],
  constants = {},
}: UpstreamTerms): string[] {
  const isNoCap = outputCapParameter !== undefined && NO_CAPS.includes(outputCapParameter);
  const fixed = [...FIXED_FIELDS, outputCapParameter];
  const isFixed = ([from, to]: readonly [string, string]) =>
    fixed.includes(from) || fixed.includes(to) || to === COUNT_FIELD;
  return [
    ...(isNoCap ? [rejection('length_parameter')] : []),
    ...Object.entries(rename)
      .filter(isFixed)
      .map(([from]) => rejection(`rename.${from}`)),
    ...drop
      .filter((name) => fixed.includes(name))
      .map((name) => `drop must not name ${name}: ${DECIDED}`),
    ...Object.keys(constants)
      .filter((name) => [...fixed, COUNT_FIELD].includes(name))
      .map((name) => rejection(`constants.${name}`)),
  ];
}

const DECIDED = 'the gateway decides on it';

const rejection = (field: string): string => `${field} must not be set here: ${DECIDED}`;

function faultsOfChatKeys(entry: OverlayTerms): string[] {
  return CHAT_KEYS.filter((name) => entry[name] !== undefined).map(
    (name) => `${name} does not fit this operation`,
  );
}

/** Whether the upstream does not get a field as the caller chose it: it is dropped, or a constant stands in its place. */
export function hidesField(terms: UpstreamTerms | undefined, field: string): boolean {
  const { drop = [], rename = {}, constants = {} } = terms ?? {};
  const sentAs = Object.hasOwn(rename, field) ? rename[field] : field;
  return drop.includes(field) || (sentAs !== undefined && Object.hasOwn(constants, sentAs));
}
