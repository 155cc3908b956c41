import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { ADMIN_TOKEN } from './gateway.js';
import { type Answer, errorOf, postJson, send } from './http-answer.js';
import { type GatewayFromOutside, sharedGateway } from './shared-gateway.js';

/** The header of the operator's token. */
export const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };

interface List {
  readonly object: string;
  readonly data: Record<string, unknown>[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** A gateway, the shared one unless another is given, and its operator. A client's address is the one that it sends in `X-Forwarded-For`. */
export class AdminHarness {
  private constructor(readonly gateway: GatewayFromOutside) {}

  /** Call {@link stop} in `afterAll`. */
  static async start(gateway?: GatewayFromOutside): Promise<AdminHarness> {
    return new AdminHarness(gateway ?? (await sharedGateway()));
  }

  async stop(): Promise<void> {
    await this.gateway.expectCleanBooks();
    await this.gateway.stop();
  }

  get(path: string, headers: Record<string, string> = ADMIN): Promise<Answer> {
    return send(`${this.gateway.url}/admin${path}`, { headers });
  }

  /** A request of any method; without a body, none is sent. */
  ask(method: string, path: string, body?: unknown): Promise<Answer> {
    return send(`${this.gateway.url}/admin${path}`, {
      method,
      headers: { ...ADMIN, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return postJson(`${this.gateway.url}/admin${path}`, { ...ADMIN, ...headers }, body);
  }

  /** A page of a list. */
  async list(path: string): Promise<List> {
    const answer = await this.get(path);
    expect(answer.status).toBe(200);
    return answer.json as List;
  }

  /** The public id of a new account. */
  async newAccount(name = 'acme'): Promise<string> {
    return createdId(await this.post('/accounts', { name }));
  }

  credit(account: string, body: object, key: string = randomUUID()): Promise<Answer> {
    return this.post(`/accounts/${account}/credits`, body, { 'idempotency-key': key });
  }
}

/** The id of what was created. */
export function createdId(answer: Answer): string {
  expect(answer.status).toBe(201);
  return (answer.json as { id: string }).id;
}

/** Proves that a call is refused with this status, code and, if it is given, param. */
export async function expectError(
  call: Answer | Promise<Answer>,
  status: number,
  code: string,
  param?: string | null,
): Promise<void> {
  const answer = await call;
  const error = errorOf(answer);
  expect({ status: answer.status, code: error.code }).toEqual({ status, code });
  if (param !== undefined) expect(error.param).toBe(param);
}
