import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';
import type { TestAccount } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';

const PATIENCE_MS = 120_000;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

describeInBrowser('an operator in the role viewer', () => {
  let desk: ConsoleDesk;
  let account: TestAccount;
  let call: string;

  beforeAll(async () => {
    desk = await ConsoleDesk.start();
    account = await desk.gateway.account();
    const spoken = await postJson(`${desk.gateway.url}/v1/audio/speech`, account.headers, HELLO);
    call = spoken.headers.get('x-gateway-execution-id') ?? '';
    await desk.signIn();
    await desk.gateway.dataSource.query(`UPDATE console_session SET role = 'viewer'`);
  }, PATIENCE_MS);
  afterAll(() => desk.stop());

  it(
    'is offered no act, sees what was charged, and gets 403 for a write that the page does not offer',
    async () => {
      const path = `/accounts/${toPublicId('acct', account.accountId)}`;
      for (const [screen, heading] of [
        ['/accounts', 'Accounts'],
        [path, 'test'],
        [`/calls/${call}`, call],
        ['/decide', 'To decide'],
      ] as const) {
        await desk.open(screen, heading);
        await desk.page.getByText('viewer').first().waitFor();
        const act = /^(Credit|Correct|Disable|New account|New key|Revoke|Refund|It was made)$/;
        expect([screen, await desk.page.getByRole('button', { name: act }).count()]).toEqual([
          screen,
          0,
        ]);
      }
      await desk.open(`/calls/${call}`, call);
      await desk.page.getByText('Settled: $0.0006 charged').waitFor();
      expect(desk.complaints).toEqual([]);
      const write = `fetch('/console/api/admin/accounts', { method: 'POST', body: '{"name":"x"}',
        headers: { 'content-type': 'application/json' } }).then(({ status }) => status)`;
      expect(await desk.page.evaluate<number>(write)).toBe(403);
    },
    PATIENCE_MS,
  );
});
