import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../support/gateway.js';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

describe('POST /v1/audio/speech', () => {
  it('answers playable audio and charges once (SPEECH-01)', async () => {
    const { headers, accountId } = await gateway.account(1000n);
    const answer = await fetch(`${gateway.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'aud-v4', input: 'Hello', voice: 'Adam' }),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(answer.status === 200 ? '' : bytes.toString()).toBe('');
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(await gateway.balance(accountId)).toEqual({ available: 400n, held: 0n, entries: 2 });
  });
});
