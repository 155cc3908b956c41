import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { ASK, ChatUpstreamHarness, event } from '../support/chat-upstream-harness.js';
import type { TestAccount } from '../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../support/http-answer.js';
import { ANSWER_DIALECTS } from './dialects/answer-dialects.js';
import type { Dialect, Wanted } from './dialects/dialect.js';
import { ERROR_DIALECTS } from './dialects/error-dialects.js';
import { SENT_DIALECTS } from './dialects/sent-dialects.js';
import { USAGE_DIALECTS } from './dialects/usage-dialects.js';

/** A new vendor is a new row in one of these. */
const DIALECTS: readonly Dialect[] = [
  ...ANSWER_DIALECTS,
  ...ERROR_DIALECTS,
  ...SENT_DIALECTS,
  ...USAGE_DIALECTS,
];
const CREDIT = 10_000_000n;
const SUCCESSES_PER_FAILURE = 3;
const MODEL = { id: 'gen-4-mini', cap: 10_000 };
/** Fields of a vendor that no caller gets. */
const VENDOR = /vendor|fp_|cost_details|x_groq/;

interface Call {
  readonly index?: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}
interface Said {
  readonly role?: unknown;
  readonly content?: string | null;
  readonly reasoning?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly Call[];
}
interface Reply {
  readonly id: string;
  readonly object: string;
  readonly system_fingerprint?: unknown;
  readonly choices: readonly { delta?: Said; message?: Said; finish_reason: string | null }[];
  readonly usage?: Usage | null;
}
type Usage = Readonly<Record<string, number>> & {
  readonly prompt_tokens_details?: { readonly cached_tokens?: number };
};

let harness: ChatUpstreamHarness;

beforeAll(async () => {
  harness = await ChatUpstreamHarness.start();
});
afterAll(() => harness.stop());

const chunksOf = (text: string): Reply[] =>
  text
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Reply);

function sends(dialect: Dialect, isStream: boolean): (response: ServerResponse) => void {
  const events = (dialect.events ?? []).map((each) =>
    typeof each === 'string' ? each : event(each),
  );
  return (response) => {
    const type = isStream ? 'text/event-stream' : 'application/json';
    response.writeHead(200, { 'content-type': type });
    response.end(isStream ? events.join('') : JSON.stringify(dialect.answer));
  };
}

/** What a client puts together. */
function gathered(replies: readonly Reply[]): Wanted {
  const choices = replies.flatMap((reply) => reply.choices);
  const said = choices.map(({ delta, message }) => delta ?? message ?? {});
  const reason = choices.map((choice) => choice.finish_reason).findLast((each) => each !== null);
  const usage = replies.map((reply) => reply.usage).findLast((each) => each !== undefined);
  const counts = [
    usage?.prompt_tokens,
    usage?.completion_tokens,
    usage?.prompt_tokens_details?.cached_tokens,
  ];
  return {
    text: said.map(({ content }) => content ?? '').join(''),
    reasoning: said.map((each) => each.reasoning_content ?? each.reasoning ?? '').join(''),
    calls: callsOf(said),
    ...(typeof reason === 'string' && { reason }),
    usage: counts.filter((count) => count !== undefined) as [number, number, number?],
  };
}

function callsOf(said: readonly Said[]): [string, string, string][] {
  const calls: [string, string, string][] = [];
  for (const [place, call] of said.flatMap((each) => [...(each.tool_calls ?? []).entries()])) {
    const known = (calls[call.index ?? place] ??= ['', '', '']);
    known[0] = call.id ?? known[0];
    known[1] += call.function?.name ?? '';
    known[2] += call.function?.arguments ?? '';
  }
  return calls;
}

/** What holds in every dialect: our id, one role, one reason, a usage that adds up, and the charge that was settled. */
async function expectOurs(answer: Answer, replies: readonly Reply[], account: TestAccount) {
  expect(answer.bytes.toString()).not.toMatch(VENDOR);
  const execution = answer.headers.get('x-gateway-execution-id') ?? '';
  expect(new Set(replies.map(({ id }) => id))).toEqual(
    new Set([`chatcmpl-${execution.slice('exec_'.length)}`]),
  );
  // The clients' schemas want null in an answer, and a text or nothing in a chunk.
  for (const { object, system_fingerprint: print } of replies)
    expect(print).toBe(object === 'chat.completion' ? null : undefined);
  const choices = replies.flatMap((reply) => reply.choices);
  const roles = choices.map(({ delta, message }) => (delta ?? message)?.role);
  expect(roles).toEqual(['assistant', ...Array<undefined>(roles.length - 1).fill(undefined)]);
  expect(choices.filter((choice) => choice.finish_reason !== null)).toHaveLength(1);
  const usage = replies.at(-1)?.usage;
  expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
  const { available, held } = await harness.gateway.balance(account.accountId);
  expect(held).toBe(0n);
  expect(usage).toMatchObject({
    cost_microusd: Number(CREDIT - available),
    cost: Number(CREDIT - available) / 1_000_000,
  });
  const found = await send(`${harness.gateway.url}/v1/executions/${replies[0]?.id ?? ''}`, {
    headers: account.headers,
  });
  expect(found.json).toMatchObject({ id: execution, charged_microusd: `${CREDIT - available}` });
}

async function ask(dialect: Dialect, isStream: boolean): Promise<void> {
  const account = await harness.gateway.account(CREDIT);
  harness.upstream.reply = dialect.reply ?? sends(dialect, isStream);
  const answer = await postJson(harness.url, account.headers, {
    ...ASK,
    model: MODEL.id,
    max_tokens: MODEL.cap,
    stream: isStream,
    ...(isStream && { stream_options: { include_usage: true } }),
  });
  const { status = 200, code, retryAfter, ...wanted } = dialect.wanted;
  expect(answer.status).toBe(status);
  if (status !== 200) {
    expect(errorOf(answer).code).toBe(code);
    if (retryAfter !== undefined) expect(answer.headers.get('retry-after')).toBe(retryAfter);
    expect((await harness.gateway.balance(account.accountId)).available).toBe(CREDIT);
    return;
  }
  const replies = isStream ? chunksOf(answer.bytes.toString()) : [answer.json as Reply];
  expect(gathered(replies)).toMatchObject(wanted);
  await expectOurs(answer, replies, account);
}

/** Failures in a row would open the circuit of the route. */
async function succeedAgain(): Promise<void> {
  const [usual] = ANSWER_DIALECTS;
  for (let count = 0; usual && count < SUCCESSES_PER_FAILURE; count++) await ask(usual, false);
}

describe('a vendor’s dialect', () => {
  it.each(DIALECTS.map((dialect) => [dialect.kind, dialect.what, dialect] as const))(
    '%s: %s',
    async (_kind, _what, dialect) => {
      if (dialect.events ?? dialect.reply) await ask(dialect, true);
      if (dialect.answer ?? dialect.reply) await ask(dialect, false);
      if ((dialect.wanted.status ?? 0) >= 500) await succeedAgain();
    },
  );
});
