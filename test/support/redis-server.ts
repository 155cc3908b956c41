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
  ) {}

  /** Path of the program, where it is installed. */
  static readonly program = systemProgram('redis-server');

  /** Starts one without persistence; `cleanUp` ends it. */
  static async start(): Promise<RedisServer> {
    if (RedisServer.program === undefined) throw new Error('redis-server is not installed');
    const server = new RedisServer(RedisServer.program, await freePort(), await temporaryFolder());
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
    const program = runProgram([path, ...options, '--save', '', '--appendonly', 'no']);
    this.program = program;
    await until(() => {
      if (program.child.exitCode !== null) throw new Error(program.stdout());
      return program.stdout().includes('Ready to accept connections');
    });
  }

  async kill(): Promise<void> {
    await this.program?.end('SIGKILL');
  }
}
