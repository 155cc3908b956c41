import { expect } from '@jest/globals';
import { type Answer, errorOf, type ErrorBody } from './http-answer.js';
import type { GatewayFromOutside } from './shared-gateway.js';

/** How a request is refused. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly param?: string | null;
}

/** Polls of tasks. They may go on for other tasks at the same time. */
const READS = /_(retrieve|content|fetch|delete)$/;

/** Requests for new work that the sandbox upstream has received since it started. */
export async function upstreamCalls(gateway: GatewayFromOutside): Promise<number> {
  const requests = Object.entries(await gateway.upstreamCounts());
  return requests.reduce((sum, [name, count]) => (READS.test(name) ? sum : sum + count), 0);
}

/** Proves a refusal (API: Conventions): status, code and param; no provider call, no task; balance, holds and entries as before. */
export async function expectRefused(
  gateway: GatewayFromOutside,
  accountId: string,
  call: () => Promise<Answer>,
  { status, code, param }: Refusal,
): Promise<{ answer: Answer; error: ErrorBody }> {
  const before = await traces(gateway, accountId);
  const answer = await call();
  const error = errorOf(answer);
  expect({ status: answer.status, code: error.code }).toEqual({ status, code });
  if (param !== undefined) expect(error.param).toBe(param);
  expect(await traces(gateway, accountId)).toEqual(before);
  return { answer, error };
}

/** What a refused request must not change. */
async function traces(gateway: GatewayFromOutside, accountId: string) {
  const [tasks] = await gateway.dataSource.query<{ count: number }[]>(
    'SELECT count(*)::int AS count FROM task WHERE account_id = $1',
    [accountId],
  );
  const calls = await upstreamCalls(gateway);
  return { ...(await gateway.balance(accountId)), calls, tasks: tasks?.count };
}
