import { expect } from '@jest/globals';
import type { TestAccount } from './gateway-accounts.js';
import { type Answer, type ErrorBody, postJson } from './http-answer.js';
import { type GatewayFromOutside, sharedGateway } from './shared-gateway.js';

/** An answer of `POST /v1/quotes`. */
export interface QuoteAnswer {
  readonly object: string;
  readonly id?: string;
  readonly hold_microusd: string | null;
  readonly charge_microusd: string | null;
  readonly lines: readonly Record<string, unknown>[];
  readonly factor_permille?: number;
  readonly output_cap?: number;
  readonly fits: boolean | null;
  readonly available_microusd: string;
  readonly unchecked: readonly string[];
  readonly error?: ErrorBody;
}

/** A request that is quoted. */
export interface TestRequest {
  readonly path: string;
  readonly body?: unknown;
  readonly method?: string;
  readonly duration_seconds?: number;
}

/** The shared gateway, and an account that quotes and calls. */
export class QuoteHarness {
  private constructor(
    readonly gateway: GatewayFromOutside,
    readonly account: TestAccount,
  ) {}

  /** Call {@link stop} in `afterAll`. */
  static async start(): Promise<QuoteHarness> {
    const gateway = await sharedGateway();
    return new QuoteHarness(gateway, await gateway.account());
  }

  async stop(): Promise<void> {
    await this.gateway.expectCleanBooks();
    await this.gateway.stop();
  }

  /** The answer of `POST /v1/quotes` to any body. */
  ask(body: unknown, { headers } = this.account): Promise<Answer> {
    return postJson(`${this.gateway.url}/v1/quotes`, headers, body);
  }

  /** The quote of one request. */
  async quote(request: TestRequest, by = this.account): Promise<QuoteAnswer> {
    const answer = await this.ask(request, by);
    expect(answer.status).toBe(200);
    return answer.json as QuoteAnswer;
  }

  /** Sends the request itself, with the id of a quote where there is one. */
  call({ path, body }: TestRequest, { headers } = this.account, quote?: string): Promise<Answer> {
    const bound = quote === undefined ? {} : { 'x-gateway-quote': quote };
    return postJson(`${this.gateway.url}${path}`, { ...headers, ...bound }, body);
  }

  /** What a call or task held; undefined where nothing was held. */
  async heldBy({ headers }: Answer): Promise<string | undefined> {
    const task = headers.get('x-gateway-task-id');
    const id = task ?? headers.get('x-gateway-execution-id') ?? '';
    const table = task ? 'SELECT reserved AS held FROM task' : 'SELECT held FROM execution';
    const rows = await this.gateway.dataSource.query<{ held: string }[]>(`${table} WHERE id = $1`, [
      id.replace(/^[a-z]+_/, ''),
    ]);
    return rows[0]?.held;
  }
}
