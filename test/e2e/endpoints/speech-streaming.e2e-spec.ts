import { once } from 'node:events';
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StubUpstream } from '../../support/stub-upstream.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { MP3_HEAD, servedBy, startStubSpeech } from '../../support/stub-speech.js';

const REST = Buffer.alloc(300_000, 5);

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

/** The head of the answer, as soon as it has arrived. */
async function speak({ headers }: TestAccount): Promise<IncomingMessage> {
  const call = request(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    agent: false,
  });
  call.end(JSON.stringify(HELLO));
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  return answer;
}

const executionOf = (answer: IncomingMessage) => answer.headers['x-gateway-execution-id'] as string;

async function execution(account: TestAccount, id: string) {
  const answer = await fetch(`${gateway.url}/v1/executions/${id}`, { headers: account.headers });
  return (await answer.json()) as { status: string; charged_microusd: string | null };
}

describe('the audio of speech', () => {
  it('reaches the client while the provider is still sending', async () => {
    const account = await gateway.account(600n);
    const sending = new Promise<ServerResponse>((resolve) => {
      stub.reply = (response) => {
        response.write(MP3_HEAD);
        resolve(response);
      };
    });
    const answer = await speak(account);
    const [first] = (await once(answer, 'data')) as [Buffer];
    expect(first.equals(MP3_HEAD.subarray(0, first.length))).toBe(true);
    expect(await gateway.balance(account.accountId)).toMatchObject({ available: 0n, held: 600n });
    expect(await execution(account, executionOf(answer))).toMatchObject({ status: 'running' });
    (await sending).end(REST);
    let received = first.length;
    for await (const chunk of answer) received += (chunk as Buffer).length;
    expect(received).toBe(MP3_HEAD.length + REST.length);
  });

  it('is passed on byte by byte, without the length the provider declares', async () => {
    const account = await gateway.account(600n);
    stub.reply = (response) => {
      const body = Buffer.concat([MP3_HEAD, REST]);
      response.writeHead(200, { 'content-length': body.length, 'content-type': 'text/plain' });
      response.end(body);
    };
    const answer = await speak(account);
    expect(answer.headers['content-length']).toBeUndefined();
    expect(answer.headers['content-type']).toBe('audio/mpeg');
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).equals(Buffer.concat([MP3_HEAD, REST]))).toBe(true);
  });

  it('ends only when the charge is in the ledger (G-28)', async () => {
    stub.reply = (response) => response.end(MP3_HEAD);
    const account = await gateway.account(12_000n);
    for (let call = 0; call < 10; call++) {
      const answer = await speak(account);
      answer.resume();
      await once(answer, 'end');
      const [row] = await gateway.dataSource.query<{ charges: string }[]>(
        `SELECT count(*) AS charges FROM ledger_entry WHERE account_id = $1 AND kind = 'charge'`,
        [account.accountId],
      );
      expect(row?.charges).toBe(String(call + 1));
    }
  });

  it('does not end while the ledger cannot take the charge', async () => {
    stub.reply = (response) => response.end(MP3_HEAD);
    const account = await gateway.account(600n);
    const locking = gateway.dataSource.createQueryRunner();
    stub.reply = (response) => {
      void locking
        .startTransaction()
        .then(() =>
          locking.query(`SELECT 1 FROM account WHERE id = $1 FOR UPDATE`, [account.accountId]),
        )
        .then(() => response.end(MP3_HEAD));
    };
    const answer = await speak(account);
    let received = 0;
    answer.on('data', (chunk: Buffer) => (received += chunk.length));
    while (received < MP3_HEAD.length) await sleep(5);
    await sleep(200);
    expect(answer.readableEnded).toBe(false);
    expect(await execution(account, executionOf(answer))).toMatchObject({ status: 'running' });
    const ended = once(answer, 'end');
    await locking.commitTransaction();
    await locking.release();
    await ended;
    expect(await execution(account, executionOf(answer))).toMatchObject({
      status: 'succeeded',
      charged_microusd: '600',
    });
  });
});
