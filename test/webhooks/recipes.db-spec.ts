import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, SystemClock } from '../../src/common/time/clock.js';
import { systemProgram } from '../support/system-program.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { HandClock, WebhookHarness } from '../support/webhook-harness.js';

const SECRET = 'geheimer Schlüssel 🔑';
const TIMEOUT_MS = 10_000;
const FIVE_MINUTES_MS = 300_000;
const python = systemProgram('python3');
const RECIPES = [
  { language: 'js', file: 'receiver.mjs', program: process.execPath },
  ...(python === undefined ? [] : [{ language: 'python', file: 'receiver.py', program: python }]),
];

const docs = readFileSync('docs/guides/webhooks.md', 'utf8');

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A receiver as docs/guides/webhooks.md has it. */
async function startRecipe({ language, file, program }: (typeof RECIPES)[number]) {
  const [, code = ''] = new RegExp(`\`\`\`${language}\n([^]*?)\n\`\`\``).exec(docs) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'recipe-'));
  const path = join(folder, file);
  writeFileSync(path, code);
  const port = await freePort();
  const child = spawn(program, [path], {
    env: { ...process.env, WEBHOOK_SECRET: SECRET, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  output.on('line', (line) => lines.push(line));
  await once(output, 'line');
  return { child, lines, folder, url: `http://127.0.0.1:${port}/hook` };
}

describe.each(RECIPES)('The receiver in $language of docs/guides/webhooks.md', (recipe) => {
  let database: TestDatabase;
  let child: ChildProcess;
  let lines: string[];
  let url: string;
  let folder: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    ({ child, lines, url, folder } = await startRecipe(recipe));
  });
  afterAll(async () => {
    child.kill();
    await once(child, 'exit');
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    lines.length = 0;
  });

  async function deliver(body: string, secret: string | null, clock: Clock = new SystemClock()) {
    const harness = new WebhookHarness(database.dataSource, { clock, timeoutMs: TIMEOUT_MS });
    const ownerId = await harness.enqueue(url, body, secret);
    const worker = harness.worker();
    await worker.tick();
    await worker.whenIdle();
    const { id, status, attempts } = await harness.deliveryOf(ownerId);
    return { id, status, statusCode: attempts.at(-1)?.statusCode };
  }

  /** What the receiver has printed, once it has printed something. */
  async function printed(): Promise<string[]> {
    while (lines.length === 0) await sleep(10);
    return lines;
  }

  it('accepts what the gateway signs', async () => {
    const body = '{"id":"task_1","status":"succeeded","text":"žluťoučký kůň \u2028"}';
    expect(await deliver(body, SECRET)).toMatchObject({ status: 'delivered', statusCode: 204 });
    expect(await printed()).toEqual(['task_1 succeeded']);
  });

  it('accepts an event of an account', async () => {
    const body = '{"id":"evt_1","object":"event","type":"balance.low","data":{}}';
    expect(await deliver(body, SECRET)).toMatchObject({ status: 'delivered' });
    expect(await printed()).toEqual(['evt_1 balance.low']);
  });

  it('does the work once for a delivery that comes twice', async () => {
    const body = '{"id":"task_2","status":"failed"}';
    await deliver(body, SECRET);
    expect(await deliver(body, SECRET)).toMatchObject({ status: 'delivered' });
    expect(await printed()).toEqual(['task_2 failed']);
  });

  it.each([
    ['another secret', 'another secret of 16', 0],
    ['no signature', null, 0],
    ['a signature older than five minutes (LIMIT-13)', SECRET, -FIVE_MINUTES_MS - 5_000],
    ['a signature of the future', SECRET, FIVE_MINUTES_MS + 5_000],
  ])('refuses %s', async (_what, secret, offsetMs) => {
    const clock = new HandClock(Date.now() + offsetMs);
    expect(await deliver('{"id":"task_3","status":"failed"}', secret, clock)).toMatchObject({
      status: 'failed',
      statusCode: 400,
    });
    expect(lines).toEqual([]);
  });
});
