import type { ShotsDesk } from './shots-desk.js';
import type { PlayingCustomer } from './play-history.js';

const HOUR_S = 3_600;
const SONG = '/v1/music/generations';
const HANGING_CALL = {
  model: 'gen-5',
  messages: [{ role: 'user', content: 'Write the minutes of the meeting. [[sandbox:hang]]' }],
};
const EVENTS = ['balance.low', 'balance.depleted', 'task.finished'];

/** Receivers of webhooks, by how they answer. */
interface Receivers {
  readonly well: string;
  /** Answers 503. */
  readonly down: string;
  /** Answers 404. */
  readonly wrong: string;
}

/** What the screens of one thing open. */
export interface SeededIds {
  readonly account: string;
  readonly call: string;
  readonly task: string;
  readonly delivery: string;
  readonly key: string;
  /** The present one, of UTC, such as 2026-11. */
  readonly month: string;
}

const WELCOME = {
  model: 'aud-v4',
  voice: 'Adam',
  input: 'Good evening, and welcome to the harbour.',
};

/** What is under way now: holds in flight, deliveries of each state, a pause, price books, limits, a disabled account. */
export async function playPresent(
  desk: ShotsDesk,
  customers: readonly PlayingCustomer[],
  receivers: Receivers,
): Promise<SeededIds> {
  const [first, second, third] = customers;
  const last = customers.at(-1);
  if (!first || !second || !third || !last) throw new Error('There are too few customers.');
  await setTerms(desk, customers);
  for (const { id } of [first, second]) {
    await endpoint(desk, id, receivers.well);
    await endpoint(desk, id, receivers.down);
  }
  const to = (webhook: string) => ({ webhook, webhook_secret: 'x'.repeat(32) });
  const song = (prompt: string, webhook: string) => ({
    model: 'song-music',
    prompt,
    ...to(webhook),
  });
  const quick = '[[sandbox:task-ms=1]]';
  for (const webhook of [receivers.wrong, receivers.down]) {
    await desk.taskEnded(SONG, second.key, song(`A march ${quick}`, webhook));
    await desk.taskEnded(SONG, third.key, song(`A waltz ${quick}`, webhook));
  }
  await desk.taskEnded(
    SONG,
    first.key,
    song(`A song [[sandbox:task-fails]] ${quick}`, receivers.well),
  );
  const task = await desk.taskEnded('/v1/videos', first.key, {
    ...{ model: 'vid-motion', prompt: 'Waves at dusk', seconds: '5', aspect_ratio: '16:9' },
    ...to(receivers.well),
  });
  // These go on while the pictures are taken.
  for (const { key } of [first, first, third]) {
    await desk.submit(SONG, key, song('A long one [[sandbox:task-ms=3600000]]', receivers.well));
  }
  void desk.ask('POST', '/v1/chat/completions', first.key, HANGING_CALL).catch(() => undefined);
  await desk.admin('POST', '/providers/ttapi/suno%2Flyrics/pause', {
    reason: 'Their status page says that lyrics fail',
  });
  const executionId = await welcomed(desk, first.key);
  const delivery = await firstDelivery(desk);
  const month = new Date().toISOString().slice(0, 7);
  return { account: first.id, call: executionId, task, delivery, key: first.key, month };
}

/** A call that succeeded. */
async function welcomed(desk: ShotsDesk, key: string): Promise<string> {
  const { status, executionId = '' } = await desk.ask('POST', '/v1/audio/speech', key, WELCOME);
  if (status !== 200) throw new Error(`A call is answered with ${status}.`);
  return executionId;
}

/** The newest delivery that failed. */
async function firstDelivery(desk: ShotsDesk): Promise<string> {
  const { data } = await desk.admin('GET', '/webhook-deliveries?status=failed&limit=1');
  const [delivery] = data as readonly { readonly id: string }[];
  if (delivery === undefined) throw new Error('No delivery has failed.');
  return delivery.id;
}

function endpoint(desk: ShotsDesk, account: string, url: string) {
  const body = { url, secret: 'a-secret-of-their-own-0123456789', events: EVENTS };
  return desk.admin('POST', `/accounts/${account}/webhook-endpoints`, body);
}

/** Prices, keys and states of accounts. */
async function setTerms(desk: ShotsDesk, customers: readonly PlayingCustomer[]): Promise<void> {
  const [first, second] = customers;
  const last = customers.at(-1);
  await desk.admin('POST', '/price-books', {
    id: 'partners',
    factor_permille: 900,
    models: [{ id: 'aud-v4', price: { unit: 'code_point', micro_usd: 100 } }],
  });
  await desk.admin('PUT', '/price-books/partners', { factor_permille: 850 });
  await desk.admin('POST', '/price-books', { id: 'volume', factor_permille: 800 });
  await desk.admin('PATCH', `/accounts/${second?.id}`, { price_book: 'partners' });
  await desk.admin('PATCH', `/accounts/${first?.id}`, { low_balance_microusd: '20000000' });
  await desk.admin('PATCH', `/accounts/${last?.id}`, { disabled: true });
  const key = (terms: object) => desk.admin('POST', `/accounts/${first?.id}/keys`, terms);
  await key({ name: 'staging', spend_limit_microusd: '5000000', spend_limit_period: 'month' });
  await key({ name: 'read only', scopes: ['read'] });
  const soon = Math.floor((performance.timeOrigin + performance.now()) / 1000) + 20 * HOUR_S;
  await key({ name: 'contractor', expires_at: soon, allowed_models: ['aud-v4', 'gen-5-mini'] });
  const revoked = await key({ name: 'old laptop' });
  await desk.admin('DELETE', `/keys/${String(revoked.id)}`);
}
