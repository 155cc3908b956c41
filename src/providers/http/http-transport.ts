import { Axios } from 'axios';
import { Agent } from 'undici';
import { type ExchangeConfig, undiciAdapter } from './undici-adapter.js';
import {
  stepTimeout,
  type UpstreamTimeout,
  type UpstreamTimeoutName,
  UPSTREAM_TIMEOUTS,
} from './upstream-timeouts.js';

const CONNECT_TIMEOUT_MS = 10_000;
/**
 * Connections read nothing ahead: with a larger buffer they would read up to 64 kB more before a slow reader can pause
 * them.
 */
const SOCKET_BUFFER = { highWaterMark: 0 };
/**
 * Idle connections are closed before common servers and load balancers close them, so that a request seldom meets a
 * connection that is closing.
 */
const KEEP_ALIVE_MS = 4_000;

/**
 * The one pool of connections for all providers: keep-alive per origin, no redirects, no proxy. It is closed once, at
 * shutdown. It has no limit of its own, because requests would wait for it invisibly: synchronous calls are limited by
 * `PROVIDER_MAX_CONNECTIONS`, tasks by the lane concurrency of their worker.
 */
export class HttpTransport {
  /** Has no defaults, because axios copies defaults into every request, which costs time. */
  readonly axios = new Axios();
  /** The options of every request, in place of defaults. */
  readonly everyRequest: ExchangeConfig;
  private readonly agent: Agent;

  /** @param timeoutOverrideMs replaces every timeout of {@link UPSTREAM_TIMEOUTS} */
  constructor(private readonly timeoutOverrideMs?: number) {
    this.agent = new Agent({
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: {
        ...SOCKET_BUFFER,
        timeout: Math.min(CONNECT_TIMEOUT_MS, timeoutOverrideMs ?? CONNECT_TIMEOUT_MS),
      },
    });
    this.everyRequest = {
      adapter: undiciAdapter(this.agent),
      responseType: 'stream',
      validateStatus: null,
      transformRequest: [],
      transformResponse: [],
    };
  }

  /**
   * The time that a request of this kind may wait for bytes.
   * @param rowMs the limit of the model's row, which comes before all others
   */
  timeoutOf(name: UpstreamTimeoutName, rowMs?: number): UpstreamTimeout {
    const override = rowMs ?? this.timeoutOverrideMs;
    const usual: UpstreamTimeout = UPSTREAM_TIMEOUTS[name];
    if (override === undefined) return usual;
    const silence = { headMs: override, idleMs: override };
    return usual.bodyMs === undefined ? silence : stepTimeout(override);
  }

  /** Closes every connection, including those with a request under way. */
  async close(): Promise<void> {
    await this.agent.destroy();
  }
}
