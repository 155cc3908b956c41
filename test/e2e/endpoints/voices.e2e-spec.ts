import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { VOICES } from '../../../src/catalog/voices.js';
import { type TestAccount } from '../../support/gateway.js';
import { send } from '../../support/http-answer.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

let gateway: GatewayFromOutside;
let account: TestAccount;

beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

describe('GET /v1/voices', () => {
  it('lists the 21 voices with id, name, gender and accent', async () => {
    const answer = await send(`${gateway.url}/v1/voices`, { headers: account.headers });
    expect(answer.json).toEqual({ object: 'list', data: VOICES });
    expect(VOICES).toHaveLength(21);
  });

  it('asks for a key', async () => {
    expect((await send(`${gateway.url}/v1/voices`)).status).toBe(401);
  });
});
