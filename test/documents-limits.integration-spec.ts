import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { BUILT_IN_MODELS } from '../src/catalog/models/built-in.models.js';
import type { Operation } from '../src/providers/ports/provider-ports.js';
import { ERROR_TABLE, type ErrorCode, publicCodeOf } from '../src/common/errors/error-table.js';
import { SETTINGS } from '../src/platform/config/settings.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MEBIBYTE = 1024 * 1024;
/** The beginning of the rows with the limits of an operation's models. */
const ROW_OF_OPERATION: Readonly<Partial<Record<Operation, string>>> = {
  speech: 'Speech `input`',
  dialogue: 'Dialogue `inputs`',
  transcription: 'Recording for `transcriptions`',
  alignment: 'Recording for `alignment`',
  'voice-change': 'Recording for `voice-changer`',
  isolation: 'Recording for `isolation`',
  dubbing: 'Source of a dub',
};

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const grouped = (value: number): string => value.toLocaleString('en-US');
const mebibytes = (value: number): string => `${value / MEBIBYTE} MiB`;
const seconds = (ms: number): string => `${ms / 1000} s`;

const SOURCES = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });

/** The value that a file gives to a name: a product of whole numbers. NaN where there is no such file or name. */
function constant(file: string, name: string): number {
  const path = SOURCES.find((source) => basename(source) === `${file}.ts`);
  if (path === undefined) return Number.NaN;
  const [, product = ''] =
    new RegExp(`\\b${name}\\b(?: =|:) ([\\d_]+(?: \\* [\\d_]+)*)`).exec(read(join('src', path))) ??
    [];
  if (product === '') return Number.NaN;
  return product.split(' * ').reduce((all, factor) => all * Number(factor.replaceAll('_', '')), 1);
}

/** First cell of a row, file and name of its constant, and how the row writes it. */
const ROWS: readonly (readonly [string, string, string, (value: number) => string])[] = [
  ['JSON body of `POST /v1/chat/completions`', 'chat.controller', 'BODY_BYTES', mebibytes],
  [
    'JSON body of `POST /v1/audio/alignment`',
    'recordings.controller',
    'JSON_LIMIT_BYTES',
    mebibytes,
  ],
  ['JSON body of `POST /v1/embeddings`', 'embeddings.controller', 'BODY_BYTES', mebibytes],
  ['JSON body of `POST /v1/responses`', 'responses.controller', 'RESPONSES_BODY_BYTES', mebibytes],
  ['JSON body of `POST /v1/responses`', 'messages.controller', 'BODY_BYTES', mebibytes],
  ['JSON body of any other call', 'json-body', 'JSON_BODY_BYTES', mebibytes],
  ['Depth of a JSON body', 'json-body', 'MAX_DEPTH', grouped],
  ['Values of a JSON body', 'json-body', 'JSON_BODY_VALUES', grouped],
  ['Embeddings `input`', 'embedding-inputs', 'MAX_INPUTS', grouped],
  ['Embeddings `input`', 'embedding-inputs', 'MAX_TOKENS', grouped],
  ['Time for a JSON body to arrive', 'json-body', 'BODY_TIMEOUT_MS', seconds],
  ['Number of headers', 'request-validation', 'MAX_HEADERS', grouped],
  ['Time for the headers to arrive', 'fast-express.adapter', 'headersTimeout', seconds],
  ['Time for the whole request to arrive', 'fast-express.adapter', 'requestTimeout', seconds],
  ['A connection without a request', 'fast-express.adapter', 'keepAliveTimeout', seconds],
  ['Requests that wait on one connection', 'pipelining-guard', 'maxWaiting', grouped],
  ['A reader that takes no byte', 'backpressure', 'STALL_MS', seconds],
  ['A URL', 'public-url', 'MAX_URL_CHARACTERS', grouped],
  ['An uploaded file', 'download', 'MEDIA_LIMIT_BYTES', grouped],
  ['A downloaded file', 'download', 'MEDIA_LIMIT_BYTES', mebibytes],
  ['Redirects of a download', 'download', 'MAX_REDIRECTS', grouped],
  ['Time of a download', 'download', 'totalMs', seconds],
  ['Rate of a download', 'download', 'minBytesPerSecond', grouped],
  ['Text fields of a form with a file', 'upload-form', 'fields', grouped],
  ['One text field of such a form', 'upload-form', 'fieldSize', grouped],
  ['Parts of such a form', 'text-form', 'MAX_PARTS', grouped],
  ['Image `prompt`', 'image.body', 'MAX_PROMPT', grouped],
  ['Image `prompt`', 'video.body', 'MAX_PROMPT', grouped],
  ['Dialogue `inputs`', 'dialogue.service', 'MAX_VOICES', grouped],
  ['Chat `tools`', 'chat-shapes', 'MAX_TOOLS', grouped],
  ['Chat `stop`', 'chat-shapes', 'MAX_STOP_CHARACTERS', grouped],
  ['Chat `metadata`', 'metadata', 'MAX_METADATA_VALUE', grouped],
  ['Hosts of the images', 'named-images', 'MAX_HOSTS', grouped],
  ['`x-gateway-run`', 'run.guard', 'MAX_NAME', grouped],
  ['Calls in one `POST /v1/quotes`', 'quote.body', 'MAX_QUOTES', grouped],
  ['Live keys', 'made-keys', 'MAX_LIVE', grouped],
  ['Webhook endpoints', 'webhook-endpoints', 'MAX_ENDPOINTS', grouped],
  ['Tests of endpoints', 'webhook-endpoints', 'MAX_PENDING_TESTS', grouped],
  ['Changes that one key', 'key-actions.interceptor', 'ACTS_PER_MINUTE', grouped],
  ['Reads of one key', 'rate-limit.guard', 'READ_FACTOR', grouped],
  ['Reads with [links]', 'content-reader.guard', 'READS_PER_MINUTE', grouped],
  ['Unknown keys', 'unknown-key-limiter', 'UNKNOWN_KEYS_PER_MINUTE', grouped],
  ['Synchronous calls of one account', 'call-concurrency-limit', 'KEYS_PER_ACCOUNT', grouped],
  ['`limit` of a list', 'page.query', 'MAX_LIMIT', grouped],
  ['`limit` of a list', 'page.query', 'DEFAULT_LIMIT', grouped],
  ['`limit` of `GET /v1/usage`', 'usage.query', 'MAX_ROWS', grouped],
  ['CSV answers of whole ledgers', 'csv-streams', 'perBucket', grouped],
  ['Days of `GET /v1/usage`', 'usage.query', 'MAX_DAYS', grouped],
  ['`Prefer: wait=N`', 'wait.decorator', 'MAX_WAIT_SECONDS', grouped],
  ['Waiting reads of one key', 'long-poll', 'MAX_WAITS_PER_KEY', grouped],
];

describe('the page of limits', () => {
  const page = read('docs/reference/limits.md');
  const lines = page.split('\n').filter((line) => line.startsWith('| '));
  const has = (start: string, text: string): boolean =>
    lines.some(
      (line) =>
        line.startsWith(`| ${start}`) && new RegExp(`(?<!\\d[,.]?)${text}(?!,?\\d)`).test(line),
    );

  it('has the numbers of the code', () => {
    const wrong = ROWS.filter(
      ([start, file, name, write]) => !has(start, write(constant(file, name))),
    );
    expect(wrong.map(([start, file, name]) => `${start}: ${file} ${name}`)).toEqual([]);
  });

  it('has the voices of a dialogue as the page of a vendor has them that knows no bound', () => {
    const voices = constant('dialogue.service', 'MAX_VOICES');
    const vendor = read('docs/guides/vendors/openai-audio.md');
    expect(vendor).toContain(` ${grouped(voices)} voices may speak`);
  });

  it('has the defaults of the settings', () => {
    const named = [
      'RATE_LIMIT_RPM',
      'MAX_PARALLEL_CALLS_PER_KEY',
      'MAX_UPLOADS_PER_ACCOUNT',
    ] as const;
    const all = [...named, 'MAX_CONNECTIONS_PER_ADDRESS'] as const;
    const wrong = all.filter((name) => {
      const line = lines.find((text) => text.includes(`(\`${name}\`)`));
      return !line?.includes(` ${grouped(SETTINGS[name].fallback)} `);
    });
    expect(wrong).toEqual([]);
  });

  it('has the limits of the models', () => {
    const wrong = BUILT_IN_MODELS.filter(({ id, operation, limits }) => {
      const start = ROW_OF_OPERATION[operation];
      if (start === undefined) return false;
      const most =
        'maxInput' in limits ? limits.maxInput : 'maxSeconds' in limits && limits.maxSeconds;
      const ofModel = operation === 'speech' ? `[^|]*\`${id}\`.*` : '.*';
      const row = new RegExp(`^\\| ${start}${ofModel}\\b${grouped(Number(most))}\\b`);
      return !lines.some((line) => row.test(line));
    });
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  it('names errors that exist, with their status', () => {
    const codes = (Object.keys(ERROR_TABLE) as ErrorCode[]).map(
      (code) => `${ERROR_TABLE[code].status} ${publicCodeOf(code)}`,
    );
    // The refusals of the connection have the code of a bad request, with the status of HTTP.
    const known = new Set([...codes, '408 invalid_request', '431 invalid_request']);
    const named = [...page.matchAll(/\b(\d{3}) `([a-z_]+)`/g)].map(
      ([, status = '', code = '']) => `${status} ${code}`,
    );
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});
