import { expect } from '@jest/globals';
import type { TestGateway } from './gateway.js';
import { type Answer, errorOf, type ErrorBody } from './http-answer.js';

/** How a request is refused. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly param?: string | null;
}

/** Requests the sandbox upstream has received since it started. */
export async function upstreamCalls(gateway: TestGateway): Promise<number> {
  const stats = await gateway.sandbox?.stats();
  return Object.values(stats?.requests ?? {}).reduce((sum, count) => sum + count, 0);
}

/** Proves a refusal as the spec defines it: status, code and param; no provider call; balance, holds and entries as before. */
export async function expectRefused(
  gateway: TestGateway,
  accountId: string,
  call: () => Promise<Answer>,
  { status, code, param }: Refusal,
): Promise<{ answer: Answer; error: ErrorBody }> {
  const before = { ...(await gateway.balance(accountId)), calls: await upstreamCalls(gateway) };
  const answer = await call();
  const error = errorOf(answer);
  expect({ status: answer.status, code: error.code }).toEqual({ status, code });
  if (param !== undefined) expect(error.param).toBe(param);
  expect({ ...(await gateway.balance(accountId)), calls: await upstreamCalls(gateway) }).toEqual(
    before,
  );
  return { answer, error };
}
