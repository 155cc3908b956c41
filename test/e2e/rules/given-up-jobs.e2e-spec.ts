import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import {
  ENDING_KEY as KEY,
  ENDING_PRICE as PRICE,
  startEndingGateway,
} from '../../support/ending-vendor.js';
import { ADMIN_TOKEN, type TestGateway } from '../../support/gateway.js';
import { type Answer, postJson, send } from '../../support/http-answer.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';
import { VideoHarness } from '../../support/video-harness.js';

const CREDIT = 1_000_000n;
const MP4 = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypisom\0\0\x02\0isommp42', 'latin1'),
  Buffer.alloc(1_000),
]);
/** The number of requests to the vendor by their outcomes. */
const COUNTED = /^gateway_upstream_duration_seconds_count\{.*provider="acme"/;
/** Longer than everything that is left to do when an outcome is final. */
const QUIET_MS = 500;

let vendor: StubUpstream;
let gateway: TestGateway;
/** The state of the job, or what a read is answered with. */
let state: string | ((response: ServerResponse) => unknown) = 'working';
/** What the requests that end a job are answered with. */
let ending: (response: ServerResponse) => unknown;
let ends: string[] = [];
/** Before the answer to such a request: what is known of the task then. */
let seenAtEnd: unknown[] = [];
const [warn, debug] = [jest.spyOn(Logger.prototype, 'warn'), jest.spyOn(Logger.prototype, 'debug')];

beforeAll(async () => {
  vendor = await StubUpstream.start();
  vendor.reply = async (response, { method, url, headers }) => {
    if (method === 'PUT' || method === 'DELETE') {
      // The next test may change it while the database is asked.
      const answer = ending;
      ends.push(`${method} ${url} ${headers.authorization}`);
      seenAtEnd.push(
        await gateway.dataSource.query('SELECT status FROM task WHERE status <> $1', ['queued']),
      );
      answer(response);
    } else if (method === 'POST') response.end('{"id":"job-1"}');
    else if (url.endsWith('.mp4'))
      response.writeHead(200, { 'content-type': 'video/mp4' }).end(MP4);
    else if (typeof state === 'function') state(response);
    else response.end(JSON.stringify({ state, video: `${vendor.url}/a.mp4` }));
  };
  gateway = await startEndingGateway(vendor.url);
});
beforeEach(() => {
  state = 'working';
  ending = (response) => response.writeHead(204).end();
  ends = [];
  seenAtEnd = [];
  warn.mockClear();
  debug.mockClear();
});
afterAll(async () => {
  warn.mockRestore();
  debug.mockRestore();
  delete process.env.ACME_ENDS_KEY;
  await gateway.stop();
  await vendor.stop();
});

interface Ordered {
  readonly videos: VideoHarness;
  readonly id: string;
}

async function working(): Promise<Ordered> {
  const videos = await VideoHarness.open(gateway, CREDIT);
  const { id } = await videos.submitted({ model: 'vid-acme', prompt: 'The sea' });
  const sent = `SELECT FROM task WHERE id = $1::uuid AND provider_job_id IS NOT NULL`;
  await until(async () => (await rows(sent, id)).length > 0);
  return { videos, id };
}
const rows = (query: string, id: string) =>
  gateway.dataSource.query<object[]>(query, [id.slice('task_'.length)]);
const overdue = (id: string) =>
  rows(`UPDATE task SET created_at = created_at - interval '1 day' WHERE id = $1::uuid`, id);
const quiet = () => new Promise((resolve) => setTimeout(resolve, QUIET_MS));
const resolveAsFailed = (id: string): Promise<Answer> => {
  const operator = { authorization: `Bearer ${ADMIN_TOKEN}` };
  return postJson(`${gateway.url}/admin/tasks/${id}/resolve`, operator, { outcome: 'failed' });
};
/** One whose job cannot be read until its deadline. */
async function unknown(): Promise<Ordered> {
  const video = await working();
  state = (response) => response.writeHead(500).end();
  await overdue(video.id);
  await video.videos.unknown(video.id);
  return video;
}
/** The first failure of a provider in a minute is a warning. */
const warnings = (): string[] =>
  [...warn.mock.calls, ...debug.mock.calls]
    .map(([line]) => String(line))
    .filter((line) => line.includes('its job at the provider'));

const STOPPED = [`PUT /v1/jobs/job-1/stop Bearer ${KEY}`];
const DELETED = [`DELETE /v1/jobs/job-1 Bearer ${KEY}`];

describe('a job that is given up', () => {
  it('at the deadline is cancelled once, after its hold is released', async () => {
    const { videos, id } = await working();
    await overdue(id);
    expect(await videos.ended(id)).toMatchObject({ status: 'failed', error: { code: 'expired' } });
    await until(() => ends.length > 0);
    await quiet();
    expect(ends).toEqual(STOPPED);
    expect(seenAtEnd).toEqual([expect.arrayContaining([{ status: 'expired' }])]);
    expect(await videos.balance()).toMatchObject({ available: CREDIT, held: 0n });
    expect(warnings()).toEqual([]);
  });

  it.each<[string, (response: ServerResponse) => unknown, RegExp]>([
    ['fails', (response) => response.writeHead(500).end(KEY), /cannot cancel .*http_error, 500$/],
    ['refuses', (response) => response.writeHead(409).end('{}'), /cannot cancel .*rejected, 409$/],
    ['breaks off', (response) => response.destroy(), /cannot cancel .*http_error/],
    ['says nothing', () => undefined, /cannot cancel .*timeout/],
  ])('is free also where the vendor %s, which is logged once', async (_what, answer, line) => {
    ending = answer;
    const { videos, id } = await working();
    await overdue(id);
    expect(await videos.ended(id)).toMatchObject({ status: 'failed' });
    await until(() => warnings().length > 0);
    await quiet();
    expect(ends).toEqual(STOPPED);
    expect(warnings()).toEqual([expect.stringMatching(line)]);
    expect(warnings().join()).not.toContain(KEY);
    expect(await videos.balance()).toMatchObject({ available: CREDIT, held: 0n });
    await gateway.expectCleanBooks();
  });

  it('because an operator decides so is cancelled then, and not while its outcome is unknown', async () => {
    const { videos, id } = await unknown();
    await quiet();
    expect(ends).toEqual([]);
    state = 'working';
    expect((await resolveAsFailed(id)).status).toBe(200);
    await until(() => ends.length > 0);
    expect((await resolveAsFailed(id)).status).toBe(409);
    await quiet();
    expect(ends).toEqual(STOPPED);
    expect(await videos.balance()).toMatchObject({ available: CREDIT, held: 0n });
  });

  it.each([401, 429, 503])(
    'is left alone where a read is answered with %i: it may have been finished',
    async (status) => {
      const { id } = await unknown();
      state = (response) => response.writeHead(status).end();
      expect((await resolveAsFailed(id)).status).toBe(200);
      await until(() => warnings().length > 0);
      expect(ends).toEqual([]);
    },
  );

  it('with a word that the file does not know is left alone at its deadline', async () => {
    const { videos, id } = await working();
    state = 'RENAMED';
    await overdue(id);
    await videos.ended(id);
    await quiet();
    expect(ends).toEqual([]);
  });

  it.each(['completed', 'failed'])('and is %s is left alone', async (end) => {
    const { id } = await unknown();
    state = end;
    expect((await resolveAsFailed(id)).status).toBe(200);
    await quiet();
    expect(ends).toEqual([]);
  });

  it('at an upstream that is no longer configured is left alone', async () => {
    const { id } = await unknown();
    state = 'working';
    await rows(`UPDATE task SET provider_base_url = 'http://other.test' WHERE id = $1::uuid`, id);
    expect((await resolveAsFailed(id)).status).toBe(200);
    await quiet();
    expect(ends).toEqual([]);
  });

  it('is not that of a video that its caller wants to cancel', async () => {
    const { videos, id } = await working();
    const { headers } = videos.account;
    const answer = await send(`${gateway.url}/v1/tasks/${id}/cancel`, { method: 'POST', headers });
    expect(answer.status).toBe(409);
    expect(ends).toEqual([]);
    state = 'completed';
    await videos.ended(id);
    await until(() => ends.length > 0);
    expect(ends).toEqual(DELETED);
  });

  it('counts in the metrics of the provider', async () => {
    ending = (response) => response.writeHead(500).end();
    const count = async (): Promise<number> => {
      const text = (await send(`${gateway.url}/metrics`)).bytes.toString();
      const lines = text.split('\n').filter((line) => COUNTED.test(line));
      return Number(
        lines.find((line) => line.includes('outcome="http_error"'))?.split(' ')[1] ?? 0,
      );
    };
    const before = await count();
    const { videos, id } = await working();
    await overdue(id);
    await videos.ended(id);
    await until(() => warnings().length > 0);
    expect(await count()).toBeGreaterThan(before);
  });
});

describe('a job whose video is stored', () => {
  it('is deleted once, after the charge, and the video stays', async () => {
    const { videos, id } = await working();
    state = 'completed';
    expect(await videos.ended(id)).toMatchObject({ status: 'completed' });
    await until(() => ends.length > 0);
    await quiet();
    expect(ends).toEqual(DELETED);
    expect(seenAtEnd).toEqual([expect.arrayContaining([{ status: 'succeeded' }])]);
    expect((await videos.content(id)).bytes).toEqual(MP4);
    expect(await videos.balance()).toMatchObject({ available: CREDIT - PRICE, held: 0n });
  });

  it('and cannot be deleted is paid all the same, which is logged once', async () => {
    ending = (response) => response.writeHead(500).end();
    const { videos, id } = await working();
    state = 'completed';
    expect(await videos.ended(id)).toMatchObject({ status: 'completed' });
    await until(() => warnings().length > 0);
    await quiet();
    expect(ends).toEqual(DELETED);
    expect(warnings()).toEqual([expect.stringMatching(/cannot delete .*http_error, 500$/)]);
    expect((await videos.content(id)).bytes).toEqual(MP4);
    await gateway.expectCleanBooks();
  });

  it('is not deleted where the vendor failed it', async () => {
    const { videos, id } = await working();
    state = 'failed';
    expect(await videos.ended(id)).toMatchObject({ status: 'failed' });
    await quiet();
    expect(ends).toEqual([]);
  });

  it('keeps no other video waiting while the vendor says nothing', async () => {
    ending = () => undefined;
    const sinceMs = performance.now();
    const videos = await VideoHarness.open(gateway, 40n * PRICE);
    state = 'completed';
    const jobs = await Promise.all(
      Array.from({ length: 40 }, () => videos.submitted({ model: 'vid-acme', prompt: 'The sea' })),
    );
    for (const { id } of jobs)
      expect(await videos.ended(id)).toMatchObject({ status: 'completed' });
    expect(performance.now() - sinceMs).toBeLessThan(15_000);
  });
});
