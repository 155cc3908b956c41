import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { auditLedger } from '../../../src/billing/audit/audit.js';
import { loadVendors } from '../../../src/providers/async-json/vendor-files.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import { EmbeddedPostgres } from '../../../src/platform/database/embedded/embedded-postgres.js';
import {
  settingsOf,
  startVendors,
  type VendorGateway,
} from '../../contract/vendors/whole/played-gateway.js';
import type { PlayedVendor } from '../../contract/vendors/whole/played-vendor.js';
import { PLAYED_WIRES } from '../../contract/vendors/whole/played-wires.js';
import { fatalLinesOf } from '../../support/fatal-lines.js';
import { countOption, type OnEnd, runOptions, refuseRun } from '../../support/long-run.js';
import { startGatewayProgram, temporaryFolder } from '../../support/process.js';
import { FUZZED_SETTINGS, isCleanVerdict, VendorFuzz, type VendorVerdict } from './vendor-fuzz.js';

/**
 * `--vendors`: `--count` histories from `--seed` on with each vendor of a shipped file of videos, or with `--vendor ID` alone. The verdict goes
 * to bench/results/fuzz-vendors.json. A violation names the seed that plays its history again.
 */
const values = runOptions({
  options: {
    vendors: { type: 'boolean' },
    vendor: { type: 'string' },
    count: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
  },
});
const COUNT = countOption('--count', values.count);
const SEED = countOption('--seed', values.seed, 0);
const AT_ONCE = 300;
const RESULT = fileURLToPath(new URL('../../../bench/results/fuzz-vendors.json', import.meta.url));
const wires = PLAYED_WIRES.filter(({ id }) => values.vendor === undefined || values.vendor === id);
if (wires.length === 0) {
  refuseRun(`--vendor is one of ${PLAYED_WIRES.map(({ id }) => id).join(', ')}.`);
}

/** Plays the histories of all vendors at one gateway. Whether each was played, and none has violated anything. */
export async function fuzzVendors(onEnd: OnEnd): Promise<boolean> {
  const vendors = await startVendors(wires);
  onEnd(() => Promise.all(vendors.map((vendor) => vendor.stop())));
  const starting = EmbeddedPostgres.start({
    dataDir: await temporaryFolder(),
    // Nobody pulls the plug here.
    settings: { fsync: 'off' },
  });
  // A run that is ended while something starts ends it as well.
  onEnd(async () => (await starting).stop());
  const { url: databaseUrl } = await starting;
  const program = startGatewayProgram({
    ...settingsOf(vendors),
    ...FUZZED_SETTINGS,
    DATABASE_URL: databaseUrl,
    DATA_DIR: await temporaryFolder(),
    LOG_LEVEL: 'fatal',
  });
  onEnd(async () => (await program).end('SIGKILL'));
  const gateway = await program;
  const dataSource = await createDataSource({ url: databaseUrl }).initialize();
  onEnd(() => dataSource.destroy());
  for (const { id, operation } of loadVendors(undefined).values()) {
    if (operation !== undefined)
      process.stdout.write(`${id}: not played, it is for ${operation}\n`);
  }
  process.stdout.write(
    `${COUNT} histories from ${SEED} on with each of ${wires.length} vendors, at ${gateway.url}\n`,
  );
  const desk: VendorGateway = {
    url: gateway.url,
    dataSource,
    account: (credit) => gateway.account(credit),
    operate: (path, body) => gateway.admin('POST', path, body),
  };
  const verdicts: VendorVerdict[] = [];
  for (const vendor of vendors) verdicts.push(await playVendor(desk, vendor));
  const { ok: audit } = await auditLedger(dataSource);
  const isAlive = gateway.child.exitCode === null && gateway.child.signalCode === null;
  const fatalLines = fatalLinesOf(gateway.stdout()).length;
  const result = { count: COUNT, seed: SEED, isAlive, fatalLines, audit, verdicts };
  await writeFile(RESULT, `${JSON.stringify(result, null, 2)}\n`);
  return verdicts.every(isCleanVerdict) && audit && isAlive && fatalLines === 0;
}

async function playVendor(desk: VendorGateway, vendor: PlayedVendor): Promise<VendorVerdict> {
  const began = performance.now();
  const verdict = await new VendorFuzz(desk, vendor).run(COUNT, SEED, AT_ONCE);
  const seconds = Math.round((performance.now() - began) / 1_000);
  const { violations, ...figures } = verdict;
  const line = { ...figures, seconds, violations: violations.length };
  process.stdout.write(`${[JSON.stringify(line), ...violations.slice(0, 20)].join('\n')}\n`);
  return verdict;
}
