import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Locator, Page } from 'playwright-core';
import { type Browser, startBrowser } from './browser.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from './gateway.js';

const PATIENCE_MS = 30_000;
const MOST_TABS = 120;
const HEIGHT = 900;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** What axe finds, in words. */
const findings = (
  rules: string,
) => `axe.run(document, { resultTypes: ['violations']${rules} }).then(({ violations }) =>
  JSON.stringify(violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html + ' ' + failureSummary).join(' | '))))`;
/** All rules at one width and theme, and at the other of both; those of colours at every one. */
const LOOKS = [
  [1_280, 'light', findings('')],
  [1_280, 'dark', findings(", runOnly: ['color-contrast']")],
  [390, 'dark', findings('')],
  [390, 'light', findings(", runOnly: ['color-contrast']")],
] as const;

/** Resolves when what was pressed is shown. */
const TWO_PICTURES =
  'new Promise((done) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => setTimeout(done, 20)))))';

/** Amounts in large figures that do not stand in one line. */
const BROKEN_AMOUNTS = `[...document.querySelectorAll('.figures .number')]
  .filter((amount) => amount.getClientRects().length > 1).map((amount) => amount.textContent)`;

type Role = Parameters<Page['getByRole']>[0];

/** Where the console is served. */
type Served = Pick<TestGateway, 'url' | 'stop'>;

/** A whole gateway with the console, and a browser that has it open. */
export class ConsoleDesk<G extends Served = TestGateway> {
  /** What the console of the browser said that is no information, policy violations included. */
  readonly complaints: string[] = [];

  private constructor(
    readonly gateway: G,
    private readonly browser: Browser,
    readonly page: Page,
  ) {
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      const { url } = message.location();
      // Nobody is signed in yet: that is asked for, and told by 401.
      if (url.endsWith('/console/session')) return;
      if (['error', 'warning'].includes(message.type())) {
        this.complaints.push(`${message.text()} ${url}`);
      }
    });
  }

  /** Starts both. */
  static async start(settings: NodeJS.ProcessEnv = {}): Promise<ConsoleDesk> {
    return ConsoleDesk.before(await startTestGateway(settings));
  }

  /** A browser before a gateway that runs already, and that {@link stop} stops. */
  static async before<G extends Served>(gateway: G): Promise<ConsoleDesk<G>> {
    const browser = await startBrowser();
    return new ConsoleDesk(gateway, browser, await browser.context.newPage());
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.gateway.stop();
  }

  /** Opens a path of the console and waits until a heading tells that it is there. */
  async open(path: string, heading: string | RegExp): Promise<void> {
    await this.page.goto(`${this.gateway.url}/console${path}`);
    await this.page.getByRole('heading', { level: 1, name: heading }).waitFor();
  }

  /** Signs in by keyboard, as the operator or with a key. */
  async signIn(secret = ADMIN_TOKEN): Promise<void> {
    const isOperator = secret === ADMIN_TOKEN;
    // What the open page still asks for would be refused without its session.
    await this.page.goto('about:blank');
    await this.page.context().clearCookies();
    await this.open('/', 'Sign in');
    await this.type('textbox', isOperator ? /^Operator token/ : /^API key/, secret);
    await this.page.keyboard.press('Enter');
    await this.page.getByRole('button', { name: 'Sign out' }).waitFor();
  }

  /** An operator's call of the API, beside the page. */
  async admin<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(this.gateway.url + path, {
      method,
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        ...(body && { 'content-type': 'application/json', 'idempotency-key': path }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as T;
  }

  /** Presses Tab until an element has the focus, in the dialogue if one is open; throws where the keyboard does not reach it. */
  async focus(role: Role, name: string | RegExp): Promise<Locator> {
    const all = this.page.getByRole(role, { name });
    await all.first().waitFor();
    const dialog = this.page.getByRole('dialog');
    const isInDialog = (await dialog.count()) > 0;
    const wanted = (isInDialog ? dialog.getByRole(role, { name }) : all).first();
    for (let pressed = 0; pressed < MOST_TABS; pressed += 1) {
      if (await wanted.evaluate((element) => element === element.ownerDocument.activeElement)) {
        return wanted;
      }
      await this.page.keyboard.press('Tab');
    }
    throw new Error(`The keyboard does not reach the ${role} ${String(name)}.`);
  }

  /** Goes to a button or link with the keyboard, and presses it. */
  async press(name: string | RegExp, role: Role = 'button'): Promise<void> {
    await this.focus(role, name);
    await this.page.keyboard.press('Enter');
    // A dialogue opens after the next picture; the next look must find it. A new page has no such wait.
    await this.page.evaluate(TWO_PICTURES).catch(() => undefined);
  }

  /** Goes to a field with the keyboard, and types over what it has. */
  async type(role: Role, name: string | RegExp, text: string): Promise<void> {
    await this.focus(role, name);
    await this.page.keyboard.press('Control+a');
    await this.page.keyboard.type(text);
  }

  /** What the line at the foot says was done. */
  async told(words: RegExp): Promise<void> {
    await this.page.getByRole('status').filter({ hasText: words }).first().waitFor();
  }

  /** What is wrong with what is open, at both widths, in light and dark: findings of axe, what is wider than the page, and broken amounts. */
  async faults(): Promise<string[]> {
    const faults: string[] = [];
    const session = await this.page.context().newCDPSession(this.page);
    const { frameTree } = await session.send('Page.getFrameTree');
    // A world of its own, as the policy of the page lets nothing else in.
    const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
      frameId: frameTree.frame.id,
    });
    await session.send('Runtime.evaluate', { expression: AXE, contextId });
    for (const [width, colorScheme, expression] of LOOKS) {
      await this.page.setViewportSize({ width, height: HEIGHT });
      await this.page.emulateMedia({ colorScheme });
      const { result } = await session.send('Runtime.evaluate', {
        ...{ expression, contextId, awaitPromise: true, returnByValue: true },
      });
      const found = JSON.parse(String(result.value)) as string[];
      faults.push(...found.map((fault) => `${width} ${colorScheme}: ${fault}`));
      const wide = await this.page.evaluate<number>('document.documentElement.scrollWidth');
      if (wide > width) faults.push(`${width}: the page is ${wide} pixels wide`);
      for (const amount of await this.page.evaluate<string[]>(BROKEN_AMOUNTS)) {
        faults.push(`${width}: the amount ${amount} is broken`);
      }
    }
    await session.detach();
    await this.page.setViewportSize({ width: 1_280, height: HEIGHT });
    return faults;
  }
}
