import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { loadVendors, readVendor } from '../../../src/providers/async-json/vendor-files.js';
import { GOOD_VENDOR } from '../../support/vendor-mistakes.js';

const MODEL = { id: 'vid-x', upstream_model: 'm', limits: { max_image_urls: 0 } };
const VIDEO_FIELDS =
  'model, prompt, seconds, size, resolution, aspect_ratio, audio, first_frame_url, last_frame_url, image_urls, reference';
const READ = { state: 'state', states: { succeeded: ['done'], failed: ['bad'] } };
const SUBMIT = { path: '/videos', body: { prompt: '{{prompt}}' } };
const GIVEN = { ...SUBMIT, read_url: 'url' };
const body = (part: unknown) => ({
  submit: { ...SUBMIT, id: 'id', body: { prompt: '{{prompt}}', part } },
});
const models = (model: object) => ({ models: [{ ...MODEL, ...model }] });
const errors = (part: object) => ({ errors: part });

/** A good file of images with this part in its body. */
const ofImages = (part: unknown) => ({ operation: 'image', ...body(part) });

/** What replaces parts of a good file, and the line about it. Those that one path alone can make are in vendor-mistakes.ts. */
const MISTAKES: readonly (readonly [parts: object, fault: string])[] = [
  [{ $schema: '' }, '$schema: must be where the schema of this file is'],
  [
    { base_url: 'https://user:pw@api.acme.test' },
    'base_url: must be an http or https URL without a query and without a slash at its end',
  ],
  [{ origins: [] }, 'origins: must be a list of 1 to 100 entries'],
  [{ auth: { in: 'jwt' }, key_env: '' }, 'key_env: jwt needs a key'],
  [{ auth: { in: 'header', name: 'a b' } }, 'auth.name: must be the name of a header'],
  [
    { auth: { in: 'header', name: 'X-Key', prefix: 'a\nb' } },
    'auth.prefix: must be at most 50 printable characters',
  ],
  [{ auth: { in: 'query', name: 'a&b' } }, 'auth.name: must be the name of a parameter'],
  [{ headers: {} }, 'headers: must be an object of 1 to 100 keys'],
  [{ headers: { 'a b': 'x' } }, 'headers.a b: must be the name of a header'],
  [{ submit: 7 }, 'submit: must be a JSON object'],
  [{ submit: { ...SUBMIT, id: 'id', path: '/v/{model' } }, 'submit.path: { is none of {model}'],
  [{ submit: { ...GIVEN, id: 'id' }, read: READ }, 'submit.id: either id or read_url is required'],
  [{ submit: GIVEN }, 'read.path: does not fit submit.read_url'],
  [
    { read: { ...READ, path: '/{task}/{id}' } },
    'read.path: {task} is none of {id}, {model}, {variant}',
  ],
  [
    {
      submit: { ...SUBMIT, id: 'id', variant: 'text', variants: [{ has: ['audio'] }] },
      read: { ...READ, path: '/{variant}/{id}' },
    },
    'submit.variants.0.variant: is required by {variant} in read.path',
  ],
  [
    { submit: { ...SUBMIT, id: 'id', not_together: [['size', 'size']] } },
    'submit.not_together.0: must be two different fields',
  ],
  [
    {
      submit: {
        ...{ ...SUBMIT, id: 'id' },
        variants: [{ models: ['a'], not_together: [['last_frame_url', 'first_frame_url']] }],
      },
    },
    'submit.variants.0.not_together.0: last_frame_url always comes with first_frame_url',
  ],
  [
    { read: { ...READ, path: '/{id}', states: { succeeded: [''], failed: ['bad'] } } },
    'read.states.succeeded.0: must be a text of 1 to 100 printable characters',
  ],
  [
    { read: { ...READ, path: '/{id}', failure_code: ['a..b'] } },
    'read.failure_code.0: must be names of fields with dots between them',
  ],
  [
    { result: { url: ['video'], request: { path: '/f', given: 'url' } } },
    'result.request.path: either path or given is required',
  ],
  [
    { submit: GIVEN, read: READ, result: { url: ['video'], request: { path: '/f/{id}' } } },
    'result.request.path: {id} does not fit submit.read_url',
  ],
  [
    errors({ statuses: { 422: 'no' } }),
    'errors.statuses.422: must be one of refused_content, rejected, rate_limited, account, unavailable, http_error',
  ],
  [errors({ code: [] }), 'errors.code: must be a list of 1 to 10 entries'],
  [
    errors({ retry_after: 'a b' }),
    'errors.retry_after: must be names of fields with dots between them',
  ],
  [
    body({ $field: 'seconds', table: { 5: null } }),
    'submit.body.part.table.5: must be a text, a number or a boolean',
  ],
  [
    body({ $field: 'seconds', table: {} }),
    'submit.body.part.table: must be an object of 1 to 200 keys',
  ],
  [
    body({ $inline: 'first_frame_url', as: 'hex' }),
    'submit.body.part.as: must be one of data_url, base64',
  ],
  [
    body([{ $each: 'prompt', item: '{{item}}' }]),
    'submit.body.part.0.$each: must be one of image_urls',
  ],
  [body({ $field: 'seconds', then: 1 }), 'submit.body.part.then: is no known field'],
  [models({ id: 'Vid' }), 'models.0.id: must be lowercase letters, digits, dots and hyphens'],
  [
    models({ upstream_model: ' ' }),
    'models.0.upstream_model: must be the name of the model at the vendor',
  ],
  [
    models({ limits: { max_image_urls: -1 } }),
    'models.0.limits.max_image_urls: must be a whole number from 0 to 100',
  ],
  [
    models({ limits: { max_image_urls: 0, aspect_ratios: ['a'.repeat(33)] } }),
    'models.0.limits.aspect_ratios.0: must be a text of at most 32 characters',
  ],
  [
    models({ limits: { max_image_urls: 0, audio: 'yes' } }),
    'models.0.limits.audio: must be true or false',
  ],
  [
    models({ limits: { max_image_urls: 2 } }),
    'models.0: limits.max_image_urls: image_urls is in no body of the file of provider acme',
  ],
  [{ operation: 'song' }, 'operation: must be one of video, image, composition'],
  [
    ofImages('{{seconds}}'),
    'submit.body.part: {{seconds}}: must be one of model, prompt, size, width, height, count, quality, background, output_format, output_compression',
  ],
  [body({ $field: 'count' }), `submit.body.part.$field: must be one of ${VIDEO_FIELDS}`],
  [
    ofImages([{ $each: 'image_urls', item: 'a' }]),
    'submit.body.part.0.$each: must be absent: no field of the operation is a list',
  ],
  [
    { operation: 'image', result: { url: ['images.*.url'], with_key: true } },
    'result.with_key: does not fit operation image',
  ],
  [
    { operation: 'image', delete: { method: 'DELETE', path: '/{id}' } },
    'delete: does not fit operation image',
  ],
  [
    { result: { url: ['images.*url'] } },
    'result.url.0: must be names of fields with dots between them, or * for each entry of a list',
  ],
  [
    { operation: 'composition', ...body('{{size}}') },
    'submit.body.part: {{size}}: must be one of model, prompt, lyrics, instrumental, seconds',
  ],
  [
    {
      operation: 'composition',
      lookup: { path: '/{reference}', id: 'id', reference: 'r', absent: [] },
    },
    'lookup: does not fit operation composition',
  ],
  [
    { operation: 'composition', ...models({}) },
    'models.0.limits.max_image_urls: is no known field',
  ],
  [{ operation: 'image', ...models({ limits: {} }) }, 'models.0.limits.sizes: is required'],
  [
    { operation: 'image', ...models({ limits: { sizes: ['1x1'] } }) },
    'models.0: limits.sizes: size is in no body of the file of provider acme',
  ],
];

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'shim-mistakes-'));
/** The path of a file with this text. */
function written(text: string, name = 'acme.json'): string {
  const path = join(newFolder(), name);
  writeFileSync(path, text);
  return path;
}

/** What the load of a folder with these files says. */
function problemsOf(files: Readonly<Record<string, string>>): readonly string[] {
  const folder = newFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  try {
    loadVendors(folder);
    return [];
  } catch (error) {
    const { problems } = error as { problems: readonly string[] };
    return problems.map((problem) =>
      problem.replaceAll(`${folder}/`, '').replace(folder, 'FOLDER'),
    );
  }
}

describe('a file of a vendor', () => {
  it.each(MISTAKES)('with %j is refused by one line that names it', (parts, fault) => {
    const path = written(JSON.stringify({ ...GOOD_VENDOR, ...parts }));
    expect(readVendor(path).faults).toEqual([`${path}: ${fault}`]);
  });

  it.each([
    ['no JSON', '{"id":', 'is no valid JSON'],
    ['a list', '[]', 'the file: must be a JSON object'],
    ['more than 256 kB', ' '.repeat(256 * 1024 + 1), 'is larger than 256 kB'],
    [
      'the id of another file',
      JSON.stringify({ ...GOOD_VENDOR, id: 'other' }),
      'id: the file must have the name other.json',
    ],
  ])('that holds %s is refused by its path', (_what, text, fault) => {
    const path = written(text);
    expect(readVendor(path).faults).toEqual([`${path}: ${fault}`]);
  });

  it('that is none is refused by its path', () => {
    const path = join(newFolder(), 'acme.json');
    expect(readVendor(path).faults).toEqual([`${path}: cannot be read (ENOENT)`]);
    mkdirSync(path);
    expect(readVendor(path).faults).toEqual([`${path}: cannot be read (EISDIR)`]);
  });

  it('hides no mistake of another one, nor of itself', () => {
    const bad = { ...GOOD_VENDOR, protocol: 'openai', colour: 'red' };
    const files = { 'acme.json': JSON.stringify(bad), 'other.json': 'x' };
    expect([...problemsOf(files)].sort()).toEqual([
      'acme.json: colour: is no known field',
      'acme.json: protocol: must be one of async-json',
      'other.json: is no valid JSON',
    ]);
  });
});

describe('the folder of vendors', () => {
  it('is named where it cannot be read, or has more than 100 files', () => {
    expect(() => loadVendors('/nowhere')).toThrow(
      /VENDORS_DIR: \/nowhere cannot be read \(ENOENT\)/,
    );
    const many = Array.from({ length: 101 }, (_, place): [string, string] => {
      const id = `acme-${place}`;
      return [`${id}.json`, JSON.stringify({ ...GOOD_VENDOR, id })];
    });
    expect(problemsOf(Object.fromEntries(many))).toEqual(['FOLDER: has more than 100 files']);
  });
});
