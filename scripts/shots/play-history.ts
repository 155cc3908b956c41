import type { DataSource } from 'typeorm';
import type { ShotsDesk } from './shots-desk.js';
import type { PlayedHour } from './spread-history.js';

const HOURS_OF_DAY = 24;
/** Calls in an hour of the busiest kind, by the largest account. */
const PEAK_CALLS = 9;
const CREDIT_EVERY_HOURS = 96;
const TASK_EVERY_HOURS = 5;
/** So many hours ago. */
const UNKNOWN_HOURS_AGO = [46, 6];
const FAILED_OF_THOUSAND = 25;
const MARKUP = 'Rosa <b>& Söhne</b>';

/** A customer of the history; `size` is its part of the busiest hour, per mille. */
interface Customer {
  readonly name: string;
  readonly creditMicroUsd: bigint;
  readonly size: number;
}

const CUSTOMERS: readonly Customer[] = [
  { name: 'Northwind Studio', creditMicroUsd: 60_000_000n, size: 1000 },
  { name: 'Globex Audio GmbH', creditMicroUsd: 40_000_000n, size: 620 },
  { name: 'Lumière Podcasts', creditMicroUsd: 25_000_000n, size: 380 },
  { name: 'Aperture Learning', creditMicroUsd: 12_000_000n, size: 260 },
  { name: MARKUP, creditMicroUsd: 8_000_000n, size: 150 },
  { name: 'Initech', creditMicroUsd: 2_500_000n, size: 110 },
  { name: 'Tailspin Toys', creditMicroUsd: 1_500_000n, size: 70 },
  { name: 'Fabrikam (trial)', creditMicroUsd: 1_000_000n, size: 0 },
];

/** A customer who is there, with its key. */
export interface PlayingCustomer extends Customer {
  readonly id: string;
  readonly key: string;
}

/** The same numbers in each run. */
export class Dice {
  private state = 20_261_126;

  /** A whole number from 0 to below `count`. */
  below(count: number): number {
    this.state = (Math.imul(this.state, 1_103_515_245) + 12_345) >>> 0;
    return (this.state >>> 8) % count;
  }
}

const SENTENCE =
  'The lighthouse keeper counted the ships, wrote their names in the book, and put out the lamp at six. ';

type Play = readonly [path: string, body: (dice: Dice) => object];
const chat = (model: string, most: number) => (dice: Dice) => ({
  model,
  messages: [
    {
      role: 'user',
      content: `${SENTENCE.repeat(1 + dice.below(20))}[[sandbox:tokens=${20 + dice.below(most)}]]`,
    },
  ],
});
const speech = (model: string, voice: string) => (dice: Dice) => ({
  model,
  voice,
  input: `${SENTENCE.slice(0, 12 + dice.below(88))}[[sandbox:instant]]`,
});
const RAREST: Play = [
  '/v1/images/generations',
  () => ({ model: 'gen-image-2', prompt: 'A lighthouse at dusk, oil on canvas' }),
];
/** Those that are made more often stand here more often. */
const PLAYS: readonly Play[] = [
  ...Array<Play>(5).fill(['/v1/audio/speech', speech('aud-v4', 'Adam')]),
  ...Array<Play>(3).fill(['/v1/audio/speech', speech('aud-flash-v2.5', 'Alice')]),
  ...Array<Play>(4).fill(['/v1/chat/completions', chat('gen-5-mini', 300)]),
  ...Array<Play>(3).fill(['/v1/chat/completions', chat('gen-5', 200)]),
  RAREST,
];
/** What a call that is to fail says to the sandbox; few are faults of the provider. */
const FAULTS = ['status=400', 'status=429', 'break-body', 'json'];

/** Makes the customers, with their first credits and a key each. */
export async function makeCustomers(desk: ShotsDesk): Promise<PlayingCustomer[]> {
  const made: PlayingCustomer[] = [];
  for (const customer of CUSTOMERS) {
    const { name, creditMicroUsd } = customer;
    const id = String((await desk.admin('POST', '/accounts', { name })).id);
    await desk.admin('POST', `/accounts/${id}/credits`, {
      amount_microusd: creditMicroUsd.toString(),
      payment_reference: `invoice ${2_026_100 + made.length}`,
      currency: 'EUR',
    });
    const terms = { name: 'production', scopes: ['read', 'call', 'manage'] };
    const { key } = await desk.admin('POST', `/accounts/${id}/keys`, terms);
    made.push({ ...customer, id, key: String(key) });
  }
  return made;
}

/** How busy an hour is, per mille: quiet nights, and half of it at weekends. */
function busyness(hoursAgo: number, dice: Dice): number {
  const at = new Date(performance.timeOrigin + performance.now() - hoursAgo * 3_600_000);
  const day = 1 - Math.cos(((at.getUTCHours() - 2) / HOURS_OF_DAY) * 2 * Math.PI);
  const ofWeek = [0, 6].includes(at.getUTCDay()) ? 0.45 : 1;
  return Math.round((120 + 400 * day) * ofWeek * (0.75 + dice.below(50) / 100));
}

/** Plays so many days, each hour in a part of a second. Each customer does one thing after the other. */
export async function playHistory(
  desk: ShotsDesk,
  dataSource: DataSource,
  customers: readonly PlayingCustomer[],
  webhook: string,
  days: number,
): Promise<PlayedHour[]> {
  const hours = days * HOURS_OF_DAY;
  const dice = new Dice();
  const starts: string[] = [];
  const mark = async () => {
    const [row] = await dataSource.query<[{ at: string }]>('SELECT clock_timestamp()::text AS at');
    starts.push(row.at);
  };
  for (let ago = hours; ago > 0; ago -= 1) {
    await mark();
    const busy = busyness(ago, dice);
    await Promise.all(
      customers.map(async (customer, index) => {
        const calls = Math.round(
          (PEAK_CALLS * customer.size * busy) / 1_000_000 + dice.below(2) / 2,
        );
        if (customer.size === 0) return;
        for (let call = 0; call < calls; call += 1) await playCall(desk, customer.key, dice);
        await playRest(desk, customer, ago + index, webhook);
      }),
    );
  }
  await mark();
  return starts.slice(1).map((to, hour) => ({ from: starts[hour] ?? to, to }));
}

async function playCall(desk: ShotsDesk, key: string, dice: Dice): Promise<void> {
  const [path, body] = PLAYS[dice.below(PLAYS.length)] ?? RAREST;
  const request = body(dice);
  const fault = FAULTS[dice.below(FAULTS.length)];
  const isToFail = dice.below(1_000) < FAILED_OF_THOUSAND;
  const text = JSON.stringify(request);
  const spoiled = text.replace(/\[\[sandbox|dusk/, (word) => `[[sandbox:${fault}]] ${word}`);
  const { executionId } = await desk.ask(
    'POST',
    path,
    key,
    JSON.parse(isToFail ? spoiled : text) as object,
  );
  if (executionId !== undefined && dice.below(400) === 0) {
    const refund = { amount_microusd: '300', reason: 'goodwill', note: 'ticket 4417' };
    await desk.admin('POST', `/executions/${executionId}/refund`, refund).catch(() => undefined);
  }
}

/** Tasks and credits, which come less often. */
async function playRest(
  desk: ShotsDesk,
  customer: PlayingCustomer,
  hour: number,
  webhook: string,
): Promise<void> {
  const { id, key, size, creditMicroUsd } = customer;
  if (size >= 250 && hour % CREDIT_EVERY_HOURS === CREDIT_EVERY_HOURS - 1) {
    const credit = { amount_microusd: (creditMicroUsd / 4n).toString(), currency: 'EUR' };
    await desk.admin('POST', `/accounts/${id}/credits`, {
      ...credit,
      payment_reference: `invoice ${2_026_200 + hour}`,
    });
  }
  if (size > 500 && UNKNOWN_HOURS_AGO.includes(hour)) {
    const lost = 'A farewell at a railway station [[sandbox:no-result]] [[sandbox:task-ms=1]]';
    await desk.taskEnded('/v1/music/generations', key, { model: 'song-music', prompt: lost });
  }
  if (size < 250 || hour % TASK_EVERY_HOURS !== 0) return;
  const turn = hour / TASK_EVERY_HOURS;
  const words = turn % 11 === 10 ? ' [[sandbox:task-fails]]' : '';
  const told = turn % 2 === 0 ? { webhook, webhook_secret: 'x'.repeat(32) } : {};
  const prompt = `A slow bossa nova about rain on a window${words} [[sandbox:task-ms=1]]`;
  await (turn % 3 === 2
    ? desk.taskEnded('/v1/videos', key, {
        ...{ model: 'vid-motion', seconds: '5', aspect_ratio: '16:9' },
        prompt: `Waves roll slowly towards a lighthouse at dusk${words} [[sandbox:task-ms=1]]`,
        ...told,
      })
    : desk.taskEnded('/v1/music/generations', key, { model: 'song-music', prompt, ...told }));
}
