import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { auditLedger } from '../../../src/billing/audit/audit.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import { EmbeddedPostgres } from '../../../src/platform/database/embedded/embedded-postgres.js';
import {
  settingsOf,
  startVendors,
  type VendorGateway,
} from '../../contract/vendors/whole/played-gateway.js';
import { PLAYED_WIRES } from '../../contract/vendors/whole/played-wires.js';
import { fatalLinesOf } from '../../support/fatal-lines.js';
import {
  cleanUp,
  type GatewayProgram,
  startGatewayProgram,
  temporaryFolder,
} from '../../support/process.js';
import { FUZZED_SETTINGS, VendorFuzz, type VendorVerdict } from './vendor-fuzz.js';

/**
 * `--vendors`: `--count` histories from `--seed` on with each vendor of a shipped file, or with `--vendor ID` alone. The verdict goes
 * to bench/results/fuzz-vendors.json. A violation names the seed that plays its history again.
 */
const { values } = parseArgs({
  options: {
    vendors: { type: 'boolean' },
    vendor: { type: 'string' },
    count: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
  },
});
const AT_ONCE = 300;
const RESULT = fileURLToPath(new URL('../../../bench/results/fuzz-vendors.json', import.meta.url));
const wires = PLAYED_WIRES.filter(({ id }) => values.vendor === undefined || values.vendor === id);
if (wires.length === 0) {
  throw new Error(`--vendor is one of ${PLAYED_WIRES.map(({ id }) => id).join(', ')}`);
}

const vendors = await startVendors(wires);
const server = await EmbeddedPostgres.start({
  dataDir: await temporaryFolder(),
  // Nobody pulls the plug here.
  settings: { fsync: 'off' },
});
let gateway: GatewayProgram | undefined;
try {
  gateway = await startGatewayProgram({
    ...settingsOf(vendors),
    ...FUZZED_SETTINGS,
    DATABASE_URL: server.url,
    DATA_DIR: await temporaryFolder(),
    LOG_LEVEL: 'fatal',
  });
  const dataSource = await createDataSource({ url: server.url }).initialize();
  const program = gateway;
  const desk: VendorGateway = {
    url: program.url,
    dataSource,
    account: (credit) => program.account(credit),
    operate: (path, body) => program.admin('POST', path, body),
  };
  const verdicts: VendorVerdict[] = [];
  for (const vendor of vendors) {
    const began = performance.now();
    const verdict = await new VendorFuzz(desk, vendor).run(
      Number(values.count),
      Number(values.seed),
      AT_ONCE,
    );
    verdicts.push(verdict);
    const seconds = Math.round((performance.now() - began) / 1_000);
    const { violations, ...figures } = verdict;
    const line = { ...figures, seconds, violations: violations.length };
    const text = [JSON.stringify(line), ...violations.slice(0, 20)];
    process.stdout.write(`${text.join('\n')}\n`);
  }
  const { ok: audit } = await auditLedger(dataSource);
  await dataSource.destroy();
  const isAlive = gateway.child.exitCode === null;
  const fatalLines = fatalLinesOf(gateway.stdout()).length;
  await writeFile(RESULT, `${JSON.stringify({ isAlive, fatalLines, audit, verdicts }, null, 2)}\n`);
  const isClean = verdicts.every(({ violations }) => violations.length === 0);
  process.exitCode = isClean && audit && isAlive && fatalLines === 0 ? 0 : 1;
} finally {
  await gateway?.end('SIGKILL');
  await server.stop();
  await cleanUp();
  await Promise.all(vendors.map((vendor) => vendor.stop()));
}
