import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { toGatewayError } from '../../src/common/errors/to-gateway-error.js';
import { ClientLeft } from '../../src/billing/calls/call-errors.js';
import type { PaidCalls } from '../../src/billing/calls/paid-calls.js';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import { speechCallOf } from '../support/speech-call.js';
import type { Acknowledgement } from './acknowledgement.js';

const MAX_PROVIDER_MS = 10;
const FAILURE_ONE_IN = 4;
const PIECES = 3;

/** What a client asks for: which account pays, and the price that is held. */
export interface Order {
  readonly accountId: string;
  readonly amount: number;
}

/** What a client is told of an order that was filled. */
export interface Receipt {
  readonly id: string;
  readonly charged: number;
}

/** Answers orders over HTTP, each through the one place where a call meets money; returns its URL. */
export async function startPaidHarness(
  calls: PaidCalls,
  acknowledge: (line: Acknowledgement) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    const order = JSON.parse(decodeURIComponent(request.url?.slice(1) ?? '')) as Order;
    const call = { ...speechCallOf(order.accountId), response };
    const id = call.executionId;
    const line = { accountId: order.accountId, id, amount: order.amount };
    const charged = randomInt(order.amount + 1);
    try {
      const price = { amountMicroUsd: BigInt(order.amount), basis: null };
      await using paid = await calls.start(call, price);
      acknowledge({ kind: 'held', ...line });
      await paid.attempt(async () => {
        await provide(response);
        return { providerRequestId: 'req_1' };
      });
      await paid.settle({ chargedMicroUsd: BigInt(charged) });
      response.end(JSON.stringify({ id, charged } satisfies Receipt));
    } catch (error) {
      if (error instanceof ClientLeft) acknowledge({ kind: 'released', ...line });
      response.statusCode = toGatewayError(error).status;
      response.end(JSON.stringify({ id, charged: 0 } satisfies Receipt));
    }
  }
}

/** The provider's part: it may fail, and like a chat it is given up, or like a speech it goes on, when the client leaves. */
async function provide(response: ServerResponse): Promise<void> {
  const isGivenUp = randomInt(2) === 0;
  for (let piece = 0; piece < PIECES; piece += 1) {
    await sleep(randomInt(MAX_PROVIDER_MS) / PIECES);
    if (isGivenUp && response.destroyed) throw new ClientLeft();
  }
  if (randomInt(FAILURE_ONE_IN) > 0) return;
  throw new ProviderError('http_error', { provider: 'sandbox', sent: true });
}
