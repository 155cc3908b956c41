import { freePort, type Program, runProgram, temporaryFolder } from './process.js';
import { until } from './until.js';
import { systemProgram } from './system-program.js';

/** A real Redis on loopback that can be killed and started again at the same address. */
export class RedisServer {
  private program: Program | undefined;

  private constructor(
    private readonly path: string,
    private readonly port: number,
    private readonly folder: string,
    private readonly more: readonly string[],
  ) {}

  /** Path of the program, where it is installed. */
  static readonly program = systemProgram('redis-server');

  /** Starts one without persistence and with more options, if any; `cleanUp` ends it. */
  static async start(...more: readonly string[]): Promise<RedisServer> {
    if (RedisServer.program === undefined) throw new Error('redis-server is not installed');
    const { program } = RedisServer;
    const server = new RedisServer(program, await freePort(), await temporaryFolder(), more);
    await server.restart();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}/0`;
  }

  /** Starts it, empty. */
  async restart(): Promise<void> {
    const { path, port, folder } = this;
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
    const program = runProgram([
      path,
      ...options,
      '--save',
      '',
      '--appendonly',
      'no',
      ...this.more,
    ]);
    this.program = program;
    await until(() => {
      if (program.child.exitCode !== null) throw new Error(program.stdout());
      return program.stdout().includes('Ready to accept connections');
    });
  }

  get address(): { readonly host: string; readonly port: number } {
    return { host: '127.0.0.1', port: this.port };
  }

  /** Makes it hang, or goes on. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.program?.child.kill(name);
  }

  async kill(): Promise<void> {
    await this.program?.end('SIGKILL');
  }
}
