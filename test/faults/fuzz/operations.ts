import { SONG_EXAMPLES } from '../../../src/music/dto/song-examples.js';
import { mutated, type Random } from '../../media/fuzz.js';
import { damagedJson, JSON_TYPE, picked, request } from './damage.js';
import { withKnownFields } from './known-fields.js';

/** One request as bytes, to be sent in pieces. */
export interface FuzzInput {
  readonly what: string;
  readonly bytes: Buffer;
}

/** The things that inputs can name. */
export interface FuzzWorld {
  readonly adminToken: string;
  /** A recording that downloads and providers may read. */
  readonly mediaUrl: string;
  /** Ids of tasks, a call and an account. They belong to one of the accounts. */
  readonly ids: readonly string[];
  /** A song, which is one of the ids. */
  readonly songId: string;
}

const WEBHOOKS = [
  undefined,
  'https://192.0.2.1/hook',
  'http://127.0.0.1/',
  'https://[::1]:3000/',
  'https://localhost/admin/audit',
  'https://user:word@example.com/',
];
const SECRETS = [undefined, '0123456789abcdef', 'short', '\u0000'.repeat(20), 'é'.repeat(128)];
const IDEMPOTENCY = [
  '',
  'Idempotency-Key: one',
  'Idempotency-Key: two',
  'Idempotency-Key: \t',
  `Idempotency-Key: ${'k'.repeat(9_000)}`,
];
const UNKNOWN_IDS = [
  `task_${'0'.repeat(32)}`,
  `exec_${'f'.repeat(32)}`,
  `task_${'G'.repeat(32)}`,
  'task_',
  '%00',
  '%2e%2e%2fadmin',
  'é',
  'a'.repeat(5_000),
];
const READS = [
  '/v1/tasks/ID',
  '/v1/tasks/ID/content',
  '/v1/tasks/ID/deliveries',
  '/v1/videos/ID',
  '/v1/videos/ID/content',
  '/v1/executions/ID',
  '/v1/models/ID',
  '/v1/tasks',
  '/v1/executions',
  '/v1/voices',
  '/v1/account',
  '/sandbox/media/ID',
];
const QUERIES = [
  '',
  '?limit=100',
  '?limit=-1',
  '?limit=1e400',
  '?limit=1&limit=2',
  '?cursor=00000000-0000-0000-0000-000000000000',
  '?cursor=999999999999999999',
  "?cursor='%20OR%201=1",
  '?cursor[]=a&cursor[b]=c',
  '?__proto__[x]=1',
  '?constructor=1',
  '?status=%00',
  '?created_after=99999999999999999999',
  '?created_before=-1&created_after=0x1',
  `?${'a=1&'.repeat(2_000)}`,
  '?%',
  '?variant=thumbnail',
];
const READ_HEADERS = [
  'Prefer: wait=1',
  'Prefer: wait=99999999999999999999',
  `Prefer: ${'wait=1, '.repeat(1_000)}`,
  'Prefer: wait="1',
  'Range: bytes=0-0',
  'Range: bytes=-0',
  'Range: bytes=99999999999999999999-',
  `Range: bytes=${'0-1,'.repeat(2_000)}0-1`,
  'If-Range: "x"',
  `If-None-Match: ${'"a", '.repeat(1_500)}*`,
  'Accept: text/html;q=NaN',
];
/** Calls of the operator that destroy nothing that other inputs need. */
const OPERATOR_CALLS: readonly (readonly [string, string, object?])[] = [
  ['GET', '/admin/accounts'],
  ['GET', '/admin/accounts/ID'],
  ['GET', '/admin/accounts/ID/ledger'],
  ['GET', '/admin/accounts/ID/keys'],
  ['GET', '/admin/executions'],
  ['GET', '/admin/executions/ID'],
  ['GET', '/admin/tasks'],
  ['GET', '/admin/tasks/ID'],
  ['GET', '/admin/accounts/ID/webhook-endpoints'],
  ['GET', '/admin/webhook-deliveries'],
  ['GET', '/admin/operator-actions'],
  ['POST', '/admin/accounts', { name: 'fuzz' }],
  ['POST', '/admin/accounts/ID/credits', { amount_microusd: '1', note: 'fuzz' }],
  ['POST', '/admin/accounts/ID/keys', { name: 'fuzz', allowed_models: ['aud-v4'], expires_at: 9 }],
  [
    'POST',
    '/admin/accounts/ID/webhook-endpoints',
    { url: 'https://fuzz.invalid/', secret: 'x'.repeat(16), events: ['key.expiring'] },
  ],
  ['POST', '/admin/keys/ID/rotate', { overlap_seconds: 1 }],
  ['POST', '/admin/tasks/ID/resolve', { outcome: 'failed', charged_microusd: '0', result: {} }],
  ['POST', '/admin/tasks/ID/refund', { note: 'fuzz' }],
  ['POST', '/admin/webhook-deliveries/ID/redeliver', {}],
];

const idOf = ({ ids }: FuzzWorld, random: Random): string =>
  random(3) === 0 ? picked(UNKNOWN_IDS, random) : picked(ids, random);

/** A task, with the fields that tasks have. */
export function submission(key: string, world: FuzzWorld, random: Random): FuzzInput {
  const [path, body] = submitted(world, random);
  // Most submissions go without: nearly all of these are refused, and never become a task.
  const hasWebhook = random(4) === 0;
  const webhook = {
    webhook: picked(WEBHOOKS, random),
    webhook_secret: picked(SECRETS, random),
  };
  const whole = withKnownFields(path, { ...body, ...(hasWebhook && webhook) }, random);
  const bytes = damagedJson(whole, random);
  const headers = [JSON_TYPE, random(4) === 0 ? picked(IDEMPOTENCY, random) : ''];
  const lines = headers.filter((line) => line !== '');
  return { what: `task ${path}`, bytes: request(key, 'POST', path, lines, bytes, random) };
}

const songOf = ({ ids, songId }: FuzzWorld, random: Random): string =>
  random(3) === 0 ? picked(ids, random) : songId;

function submitted(world: FuzzWorld, random: Random): [string, object] {
  const { mediaUrl } = world;
  const kind = random(4);
  if (kind === 0) {
    const body = { model: 'aud-dubbing-v1', source_url: mediaUrl, target_language: 'de' };
    return ['/v1/audio/dubbing', body];
  }
  if (kind === 1) {
    const body = { model: 'vid-motion', prompt: 'The sea', seconds: '5', image_urls: [mediaUrl] };
    return ['/v1/videos', body];
  }
  const [model, { summary: _summary, ...example }] = picked(Object.entries(SONG_EXAMPLES), random);
  const sources = {
    ...('source_task_id' in example && { source_task_id: songOf(world, random) }),
    ...('audio_url' in example && { audio_url: mediaUrl }),
  };
  return ['/v1/music/generations', { model, ...example, ...sources }];
}

/** A read, a cancellation or a redelivery, of one's own or of another's. */
export function reading(key: string, world: FuzzWorld, random: Random): FuzzInput {
  const isAction = random(5) === 0;
  const pattern = isAction
    ? picked(['/v1/tasks/ID/cancel', '/v1/tasks/ID/deliveries/ID/redeliver'], random)
    : picked(READS, random);
  const path = pattern.replaceAll('ID', () => idOf(world, random)) + picked(QUERIES, random);
  const headers = Array.from({ length: random(3) }, () => picked(READ_HEADERS, random));
  const method = isAction ? 'POST' : picked(['GET', 'GET', 'GET', 'HEAD'], random);
  const whole = request(key, method, path, headers, Buffer.alloc(0), random);
  const bytes = random(4) === 0 ? mutated(whole, whole, random) : whole;
  return { what: `${method} ${pattern}`, bytes };
}

/** An operator's call from an address of its own, so that a wrong token blocks nobody else. */
export function operatorCall(world: FuzzWorld, random: Random): FuzzInput {
  const [method, pattern, body] = picked(OPERATOR_CALLS, random);
  const path = pattern.replaceAll('ID', () => idOf(world, random));
  const bytes = body === undefined ? Buffer.alloc(0) : damagedJson(body, random);
  const headers = [
    `X-Forwarded-For: 10.${random(256)}.${random(256)}.${random(256)}`,
    ...(body === undefined ? [] : [JSON_TYPE]),
    ...[picked(IDEMPOTENCY, random)].filter((line) => line !== ''),
  ];
  const query = method === 'GET' ? picked(QUERIES, random) : '';
  return {
    what: `${method} ${pattern}`,
    bytes: request(world.adminToken, method, path + query, headers, bytes, random),
  };
}
