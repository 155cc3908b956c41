import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AudioHarness } from '../../support/audio-harness.js';
import {
  ALIGNMENT,
  recordingForm,
  ISOLATION,
  RECORDING_OPERATIONS,
  TEN_SECONDS,
  TRANSCRIPTION,
  VOICE_CHANGER,
} from '../../support/audio-operations.js';
import { errorOf } from '../../support/http-answer.js';
import { wavFile } from '../../media/wav-file.js';

const LIMIT_BYTES = 52_428_800;
const silence = (seconds: number): Buffer => wavFile(Math.round(seconds * 1_000), 1_000, 8);

let harness: AudioHarness;

beforeAll(async () => {
  harness = await AudioHarness.open({ UPSTREAM_TIMEOUT_MS: '2000' });
});
beforeEach(() => harness.clear());
afterAll(() => harness.close());

describe('error codes of endpoints that take a recording', () => {
  it('audio_input_required is 400: no file and no audio_url (ERR-15)', async () => {
    for (const operation of RECORDING_OPERATIONS) {
      const form = recordingForm(operation.body, null);
      await harness.refused(() => harness.postForm(operation, form), 400, 'audio_input_required');
    }
  });

  it('invalid_multipart is 400: no model, two files, a file elsewhere (ERR-16)', async () => {
    const noModel = recordingForm({ ...TRANSCRIPTION.body, model: undefined }, TEN_SECONDS);
    const twoFiles = recordingForm(TRANSCRIPTION.body, TEN_SECONDS);
    twoFiles.append('file', new Blob([new Uint8Array(TEN_SECONDS)]), 'again.wav');
    const elsewhere = recordingForm(TRANSCRIPTION.body, null);
    elsewhere.set('audio', new Blob([new Uint8Array(TEN_SECONDS)]), 'a.wav');
    for (const form of [noModel, twoFiles, elsewhere]) {
      await harness.refused(() => harness.postForm(TRANSCRIPTION, form), 400, 'invalid_multipart');
    }
  });

  it('unsupported_audio_format is 400: text in place of audio (ERR-17)', async () => {
    const file = Buffer.from('this is no recording at all');
    for (const operation of RECORDING_OPERATIONS) {
      await harness.refused(
        () => harness.call(operation, {}, file),
        400,
        'unsupported_audio_format',
      );
    }
  });

  it.each([
    [TRANSCRIPTION, 7_200],
    [ALIGNMENT, 3_600],
    [ISOLATION, 3_600],
    [VOICE_CHANGER, 300],
  ])(
    'audio_too_long is 400 over the limit of each endpoint (ERR-18, LIMIT-05) %#',
    async (operation, limit) => {
      const file = silence(limit + 1);
      await harness.refused(() => harness.call(operation, {}, file), 400, 'audio_too_long', 'file');
    },
  );

  it('audio_too_short is 400: isolation under 4.6 s (ERR-19)', async () => {
    await harness.refused(
      () => harness.call(ISOLATION, {}, silence(4.599)),
      400,
      'audio_too_short',
      'file',
    );
  });

  it('audio_download_failed is 400: the host answers 404 (ERR-20)', async () => {
    harness.host.reply = (response) => response.writeHead(404).end();
    for (const operation of RECORDING_OPERATIONS) {
      await harness.refused(
        () => harness.postJson(operation),
        400,
        'audio_download_failed',
        'audio_url',
      );
    }
  });

  it('audio_too_large is 413: a download over 50 MB (ERR-25, G-42)', async () => {
    harness.serve(Buffer.alloc(LIMIT_BYTES + 1));
    await harness.refused(
      () => harness.postJson(TRANSCRIPTION),
      413,
      'audio_too_large',
      'audio_url',
    );
  });

  it('request_too_large is 413: an upload over 50 MB (ERR-26, G-42)', async () => {
    const file = Buffer.alloc(LIMIT_BYTES + 1);
    await harness.refused(
      () => harness.call(TRANSCRIPTION, {}, file),
      413,
      'request_too_large',
      'file',
    );
  });

  it('provider_timeout is 502 and has the header that stops stock SDKs from retrying (ERR-28)', async () => {
    harness.provider.reply = () => undefined;
    const before = await harness.gateway.balance(harness.account.accountId);
    const answer = await harness.call(TRANSCRIPTION);
    expect([answer.status, errorOf(answer).code]).toEqual([502, 'provider_timeout']);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(await harness.gateway.balance(harness.account.accountId)).toEqual(before);
  });
});

describe('order of events', () => {
  it('prices and checks the balance before the first provider call (BILL-05)', async () => {
    harness.account = await harness.gateway.account(919n);
    for (const send of [() => harness.call(TRANSCRIPTION), () => harness.postJson(ALIGNMENT)]) {
      await harness.refused(send, 402, 'insufficient_funds');
    }
  });
});
