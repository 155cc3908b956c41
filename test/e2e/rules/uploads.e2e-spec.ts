import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AudioHarness } from '../../support/audio-harness.js';
import {
  call,
  recordingForm,
  RECORDING_OPERATIONS,
  TEN_SECONDS,
  TRANSCRIPTION,
} from '../../support/audio-operations.js';

const PATIENCE_MS = 60_000;

let harness: AudioHarness;

beforeAll(async () => {
  harness = await AudioHarness.open();
});
beforeEach(() => harness.clear());
afterAll(() => harness.close());

const files = () =>
  readdirSync(join(harness.gateway.config.dataDir, 'uploads', String(process.pid)));

/** A file is removed shortly after its answer. */
async function untilGone(): Promise<void> {
  for (let waitedMs = 0; files().length > 0 && waitedMs < PATIENCE_MS; waitedMs += 10) {
    await sleep(10);
  }
  expect(files()).toEqual([]);
}

/** Begins an upload on a raw socket. */
async function upload() {
  const form = new Response(recordingForm(TRANSCRIPTION.body, TEN_SECONDS));
  const body = Buffer.from(await form.arrayBuffer());
  const sending = request(harness.url(TRANSCRIPTION), {
    method: 'POST',
    headers: {
      ...harness.account.headers,
      'content-type': form.headers.get('content-type') ?? '',
      'content-length': body.length,
    },
    agent: false,
  }).on('error', () => undefined);
  return { sending, body };
}

describe('the file of a recording', () => {
  it('is gone after the answer, uploaded or downloaded', async () => {
    for (const operation of RECORDING_OPERATIONS) {
      expect((await harness.call(operation)).status).toBe(200);
      await untilGone();
      expect((await harness.postJson(operation)).status).toBe(200);
      await untilGone();
    }
  });

  it.each<[string, object, number]>([
    ['model', { model: 'aud-v9' }, 404],
    ['model of another endpoint', { model: 'aud-v4' }, 503],
    ['field', { foo: 1 }, 400],
    ['second input', { audio_url: 'https://media.example.com/' }, 400],
  ])('is gone when a bad %s is refused', async (_what, fields, status) => {
    expect((await harness.call(TRANSCRIPTION, fields)).status).toBe(status);
    await untilGone();
  });

  it('is gone when it is unreadable, too long, or the balance is too small', async () => {
    const { gateway } = harness;
    const garbage = await harness.call(TRANSCRIPTION, {}, Buffer.alloc(5_000, 1));
    expect(garbage.status).toBe(400);
    const poor = await gateway.account(0n);
    expect((await call(TRANSCRIPTION, gateway.url, poor.headers)).status).toBe(402);
    await untilGone();
  });

  it('is gone when the provider fails', async () => {
    harness.provider.reply = (response) => response.writeHead(500).end();
    for (const operation of RECORDING_OPERATIONS) {
      expect((await harness.call(operation)).status).toBe(502);
    }
    await untilGone();
  });

  it('is removed when the client disconnects in the middle of it', async () => {
    const { sending, body } = await upload();
    sending.write(body.subarray(0, body.length / 2));
    while (files().length === 0) await sleep(5);
    sending.destroy();
    await untilGone();
    expect(harness.provider.seen).toEqual([]);
  });

  it('stays for the provider when the client disconnects, and the charge follows (AUD-05)', async () => {
    let finish: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      harness.provider.reply = (response) => {
        finish = () => response.end('{"text":"Hi","words":[]}');
        resolve();
      };
    });
    const { sending, body } = await upload();
    sending.end(body);
    await asked;
    sending.destroy();
    await sleep(50);
    expect(files()).toHaveLength(1);
    finish();
    await untilGone();
    const { accountId } = harness.account;
    expect(await harness.gateway.balance(accountId)).toMatchObject({ held: 0n, entries: 2 });
  });

  it('is gone after the gateway stopped in the middle of the work', async () => {
    const other = await AudioHarness.open({ DRAIN_TIMEOUT_MS: '0' });
    const asked = new Promise<void>((resolve) => {
      other.provider.reply = () => {
        resolve();
      };
    });
    const answer = other.call(TRANSCRIPTION);
    await asked;
    const uploads = join(other.gateway.config.dataDir, 'uploads');
    const stopped = other.gateway.stop();
    expect((await answer).status).toBe(503);
    await stopped;
    expect(readdirSync(uploads)).toEqual([]);
    await Promise.all([other.provider.stop(), other.host.stop()]);
  });
});
