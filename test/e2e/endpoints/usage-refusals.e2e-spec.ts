import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, send } from '../../support/http-answer.js';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

describe('GET /v1/usage', () => {
  it.each([
    ['group_by=minute', 'group_by'],
    ['group_by=hour,day', 'group_by'],
    ['group_by=run,hour', 'group_by'],
    ['group_by=hour&from=2026-01-01', 'from'],
    ['from=2026-11-25T24:00:00Z', 'from'],
    ['group_by=day,day', 'group_by'],
    ['from=yesterday', 'from'],
    ['from=2026-02-30', 'from'],
    ['to=2026-1-1', 'to'],
    ['from=2001-01-01', 'from'],
    ['from=1969-12-31', 'from'],
    // No day lies between them: `to` is exclusive.
    ['from=2026-11-25&to=2026-11-25', 'to'],
    ['from=2026-11-26&to=2026-11-25', 'to'],
    ['from=9999-12-31', 'from'],
    ['to=1970-01-01', 'to'],
    ['to=0000-01-01', 'to'],
    ['from=999999999990&to=999999999999', 'from'],
    ['from=2026-01-01&to=253402300801', 'to'],
    ['api_key_id=5', 'api_key_id'],
    ['format=xml', 'format'],
    ['limit=0', 'limit'],
    ['cursor=x', 'cursor'],
    ['account_id=x', 'account_id'],
  ])('refuses %s', async (query, param) => {
    const { headers } = await gateway.account();
    const answer = await send(`${gateway.url}/v1/usage?${query}`, { headers });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_request', param });
  });
});
