import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { TOKEN_BUCKETS } from '../../../src/auth/rate-limit/rate-limit.guard.js';
import type { TokenBuckets } from '../../../src/auth/rate-limit/token-bucket.js';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, send } from '../../support/http-answer.js';
import { BRISK, type Video, VideoHarness } from '../../support/video-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

const OLD_KEY = 'a-secret-key-for-tests-only-0123456789';
const NEW_KEY = 'another-secret-key-for-tests-0123456789';
const TTL_SECONDS = 600;

interface Link {
  readonly url: string;
  readonly expires_at: number;
}

let receiver: WebhookReceiver;
let gateway: TestGateway;
let harness: VideoHarness;
let video: Video;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  gateway = await startTestGateway({
    ...BRISK,
    ...receiver.settings,
    SECRET_KEY: OLD_KEY,
    CONTENT_LINK_TTL_SECONDS: String(TTL_SECONDS),
  });
  harness = await VideoHarness.open(gateway);
  video = await harness.made({ webhook: receiver.url });
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

async function linkTo(id: string, by = harness): Promise<Link> {
  const answer = await send(`${by.gateway.url}/v1/videos/${id}/content-link`, {
    method: 'POST',
    headers: by.account.headers,
  });
  expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
  return answer.json as Link;
}
const changed = (url: string, name: string, value: string): string => {
  const link = new URL(url);
  link.searchParams.set(name, value);
  return link.href;
};
const refusal = (answer: Answer) => [answer.status, errorOf(answer).code];

describe('a link to the file of a video', () => {
  it('gives the file to whoever has it, whole, by ranges and by its head (G-104)', async () => {
    const asked = Math.floor(Date.now() / 1_000);
    const { url, expires_at: expiresAt } = await linkTo(video.id);
    expect(Math.abs(expiresAt - asked - TTL_SECONDS)).toBeLessThan(60);
    const byKey = await harness.content(video.id);
    const answer = await send(url);
    expect(answer.status).toBe(200);
    expect(answer.bytes.equals(byKey.bytes)).toBe(true);
    expect(answer.headers.get('content-type')).toBe('video/mp4');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('cache-control')).toMatch(/\bprivate\b/);
    const part = await send(url, { headers: { range: 'bytes=4-7' } });
    expect([part.status, part.bytes.toString()]).toEqual([206, 'ftyp']);
    const head = await send(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([
      200,
      String(byKey.bytes.length),
    ]);
  });

  it('opens nothing but the content, for GET and HEAD (G-104)', async () => {
    const { url } = await linkTo(video.id);
    const { search } = new URL(url);
    for (const path of [
      `videos/${video.id}`,
      `tasks/${video.id}`,
      'tasks',
      `videos/${video.id}/content-link`,
    ]) {
      const method = path.endsWith('link') ? 'POST' : 'GET';
      const answer = await send(`${gateway.url}/v1/${path}${search}`, { method });
      expect([path, ...refusal(answer)]).toEqual([path, 401, 'invalid_token']);
    }
    for (const method of ['POST', 'DELETE', 'PUT']) {
      expect((await send(url, { method })).status).toBeGreaterThanOrEqual(404);
    }
  });

  it('is 401 when its id, its expiry or its signature is another one (G-104)', async () => {
    const { url, expires_at: expiresAt } = await linkTo(video.id);
    const other = await harness.made();
    const signature = new URL(url).searchParams.get('signature') ?? '';
    const wrongs = [
      url.replace(video.id, other.id),
      url.replace(video.id, 'task_1'),
      changed(url, 'expires', String(expiresAt + 1)),
      changed(
        url,
        'signature',
        signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
      ),
      changed(url, 'signature', ''),
      `${url}&signature=${signature}`,
      url.replace(/&signature=.*/, ''),
      url.replace(/expires=\d+&/, ''),
    ];
    for (const wrong of wrongs) {
      const answer = await send(wrong);
      expect([wrong, ...refusal(answer)]).toEqual([wrong, 401, 'invalid_token']);
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    }
    expect((await send(url)).status).toBe(200);
  });

  it('is checked before a key that is sent with it; the key decides if the link is invalid', async () => {
    const { url } = await linkTo(video.id);
    const stranger = await gateway.account();
    expect((await send(url, { headers: stranger.headers })).status).toBe(200);
    const wrong = changed(url, 'signature', '0'.repeat(64));
    expect((await send(wrong, { headers: harness.account.headers })).status).toBe(200);
    const foreign = await send(wrong, { headers: stranger.headers });
    expect(refusal(foreign)).toEqual([404, 'task_not_found']);
  });

  it('is the one of the webhook and of GET /v1/tasks/{id}, which are the same and last as long as the file (G-104)', async () => {
    const [delivery] = await receiver.until(1);
    const read = await harness.get(`tasks/${video.id}`);
    expect(read.bytes.toString()).toBe(delivery?.body.toString());
    const { result } = read.json as { result: { videos: { url: string[]; expires_at: number }[] } };
    const [file] = result.videos;
    const [url = ''] = file?.url ?? [];
    expect(new URL(url).searchParams.get('expires')).toBe(String(file?.expires_at));
    expect(file?.expires_at).toBe(video.expires_at);
    expect((await send(url)).status).toBe(200);
  });

  it('is not made for others, nor before there is a file', async () => {
    const stranger = await VideoHarness.open(gateway);
    const ask = (id: string, headers: Record<string, string>) =>
      send(`${gateway.url}/v1/videos/${id}/content-link`, { method: 'POST', headers });
    expect(refusal(await ask(video.id, stranger.account.headers))).toEqual([404, 'task_not_found']);
    expect(refusal(await ask(video.id, {}))).toEqual([401, 'invalid_token']);
    const { id } = await harness.submitted({ prompt: 'The sea [[sandbox:task-ms=600000]]' });
    expect(refusal(await ask(id, harness.account.headers))).toEqual([409, 'task_not_ready']);
    const elsewhere = `${gateway.url}/v1/tasks/${video.id}/content-link`;
    const answer = await send(elsewhere, { method: 'POST', headers: harness.account.headers });
    expect(refusal(answer)).toEqual([404, 'content_not_available']);
  });

  it('is dead as soon as it is late, and after the file', async () => {
    const own = await VideoHarness.open(gateway);
    const { id } = await own.made();
    await own.age(id, 15);
    const late = (await own.get(`tasks/${id}`)).json as {
      result: { videos: { url: string[] }[] };
    };
    const answer = await send(late.result.videos[0]?.url[0] ?? '');
    expect(refusal(answer)).toEqual([401, 'invalid_token']);
    const ask = await send(`${gateway.url}/v1/videos/${id}/content-link`, {
      method: 'POST',
      headers: own.account.headers,
    });
    expect(refusal(ask)).toEqual([410, 'content_expired']);
  });

  it('is 429 beyond 6,000 reads of its account in a minute, and those of others go on', async () => {
    const own = await VideoHarness.open(gateway);
    const { url } = await linkTo((await own.made()).id, own);
    const buckets = gateway.app.get<TokenBuckets>(TOKEN_BUCKETS, { strict: false });
    const bucket = `link-account:${own.account.accountId}`;
    // A token comes back every 10 ms, so all are taken until a read finds none.
    const readWhileNoneIsLeft = async () => {
      const read = { isOver: false };
      const answer = send(url).finally(() => (read.isOver = true));
      while (!read.isOver) {
        while ((await buckets.take(bucket, 6_000)).allowed);
        await setImmediate();
      }
      return answer;
    };
    let answer = await readWhileNoneIsLeft();
    while (answer.status === 200) answer = await readWhileNoneIsLeft();
    expect(refusal(answer)).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await send((await linkTo(video.id)).url)).status).toBe(200);
  });

  it('is 403 while its account is disabled (G-104)', async () => {
    const own = await VideoHarness.open(gateway);
    const { url } = await linkTo((await own.made()).id, own);
    const account = `${gateway.url}/admin/accounts/${toPublicId('acct', own.account.accountId)}`;
    const set = (disabled: boolean) =>
      send(account, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify({ disabled }),
      });
    expect((await set(true)).status).toBe(200);
    expect(refusal(await send(url))).toEqual([403, 'account_disabled']);
    expect((await set(false)).status).toBe(200);
    expect((await send(url)).status).toBe(200);
  });
});

it('a link is good after another key became the first of SECRET_KEY, and begins with PUBLIC_URL', async () => {
  const { url } = await linkTo(video.id);
  const { databaseUrl, dataDir } = gateway.config;
  const rotated = await startTestGateway({
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    SECRET_KEY: `${NEW_KEY},${OLD_KEY}`,
    PUBLIC_URL: 'https://gw.example/shim/',
  });
  try {
    expect((await send(url.replace(gateway.url, rotated.url))).status).toBe(200);
    const made = await linkTo(video.id, new VideoHarness(rotated, harness.account));
    expect(made.url).toMatch(/^https:\/\/gw\.example\/shim\/v1\/videos\//);
    const { pathname, search } = new URL(made.url);
    const path = pathname.replace('/shim', '') + search;
    expect((await send(rotated.url + path)).status).toBe(200);
    // The first gateway does not know the new key.
    expect(refusal(await send(gateway.url + path))).toEqual([401, 'invalid_token']);
  } finally {
    await rotated.stop();
  }
});
