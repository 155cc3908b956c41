import { SHOTS_TOKEN } from './shots-gateway.js';

/** What a call of the API answers. */
interface DeskAnswer {
  readonly status: number;
  readonly json: Record<string, unknown>;
  /** Of a synchronous call. */
  readonly executionId: string | undefined;
}

const TASK_STATES_OPEN = new Set(['queued', 'processing', 'in_progress']);

/** Calls a gateway as an operator, or with a key. */
export class ShotsDesk {
  private asked = 0;

  constructor(readonly url: string) {}

  /** An operator's call, which must succeed. */
  async admin(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const { status, json } = await this.ask(method, `/admin${path}`, SHOTS_TOKEN, body);
    if (status >= 400) throw new Error(`${method} /admin${path}: ${JSON.stringify(json)}`);
    return json;
  }

  /** A call with a key; it may fail. */
  async ask(method: string, path: string, key: string, body?: object): Promise<DeskAnswer> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': 'application/json' }),
        // Calls of audio take none.
        ...(path.startsWith('/admin') && { 'idempotency-key': `shots-${this.asked++}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    // Audio that breaks has begun with a status of success.
    const bytes = await response.arrayBuffer().catch(() => new ArrayBuffer(0));
    return {
      status: response.status,
      json: isJson ? (JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>) : {},
      executionId: response.headers.get('x-gateway-execution-id') ?? undefined,
    };
  }

  /** Submits a task; answers its id. */
  async submit(path: string, key: string, body: object): Promise<string> {
    const { json } = await this.ask('POST', path, key, body);
    if (typeof json.id !== 'string') throw new Error(`${path}: ${JSON.stringify(json)}`);
    return json.id;
  }

  /** Submits a task and waits until it has ended, or its outcome is unknown. */
  async taskEnded(path: string, key: string, body: object): Promise<string> {
    const id = await this.submit(path, key, body);
    for (let status = 'queued'; TASK_STATES_OPEN.has(status);) {
      const { json } = await this.ask('GET', `/v1/tasks/${id}`, key);
      status = String(json.status);
      if (TASK_STATES_OPEN.has(status)) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return id;
  }
}
