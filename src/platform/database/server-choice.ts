import pg, { type ClientConfig } from 'pg';
import { databaseUrlsOf } from '../../common/database-urls.js';

/** Which of several servers a process connects to: the first that takes writes, and the next when it fails. */
export class ServerChoice {
  readonly mustWrite: boolean;
  private readonly urls: readonly string[];
  private index = 0;

  constructor(url: string) {
    const { urls, mustWrite } = databaseUrlsOf(url);
    this.urls = urls;
    this.mustWrite = mustWrite;
  }

  get size(): number {
    return this.urls.length;
  }

  /** The server to try. */
  get url(): string {
    return this.urls[this.index] ?? '';
  }

  /** Reports that this server failed or is read-only: the next one is tried. */
  failed(url: string): void {
    if (url === this.url) this.index = (this.index + 1) % this.urls.length;
  }
}

/** Tries as often as there are servers: each failed try continues with the next one. */
export async function trying<T>(url: string, step: () => Promise<T>): Promise<T> {
  for (let left = new ServerChoice(url).size; ; left -= 1) {
    try {
      return await step();
    } catch (error) {
      if (left <= 1) throw error;
    }
  }
}

type Connected = (error?: Error) => void;

/** The driver's connection, whose messages are not in its types. */
interface Messages {
  on(event: 'parameterStatus', listener: (message: Status) => void): void;
}
interface StartUp {
  getStartupConf(): Record<string, string>;
}
interface Status {
  readonly parameterName: string;
  readonly parameterValue: string;
}
/** The parameter by which servers from version 14 on report that they are read-only. */
const READ_ONLY = new Set(['in_hot_standby', 'default_transaction_read_only']);

/**
 * A client that connects to the chosen server and rejects one that is read-only. A connection that the pool has removed
 * after an error may report another error, such as its end by the server. The first error was reported already; without
 * this listener the second would end the process.
 */
export class ChosenClient extends pg.Client {
  private readonly choice: ServerChoice;
  private readonly url: string;
  private readonly readOnly = new Set<string>();

  constructor(config: ClientConfig & { readonly choice: ServerChoice }) {
    const { choice } = config;
    const { url } = choice;
    super({ ...config, connectionString: withOptions(url, config.options) });
    this.choice = choice;
    this.url = url;
    this.on('error', () => undefined);
    (this as unknown as { readonly connection: Messages }).connection.on(
      'parameterStatus',
      ({ parameterName: name, parameterValue: value }) => {
        if (!READ_ONLY.has(name)) return;
        if (value === 'on') this.readOnly.add(name);
        else this.readOnly.delete(name);
      },
    );
  }

  /** The start-up options of a session; the driver has no setting for the time zone, which every pooler passes on. */
  protected getStartupConf(): Record<string, string> {
    const driver = pg.Client.prototype as unknown as StartUp;
    return { ...driver.getStartupConf.call(this), TimeZone: 'UTC' };
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.Client> | undefined {
    if (callback === undefined) {
      return new Promise((resolve, reject) => {
        this.connect((error) => {
          if (error) reject(error);
          else resolve(this);
        });
      });
    }
    super.connect((error: Error | undefined) => {
      const problem = error ?? this.rejection();
      if (problem !== undefined) this.choice.failed(this.url);
      if (problem !== undefined && error === undefined) void this.end().catch(() => undefined);
      callback(problem);
    });
    return undefined;
  }

  private rejection(): Error | undefined {
    if (!this.choice.mustWrite || this.readOnly.size === 0) return undefined;
    const rejection = new Error('the database server takes no writes; another one is looked for');
    return Object.assign(rejection, { code: '25006' });
  }
}

/** The driver takes the options of the URL in place of its settings; both are needed. */
function withOptions(url: string, options: string | undefined): string {
  const parsed = new URL(url);
  const own = parsed.searchParams.get('options');
  if (own === null || options === undefined) return url;
  parsed.searchParams.set('options', `${options} ${own}`);
  return parsed.href;
}
