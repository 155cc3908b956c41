import 'reflect-metadata';
import { mkdir, rm } from 'node:fs/promises';
import { LedgerAudit } from '../src/billing/audit/ledger-audit.js';
import { startBrowser } from '../test/support/browser.js';
import { startWebhookReceiver } from '../test/support/webhook-receiver.js';
import { makeCustomers, playHistory } from './shots/play-history.js';
import { playPresent, type SeededIds } from './shots/play-present.js';
import { shootScreens } from './shots/shoot-screens.js';
import { ShotsDesk } from './shots/shots-desk.js';
import { type ShotsGateway, startShotsGateway } from './shots/shots-gateway.js';
import { foldHistory, spreadHistory, withoutRollup } from './shots/spread-history.js';

const FOLDER = 'console/shots';
const DAYS = 14;
const SERVER_DOWN = 503;
const NOT_FOUND = 404;

const say = (text: string) => process.stderr.write(`${text}\n`);

/**
 * `npm run console:shots`: plays two weeks of several customers on a sandboxed gateway of its own, and writes a picture of every
 * screen of the console to `console/shots`. Words behind it choose screens, and a number the days: `npm run console:shots -- accounts 3`.
 */
async function shots(said: readonly string[]): Promise<void> {
  const days = Number(said.find((word) => /^[1-9]\d?$/.test(word)) ?? DAYS);
  const words = said.filter((word) => !/^\d+$/.test(word));
  const receivers = await Promise.all(
    [200, SERVER_DOWN, NOT_FOUND].map((status) => startWebhookReceiver(status)),
  );
  const [well, down, wrong] = receivers.map(({ url }) => url);
  if (!well || !down || !wrong) throw new Error('There is no receiver.');
  const gateway = await startShotsGateway(
    receivers.map(({ settings }) => settings.EGRESS_ALLOW).join(','),
  );
  const browser = await startBrowser();
  try {
    const ids = await seed(gateway, { well, down, wrong }, days);
    await rm(FOLDER, { recursive: true, force: true });
    await mkdir(FOLDER, { recursive: true });
    const count = await shootScreens(gateway.url, browser, ids, FOLDER, words);
    say(`Wrote ${count} pictures to ${FOLDER}.`);
  } finally {
    await browser.close();
    await gateway.stop();
    await Promise.all(receivers.map((receiver) => receiver.stop()));
  }
}

async function seed(
  gateway: ShotsGateway,
  receivers: Parameters<typeof playPresent>[2],
  days: number,
): Promise<SeededIds> {
  const { dataSource } = gateway;
  const desk = new ShotsDesk(gateway.url);
  say(`Playing ${days} days of calls…`);
  const customers = await makeCustomers(desk);
  await withoutRollup(gateway, async () => {
    const hours = await playHistory(desk, dataSource, customers, receivers.well, days);
    await spreadHistory(dataSource, hours);
  });
  const ids = await playPresent(desk, customers, receivers);
  await foldHistory(gateway);
  const audit = await gateway.app.get(LedgerAudit).run('full');
  if (!audit.ok) throw new Error(`The books are off: ${JSON.stringify(audit.discrepancies)}`);
  const [{ count }] = await dataSource.query<[{ count: string }]>('SELECT count(*) FROM execution');
  say(`${count} calls; the books are exact.`);
  return ids;
}

await shots(process.argv.slice(2));
