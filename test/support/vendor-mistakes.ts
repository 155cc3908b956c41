import { JOB_MISTAKES, type VendorMistake } from './vendor-job-mistakes.js';

type Tree = Record<string, unknown>;

/** A good file. */
export const GOOD_VENDOR = {
  id: 'acme',
  protocol: 'async-json',
  key_env: 'ACME_KEY',
  base_url: 'https://api.acme.test/v1',
  auth: { in: 'bearer' },
  submit: { path: '/videos', body: { prompt: '{{prompt}}' }, id: 'id' },
  read: { path: '/videos/{id}', state: 'state', states: { succeeded: ['done'], failed: ['bad'] } },
  result: { url: ['video'] },
};

/** The good file with the value at a path replaced; undefined removes it. */
export function changedVendor(path: string, value: unknown): object {
  const file = structuredClone(GOOD_VENDOR) as Tree;
  const steps = path.split('.');
  const last = steps.pop() ?? '';
  let place = file;
  for (const step of steps) place = (place[step] ??= {}) as Tree;
  if (value === undefined) Reflect.deleteProperty(place, last);
  else place[last] = value;
  return file;
}

const deep = (levels: number): unknown => (levels === 0 ? 'x' : { a: deep(levels - 1) });
const FIELDS =
  'model, prompt, seconds, size, resolution, aspect_ratio, audio, first_frame_url, last_frame_url, image_urls, reference';
const CHOSEN = FIELDS.replace(', reference', '');

/** What may be wrong with a file: the path, the value there, and the line that names it. */
export const VENDOR_MISTAKES: readonly VendorMistake[] = [
  ['colour', 'red', 'colour: is no known field'],
  ['id', undefined, 'id: is required'],
  ['id', 'Acme', 'id: must be lowercase letters, digits and hyphens'],
  ['protocol', 'openai', 'protocol: must be one of async-json'],
  ['key_env', 'acme', 'key_env: must be the name of an environment variable, or ""'],
  ['key_env', 'DATABASE_URL', 'key_env: DATABASE_URL is a setting of the gateway'],
  ['key_env', 'SECRET_KEY', 'key_env: SECRET_KEY is a setting of the gateway'],
  [
    'base_url',
    'ftp://a',
    'base_url: must be an http or https URL without a query and without a slash at its end',
  ],
  [
    'base_url',
    'https://a/?b',
    'base_url: must be an http or https URL without a query and without a slash at its end',
  ],
  ['origins', ['https://a/b'], 'origins.0: must be an origin such as https://host'],
  ['auth', { in: 'cookie' }, 'auth.in: must be one of bearer, jwt, header, query'],
  ['auth', { in: 'header' }, 'auth.name: is required'],
  ['auth', { in: 'bearer', name: 'x' }, 'auth.name: is no known field'],
  ['headers', { Authorization: 'x' }, 'headers.Authorization: is written by the gateway'],
  ['headers', { 'x-v': 'a\nb' }, 'headers.x-v: must be a text of 1 to 100 printable characters'],
  ['submit.path', 'videos', 'submit.path: must be a path that begins with one slash'],
  ['submit.path', '//evil.test', 'submit.path: must be a path that begins with one slash'],
  ['submit.path', '/a/../b', 'submit.path: must be a path that begins with one slash'],
  ['submit.path', '/v/{id}', 'submit.path: {id} is none of {model}'],
  ['submit.body', [], 'submit.body: must be a JSON object'],
  ['submit.body', { a: 1 }, 'submit.body: must hold {{prompt}}'],
  [
    'submit.body.images',
    { $each: 'image_urls', item: '{{item}}' },
    'submit.body.images.$each: stands only in a list',
  ],
  ['submit.path', '/%2e%2E/b', 'submit.path: must be a path that begins with one slash'],
  ['headers', { 'Transfer-Encoding': 'x' }, 'headers.Transfer-Encoding: is written by the gateway'],
  ['auth', { in: 'header', name: 'Host' }, 'auth.name: is written by the gateway'],
  ['submit.body.prompt', '{{words}}', `submit.body.prompt: {{words}}: must be one of ${FIELDS}`],
  ['submit.body.prompt', '{{prompt}', 'submit.body.prompt: has a brace without its pair'],
  [
    'submit.body.d',
    { $field: 'seconds', as: 'float' },
    'submit.body.d.as: must be one of string, integer, number, boolean',
  ],
  ['submit.body.d', { $run: 'x' }, 'submit.body.d.$run: is none of $field, $inline, $each'],
  [
    'submit.body.d',
    { $inline: 'prompt', as: 'base64' },
    'submit.body.d.$inline: must be one of first_frame_url, last_frame_url',
  ],
  [
    'submit.body.d',
    deep(12),
    'submit.body.d.a.a.a.a.a.a.a.a.a.a.a.a: must not nest deeper than 12 levels',
  ],
  ['submit.body.d', '{{item}}', `submit.body.d: {{item}}: must be one of ${FIELDS}`],
  ['submit.body.d', { $field: 'item' }, `submit.body.d.$field: must be one of ${FIELDS}`],
  [
    'submit.body.d',
    [{ $each: 'image_urls', item: '{{words}}' }],
    `submit.body.d.0.item: {{words}}: must be one of ${FIELDS}, item`,
  ],
  ['submit.variants', [], 'submit.variants: must be a list of 1 to 100 entries'],
  ['submit.variants', [{ path: '/images' }], 'submit.variants.0: either models or has is required'],
  ['submit.variants', [{ has: ['colour'] }], `submit.variants.0.has.0: must be one of ${CHOSEN}`],
  // It is in every job.
  [
    'submit.variants',
    [{ has: ['reference'] }],
    `submit.variants.0.has.0: must be one of ${CHOSEN}`,
  ],
  [
    'submit.variants',
    [{ models: ['a*b'] }],
    'submit.variants.0.models.0: must be a code, with a * at its end for all that begin so',
  ],
  [
    'submit.variants',
    [{ models: ['a'], body: { p: '{{words}}' } }],
    `submit.variants.0.body.p: {{words}}: must be one of ${FIELDS}`,
  ],
  [
    'submit.not_together',
    [['image_urls']],
    'submit.not_together.0: must be a list of 2 to 2 entries',
  ],
  [
    'submit.not_together',
    [['image_urls', 'seconds']],
    'submit.not_together.0.1: must be one of size, aspect_ratio, first_frame_url, last_frame_url, image_urls',
  ],
  [
    'submit.variant',
    'a b',
    'submit.variant: must be 1 to 50 letters, digits, hyphens and underscores',
  ],
  ['read.path', '/{variant}/{id}', 'submit.variant: is required by {variant} in read.path'],
  ['read.waiting_statuses', [200], 'read.waiting_statuses.0: must be a status from 201 to 299'],
  ['submit.id', undefined, 'submit.id: either id or read_url is required'],
  ['submit.id', 'a..b', 'submit.id: must be names of fields with dots between them'],
  ['read.path', undefined, 'read.path: is required without submit.read_url'],
  ['read.path', '/videos', 'read.path: must hold {id}'],
  ['read.state', 7, 'read.state: must be names of fields with dots between them'],
  ['read.states.succeeded', undefined, 'read.states.succeeded: is required'],
  ['read.states.failed', undefined, 'read.states.failed: is required without read.failed_if'],
  ['read.states.done', ['x'], 'read.states.done: is no known field'],
  ['read.states.queued', ['done'], 'read.states.queued: done is listed twice'],
  [
    'read.refused_unless',
    'a b',
    'read.refused_unless: must be names of fields with dots between them',
  ],
  ['read.progress', { path: 'p', full: 10 }, 'read.progress.full: must be 1 or 100'],
  ['result.url', [], 'result.url: must be a list of 1 to 10 entries'],
  ['result.request', {}, 'result.request.path: either path or given is required'],
  [
    'result.request',
    { path: '/f?id={value}' },
    'result.request.value: goes with {value} in the path',
  ],
  ['result.with_key', 'yes', 'result.with_key: must be true or false'],
  [
    'errors.codes',
    { rejected: ['1001'], account: ['1004', '1001'] },
    'errors.codes.account: 1001 is listed twice',
  ],
  [
    'errors.codes',
    { refused_content: ['7'], rejected: ['7'] },
    'errors.codes.rejected: 7 is listed twice',
  ],
  ['errors.codes', { timeout: ['x'] }, 'errors.codes.timeout: is no known field'],
  [
    'errors.codes',
    { rejected: ['a*b'] },
    'errors.codes.rejected.0: must be a code, with a * at its end for all that begin so',
  ],
  ['errors.statuses', { 200: 'rejected' }, 'errors.statuses.200: must be a status from 400 to 599'],
  ['errors.in_body', [{ ok: ['0'] }], 'errors.in_body.0.path: is required'],
  [
    'errors.in_body',
    { path: 'code', ok: ['0'] },
    'errors.in_body: must be a list of 1 to 10 entries',
  ],
  [
    'errors.in_body',
    [{ path: 'status', is_status: true, ok: ['0'] }],
    'errors.in_body.0.ok: does not fit is_status',
  ],
  [
    'errors.messages',
    { rate_limited: ['{seconds} or {seconds}'] },
    'errors.messages.rate_limited.0: must be a text of 1 to 200 characters, with * for any text and at most one {seconds}',
  ],
  [
    'errors.messages',
    { rejected: ['* *'] },
    'errors.messages.rejected.0: must be a text of 1 to 200 characters, with * for any text and at most one {seconds}',
  ],
  [
    'errors.messages',
    { rejected: ['wait {seconds} s'] },
    'errors.messages.rejected: {seconds} goes with rate_limited and unavailable',
  ],
  [
    'errors.messages',
    { rejected: ['no'], account: ['no'] },
    'errors.messages.account: no is listed twice',
  ],
  ['models', [{ id: 'vid-x', upstream_model: 'm' }], 'models.0.limits: is required'],
  [
    'models',
    [{ id: 'vid-x', upstream_model: 'm', limits: { max_image_urls: 0, frames: ['last'] } }],
    'models.0.limits.frames: must be ["first"] or ["first", "last"]',
  ],
  [
    'models',
    [{ id: 'vid-x', upstream_model: 'm', limits: { max_image_urls: 0, price: 1 } }],
    'models.0.limits.price: is no known field',
  ],
  [
    'models',
    [{ id: 'vid-x', upstream_model: 'm', limits: { max_image_urls: 0, resolutions: ['720p'] } }],
    'models.0: limits.resolutions: resolution is in no body of the file of provider acme',
  ],
  [
    'models',
    [
      { id: 'vid-x', upstream_model: 'm', limits: { max_image_urls: 0 } },
      { id: 'vid-x', upstream_model: 'n', limits: { max_image_urls: 0 } },
    ],
    'models.1.id: vid-x is listed twice',
  ],
  ...JOB_MISTAKES,
];
