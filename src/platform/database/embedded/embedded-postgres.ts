import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterPaths, prepareCluster } from './cluster.js';
import { DataDirInUseError, DataDirLock } from './data-dir-lock.js';
import { stopOrphans } from './orphan-processes.js';
import { Postmaster, type PostmasterCommand } from './postmaster.js';

/** Waits before each attempt to restart a server that died. Its remaining sessions may delay the restart. */
const RESTART_DELAYS_MS = [100, 200, 500, 1000, 2000, 5000, 10_000];
/** After a server has run for this long, its restarts are counted from the beginning again. */
const PROVEN_AFTER_MS = 60_000;

/** Options of an embedded server. */
export interface EmbeddedPostgresOptions {
  /** The gateway's data directory; the server lives in `postgres` below it. */
  readonly dataDir: string;
  /** Called with every line that the server logs. */
  readonly onLog?: (line: string) => void;
  /** Called when the server died and every attempt to restart it failed. */
  readonly onFailure?: (error: Error) => void;
  /** Server settings (`fsync`, …) that replace ours. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A reachable server, and how to release it. */
export interface RunningPostgres {
  /** Connection URL; its user is the server's superuser. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * The PostgreSQL that comes with the gateway: no TCP, and one Unix socket that only its own user can open. It ends with
 * the gateway, is restarted when it dies alone, and starts after a kill of either. One per data directory.
 */
export class EmbeddedPostgres implements RunningPostgres {
  private readonly stopper = new AbortController();
  private readonly supervision: Promise<void>;
  private stopped: Promise<void> | undefined;
  private tries = 0;
  private readonly whenExiting = (): void => {
    this.postmaster.interrupt();
  };

  private constructor(
    private readonly options: EmbeddedPostgresOptions,
    private readonly paths: ClusterPaths,
    private readonly lock: DataDirLock,
    private readonly command: PostmasterCommand,
    private postmaster: Postmaster,
  ) {
    // For systems that cannot end a child together with its parent.
    process.once('exit', this.whenExiting);
    this.supervision = this.supervise();
  }

  /**
   * Starts the server; creates its data on first use. Throws {@link DataDirInUseError} when another process runs one
   * there, and an Error with advice when it cannot run on this system.
   */
  static async start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    const paths = await ClusterPaths.in(options.dataDir);
    const lock = await DataDirLock.acquire(paths.dataDir);
    try {
      const log = options.onLog ?? (() => undefined);
      const command = await prepareCluster(paths, options.settings ?? {}, log);
      const postmaster = await Postmaster.start(command);
      return new EmbeddedPostgres(options, paths, lock, command, postmaster);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /**
   * The server of the gateway that runs on this data directory, or a new one. A gateway's server may still be starting,
   * so retry the connection. For operator commands.
   */
  static async attachOrStart(options: EmbeddedPostgresOptions): Promise<RunningPostgres> {
    const paths = await ClusterPaths.in(options.dataDir);
    const running = { url: paths.url, stop: () => Promise.resolve() };
    // Waits for the lock of a running gateway; if its server listens already, no lock is needed.
    if (await paths.isListening()) return running;
    try {
      return await EmbeddedPostgres.start(options);
    } catch (error) {
      if (error instanceof DataDirInUseError) return running;
      throw error;
    }
  }

  /** Connection URL over the Unix socket. */
  get url(): string {
    return this.paths.url;
  }

  /** Process number of the server. */
  get pid(): number | undefined {
    return this.postmaster.pid;
  }

  /** Stops the server with a checkpoint and frees the data directory. May be called more than once. */
  stop(): Promise<void> {
    this.stopped ??= this.shutDown();
    return this.stopped;
  }

  private async shutDown(): Promise<void> {
    this.stopper.abort();
    await this.postmaster.stop();
    await this.supervision;
    await this.lock.release();
    process.off('exit', this.whenExiting);
  }

  private async supervise(): Promise<void> {
    const { signal } = this.stopper;
    let failure = new Error('The embedded PostgreSQL stopped again after each restart');
    for (;;) {
      const proven = setTimeout(() => (this.tries = 0), PROVEN_AFTER_MS).unref();
      await this.postmaster.ended;
      clearTimeout(proven);
      const delayMs = RESTART_DELAYS_MS[this.tries++];
      if (delayMs === undefined && !signal.aborted) this.options.onFailure?.(failure);
      if (delayMs === undefined || signal.aborted) return;
      failure = (await this.restart(delayMs, signal)) ?? failure;
    }
  }

  /** Why the server could not be restarted; undefined otherwise. */
  private async restart(delayMs: number, signal: AbortSignal): Promise<Error | undefined> {
    try {
      await sleep(delayMs, undefined, { signal });
      await stopOrphans(this.paths.cluster);
      this.postmaster = await Postmaster.start(this.command);
      // stop() may have been called during the restart, when only the dead server was known.
      if (signal.aborted) await this.postmaster.stop();
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }
}
