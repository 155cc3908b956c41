import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { settingsOf, startVendors } from '../../contract/vendors/whole/played-gateway.js';
import type { PlayedVendor } from '../../contract/vendors/whole/played-vendor.js';
import { PLAYED_WIRES } from '../../contract/vendors/whole/played-wires.js';
import { repeatableRandom } from '../../media/fuzz.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { FUZZED_SETTINGS, isCleanVerdict, VendorFuzz } from './vendor-fuzz.js';
import { vendorHistory } from './vendor-histories.js';

/** Of each vendor; `npm run test:fuzz -- --vendors` plays more. */
const COUNT = 30;
/** Few, because the vendors share a process with the gateway here. */
const AT_ONCE = 10;
const SEED = 20_261;
const TIMEOUT_MS = 300_000;

let vendors: PlayedVendor[];
let gateway: TestGateway;

beforeAll(async () => {
  vendors = await startVendors();
  const settings = settingsOf(vendors);
  for (const { wire } of vendors) process.env[wire.keyVariable] = settings[wire.keyVariable];
  gateway = await startTestGateway({
    ...settings,
    ...FUZZED_SETTINGS,
    UPSTREAM_TIMEOUT_MS: '5000',
    TASK_DEADLINE_MS: '25000',
  });
});
afterAll(async () => {
  for (const { keyVariable } of PLAYED_WIRES) Reflect.deleteProperty(process.env, keyVariable);
  await gateway.stop();
  await Promise.all(vendors.map((vendor) => vendor.stop()));
});

it(
  `${COUNT} histories with each vendor of a file bring no free video, no second job, no hang, and leave exact books`,
  async () => {
    const operator = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const desk = {
      url: gateway.url,
      dataSource: gateway.dataSource,
      account: (credit: bigint) => gateway.account(credit),
      operate: (path: string, body: object) =>
        postJson(`${gateway.url}/admin${path}`, operator, body),
    };
    const verdicts = await Promise.all(
      vendors.map((vendor) => new VendorFuzz(desk, vendor).run(COUNT, SEED, AT_ONCE)),
    );
    expect(
      verdicts.flatMap(({ vendor, violations }) => violations.map((v) => `${vendor} ${v}`)),
    ).toEqual([]);
    expect(verdicts.filter((verdict) => !isCleanVerdict(verdict))).toEqual([]);
    for (const { ends } of verdicts) {
      const known = ['failed', 'reconciliation_required', 'succeeded'];
      expect(Object.keys(ends)).toEqual(expect.arrayContaining(known));
    }
    await gateway.expectCleanBooks();
  },
  TIMEOUT_MS,
);

it('a seed makes the same history again', () => {
  const [wire] = PLAYED_WIRES;
  if (!wire) throw new Error('no vendor');
  const made = () => vendorHistory(wire, repeatableRandom(SEED));
  expect(made()).toEqual(made());
});
