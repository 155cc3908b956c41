import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StubUpstream } from '../support/stub-upstream.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import { MP3_HEAD, servedBy, startStubSpeech } from '../support/stub-speech.js';

const PIECE = Buffer.alloc(64 * 1024, 9);
/** Far more than all buffers between the provider and a client that does not read. */
const PIECES = 400;
/** Clients that leave at the same moment. */
const LEAVING = 40;

let stub: StubUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  stub = await startStubSpeech();
  gateway = await startTestGateway(servedBy(stub));
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await stub.stop();
});

/** A running call whose answer the test reads or leaves. */
function speak({ headers }: TestAccount): ClientRequest {
  const call = request(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    agent: false,
  });
  call.on('error', () => undefined).end(JSON.stringify(HELLO));
  return call;
}

/** The provider's connection of the next call. */
function nextAtProvider(): Promise<ServerResponse> {
  return new Promise((resolve) => {
    stub.reply = (response) => {
      resolve(response);
    };
  });
}

interface ExecutionRow {
  readonly status: string;
  readonly charged: string | null;
  readonly error_code: string | null;
}

/** The execution of the account's only call, after it has ended. */
async function ended({ accountId }: TestAccount): Promise<ExecutionRow> {
  for (;;) {
    const [row] = await gateway.dataSource.query<ExecutionRow[]>(
      `SELECT status, charged, error_code FROM execution WHERE account_id = $1`,
      [accountId],
    );
    if (row !== undefined && row.status !== 'running') return row;
    await sleep(10);
  }
}

async function sendPieces(response: ServerResponse, count: number): Promise<void> {
  for (let piece = 0; piece < count; piece += 1) {
    if (!response.write(PIECE)) await once(response, 'drain');
  }
}

async function closed(call: ClientRequest): Promise<void> {
  const gone = new Promise((resolve) => call.once('close', resolve));
  call.destroy();
  await gone;
}

describe('a client that leaves', () => {
  it('before the head pays when the provider succeeds (AUD-05, G-25)', async () => {
    const account = await gateway.account(600n);
    const atProvider = nextAtProvider();
    const call = speak(account);
    const response = await atProvider;
    await closed(call);
    await sleep(50);
    expect(await gateway.balance(account.accountId)).toMatchObject({ held: 600n });
    response.end(MP3_HEAD);
    expect(await ended(account)).toEqual({ status: 'succeeded', charged: '600', error_code: null });
    expect(await gateway.balance(account.accountId)).toMatchObject({ available: 0n, held: 0n });
  });

  it('before the head pays nothing when the provider fails', async () => {
    const account = await gateway.account(600n);
    const atProvider = nextAtProvider();
    const call = speak(account);
    const response = await atProvider;
    await closed(call);
    response.writeHead(500).end();
    expect(await ended(account)).toMatchObject({ status: 'failed', charged: null });
    expect(await gateway.balance(account.accountId)).toMatchObject({ available: 600n, held: 0n });
  });

  it('inside the body pays when the provider finishes; the provider is not stopped', async () => {
    const account = await gateway.account(600n);
    const atProvider = nextAtProvider();
    const call = speak(account);
    const response = await atProvider;
    response.write(MP3_HEAD);
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    await once(answer, 'data');
    answer.on('error', () => undefined);
    await closed(call);
    await sendPieces(response, PIECES);
    response.end();
    expect(await ended(account)).toMatchObject({ status: 'succeeded', charged: '600' });
    expect(response.writableFinished).toBe(true);
  });

  it('with many others at once pays when its provider finishes; one that stalls delays no other', async () => {
    const accounts = await Promise.all(
      Array.from({ length: LEAVING }, () => gateway.account(600n)),
    );
    const atProvider: ServerResponse[] = [];
    stub.reply = (response) => {
      atProvider.push(response);
      response.write(MP3_HEAD);
    };
    const calls = accounts.map((account) => speak(account));
    await Promise.all(calls.map((call) => once(call, 'response')));
    await Promise.all(calls.map((call) => closed(call)));
    const [stalled, ...others] = atProvider;
    await Promise.all(others.map((response) => sendPieces(response, 64)));
    for (const response of others) response.end();
    const endedFirst = new Set<string>();
    await Promise.all(
      accounts.map(async (account) => {
        const row = await ended(account);
        endedFirst.add(account.accountId);
        expect(row).toMatchObject({ status: 'succeeded', charged: '600' });
        if (endedFirst.size === LEAVING - 1) stalled?.end();
      }),
    );
    for (const { accountId } of accounts) {
      expect(await gateway.balance(accountId)).toMatchObject({ available: 0n, held: 0n });
    }
  });

  it('inside the body pays nothing when the provider breaks off', async () => {
    const account = await gateway.account(600n);
    const atProvider = nextAtProvider();
    const call = speak(account);
    const response = await atProvider;
    response.write(MP3_HEAD);
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    answer.on('error', () => undefined).resume();
    await closed(call);
    response.destroy();
    expect(await ended(account)).toEqual({
      status: 'failed',
      charged: null,
      error_code: 'provider_http_error',
    });
  });

  it('reads the outcome of the call from its execution (AUD-05)', async () => {
    const account = await gateway.account(600n);
    const atProvider = nextAtProvider();
    const call = speak(account);
    const response = await atProvider;
    response.write(MP3_HEAD);
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    const id = answer.headers['x-gateway-execution-id'] as string;
    answer.on('error', () => undefined);
    await closed(call);
    response.end();
    await ended(account);
    const told = await send(`${gateway.url}/v1/executions/${id}`, { headers: account.headers });
    expect(told.json).toMatchObject({ id, status: 'succeeded', charged_microusd: '600' });
  });
});

describe('a client that does not read', () => {
  it('slows the provider down, not the others, and gets every byte in the end', async () => {
    const account = await gateway.account(600n);
    const atProvider = nextAtProvider();
    const call = speak(account);
    const response = await atProvider;
    response.write(MP3_HEAD);
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    let sent = 0;
    const sending = (async () => {
      for (; sent < PIECES; sent++) {
        if (!response.write(PIECE)) await once(response, 'drain');
      }
      response.end();
    })();
    let before = -1;
    while (sent !== before) {
      before = sent;
      await sleep(200);
    }
    expect(sent).toBeLessThan(PIECES);
    expect(await gateway.balance(account.accountId)).toMatchObject({ held: 600n });

    stub.reply = (other) => other.end(MP3_HEAD);
    const other = await gateway.account(600n);
    const served = await postJson(`${gateway.url}/v1/audio/speech`, other.headers, HELLO);
    expect(served.status).toBe(200);

    let received = 0;
    answer.on('data', (chunk: Buffer) => (received += chunk.length));
    await once(answer, 'end');
    await sending;
    expect(received).toBe(MP3_HEAD.length + PIECES * PIECE.length);
    expect(await ended(account)).toMatchObject({ status: 'succeeded', charged: '600' });
  });
});
