import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, postJson } from '../../support/http-answer.js';
import { PAID_ENDPOINTS } from '../../support/paid-endpoints.js';
import { type RecordingServer, startRecordingServer } from '../../support/recording-server.js';
import { repeatableRandom } from '../../media/fuzz.js';
import { DamagingProvider, OTHER_FAMILIES } from './damaging-provider.js';

const SEED = 7_331;
/** Each sends one call to every endpoint. */
const ROUNDS = 40;
const TIMEOUT_MS = 600_000;
const FAILURES = [
  'no_eligible_route',
  'provider_http_error',
  'provider_rate_limited',
  'provider_rejected_request',
  'provider_timeout',
  'provider_unavailable',
];

let provider: DamagingProvider;
let recordings: RecordingServer;
let gateway: TestGateway;
let account: TestAccount;
beforeAll(async () => {
  [provider, recordings] = await Promise.all([DamagingProvider.start(), startRecordingServer(5)]);
  gateway = await startTestGateway({
    ...provider.settings,
    ...recordings.settings,
    UPSTREAM_TIMEOUT_MS: '5000',
  });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([provider.stop(), recordings.stop()]);
});

/** What is wrong with an answer; undefined if it is a whole success or an error that callers may see. */
async function faultOf(call: () => Promise<Answer>): Promise<string | undefined> {
  const before = await gateway.balance(account.accountId);
  // An answer that had begun is cut.
  const answer = await call().catch(() => undefined);
  const after = await gateway.balance(account.accountId);
  const spent = before.available - after.available;
  if (after.held !== 0n) return `${after.held} held`;
  if (answer?.status !== 200) {
    if (spent !== 0n) return `${spent} for ${answer?.status}`;
    const code = answer && errorOf(answer).code;
    return code === undefined || FAILURES.includes(code) ? undefined : code;
  }
  if (spent <= 0n && !answer.headers.get('content-type')?.includes('event-stream')) return 'free';
  return unreadable(answer);
}

/** Why a client cannot read a success; undefined if it can. */
function unreadable(answer: Answer): string | undefined {
  const type = answer.headers.get('content-type') ?? '';
  if (type.startsWith('application/json')) return answer.json === null ? 'null' : undefined;
  if (!type.startsWith('text/event-stream')) return answer.bytes.length > 0 ? undefined : 'empty';
  const events = answer.bytes.toString().trim().split('\n\n');
  const last = events.pop();
  for (const event of events) JSON.parse(event.slice('data: '.length));
  return last === 'data: [DONE]' || last?.includes('"error"') ? undefined : `ends with ${last}`;
}

it(
  'damaged answers of providers to calls are answered with a success that can be read or an error that is free',
  async () => {
    const streamed = { path: '/v1/chat/completions', stream: true };
    const calls = PAID_ENDPOINTS.map(({ path, body }) => ({ path, body: body(recordings.url) }));
    const chat = calls.find(({ path }) => path === streamed.path);
    calls.push({ path: streamed.path, body: { ...chat?.body, stream: true } });
    for (const model of OTHER_FAMILIES) {
      const body = { ...chat?.body, model };
      calls.push(
        { path: streamed.path, body },
        { path: streamed.path, body: { ...body, stream: true } },
      );
    }
    provider.random = repeatableRandom(SEED);
    const faults: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { path, body } of calls) {
        const fault = await faultOf(() => postJson(`${gateway.url}${path}`, account.headers, body));
        if (fault !== undefined) faults.push(`round ${round}: ${path}: ${fault}`);
      }
    }
    expect(faults).toEqual([]);
    expect(Object.values(provider.counts).every((count) => count > ROUNDS / 4)).toBe(true);
    await gateway.expectCleanBooks();
  },
  TIMEOUT_MS,
);
