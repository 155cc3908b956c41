import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { EgressRules } from '../../src/platform/http-client/egress-rules.js';
import { answer, StubWeb } from '../support/stub-web.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { WebhookHarness } from '../support/webhook-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

/** Of a test that waits for it; no other receiver is given up. */
const TIMEOUT_MS = 1_000;
/** Time for the head of an answer on a busy machine. */
const DRIP_MS = 8_000;
/** Longer than a test may take. */
const PATIENT_MS = 600_000;
const MANY_BYTES = 64_000_000;

describe('What a receiver may do', () => {
  let database: TestDatabase;
  let receiver: WebhookReceiver;
  let harness: WebhookHarness;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    receiver = await startWebhookReceiver();
    harness = new WebhookHarness(database.dataSource, { timeoutMs: PATIENT_MS });
  });
  afterEach(() => receiver.stop());

  /** One delivery and its first attempt. */
  async function deliverTo(url: string, by = harness) {
    const ownerId = await by.enqueue(url);
    const worker = by.worker();
    await worker.tick();
    await worker.whenIdle();
    const { status, attempts } = await by.deliveryOf(ownerId);
    expect(attempts).toHaveLength(1);
    return { status, ...attempts[0] };
  }

  it.each([200, 201, 204, 299])('delivers with a %i (HOOK-14)', async (status) => {
    receiver.react(status);
    expect(await deliverTo(receiver.url)).toMatchObject({
      status: 'delivered',
      statusCode: status,
    });
  });

  it.each([400, 401, 404, 408, 410, 429, 499])(
    'makes one attempt only for a %i (HOOK-18, G-81)',
    async (status) => {
      receiver.react(status);
      expect(await deliverTo(receiver.url)).toMatchObject({ status: 'failed', statusCode: status });
    },
  );

  it.each([301, 302, 307, 308])(
    'does not follow a %i but tries again (HOOK-21, G-81)',
    async (status) => {
      const target = await startWebhookReceiver();
      receiver.react((response) => response.writeHead(status, { location: target.url }).end());
      expect(await deliverTo(receiver.url)).toMatchObject({
        status: 'pending',
        statusCode: status,
      });
      expect(target.received).toHaveLength(0);
      await target.stop();
    },
  );

  it.each([500, 502, 503, 599])('tries again after a %i', async (status) => {
    receiver.react(status);
    expect(await deliverTo(receiver.url)).toMatchObject({ status: 'pending', statusCode: status });
  });

  it('sends a POST of the bytes as JSON, without event name, key or cookie (HOOK-08, AUTH-29, G-84)', async () => {
    await deliverTo(receiver.url);
    const [{ method, headers, body } = { method: '', headers: {}, body: Buffer.alloc(0) }] =
      receiver.received;
    expect({ method, body: body.toString() }).toEqual({
      method: 'POST',
      body: '{"id":"task_1","status":"succeeded"}',
    });
    expect(Object.keys(headers).sort()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
    ]);
    expect(headers['content-type']).toBe('application/json');
    expect(headers['user-agent']).toBe('shim-gateway');
  });

  it('gives up on a receiver that does not answer in time (HOOK-15)', async () => {
    receiver.react(() => undefined);
    const hasty = new WebhookHarness(database.dataSource, { timeoutMs: TIMEOUT_MS });
    const attempt = await deliverTo(receiver.url, hasty);
    expect(attempt).toMatchObject({ status: 'pending', statusCode: null, error: 'timeout' });
    expect(attempt.durationMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 50);
  });

  it('decides by the head of a response: a body that drips or breaks changes nothing', async () => {
    receiver.react((response) => {
      response.writeHead(200, { 'content-length': '100' }).write('a');
    });
    // The rest of the body is waited for, but not for longer than the whole attempt may take.
    const harness = new WebhookHarness(database.dataSource, { timeoutMs: DRIP_MS });
    expect(await deliverTo(receiver.url, harness)).toMatchObject({
      status: 'delivered',
      statusCode: 200,
    });
    receiver.react((response) => {
      response.writeHead(200, { 'content-length': '100' }).write('a');
      setTimeout(() => response.destroy(), 20);
    });
    expect(await deliverTo(receiver.url)).toMatchObject({ status: 'delivered', statusCode: 200 });
  });

  it('reads the beginning of a huge answer only', async () => {
    let written = 0;
    receiver.react((response) => {
      response.writeHead(200, { 'content-length': String(MANY_BYTES) });
      const chunk = Buffer.alloc(65_536);
      const write = (): void => {
        while (written < MANY_BYTES && !response.destroyed) {
          written += chunk.length;
          if (!response.write(chunk)) {
            response.once('drain', write);
            return;
          }
        }
      };
      write();
    });
    expect(await deliverTo(receiver.url)).toMatchObject({ status: 'delivered', statusCode: 200 });
    expect(written).toBeLessThan(MANY_BYTES / 4);
  });

  describe('when no connection comes about (HOOK-20)', () => {
    it('tries again after a refused connection', async () => {
      const { url } = receiver;
      await receiver.stop();
      expect(await deliverTo(url)).toMatchObject({
        status: 'pending',
        statusCode: null,
        error: 'connection_failed',
      });
      receiver = await startWebhookReceiver();
    });

    it('tries again after a reset', async () => {
      receiver.react((response) => response.socket?.resetAndDestroy());
      expect(await deliverTo(receiver.url)).toMatchObject({
        status: 'pending',
        error: 'connection_failed',
      });
    });

    it('tries again after a name that does not resolve, and after a TLS fault', async () => {
      const web = await StubWeb.start((socket) => socket.end(answer(200)));
      web.names.set('gone.example', () => []);
      const dialer = web.dialer(EgressRules.none);
      const outside = new WebhookHarness(database.dataSource, { dialer, egressAllow: '' });
      expect(await deliverTo('https://gone.example/hook', outside)).toMatchObject({
        status: 'pending',
        statusCode: null,
        error: 'name_unresolved',
      });
      web.names.set('other.example', () => ['93.184.216.34']);
      expect(await deliverTo('https://other.example/hook', outside)).toMatchObject({
        status: 'pending',
        error: 'tls_failed',
      });
      expect(await deliverTo('https://example.com/hook', outside)).toMatchObject({
        status: 'delivered',
        statusCode: 200,
      });
      await web.stop();
    });

    it('tries again after an answer that is not HTTP', async () => {
      const server = createServer((socket) => socket.end('hello\r\n\r\n'));
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const { port } = server.address() as AddressInfo;
      expect(await deliverTo(`http://127.0.0.1:${port}/`)).toMatchObject({
        status: 'pending',
        error: 'connection_failed',
      });
      server.close();
    });
  });

  it.each(['127.0.0.1', '169.254.169.254', '10.0.0.1', 'fd00::1', '::ffff:127.0.0.1'])(
    'connects to nothing when a name that was public resolves to %s at delivery (HOOK-32, G-80)',
    async (address) => {
      const web = await StubWeb.start((socket) => socket.end(answer(200)));
      let addresses = ['93.184.216.34'];
      web.names.set('example.com', () => addresses);
      const outside = new WebhookHarness(database.dataSource, {
        dialer: web.dialer(EgressRules.none),
        egressAllow: '',
      });
      await outside.targets.resolve('https://example.com/hook', 'dubbing');
      addresses = [address];
      expect(await deliverTo('https://example.com/hook', outside)).toMatchObject({
        status: 'pending',
        statusCode: null,
        error: 'address_refused',
      });
      expect(web.dials).toEqual([]);
      await web.stop();
    },
  );

  it('does not go to the own host, even where the settings name it later', async () => {
    const outside = new WebhookHarness(database.dataSource, {
      publicUrl: receiver.url,
    });
    expect(await deliverTo(receiver.url, outside)).toMatchObject({
      status: 'pending',
      error: 'url_refused',
    });
    expect(receiver.received).toHaveLength(0);
  });
});
