import { describe, expect, it } from '@jest/globals';
import type { VendorLookup } from '../../../src/providers/async-json/vendor-file.js';
import type { VideoCommand } from '../../../src/providers/ports/job.port.js';
import { CONTEXT, MADE, SEA, vendor, vendorAnswers, vendorPort } from './vendor-harness.js';

const AT = '2026-11-29T10:01:00Z';
const ENTRY = { id: 'job-1', at: AT, model: 'acme/ray-2', input: { text: 'The sea', length: 5 } };
const LOOK_UP: VendorLookup = {
  ...{ path: '/jobs', items: 'results', id: 'id', made_at: 'at', absent: [] },
  same: {
    model: '{{model}}',
    'input.text': '{{prompt}}',
    'input.length': { $field: 'seconds', as: 'integer' },
    'input.ratio': '{{aspect_ratio}}',
    'input.sound': { $field: 'audio', as: 'boolean' },
  },
};
const NOTHING = { kind: 'http_error' };

describe('a look-up by time and fields', () => {
  const find = (command: Partial<VideoCommand> = {}, lookup: Partial<VendorLookup> = {}) =>
    vendorPort({ lookup: { ...LOOK_UP, ...lookup } }).findVideo?.(
      { ...SEA, reference: 'task_1', ...command },
      CONTEXT,
      MADE,
    );
  const lists = (results: unknown, rest: object = {}): void => {
    vendorAnswers({ results, ...rest });
  };
  const changed = (parts: object) => ({ ...ENTRY, ...parts });
  const other = changed({ id: 'job-2', input: { text: 'A boat', length: 5 } });

  it.each<[string, unknown[], Partial<VideoCommand>]>([
    ['among those of others', [other, ENTRY], {}],
    ['beside entries that are none', [null, 7, 'text', [], {}, ENTRY], {}],
    [
      'with an absent field that is null',
      [changed({ input: { ...ENTRY.input, ratio: null } })],
      {},
    ],
    [
      'with all fields of the command',
      [
        ENTRY,
        changed({ id: 'job-1', input: { ...ENTRY.input, ratio: '16:9', sound: false } }),
      ].slice(1),
      { aspectRatio: '16:9', audio: false },
    ],
    ['with a number that is a text', [changed({ input: { text: 'The sea', length: '5' } })], {}],
  ])('finds the job %s', async (_where, jobs, command) => {
    lists(jobs);
    expect(await find(command)).toBe('job-1');
    expect([vendor.only.method, vendor.only.url]).toEqual(['GET', '/v1/jobs']);
  });

  it.each([
    '2026-11-29T10:00:00Z',
    '2026-11-29T10:03:00.000Z',
    '2026-11-29T10:01:02.993975661Z',
    '2026-11-29T12:01:00.0000000+02:00',
    '2026-11-29T12:01:00+0200',
    '2026-11-29 10:01:00',
    1_795_946_460,
    1_795_946_460.5,
    '1795946460',
    1_795_946_460_000,
  ])('reads the time %j', async (at) => {
    lists([changed({ at })]);
    expect(await find()).toBe('job-1');
  });

  it.each([
    ['made too early', { at: '2026-11-29T09:59:59.999Z' }],
    ['made too late', { at: '2026-11-29T10:03:00.001Z' }],
    ['without a time', { at: undefined }],
    ['with a time that is null', { at: null }],
    ['with a garbled time', { at: 'yesterday at ten' }],
    ['with a time that no clock has', { at: '2026-13-45T99:99:99Z' }],
    ['with a time that is an object', { at: { seconds: 1_795_946_460 } }],
    ['with a time that is true', { at: true }],
    ['with a time that is empty', { at: '' }],
    ['without an id', { id: undefined }],
    ['with an id that is an object', { id: { of: 'job-1' } }],
    ['of another model', { model: 'acme/ray-3' }],
    ['with another prompt', { input: { text: 'The sea ', length: 5 } }],
    ['with a prompt that is a list', { input: { text: ['The sea'], length: 5 } }],
    ['without a prompt', { input: { length: 5 } }],
    ['without its input', { input: null }],
    ['of another length', { input: { text: 'The sea', length: 6 } }],
    ['with a field that was not sent', { input: { ...ENTRY.input, ratio: '16:9' } }],
    ['with a field that was not sent and is false', { input: { ...ENTRY.input, sound: false } }],
  ])('says nothing by a list of a job %s', async (_what, parts) => {
    lists([other, changed(parts)]);
    await expect(find()).rejects.toMatchObject(NOTHING);
  });

  it('says nothing where a field that was sent is absent', async () => {
    lists([ENTRY]);
    await expect(find({ aspectRatio: '16:9' })).rejects.toMatchObject(NOTHING);
  });

  it('says nothing by two jobs that fit', async () => {
    lists([ENTRY, changed({ id: 'job-2' })]);
    await expect(find()).rejects.toMatchObject(NOTHING);
  });

  it.each([
    ['that is whole', { next: null }, null],
    ['of which more follows', { next: '/jobs?cursor=2' }, undefined],
    ['that does not tell whether more follows', {}, undefined],
  ])('without the job, by a list %s, says: %s', async (_what, rest, says) => {
    lists([other], rest);
    const found = find({}, { absent_when_missing: true, more: 'next' });
    if (says === null) expect(await found).toBeNull();
    else await expect(found).rejects.toMatchObject(NOTHING);
  });

  it.each([
    ['finds the one that fits', [ENTRY], 'job-1'],
    ['says nothing by two that fit', [ENTRY, changed({ id: 'job-2' })], undefined],
  ])('among 10,000 jobs %s', async (_what, ours, job) => {
    const some = Array.from({ length: 10_000 }, (_, id) => ({ id, at: AT, input: { text: 'x' } }));
    lists([...some.slice(0, 5_000), ...ours, ...some.slice(5_000)]);
    if (job !== undefined) expect(await find()).toBe(job);
    else await expect(find()).rejects.toMatchObject(NOTHING);
  });

  it('says nothing by a list above 1 MB', async () => {
    lists([ENTRY, { ...other, logs: 'x'.repeat(1_100_000) }]);
    await expect(find()).rejects.toBeInstanceOf(Error);
  });

  it('says nothing by a list of more than 200,000 values, however small they are', async () => {
    lists([ENTRY, ...Array.from({ length: 200_000 }, () => 0)]);
    await expect(find()).rejects.toBeInstanceOf(Error);
    lists([ENTRY, ...Array.from({ length: 100_000 }, () => 0)]);
    expect(await find()).toBe('job-1');
  });
});
