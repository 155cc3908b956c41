import { expect } from '@jest/globals';
import type { RecordedRequest } from '../../src/sandbox/http/recorder.js';
import type { TestAccount } from './gateway-accounts.js';
import { type Answer, postJson } from './http-answer.js';
import type { GatewayFromOutside } from './shared-gateway.js';

export const IMAGE_PATH = '/v1/images/generations';
/** The smallest request. */
export const DRAW = { model: 'gen-image-2', prompt: 'A lighthouse at night' };
/** The balance of each account that buys an image. */
export const IMAGE_CREDIT = 1_000_000n;

/** An image, or the failure to make one, on an account of its own. */
export interface BoughtImage {
  readonly answer: Answer;
  readonly charged: bigint;
  /** What the provider was asked for. */
  readonly body: Record<string, unknown>;
  readonly account: TestAccount;
}

/** Asks for an image: `DRAW` with the given fields. */
export function draw(
  gateway: GatewayFromOutside,
  headers: Record<string, string>,
  fields: object = {},
): Promise<Answer> {
  return postJson(gateway.url + IMAGE_PATH, headers, { ...DRAW, ...fields });
}

/** Asks for an image on a new account. Proves that nothing is left held. */
export async function buyImage(
  gateway: GatewayFromOutside,
  fields: object = {},
): Promise<BoughtImage> {
  const account = await gateway.account(IMAGE_CREDIT);
  const answer = await draw(gateway, account.headers, fields);
  const { available, held } = await gateway.balance(account.accountId);
  expect(held).toBe(0n);
  const [upstream] = await gateway.upstreamRequests();
  const { body } = upstream as RecordedRequest & Pick<BoughtImage, 'body'>;
  return { answer, charged: IMAGE_CREDIT - available, body, account };
}

/** The one image of an answer. Proves that the answer has nothing else. */
export function imageOf(answer: Answer): Buffer {
  expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
  expect(answer.json).toEqual({
    created: expect.any(Number),
    data: [{ b64_json: expect.any(String) }],
  });
  const { data } = answer.json as { data: { b64_json: string }[] };
  return Buffer.from(data[0]!.b64_json, 'base64');
}
