import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ServiceUser } from './service-user.js';

/** Recovery after a crash replays the log, which may take long. */
const START_TIMEOUT_MS = 120_000;
/**
 * Fast shutdown writes a checkpoint. If it takes longer than this, immediate shutdown follows, and the next start
 * recovers.
 */
const STOP_TIMEOUT_MS = 15_000;
const LAST_WORDS = 8;
const READY = 'database system is ready to accept connections';

/** How to start a server. */
export interface PostmasterCommand {
  /** Absolute path of the `postgres` program. */
  readonly program: string;
  readonly args: readonly string[];
  readonly user: ServiceUser;
  readonly onLog: (line: string) => void;
}

type Child = ReturnType<ServiceUser['start']>;

/** One running PostgreSQL server process. */
export class Postmaster {
  /** Settles when the process has ended, whether it was stopped or died. */
  readonly ended: Promise<void>;

  private constructor(private readonly child: Child) {
    this.ended = hasEnded(child) ? Promise.resolve() : once(child, 'exit').then(() => undefined);
  }

  /** Starts a server and waits until it accepts connections. If it does not, throws with the last lines of its log. */
  static async start(command: PostmasterCommand): Promise<Postmaster> {
    const child = command.user.start(command.program, command.args);
    const lastWords: string[] = [];
    const lines = createInterface({ input: child.stderr });
    lines.on('error', () => undefined);
    const ready = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(resolve, START_TIMEOUT_MS, false);
      const answer = (isReady: boolean): void => {
        clearTimeout(timer);
        resolve(isReady);
      };
      child.once('error', (error) => {
        lastWords.push(error.message);
        answer(false);
      });
      // 'close' is emitted after the last line; 'exit' may be emitted before.
      child.once('close', () => {
        answer(false);
      });
      lines.on('line', (line) => {
        command.onLog(line);
        if (lastWords.push(line) > LAST_WORDS) lastWords.shift();
        if (line.includes(READY)) answer(true);
      });
    });
    if (ready) return new Postmaster(child);
    child.kill('SIGQUIT');
    throw new Error(`The embedded PostgreSQL did not start:\n${lastWords.join('\n')}`);
  }

  /** Number of the process. */
  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Requests fast shutdown: open transactions are rolled back, and a checkpoint is written. */
  interrupt(): void {
    this.child.kill('SIGINT');
  }

  /** Stops the server and waits for its end. */
  async stop(): Promise<void> {
    if (hasEnded(this.child)) return;
    this.interrupt();
    const timer = setTimeout(() => this.child.kill('SIGQUIT'), STOP_TIMEOUT_MS);
    await this.ended;
    clearTimeout(timer);
  }
}

function hasEnded(child: Child): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
