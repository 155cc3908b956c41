import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { CANARY, MISDEEDS, works } from '../support/canaries.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.js';
import { type Answer, postJson, send } from '../support/http-answer.js';
import { PAID_ENDPOINTS, READ_PATHS } from '../support/paid-endpoints.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
  statusOf,
} from '../support/process.js';
import { until } from '../support/until.js';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

/** Lists show the first nine characters of a key. */
const SHOWN_PREFIX = 9;

let database: TestDatabase;
let proxy: DatabaseProxy;
let stub: StubUpstream;
let recordings: RecordingServer;
let receiver: WebhookReceiver;
let gateway: GatewayProgram;
let headers: Record<string, string>;
const keys: string[] = [];
const errorBodies: string[] = [];

const kept = async (call: Promise<Answer>): Promise<number | undefined> => {
  const answer = await call.catch(() => undefined);
  if (answer && answer.status >= 400) {
    errorBodies.push(answer.bytes.toString() + JSON.stringify([...answer.headers]));
  }
  return answer?.status;
};
const post = (path: string, body: unknown, own: Record<string, string> = headers) =>
  kept(postJson(gateway.url + path, own, body));

/** The request of an endpoint, with the secret prompt as its free text. */
const secretly = (body: object): object =>
  JSON.parse(
    JSON.stringify(body, (name, value: unknown) =>
      ['input', 'text', 'prompt', 'content'].includes(name) ? CANARY.prompt : value,
    ),
  ) as object;

const everything = () =>
  Promise.all(
    PAID_ENDPOINTS.map(({ path, body }) => {
      const url = `${recordings.url}?sig=${CANARY.signature}`;
      return post(path, secretly(body(url)));
    }),
  );

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startDatabaseProxy(database.url);
  stub = await StubUpstream.start();
  recordings = await startRecordingServer();
  receiver = await startWebhookReceiver();
  const databaseUrl = new URL(proxy.through(database.url));
  databaseUrl.password = CANARY.databasePassword;
  gateway = await startGatewayProgram({
    EGRESS_ALLOW: [recordings, receiver].map(({ settings }) => settings.EGRESS_ALLOW).join(),
    DATABASE_URL: databaseUrl.href,
    // Nothing listens there.
    REDIS_URL: `redis://:${CANARY.redisPassword}@127.0.0.1:9/0`,
    ADMIN_TOKEN: CANARY.adminToken,
    SECRET_KEY: CANARY.secretKey,
    RATE_LIMIT_RPM: '600',
    OPENAI_API_KEY: CANARY.openaiKey,
    OPENAI_BASE_URL: `${stub.url}/v1`,
    ELEVENLABS_API_KEY: CANARY.elevenlabsKey,
    ELEVENLABS_BASE_URL: stub.url,
    LOG_LEVEL: 'trace',
  });
  const account = await gateway.account(undefined, { requests_per_minute: 100_000 });
  headers = { ...account.headers, cookie: `session=${CANARY.cookie}` };
  keys.push(account.key);
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await Promise.all([stub.stop(), recordings.stop(), receiver.stop(), proxy.stop()]);
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

/** Everything that the gateway has written so far, including its buffered log lines. */
async function told(): Promise<Record<string, string>> {
  const last = await send(`${gateway.url}/metrics`);
  const executionId = last.headers.get('x-gateway-execution-id') ?? '';
  await until(() => gateway.stdout().includes(executionId));
  return {
    metrics: last.bytes.toString(),
    answers: errorBodies.join('\n'),
    stdout: gateway.stdout(),
    stderr: gateway.stderr(),
  };
}

describe('a secret is in no log line, no metric and no error answer when it', () => {
  afterEach(async () => {
    const secrets = [...Object.values(CANARY), ...keys.map((key) => key.slice(SHOWN_PREFIX))];
    for (const [place, text] of Object.entries(await told())) {
      for (const secret of secrets) expect(firstWith(text, secret, place)).toBeUndefined();
    }
  }, PROCESS_TEST_TIMEOUT_MS);

  it.each(Object.keys(MISDEEDS))(
    'goes to a provider that %s',
    async (misdeed) => {
      stub.reply = MISDEEDS[misdeed]!;
      const seenBefore = stub.seen.length;
      const statuses = await everything();
      expect(statuses).not.toContain(401);
      expect(stub.seen.length).toBeGreaterThan(seenBefore);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it('goes into requests that are refused', async () => {
    stub.reply = works;
    const { prompt } = CANARY;
    for (const { path, body } of PAID_ENDPOINTS) {
      const url = recordings.url.replace('//', `//user:${CANARY.urlPassword}@`);
      await post(path, `{"input":"${prompt}","model":`);
      await post(path, { ...secretly(body(url)), input: [prompt], prompt: { prompt } });
      await post(path, {
        ...secretly(body(`http://10.0.0.1/?sig=${CANARY.signature}`)),
        speed: prompt,
      });
      await post(path, prompt.repeat(50_000));
      await post(path, secretly(body(url)), { authorization: `Bearer ${CANARY.wrongToken}` });
      await post(path, secretly(body(url)), { ...headers, 'idempotency-key': prompt });
      await post(`${path}?api_key=${keys[0] ?? ''}&prompt=${prompt}`, {});
    }
    for (const path of READ_PATHS) {
      await kept(send(`${gateway.url}${path}/${prompt}?key=${keys[0] ?? ''}`, { headers }));
    }
    expect(errorBodies.length).toBeGreaterThan(PAID_ENDPOINTS.length * 5);
  });

  it('goes into forms that are refused and forms that work', async () => {
    for (const path of ['transcriptions', 'alignment', 'voice-changer', 'isolation']) {
      const form = new FormData();
      form.set('model', 'aud-transcribe-v2');
      form.set('text', CANARY.prompt);
      form.set('file', new Blob([CANARY.prompt.repeat(9)]), `${CANARY.fileName}.wav`);
      await kept(send(`${gateway.url}/v1/audio/${path}`, { method: 'POST', headers, body: form }));
    }
  });

  it('signs the webhook of a task, or comes with a submission that is refused (HOOK-34)', async () => {
    const { webhookSecret: webhook_secret } = CANARY;
    const task = { model: 'aud-dubbing-v1', source_url: recordings.url, target_language: 'es' };
    const dub = { ...task, webhook: receiver.url, webhook_secret };
    for (const body of [
      { ...task, webhook_secret },
      { ...dub, webhook: `http://10.0.0.1/?${webhook_secret}` },
      { ...dub, webhook_secret: [webhook_secret] },
      { ...dub, webhook_secret: webhook_secret.repeat(20) },
      { ...dub, unlisted: webhook_secret },
      `${JSON.stringify(dub)},`,
    ]) {
      expect(await post('/v1/audio/dubbing', body)).toBe(400);
    }
    receiver.react(404);
    expect(await post('/v1/audio/dubbing', dub)).toBe(202);
    await receiver.until(1);
    expect(receiver.received[0]?.headers).toHaveProperty('x-shim-signature');
  });

  it('signs the events of an account, or comes with an endpoint that is refused', async () => {
    const { accountId } = await gateway.account();
    const made = await gateway.admin('POST', `/accounts/${accountId}/keys`, { scopes: ['manage'] });
    const { key } = made.json as { key: string };
    keys.push(key);
    const authorization = { authorization: `Bearer ${key}` };
    const admin = { authorization: `Bearer ${CANARY.adminToken}` };
    const { webhookSecret: secret } = CANARY;
    const endpoint = { url: receiver.url, secret, events: ['task.finished'] };
    const paths = [
      ['/v1/webhook-endpoints', authorization],
      [`/admin/accounts/${accountId}/webhook-endpoints`, admin],
    ] as const;
    for (const [path, own] of paths) {
      for (const body of [
        { ...endpoint, url: `https://10.0.0.1/?${secret}` },
        { ...endpoint, secret: [secret] },
        { ...endpoint, secret: secret.repeat(20) },
        { ...endpoint, events: [secret] },
        { ...endpoint, unlisted: secret },
        `${JSON.stringify(endpoint)},`,
      ]) {
        expect(await post(path, body, own)).toBe(400);
      }
      expect(await post(path, endpoint, own)).toBe(201);
    }
    const { json } = await gateway.admin('GET', `/accounts/${accountId}/webhook-endpoints`);
    const [{ id } = { id: '' }] = (json as { data: { id: string }[] }).data;
    expect(await post(`/v1/webhook-endpoints/${id}/test`, '', authorization)).toBe(202);
    await until(() => receiver.received.some(({ body }) => String(body).includes('"test"')));
  });

  it('goes to operators: wrong tokens, keys that are made, rotated and revoked', async () => {
    const wrong = { authorization: `Bearer ${CANARY.wrongToken}` };
    expect(await kept(send(`${gateway.url}/admin/audit`, { headers: wrong }))).toBe(401);
    const operator = { authorization: `Bearer ${CANARY.adminToken}` };
    const call = (method: string, path: string) =>
      send(`${gateway.url}/admin${path}`, { method, headers: operator });
    const { keyId, key } = await gateway.account();
    const rotated = await call('POST', `/keys/${keyId}/rotate`);
    keys.push(key, (rotated.json as { key: string }).key);
    await call('DELETE', `/keys/${keyId}`);
    for (const path of ['/accounts', '/executions', '/audit', '/accounts/nope/keys']) {
      await kept(call('GET', path));
    }
  });

  it(
    'is there while the database is gone',
    async () => {
      await proxy.cut();
      await until(async () => (await statusOf(`${gateway.url}/health/ready`)) === 503);
      const [first] = PAID_ENDPOINTS;
      expect(await post(first!.path, secretly(first!.body('')))).toBe(503);
      await kept(send(`${gateway.url}/v1/account`, { headers }));
      expect(await statusOf(`${gateway.url}/metrics`)).toBe(200);
      await proxy.mend();
      await until(async () => (await statusOf(`${gateway.url}/health/ready`)) === 200);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

const firstWith = (text: string, secret: string, place: string): string | undefined => {
  const line = text.split('\n').find((candidate) => candidate.includes(secret));
  return line && `${place}: ${line}`;
};
