import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdmittedCall, RunOfCall } from '../../src/admission/admitted-call.js';
import type { Charge } from '../../src/billing/calls/charge.js';
import type { Quote } from '../../src/common/money/charge-basis.js';
import { toGatewayError } from '../../src/common/errors/to-gateway-error.js';
import { ClientLeft } from '../../src/billing/calls/call-errors.js';
import { isTransient } from '../../src/platform/database/database-errors.js';
import type { PaidCalls } from '../../src/billing/calls/paid-calls.js';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import { speechCallOf } from '../support/speech-call.js';
import type { Acknowledgement } from './acknowledgement.js';
import type { ChatOrder, PricedDesk } from './priced-desk.js';

const MAX_PROVIDER_MS = 10;
const FAILURE_ONE_IN = 4;
const PIECES = 3;
const UNAVAILABLE = 503;

/** What kinds of calls clients make. */
export interface BuyOptions {
  /** Some name a run, which has a limit. */
  readonly runs?: boolean;
  /** Some hold what fits. */
  readonly fitted?: boolean;
  /** Some are priced by a price book, and charged by what was made. */
  readonly books?: boolean;
  /** Some are chats, at the prices of books that change; money is of both kinds, and some of it expires. */
  readonly priced?: boolean;
}

/** What a client asks for: which account pays, and the price that is held. */
export interface Order {
  readonly accountId: string;
  readonly amount: number;
  readonly run?: string;
  /** The least that is held; absent: the whole price. */
  readonly floor?: number;
  /** The factor of a price book. */
  readonly factorPermille?: number;
  /** A chat instead. */
  readonly chat?: ChatOrder;
}

/** What a run may spend: a few calls. */
const RUN_LIMIT = 2_000n;

/** Micro-USD for a character where a book prices the call, before its factor. */
const UNIT_PRICE = 7n;
const MAX_CHARACTERS = 60;

/** What a client is told of an order that was filled. */
export interface Receipt {
  readonly id: string;
  readonly charged: number;
}

/** Who makes the calls. */
export interface Sellers {
  readonly calls: PaidCalls;
  /** For chats. */
  readonly desk?: PricedDesk | undefined;
}

/** Answers orders over HTTP, each through the one place where a call meets money; returns its URL. */
export async function startPaidHarness(
  { calls, desk }: Sellers,
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
    const ofRun = order.run === undefined ? {} : { run: runOf(order.run) };
    const call = { ...callOf(order), response, ...ofRun };
    const id = call.executionId;
    let line = { accountId: order.accountId, id, amount: order.amount };
    const sell = async (): Promise<bigint> => {
      await using paid = await calls.start(call, priceOf(order));
      line = { ...line, amount: Number(paid.held.amountMicroUsd) };
      const charge = chargeOf(order, paid.held.amountMicroUsd);
      acknowledge({ kind: 'held', ...line });
      await paid.attempt(async () => {
        await provide(response);
        return { providerRequestId: 'req_1' };
      });
      return await paid.settle(charge);
    };
    try {
      const { chat } = order;
      const charged = Number(await (chat && desk ? desk.fill(chat, call) : sell()));
      response.end(JSON.stringify({ id, charged } satisfies Receipt));
    } catch (error) {
      if (error instanceof ClientLeft) acknowledge({ kind: 'released', ...line });
      // As the filter of a gateway answers.
      response.statusCode = isTransient(error) ? UNAVAILABLE : toGatewayError(error).status;
      response.end(JSON.stringify({ id, charged: 0 } satisfies Receipt));
    }
  }
}

const runOf = (id: string): RunOfCall => ({ id, limitMicroUsd: RUN_LIMIT });

function priceOf({ amount, floor }: Order): Quote {
  const fit =
    floor === undefined ? undefined : { floorMicroUsd: BigInt(floor), promptMicroUsd: 1n };
  return { amountMicroUsd: BigInt(amount), fit, basis: null };
}

function callOf({ accountId, factorPermille }: Order): AdmittedCall {
  const call = speechCallOf(accountId);
  if (factorPermille === undefined) return call;
  const priceBook = { id: 'crash', version: 1, factorPermille };
  return { ...call, row: { ...call.row, priceBook } };
}

/** Of a book, the exact price of what was made, rounded up once, at most the hold; else any part of the hold. */
function chargeOf({ factorPermille }: Order, held: bigint): Charge {
  if (factorPermille === undefined) return { chargedMicroUsd: BigInt(randomInt(Number(held) + 1)) };
  const quantity = randomInt(MAX_CHARACTERS);
  const due = (BigInt(quantity) * UNIT_PRICE * BigInt(factorPermille) + 999n) / 1_000n;
  const unitPrice = UNIT_PRICE.toString();
  return {
    chargedMicroUsd: due < held ? due : held,
    isCapped: due > held,
    basis: { unit: 'code_point', quantity, unitPrice, isEstimated: false },
  };
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
