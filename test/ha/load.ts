import { setTimeout as sleep } from 'node:timers/promises';
import { postJson } from '../support/http-answer.js';
import type { GatewayProgram } from '../support/process.js';

const SPEECH = { model: 'aud-v4', input: 'Hello [[sandbox:instant]]', voice: 'Adam' };
const VIDEO = { model: 'vid-motion', prompt: 'The sea [[sandbox:task-ms=1]]', seconds: '5' };
const CLIENTS = 8;
const PAUSE_MS = 40;
/** Every so many calls of a client is a task. */
const TASK_EVERY = 8;

/** What callers were told. */
export interface Told {
  /** Ids of calls that were answered with 200, and of tasks that were taken. */
  readonly calls: string[];
  readonly tasks: string[];
  refused: number;
  /** Requests without an answer: they may be charged. */
  broken: number;
  /** Whatever else an answer was. */
  readonly strange: string[];
  lastGoodMs: number;
  /** Longest time in which no call was answered with 200. */
  longestGapMs: number;
}

/** Clients that call and submit until `end`, at one gateway after the other. */
export function startLoad(
  gateways: readonly GatewayProgram[],
  headers: Readonly<Record<string, string>>,
): { readonly told: Told; end(): Promise<void> } {
  const told: Told = {
    calls: [],
    tasks: [],
    refused: 0,
    broken: 0,
    strange: [],
    lastGoodMs: 0,
    longestGapMs: 0,
  };
  const run = { goesOn: true };
  const clients = Array.from({ length: CLIENTS }, async (_none, client) => {
    for (let turn = client; run.goesOn; turn += 1) {
      const { url } = gateways[turn % gateways.length]!;
      await oneCall(url, headers, turn % TASK_EVERY === 0, told);
      await sleep(PAUSE_MS);
    }
  });
  return {
    told,
    async end() {
      run.goesOn = false;
      await Promise.all(clients);
    },
  };
}

async function oneCall(
  url: string,
  headers: Readonly<Record<string, string>>,
  isTask: boolean,
  told: Told,
): Promise<void> {
  const [path, body] = isTask ? ['/v1/videos', VIDEO] : ['/v1/audio/speech', SPEECH];
  const answer = await postJson(`${url}${path}`, headers, body).catch(() => undefined);
  if (answer === undefined) told.broken += 1;
  else if (answer.status === 503) told.refused += 1;
  else if (answer.status !== 200) told.strange.push(`${answer.status} ${answer.bytes.toString()}`);
  else {
    const nowMs = performance.now();
    if (told.lastGoodMs > 0)
      told.longestGapMs = Math.max(told.longestGapMs, nowMs - told.lastGoodMs);
    told.lastGoodMs = nowMs;
    if (isTask) told.tasks.push((answer.json as { id: string }).id);
    else told.calls.push(answer.headers.get('x-gateway-execution-id') ?? '');
  }
}
