import pg, { type ClientConfig, type QueryResult } from 'pg';
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
  on(event: 'errorMessage', listener: (message: { readonly code?: string }) => void): void;
}
interface StartUp {
  getStartupConf(): Record<string, string>;
}
interface Status {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/** SQLSTATE of a write on a server that takes none. */
const READ_ONLY_ERROR = '25006';
/** Whether a session takes no writes, for a server or a pooler that does not report it. */
const TAKES_NO_WRITES = `SELECT pg_is_in_recovery() AS standby, current_setting('default_transaction_read_only') = 'on' AS read_only`;
/** Errors after which a session is of no use: its server takes no writes any more, or ends (admin_shutdown, crash_shutdown). */
const ENDING = new Set([READ_ONLY_ERROR, '57P01', '57P02']);
interface WritesTaken {
  readonly standby: boolean;
  readonly read_only: boolean;
}
/** However many servers there are, each has this long. */
const MIN_CONNECT_MS = 1_000;
const STANDBY = 'in_hot_standby';
/** The parameters by which servers from version 14 on report that they are read-only. */
const READ_ONLY = new Set([STANDBY, 'default_transaction_read_only']);

/** The server was reached, and it takes no writes. Its `code` is that of a write on such a server. */
export class ReadOnlyServerError extends Error {
  override readonly name = 'ReadOnlyServerError';
  readonly code = READ_ONLY_ERROR;

  /** `isStandby`: it follows another server; else its writes are switched off. */
  constructor(isStandby: boolean) {
    super(
      isStandby
        ? 'the database is a standby, in recovery: it takes no writes before it is promoted'
        : 'the database is read-only (default_transaction_read_only)',
    );
  }
}

/**
 * A client that connects to the chosen server and rejects one that is read-only. A connection that the pool has removed
 * after an error may report another error, such as its end by the server. The first error was reported already; without
 * this listener the second would end the process.
 */
export class ChosenClient extends pg.Client {
  private readonly choice: ServerChoice;
  private readonly url: string;
  private readonly readOnly = new Set<string>();
  private reportsWrites = false;
  private isEnding = false;

  /** The time limit for a connection is shared by all servers that may have to be tried within it. */
  constructor(config: ClientConfig & { readonly choice: ServerChoice }) {
    const { choice, connectionTimeoutMillis: limitMs = 0 } = config;
    const { url } = choice;
    super({
      ...config,
      connectionString: withOptions(url, config.options),
      ...(limitMs > 0 && {
        connectionTimeoutMillis: Math.max(MIN_CONNECT_MS, Math.floor(limitMs / choice.size)),
      }),
    });
    this.choice = choice;
    this.url = url;
    this.on('error', () => undefined);
    const { connection } = this as unknown as { readonly connection: Messages };
    connection.on('parameterStatus', ({ parameterName: name, parameterValue: value }) => {
      if (!READ_ONLY.has(name)) return;
      this.reportsWrites = true;
      if (value === 'on') this.readOnly.add(name);
      else this.readOnly.delete(name);
    });
    connection.on('errorMessage', ({ code = '' }) => {
      if (!ENDING.has(code)) return;
      this.isEnding = true;
      if (code === READ_ONLY_ERROR) choice.failed(url);
    });
  }

  /** Whether nothing more may be asked over this connection: its server ends, or takes no writes any more. */
  get isUnfit(): boolean {
    return this.isEnding || (this.choice.mustWrite && this.readOnly.size > 0);
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
    const finish = (error: Error | null | undefined): void => {
      const problem = error ?? this.rejection();
      if (problem !== undefined) {
        this.choice.failed(this.url);
        void this.end().catch(() => undefined);
      }
      callback(problem);
    };
    // The driver says null where there is no error.
    super.connect((error: Error | null | undefined) => {
      const isSure = this.reportsWrites && this.readOnly.size === 0;
      if (error || isSure || !this.choice.mustWrite) finish(error);
      else this.askForWrites(finish);
    });
    return undefined;
  }

  /** Asks what a server before version 14 does not report, and a pooler may report as it was some time ago. */
  private askForWrites(finish: (error?: Error | null) => void): void {
    const told = (error: Error | null, result?: QueryResult<WritesTaken>): void => {
      const [row] = result?.rows ?? [];
      if (row !== undefined) this.readOnly.clear();
      if (row?.standby) this.readOnly.add(STANDBY);
      if (row?.read_only) this.readOnly.add('default_transaction_read_only');
      finish(error);
    };
    this.query<WritesTaken>(TAKES_NO_WRITES, told);
  }

  private rejection(): Error | undefined {
    if (!this.choice.mustWrite || this.readOnly.size === 0) return undefined;
    return new ReadOnlyServerError(this.readOnly.has(STANDBY));
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
