import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { BRISK, VideoHarness } from '../support/video-harness.js';

/** More failures than a breaker allows, in a row and within its window. */
const PROVOKED = 30;
const PATIENCE_MS = 30_000;

/** Answers 500 if the prompt or the id of the job says so. */
let provider: StubUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await StubUpstream.start();
  let made = 0;
  provider.reply = (response, { method, url, body }) => {
    const { prompt = '' } =
      method === 'POST' ? (JSON.parse(body.toString()) as { prompt: string }) : {};
    if (prompt.includes('unsendable') || (url.includes('unreadable') && method === 'GET')) {
      response.writeHead(500, { 'content-type': 'application/json' }).end('{}');
    } else if (method === 'POST') {
      const id = `${prompt.includes('unreadable') ? 'unreadable' : 'job'}-${(made += 1)}`;
      json(response, { id, status: 'queued' });
    } else if (url.endsWith('/content')) {
      response.setHeader('content-type', 'video/mp4').end('0000ftypisom');
    } else json(response, { id: url.split('/').at(-1), status: 'completed' });
  };
  gateway = await startTestGateway({
    ...BRISK,
    VIDEO_API_KEY: 'stub-provider-key',
    VIDEO_BASE_URL: provider.url,
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

function json(response: Parameters<StubUpstream['reply']>[0], body: object): void {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}

/** Requests that the provider answered with 500. */
const failed = (what: 'submissions' | 'polls') =>
  provider.seen.filter(({ method, url, body }) =>
    what === 'polls'
      ? method === 'GET' && url.includes('unreadable')
      : method === 'POST' && body.includes('unsendable'),
  ).length;

describe('failures that the tasks of one key provoke', () => {
  it.each([
    ['submissions', 'unsendable'],
    ['polls', 'unreadable'],
  ] as const)('of %s never close the route for the others', async (what, prompt) => {
    const culprit = await VideoHarness.open(gateway);
    const neighbour = await VideoHarness.open(gateway);
    await Promise.all(Array.from({ length: PROVOKED }, () => culprit.submitted({ prompt })));
    // The breaker of the failing key opens at the tenth.
    for (let waitedMs = 0; failed(what) < 10 && waitedMs < PATIENCE_MS; waitedMs += 20) {
      await sleep(20);
    }
    expect(failed(what)).toBeGreaterThanOrEqual(10);
    const video = await neighbour.submitted({ prompt: 'The sea' });
    expect(await neighbour.ended(video.id)).toMatchObject({ status: 'completed' });
  });
});
