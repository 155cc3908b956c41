import { setImmediate } from 'node:timers/promises';
import { Magic } from '../magic-inputs.js';
import type { SandboxExchange } from './sandbox-exchange.js';
import { WireFault } from './protocol.js';

const MAX_DELAY_MS = 600_000;
const MAX_RETRY_AFTER_SECONDS = 3600;
const DEFAULT_RETRY_AFTER_SECONDS = 7;
/** What a huge file announces: more than any may have. */
const HUGE_FILE_BYTES = 4 * 1024 ** 3;
/** What is sent of a huge answer: more than the gateway reads of any answer about a job. */
const HUGE_SENT_BYTES = 64 * 1024 * 1024;
const HUGE_PIECE_BYTES = 64 * 1024;
/** The provider's error word for a wrong magic input. The caller gets it, so that a typing error is found. */
const WRONG_WORD = 'wrong_magic_input';

/**
 * Applies the magic inputs that replace or delay the whole answer. Returns true when the answer was sent. Throws
 * `WireFault` for `status`, and for words that are unknown or have a wrong argument.
 * @param isFile a file was asked for, whose length is told
 */
export async function actOut(exchange: SandboxExchange, isFile = false): Promise<boolean> {
  const { magic } = exchange;
  if (magic.fault !== undefined) {
    throw new WireFault({ status: 400, code: WRONG_WORD, message: magic.fault });
  }
  if (magic.has('reset')) {
    exchange.destroy();
    return true;
  }
  if (magic.has('hang')) {
    await exchange.hang();
    return true;
  }
  const delayMs = magic.number('delay', MAX_DELAY_MS);
  if (delayMs !== undefined) await exchange.pause(delayMs);
  const status = magic.number('status', 599);
  if (status !== undefined) {
    const code = magic.text('code');
    const message = `The sandbox was asked for status ${status}`;
    throw new WireFault(code === undefined ? { status, message } : { status, message, code });
  }
  return replaceBody(exchange, isFile);
}

/**
 * Applies `fault` to the rest of the exchange: an error status, or the name of a magic input that spoils an answer.
 * Returns true when the answer was sent; throws as {@link actOut}.
 */
export async function spoil(
  exchange: SandboxExchange,
  fault: string | undefined,
  isFile = false,
): Promise<boolean> {
  if (fault === undefined) return false;
  exchange.obey(Magic.of(/^\d+$/.test(fault) ? { status: fault } : { [fault]: '' }));
  return actOut(exchange, isFile);
}

async function replaceBody(exchange: SandboxExchange, isFile: boolean): Promise<boolean> {
  if (exchange.magic.has('html')) {
    const page = '<!doctype html><title>Welcome</title><h1>It works</h1>\n';
    await exchange.send(200, { 'content-type': 'text/html; charset=utf-8' }, Buffer.from(page));
    return true;
  }
  if (exchange.magic.has('json')) {
    await exchange.json(200, { ok: true });
    return true;
  }
  if (exchange.magic.has('empty')) {
    await exchange.send(200, {}, Buffer.alloc(0));
    return true;
  }
  if (exchange.magic.has('huge')) {
    const length = isFile ? { 'content-length': HUGE_FILE_BYTES } : {};
    const headers = { 'content-type': 'application/octet-stream', ...length };
    await exchange.send(200, headers, hugeBody(exchange));
    return true;
  }
  return false;
}

/** The beginning of a video and then nothing of use, in pieces, as fast as the client reads; then the connection is cut. */
async function* hugeBody(exchange: SandboxExchange): AsyncGenerator<Uint8Array> {
  yield Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isommp42', 'latin1');
  const piece = Buffer.alloc(HUGE_PIECE_BYTES, ' ');
  for (let sent = 0; sent < HUGE_SENT_BYTES; sent += piece.length) {
    yield piece;
    // Others are answered meanwhile.
    await setImmediate();
  }
  await exchange.cut();
}

/** Headers of an error answer. Some statuses tell when to try again. */
export function retryHeaders(exchange: SandboxExchange, status: number): Record<string, string> {
  const asked = exchange.magic.number('retry-after', MAX_RETRY_AFTER_SECONDS);
  if (status === 429) return { 'retry-after': String(asked ?? DEFAULT_RETRY_AFTER_SECONDS) };
  return status === 503 && asked !== undefined ? { 'retry-after': String(asked) } : {};
}
