import { Axios } from 'axios';
import { Agent } from 'undici';
import { type ExchangeConfig, undiciAdapter } from './undici-adapter.js';
import {
  type UpstreamTimeout,
  type UpstreamTimeoutName,
  UPSTREAM_TIMEOUTS,
} from './upstream-timeouts.js';

const CONNECT_TIMEOUT_MS = 10_000;
/** Connections kept per provider address; further requests wait for one. */
const MAX_CONNECTIONS_PER_ORIGIN = 4_096;
/**
 * Idle connections are closed before common servers and balancers do it, so that a request seldom
 * meets a closing one.
 */
const KEEP_ALIVE_MS = 4_000;

/**
 * The one pool of connections all providers share: keep-alive per origin, no redirects, no proxy.
 * Closed once, at shutdown.
 */
export class HttpTransport {
  /** Without defaults: axios spreads them into every request, which gives each config a hidden class of its own. */
  readonly axios = new Axios();
  /** What every request asks for in their place. */
  readonly everyRequest: ExchangeConfig;
  private readonly agent: Agent;

  /** @param timeoutOverrideMs replaces every timeout of {@link UPSTREAM_TIMEOUTS} */
  constructor(private readonly timeoutOverrideMs?: number) {
    this.agent = new Agent({
      connections: MAX_CONNECTIONS_PER_ORIGIN,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: { timeout: Math.min(CONNECT_TIMEOUT_MS, timeoutOverrideMs ?? CONNECT_TIMEOUT_MS) },
    });
    this.everyRequest = {
      adapter: undiciAdapter(this.agent),
      responseType: 'stream',
      validateStatus: null,
      transformRequest: [],
      transformResponse: [],
    };
  }

  /** The silence allowed to a kind of request. */
  timeoutOf(name: UpstreamTimeoutName): UpstreamTimeout {
    const override = this.timeoutOverrideMs;
    return override === undefined
      ? UPSTREAM_TIMEOUTS[name]
      : { headMs: override, idleMs: override };
  }

  /** Closes every connection, also those with a request in flight. */
  async close(): Promise<void> {
    await this.agent.destroy();
  }
}
