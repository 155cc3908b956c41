import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXAMPLE_RECORDING } from '../../../src/common/example-media.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { AT_ONCE } from '../../support/ttapi-client.js';
import { repeatableRandom, type Random } from '../../media/fuzz.js';
import { formInput } from './form-grammar.js';
import { fuzzInput } from './inputs.js';
import type { FuzzInput, FuzzWorld } from './operations.js';

/** A request that brings no byte for this long, and has not ended, hangs. */
const HANG_MS = 35_000;
/** The longest time that an answer may take while its bytes come: megabytes of sandbox speech, many at a time. */
const MAX_ANSWER_MS = 180_000;
/** A client that gets no answer for this long ends its side. */
const SILENCE_MS = 3_000;
const CLIENTS = 16;

/** What makes the inputs: every kind of request, damaged in its bytes, or forms by the grammar of multipart bodies. */
export const GRAMMARS = {
  all: fuzzInput,
  forms: (key: string, _world: FuzzWorld, random: Random) => formInput(key, random),
} as const;

/** The target of the run, and its size. */
export interface FuzzPlan {
  readonly url: string;
  readonly world: FuzzWorld;
  /** Keys that requests come with, in turn. */
  readonly keys: readonly string[];
  readonly count: number;
  readonly seed: number;
  /** What the inputs are; everything by default. */
  readonly grammar?: keyof typeof GRAMMARS;
  /** Clients at once. */
  readonly clients?: number;
  /** Called with the number of inputs whose answers were judged. */
  readonly onJudged?: (inputs: number) => void;
}

/** The result of the run. */
export interface FuzzReport {
  readonly seed: number;
  readonly inputs: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Inputs with the fault of their answer; the number names the input. */
  readonly violations: readonly string[];
}

/** What the inputs name. It is made before the first input, for the account of the key. */
export async function fuzzWorld(url: string, key: string, adminToken: string): Promise<FuzzWorld> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    await answer.arrayBuffer();
    const named = ['x-gateway-task-id', 'x-gateway-execution-id'];
    return named.map((name) => answer.headers.get(name)).find((id) => id !== null) ?? '';
  };
  const account = await fetch(`${url}/v1/account`, { headers });
  const songId = await made('/v1/music/generations', { model: 'song-music', prompt: AT_ONCE });
  return {
    adminToken,
    songId,
    mediaUrl: `${url}/sandbox/media/${EXAMPLE_RECORDING}`,
    ids: [
      await made('/v1/videos', { model: 'vid-motion', prompt: AT_ONCE, seconds: '5' }),
      songId,
      await made('/v1/audio/speech', HELLO),
      ((await account.json()) as { id: string }).id,
    ],
  };
}

/** Sends the inputs that the seed makes, some clients at a time, and judges every answer. */
export async function fuzzRun(plan: FuzzPlan): Promise<FuzzReport> {
  const { url, world, keys, count, seed, grammar = 'all', clients = CLIENTS, onJudged } = plan;
  const statuses: Record<string, number> = {};
  const violations: string[] = [];
  let next = 0;
  let done = 0;
  const client = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      // A generator for each input, so that one input can be made again without those before it.
      const random = repeatableRandom(seed + index);
      const input = GRAMMARS[grammar](keys[index % keys.length] ?? '', world, random);
      const seen = await answerTo(url, input, random);
      const { status, fault } = judged(seen);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (fault) violations.push(`${index} (${input.what}): ${fault}`);
      done += 1;
      onJudged?.(done);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { seed, inputs: done, statuses, violations };
}

/** The answer until the connection ended; undefined when it never ended. */
async function answerTo(
  url: string,
  { bytes }: FuzzInput,
  random: Random,
): Promise<string | undefined> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  const closed = new Promise<boolean>((resolve) =>
    socket.once('close', () => {
      resolve(true);
    }),
  );
  let seen = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    if (seen.length < 100_000) seen += chunk;
  });
  const pieces = 1 + random(3);
  for (let piece = 0; piece < pieces && !socket.destroyed; piece++) {
    const size = Math.ceil(bytes.length / pieces);
    socket.write(bytes.subarray(piece * size, (piece + 1) * size));
    if (pieces > 1) await sleep(random(5));
  }
  if (random(10) === 0) socket.destroy();
  // Closing the sending side loses the answer, so only clients that expect none do it.
  const patience = setTimeout(() => socket.end(), SILENCE_MS);
  socket
    .on('data', () => patience.refresh())
    .once('close', () => {
      clearTimeout(patience);
    });
  const timers: NodeJS.Timeout[] = [];
  const hung = new Promise<boolean>((resolve) => {
    const hang = setTimeout(resolve, HANG_MS, false);
    socket.on('data', () => hang.refresh());
    timers.push(hang, setTimeout(resolve, MAX_ANSWER_MS, false));
  });
  const hasEnded = await Promise.race([closed, hung]);
  timers.forEach(clearTimeout);
  socket.destroy();
  return hasEnded ? seen : undefined;
}

/** The status of the first answer, and what is wrong about it. */
function judged(seen: string | undefined): { status: string; fault?: string } {
  if (seen === undefined)
    return {
      status: 'hung',
      fault: `no byte for ${HANG_MS} ms, or no end within ${MAX_ANSWER_MS} ms`,
    };
  const final = seen.replace(/^(HTTP\/1\.1 1\d\d [^\r]*\r\n(?:[^\r]+\r\n)*\r\n)+/, '');
  if (final === '') return { status: 'closed' };
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(final) ?? [];
  if (status === undefined) return { status: 'none', fault: 'no HTTP' };
  const body = Number(status) < 400 ? '' : bodyOf(final);
  if (Number(status) >= 500 && !isWrongEndpoint(status, body)) {
    return { status, fault: final.slice(0, 1_000) };
  }
  const isSound = body === '' || isEnvelope(body);
  return isSound ? { status } : { status, fault: `no envelope: ${body.slice(0, 300)}` };
}

/** The one mistake of a caller that is a 5xx: a model of another endpoint (decision G-09). */
function isWrongEndpoint(status: string, body: string): boolean {
  return status === '503' && body.includes('"code":"no_eligible_route"') && isEnvelope(body);
}

/** The body of the first answer; a HEAD has none, though its length is told. */
function bodyOf(answer: string): string {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
  return body.startsWith('HTTP/1.1 ') ? '' : body.slice(0, length);
}

function isEnvelope(text: string): boolean {
  try {
    const { error } = JSON.parse(text) as { error?: Record<string, unknown> };
    return ['code', 'message', 'param', 'type'].every((name) => error && name in error);
  } catch {
    return false;
  }
}
