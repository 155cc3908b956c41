import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeKey } from '../../src/auth/api-key-format.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../support/gateway.js';
import { errorOf, send } from '../support/http-answer.js';
import { stopClock } from '../support/stopped-clock.js';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ TRUST_PROXY: '127.0.0.0/8' });
  stopClock(gateway);
});
afterAll(() => gateway.stop());

const audit = (token: string, address: string) =>
  send(`${gateway.url}/admin/audit`, {
    headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': address },
  });

describe('the admin token', () => {
  it('may be guessed ten times a minute from one address, then even the right one waits', async () => {
    for (let guess = 0; guess < 10; guess++) {
      expect((await audit(`wrong-${guess}`, '192.0.2.1')).status).toBe(401);
    }
    for (const token of ['wrong', ADMIN_TOKEN]) {
      const answer = await audit(token, '192.0.2.1');
      expect(answer.status).toBe(429);
      expect(errorOf(answer).code).toBe('rate_limit_exceeded');
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await audit(ADMIN_TOKEN, '192.0.2.2')).status).toBe(200);
  });

  it('is not helped by a forwarded address that the client made up', async () => {
    const other = await startTestGateway();
    stopClock(other);
    const asked = (token: string, address: string) =>
      send(`${other.url}/admin/audit`, {
        headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': address },
      });
    for (let guess = 0; guess < 10; guess++) await asked('wrong', `192.0.2.${guess}`);
    expect((await asked('wrong', '192.0.2.99')).status).toBe(429);
    await other.stop();
  });
});

describe('API keys', () => {
  it('may be guessed 600 times a minute from one address; keys in use and other addresses feel nothing', async () => {
    const { headers } = await gateway.account();
    const account = (authorization: string, address: string) =>
      send(`${gateway.url}/v1/account`, {
        headers: { authorization, 'x-forwarded-for': address },
      });
    const inUse = headers.authorization;
    expect((await account(inUse, '192.0.2.7')).status).toBe(200);
    for (let batch = 0; batch < 30; batch++) {
      const guesses = Array.from({ length: 20 }, () => account(`Bearer ${makeKey()}`, '192.0.2.7'));
      expect(new Set((await Promise.all(guesses)).map(({ status }) => status))).toEqual(
        new Set([401]),
      );
    }
    const refused = await account(`Bearer ${makeKey()}`, '192.0.2.7');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await account(inUse, '192.0.2.7')).status).toBe(200);
    expect((await account(`Bearer ${makeKey()}`, '192.0.2.8')).status).toBe(401);
  });
});
