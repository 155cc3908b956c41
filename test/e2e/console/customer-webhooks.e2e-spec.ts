import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';
import { type TestAccount } from '../../support/gateway.js';
import { send } from '../../support/http-answer.js';
import { systemProgram } from '../../support/system-program.js';
import { until } from '../../support/until.js';

const PATIENCE_MS = 180_000;
/** Without spaces, which no address may have. */
const MARKUP = '<img/src=x/onerror=document.title=1>';
const SECRET = /^[0-9a-f]{64}$/;
const python = systemProgram('python3');
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;
const GUIDE = readFileSync('docs/guides/webhooks.md', 'utf8');
const RECEIVERS = [
  { name: 'Node', language: 'js', file: 'receiver.mjs', program: process.execPath },
  ...(python === undefined
    ? []
    : [{ name: 'Python', language: 'python', file: 'receiver.py', program: python }]),
];

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describeInBrowser('the webhooks of a customer', () => {
  let desk: ConsoleDesk;
  let account: TestAccount;
  let port: number;
  let folder: string;
  let child: ChildProcess | undefined;
  const printed: string[] = [];

  beforeAll(async () => {
    port = await freePort();
    folder = mkdtempSync(join(tmpdir(), 'receivers-'));
    desk = await ConsoleDesk.start({ EGRESS_ALLOW: `127.0.0.1:${port}` });
  }, PATIENCE_MS);
  afterAll(async () => {
    await desk.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    account = await desk.gateway.account(1_000n, { scopes: ['read', 'call', 'manage'] });
    await desk.signIn(account.key);
    await desk.open('/webhooks', 'Webhooks');
  });
  afterEach(async () => {
    await stopReceiver();
  });

  /** Runs the receiver that the page shows, with a secret. */
  async function startReceiver(receiver: (typeof RECEIVERS)[number], secret: string) {
    const shown = desk.page.getByLabel(`Receiver in ${receiver.name}`, { exact: true });
    const code = (await shown.textContent()) ?? '';
    expect(GUIDE).toContain(`\`\`\`${receiver.language}\n${code}\n\`\`\``);
    const path = join(folder, receiver.file);
    writeFileSync(path, code);
    printed.length = 0;
    const started = spawn(receiver.program, [path], {
      env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child = started;
    const output = createInterface({ input: started.stdout });
    output.on('line', (line) => printed.push(line));
    await until(() => printed.includes('listening'));
  }

  async function stopReceiver() {
    if (child === undefined) return;
    child.kill();
    await once(child, 'exit');
    child = undefined;
  }

  async function makeEndpoint(url = `http://127.0.0.1:${port}/`): Promise<string> {
    await desk.press('New endpoint');
    await desk.type('textbox', 'URL', url);
    await desk.page.keyboard.press('Enter');
    await desk.told(/The endpoint was made/);
    return shownSecret();
  }

  /** Opens the dialogue of an act and does it there: its button has the same words. */
  async function act(words: string): Promise<void> {
    await desk.press(words);
    await desk.page.getByRole('dialog').waitFor();
    await desk.press(words);
  }

  const shownSecret = async () => (await desk.page.getByText(SECRET).textContent()) ?? '';
  const endpoints = async () => {
    const { headers } = account;
    const { json } = await send(`${desk.gateway.url}/v1/webhook-endpoints`, { headers });
    return (json as { data: { id: string; url: string; events: string[] }[] }).data;
  };

  it(
    'say how an account without endpoints begins, and keep the events that are ticked',
    async () => {
      await desk.page.getByText('No endpoint is told the events').waitFor();
      await desk.page.getByText('Nothing was sent yet').waitFor();
      await desk.press('New endpoint');
      await desk.type('textbox', 'URL', `http://127.0.0.1:${port}/?name=${MARKUP}`);
      await desk.type('textbox', 'Secret', 'a-secret-of-my-own');
      await desk.focus('checkbox', /^key\.expiring/);
      await desk.page.keyboard.press('Space');
      await desk.page.keyboard.press('Enter');
      await desk.told(/The endpoint was made/);
      await desk.page.getByText('a-secret-of-my-own').waitFor();
      const [made] = await endpoints();
      expect(made?.events).toHaveLength(5);
      expect(made?.events).not.toContain('key.expiring');
      expect(await desk.faults()).toEqual([]);
      expect(await desk.page.locator('img[src="x"]').count()).toBe(0);
      await desk.open('/webhooks', 'Webhooks');
      expect(await desk.page.getByText('a-secret-of-my-own').count()).toBe(0);
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'say what is wrong with an address in the dialogue, and make nothing',
    async () => {
      await desk.press('New endpoint');
      await desk.type('textbox', 'URL', 'https://10.0.0.1/');
      await desk.page.keyboard.press('Enter');
      await desk.page.getByRole('alert').filter({ hasText: /url/i }).waitFor();
      expect(await endpoints()).toEqual([]);
      desk.complaints.length = 0;
    },
    PATIENCE_MS,
  );

  it.each(RECEIVERS)(
    'show a receiver in $name that takes what is signed with the secret that the page made',
    async (receiver) => {
      await startReceiver(receiver, await makeEndpoint());
      await act('Send a test');
      await desk.told(/The test is on its way/);
      await until(() => printed.some((line) => /^evt_\w+ test$/.test(line)));
      await desk.page.getByText('1, the last: HTTP 204').waitFor();
      const delivery = desk.page.getByRole('cell', { name: /whd_/ });
      const time = await delivery.locator('time').boundingBox();
      const id = await delivery.locator('.mono').boundingBox();
      expect(id?.x).toBe(time?.x);
      expect(await desk.faults()).toEqual([]);
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'give an endpoint another secret, send again what failed, and delete the endpoint, by keyboard',
    async () => {
      const lost = await makeEndpoint();
      const [before] = await endpoints();
      await act('New secret');
      await desk.told(/has a new secret/);
      await desk.page.getByText(lost).waitFor({ state: 'hidden' });
      const secret = await shownSecret();
      const [after, ...others] = await endpoints();
      expect([after?.url, others]).toEqual([before?.url, []]);
      expect(after?.id).not.toBe(before?.id);
      // A dialogue that opens in the row of the old endpoint goes with that row.
      await desk.page.locator(`a[href$="${after?.id}"]`).waitFor();
      await desk.page.locator(`a[href$="${before?.id}"]`).waitFor({ state: 'detached' });

      await act('Send a test');
      await desk.page.getByText('1, the last: connection failed').waitFor();
      const [receiver] = RECEIVERS;
      if (receiver === undefined) throw new Error('there is always Node');
      await startReceiver(receiver, secret);
      await act('Send again');
      await desk.told(/The next attempt is made now/);
      await until(() => printed.some((line) => /^evt_\w+ test$/.test(line)));

      await desk.press('Its deliveries', 'link');
      await desk.page.waitForURL(/endpoint_id=whe_/);
      await desk.page.getByText('delivered', { exact: true }).waitFor();
      await act('Delete');
      await desk.told(/is told no more events/);
      expect(await endpoints()).toEqual([]);
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'are not shown to a key without the scope manage, which is told what it takes',
    async () => {
      const reader = await desk.gateway.account(0n, { scopes: ['read'] });
      await desk.signIn(reader.key);
      await desk.open('/webhooks', 'Webhooks');
      await desk.page.getByText('sign in with a key of scope manage').waitFor();
      expect(await desk.page.getByRole('button', { name: 'New endpoint' }).count()).toBe(0);
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );
});
