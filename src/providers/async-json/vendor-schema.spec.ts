import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import {
  changedVendor,
  GOOD_VENDOR,
  VENDOR_MISTAKES,
} from '../../../test/support/vendor-mistakes.js';
import { VENDOR_SCHEMA, vendorFaults } from './vendor-faults.js';

const FOLDER = fileURLToPath(new URL('../../../vendors/', import.meta.url));
const SCHEMA_FILE = 'vendor.schema.json';
const read = (name: string): unknown => JSON.parse(readFileSync(FOLDER + name, 'utf8'));
const takes = new Ajv({ strict: true, allowUnionTypes: true }).compile(VENDOR_SCHEMA);
/** Mistakes that one field alone does not show, or that only the settings of the gateway do. */
const OF_THE_CHECK_ALONE = [
  'key_env: DATABASE_URL is a setting of the gateway',
  'key_env: SECRET_KEY is a setting of the gateway',
  'headers.Authorization: is written by the gateway',
  'submit.body: must hold {{prompt}}',
  'headers.Transfer-Encoding: is written by the gateway',
  'auth.name: is written by the gateway',
  'submit.body.d.a.a.a.a.a.a.a.a.a.a.a.a: must not nest deeper than 12 levels',
  'submit.variants.0: either models or has is required',
  'submit.variant: is required by {variant} in read.path',
  'submit.id: either id or read_url is required',
  'read.path: is required without submit.read_url',
  'read.path: must hold {id}',
  'read.states.failed: is required without read.failed_if',
  'read.states.queued: done is listed twice',
  'result.request.path: either path or given is required',
  'result.request.value: goes with {value} in the path',
  'errors.codes.account: 1001 is listed twice',
  'errors.codes.rejected: 7 is listed twice',
  'errors.in_body.0.ok: does not fit is_status',
  'errors.messages.rejected: {seconds} goes with rate_limited and unavailable',
  'errors.messages.account: no is listed twice',
  'models.0: limits.resolutions: resolution is in no body of the file of provider acme',
  'models.1.id: vid-x is listed twice',
  'lookup: {{reference}} must be in every body of submit',
  'lookup.reference: either reference, or made_at and same, is required',
  'lookup.made_at: is required by lookup.same',
  'lookup.same: is required by lookup.made_at',
  'lookup.same: must hold {{prompt}}',
  'lookup.items: is required by lookup.made_at',
  'lookup.path: {reference} goes with lookup.reference',
  'cancel.path: either path or given is required',
  'cancel.path: either path or given is required',
  'cancel.path: must hold {id}',
  'cancel.path: {variant} goes with {variant} in read.path',
  'delete.path: must hold {id}',
  'delete.path: {variant} goes with {variant} in read.path',
];

describe('the JSON Schema of the file of a vendor', () => {
  it('is shipped as the check of a file has it; npm run vendor:schema writes it', () => {
    expect(read(SCHEMA_FILE)).toEqual(JSON.parse(JSON.stringify(VENDOR_SCHEMA)));
  });

  it('takes every shipped file', () => {
    const names = readdirSync(FOLDER).filter((name) => name !== SCHEMA_FILE);
    expect(names.length).toBeGreaterThanOrEqual(8);
    expect(names.filter((name) => !takes(read(name)))).toEqual([]);
  });

  it('may be named in a file', () => {
    const file = { $schema: `./${SCHEMA_FILE}`, ...GOOD_VENDOR };
    expect([takes(file), vendorFaults(file)]).toEqual([true, []]);
  });

  it('refuses every mistake of one field, as the check does', () => {
    const missed = VENDOR_MISTAKES.filter(([path, value]) => takes(changedVendor(path, value)));
    expect(missed.map(([, , fault]) => fault)).toEqual(OF_THE_CHECK_ALONE);
  });

  it('takes a text of a body where the check does', () => {
    const parts = ['{', '}', '{{', '}}', '{{prompt}}', '{{seconds}}', '{{item}}', 'a', '\n'];
    for (let at = 0; at < parts.length ** 4; at += 1) {
      const text = [1, 9, 81, 729].map((unit) => parts[Math.floor(at / unit) % 9]).join('');
      const file = changedVendor('submit.body.a', text);
      expect([text, takes(file)]).toEqual([text, vendorFaults(file).length === 0]);
    }
  });

  it.each([
    '/v/{model}',
    '/v?a={model}&b=1',
    '/a/{model}/{model}',
    '/',
    '//a',
    '/a//b',
    '/a#b',
    '/a..b',
    '/%2e',
    '/%2E',
    '/{id}',
    '/{',
    '/}',
    '/{model',
    'a',
    '',
    '/a b',
    '/ä',
    `/${'a'.repeat(500)}`,
    `/${'a'.repeat(501)}`,
    '/\n',
  ])('takes the path %j where the check does', (path) => {
    const file = changedVendor('submit.path', path);
    expect(takes(file)).toBe(vendorFaults(file).length === 0);
  });
});
