import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Clock } from '../../../src/common/time/clock.js';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import {
  SIGN_INS_PER_ADDRESS,
  SIGN_INS_PER_HOLDER,
} from '../../../src/console/sign-in/sign-in-rate.js';
import { AdminHarness, expectError } from '../../support/admin-harness.js';
import { ConsoleBrowser } from '../../support/console-browser.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';

let gateway: TestGateway;
let desk: AdminHarness;
let aheadMs = 0;

beforeAll(async () => {
  gateway = await startTestGateway();
  desk = await AdminHarness.start(gateway);
  const clock = gateway.app.get(Clock);
  const startedMs = clock.nowMs();
  // It stands still between the steps, so that no bucket fills up by itself.
  clock.nowMs = () => startedMs + aheadMs;
});
afterAll(() => desk.stop());

const signIn = (body: object) => new ConsoleBrowser(gateway.url).signIn(body);
const newestSession = async () => (await desk.list('/sessions?limit=1')).data[0]?.id;

async function refusedFor(answer: ReturnType<typeof signIn>): Promise<number> {
  await expectError(answer, 429, 'rate_limit_exceeded');
  return Number((await answer).headers.get('retry-after'));
}

describe('signing in again and again', () => {
  it('is refused to one key, writes nothing then, and leaves other keys alone', async () => {
    const [one, other] = await Promise.all([gateway.account(1_000n), gateway.account(1_000n)]);
    for (let count = 0; count < SIGN_INS_PER_HOLDER; count += 1) {
      expect((await signIn({ api_key: one.key })).status).toBe(201);
    }
    const newest = await newestSession();
    const seconds = await refusedFor(signIn({ api_key: one.key }));
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(await newestSession()).toBe(newest);
    expect((await signIn({ api_key: other.key })).status).toBe(201);
    aheadMs += seconds * 1_000;
    expect((await signIn({ api_key: one.key })).status).toBe(201);
  });

  it('is refused to one address, and a link that was refused is not used up', async () => {
    aheadMs += 60_000;
    const { accountId, key } = await gateway.account(1_000n);
    const path = `/accounts/${toPublicId('acct', accountId)}/portal-links`;
    const link = (await desk.post(path, {})).json as { url: string };
    const portal = link.url.split('#portal=')[1];
    for (let count = 0; count < SIGN_INS_PER_ADDRESS; count += 1) {
      await signIn({});
      await signIn(count % 2 === 0 ? { token: ADMIN_TOKEN } : { api_key: key });
    }
    expect(await refusedFor(signIn({ portal }))).toBeGreaterThanOrEqual(1);
    await refusedFor(signIn({ token: ADMIN_TOKEN }));
    aheadMs += 60_000;
    expect((await signIn({ portal })).status).toBe(201);
  });
});
