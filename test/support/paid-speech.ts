import { expect } from '@jest/globals';
import type { RecordedRequest } from '../../src/sandbox/http/recorder.js';
import { type Answer, postJson } from './http-answer.js';
import { HELLO } from './paid-endpoints.js';
import { upstreamCalls } from './refusal.js';
import type { GatewayFromOutside } from './shared-gateway.js';

const CREDIT = 10_000_000n;

/** A magic input that makes the upstream answer at once whatever the length of the text. */
export const INSTANT = '[[sandbox:instant]]';

/** A call that went well. */
export interface PaidSpeech {
  readonly answer: Answer;
  readonly charged: bigint;
  /** The one request the provider got. */
  readonly upstream: RecordedRequest & { readonly body: Record<string, unknown> };
}

/**
 * Makes speech on a new account: `HELLO` with the given fields. Proves status 200, one provider call, one charge, the
 * same amount in the charge header, and nothing left held.
 */
export async function paidSpeech(
  gateway: GatewayFromOutside,
  fields: object = {},
): Promise<PaidSpeech> {
  const { accountId, headers } = await gateway.account(CREDIT);
  const callsBefore = await upstreamCalls(gateway);
  const answer = await postJson(`${gateway.url}/v1/audio/speech`, headers, { ...HELLO, ...fields });
  expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
  const { available, held, entries } = await gateway.balance(accountId);
  const calls = (await upstreamCalls(gateway)) - callsBefore;
  expect({ calls, held, entries }).toEqual({ calls: 1, held: 0n, entries: 2 });
  const charged = CREDIT - available;
  expect(answer.headers.get('x-gateway-charge-microusd')).toBe(charged.toString());
  const [upstream] = await gateway.upstreamRequests();
  return { answer, charged, upstream: upstream as PaidSpeech['upstream'] };
}
