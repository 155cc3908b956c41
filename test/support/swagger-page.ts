import type { Locator, Page, Response } from 'playwright-core';
import type { Browser } from './browser.js';

const PATIENCE_MS = 60_000;

/** What the page did for an operation. */
export interface Tried {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  readonly json: unknown;
  /** The operation's part of the page. */
  readonly block: Locator;
}

/** What is filled in before an operation is executed. The page's own values are used for the rest. */
export interface Filling {
  readonly parameters?: Readonly<Record<string, string>>;
  readonly body?: (offered: Record<string, unknown>) => object;
  readonly example?: string;
  /** Files by the names of their fields. */
  readonly files?: Readonly<Record<string, string>>;
}

/** What is used of the page's own window. */
interface PageWindow {
  readonly document: { adoptedStyleSheets: object[] };
  readonly CSSStyleSheet: new () => { replaceSync(text: string): void };
}

/** Runs in the page: what moves for a second cannot be clicked before, and Playwright looks again after half a second only. */
function standStill(): void {
  const { document, CSSStyleSheet } = globalThis as unknown as PageWindow;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('* { transition: none !important; animation: none !important; }');
  document.adoptedStyleSheets = [sheet];
}

/** Swagger UI as a person uses it. */
export class SwaggerPage {
  /** Errors of scripts and of the console. */
  readonly complaints: string[] = [];

  private constructor(readonly page: Page) {}

  /** Opens the page of a gateway. */
  static async open({ context }: Browser, gatewayUrl: string): Promise<SwaggerPage> {
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const swagger = new SwaggerPage(page);
    page.on('pageerror', ({ message }) => swagger.complaints.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error')
        swagger.complaints.push(`${message.text()} ${message.location().url}`);
    });
    await page.goto(`${gatewayUrl}/docs`);
    await page.evaluate(standStill);
    await page.locator('.opblock').first().waitFor();
    return swagger;
  }

  /** Fills in a key or a token by the name of its scheme. */
  async authorize(scheme: string, token: string): Promise<void> {
    await this.page.click('button.authorize');
    const part = this.page.locator('.modal-ux .auth-container', { hasText: scheme });
    await part.locator('input').fill(token);
    await part.locator('button.authorize').click();
    await this.page.click('button.btn-done');
  }

  /** Shows only the operations that have these words; a page that shows all of them draws all again after each click. */
  async search(words: string): Promise<void> {
    await this.page.locator('.operation-filter-input').fill(words);
  }

  /** Opens an operation, tries it out, and returns the gateway's answer. */
  async execute(method: string, path: string, filling: Filling = {}): Promise<Tried> {
    const block = this.block(method, path);
    if ((await block.locator('.opblock-body').count()) === 0)
      await block.locator('.opblock-summary-control').click();
    await block.locator('button.try-out__btn').first().waitFor();
    const tryOut = block.locator('button.try-out__btn:not(.cancel)');
    if ((await tryOut.count()) > 0) await tryOut.click();
    for (const [name, value] of Object.entries(filling.parameters ?? {})) {
      await block.locator(`tr[data-param-name="${name}"] input`).fill(value);
    }
    if (filling.example !== undefined)
      await block.locator('.examples-select select').first().selectOption(filling.example);
    for (const [name, path] of Object.entries(filling.files ?? {})) {
      await block.locator(`tr[data-property-name="${name}"] input[type=file]`).setInputFiles(path);
    }
    if (filling.body) {
      const text = block.locator('textarea.body-param__text');
      const offered = JSON.parse(await text.inputValue()) as Record<string, unknown>;
      await text.fill(JSON.stringify(filling.body(offered)));
    }
    const [sent = ''] = path.split('#');
    const pattern = new RegExp(`${sent.replace(/\{\w+\}/g, '[^/]+')}([?#].*)?$`);
    const answered = this.page.waitForResponse(
      (answer) => answer.request().method() === method.toUpperCase() && pattern.test(answer.url()),
    );
    await block.locator('button.execute').click();
    const answer = await answered;
    await block.locator('.live-responses-table .response-col_status').first().waitFor();
    return { ...(await contentOf(answer)), block };
  }

  /** Folds an operation again. */
  async close(method: string, path: string): Promise<void> {
    await this.block(method, path).locator('.opblock-summary-control').click();
  }

  private block(method: string, path: string): Locator {
    return this.page.locator(`.opblock-${method.toLowerCase()}`, {
      has: this.page.locator(`[data-path="${path}"]`),
    });
  }
}

async function contentOf(answer: Response): Promise<Omit<Tried, 'block'>> {
  const headers = answer.headers();
  const bytes = answer.status() === 204 ? Buffer.alloc(0) : await answer.body();
  const isJson = (headers['content-type'] ?? '').includes('json') && bytes.length > 0;
  return {
    status: answer.status(),
    headers,
    bytes,
    json: isJson ? (JSON.parse(bytes.toString()) as unknown) : undefined,
  };
}
