import { describe, expect, it } from '@jest/globals';
import type { VendorLookup } from '../../../src/providers/async-json/vendor-file.js';
import { CONTEXT, MADE, vendor, vendorAnswers, vendorPort } from './vendor-harness.js';
import { REFERENCE } from './wire.js';

describe('a look-up at a vendor', () => {
  const OURS = { key: 'job-1', own: { id: REFERENCE } };
  const THEIRS = { key: 'job-2', own: { id: 'task_of_somebody_else' } };
  const find = (lookup: Partial<VendorLookup> = {}) => {
    const submit = {
      path: '/jobs',
      id: 'id',
      body: { prompt: '{{prompt}}', own: '{{reference}}' },
    };
    const list = {
      ...{ path: '/jobs?own={reference}', items: 'data.jobs', id: 'key', reference: 'own.id' },
      absent: [],
    };
    const command = { prompt: 'The sea', seconds: '5', reference: REFERENCE };
    return vendorPort({ submit, lookup: { ...list, ...lookup } }).findVideo?.(
      command,
      CONTEXT,
      MADE,
    );
  };
  const lists = (jobs: unknown, rest: object = {}): void => {
    vendorAnswers({ data: { jobs }, ...rest });
  };
  const SAID_ABSENT = { absent_when_missing: true };

  it.each([[[OURS]], [[THEIRS, OURS]], [[null, 7, 'text', [], {}, OURS]]])(
    'finds the job with our reference in the list %j',
    async (jobs) => {
      lists(jobs);
      expect(await find()).toBe('job-1');
      expect(vendor.only.url).toBe(`/v1/jobs?own=${REFERENCE}`);
    },
  );

  it.each<[string, unknown, object, object]>([
    ['without our job', [THEIRS], {}, {}],
    ['that is empty, of which the file says nothing', [], {}, {}],
    ['of other jobs, for which nobody asked', [THEIRS], SAID_ABSENT, {}],
    ['with two of our jobs', [OURS, OURS], SAID_ABSENT, {}],
    ['that is none', { 0: OURS }, SAID_ABSENT, {}],
    ['that is absent', undefined, SAID_ABSENT, {}],
    ['with a further page', [], { ...SAID_ABSENT, more: 'next' }, { next: '/jobs?page=2' }],
    ['that may have a further page', [], { ...SAID_ABSENT, more: 'next' }, {}],
    ['with our job without an id', [{ own: { id: REFERENCE } }], SAID_ABSENT, {}],
  ])('says nothing by a list %s', async (_what, jobs, lookup, rest) => {
    lists(jobs, rest);
    await expect(find(lookup)).rejects.toMatchObject({ kind: 'http_error' });
  });

  it.each([
    ['asked by our reference and empty', [], SAID_ABSENT, {}],
    ['whole, without our job', [THEIRS], { ...SAID_ABSENT, more: 'has_more' }, { has_more: false }],
    ['at its last page', [THEIRS], { ...SAID_ABSENT, more: 'next' }, { next: null }],
  ])('says that there is no such job by a list that is %s', async (_what, jobs, lookup, rest) => {
    lists(jobs, rest);
    expect(await find(lookup)).toBeNull();
  });

  it('finds the job in a list of all of them', async () => {
    lists([THEIRS, OURS], { more: true });
    expect(await find({ path: '/jobs' })).toBe('job-1');
    expect(vendor.only.url).toBe('/v1/jobs');
  });

  it('without codes that mean absence never says it', async () => {
    vendorAnswers({ code: 'no_such_job' }, 404);
    await expect(find()).rejects.toMatchObject({ kind: 'misconfigured' });
  });
});
