import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AudioHarness } from '../../support/audio-harness.js';
import {
  recordingForm,
  RECORDING_OPERATIONS,
  TEN_SECONDS,
  TRANSCRIPTION,
} from '../../support/audio-operations.js';
import { send } from '../../support/http-answer.js';

const LIMIT_BYTES = 52_428_800;

let harness: AudioHarness;

beforeAll(async () => {
  harness = await AudioHarness.open();
});
beforeEach(() => harness.clear());
afterAll(() => harness.close());

/** A WAV of exactly the limit: an hour and more, mostly of one byte per sample. */
function fiftyMegabytes(): Buffer {
  const header = Buffer.from(TEN_SECONDS.subarray(0, 44));
  header.writeUInt32LE(LIMIT_BYTES - 8, 4);
  header.writeUInt32LE(LIMIT_BYTES - 44, 40);
  return Buffer.concat([header, Buffer.alloc(LIMIT_BYTES - 44)]);
}

describe('any recording', () => {
  it('of exactly 50 MB is taken, uploaded and downloaded (AUD-47, AUD-48, LIMIT-01, G-42)', async () => {
    const wav = fiftyMegabytes();
    expect(wav.length).toBe(LIMIT_BYTES);
    expect((await harness.call(TRANSCRIPTION, {}, wav)).status).toBe(200);
    harness.serve(wav);
    expect((await harness.postJson(TRANSCRIPTION)).status).toBe(200);
  });

  it('without end is given up at the limit (AUD-47)', async () => {
    let sent = 0;
    harness.host.reply = (response) => {
      const more = (): void => {
        sent += 1_000_000;
        if (!response.destroyed) response.write(Buffer.alloc(1_000_000), more);
      };
      more();
    };
    await harness.refused(
      () => harness.postJson(TRANSCRIPTION),
      413,
      'audio_too_large',
      'audio_url',
    );
    expect(sent).toBeLessThan(2 * LIMIT_BYTES);
  });

  it.each([
    'ftp://example.com/a.wav',
    'file:///etc/passwd',
    'data:audio/wav;base64,UklGRg==',
    'not a url',
    42,
    '',
    'http://user:secret@example.com/a.wav',
  ])('at %j is refused by its text (AUD-43)', async (audio_url) => {
    for (const operation of RECORDING_OPERATIONS) {
      await harness.refused(
        () => harness.postJson(operation, { audio_url }),
        400,
        'invalid_request',
        'audio_url',
      );
    }
  });

  it('may be as long as the model says, and no longer', async () => {
    const model = await send(`${harness.gateway.url}/v1/models/${TRANSCRIPTION.body.model}`, {
      headers: harness.account.headers,
    });
    const { limits } = model.json as { limits: { audio_url: { max_length: number } } };
    const longest = `${harness.host.url}/?`.padEnd(limits.audio_url.max_length, 'x');
    expect((await harness.postJson(TRANSCRIPTION, { audio_url: longest })).status).toBe(200);
    await harness.refusesField(TRANSCRIPTION, 'audio_url', `${longest}x`);
  });

  it.each([
    'http://127.0.0.1/a.wav',
    'http://[::1]/a.wav',
    'http://localhost/a.wav',
    'http://10.0.0.1/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://100.64.0.1/',
    'http://[fd00::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://0.0.0.0/',
    'http://2130706433/',
    'http://0x7f000001/',
  ])(
    'at the private address %s is refused without a connection (AUD-44, G-43)',
    async (audio_url) => {
      const before = harness.host.seen.length;
      for (const operation of RECORDING_OPERATIONS) {
        await harness.refused(
          () => harness.postJson(operation, { audio_url }),
          400,
          'invalid_request',
          'audio_url',
        );
      }
      expect(harness.host.seen.length).toBe(before);
    },
  );

  it('is detected by its content, whatever its name and type say (AUD-20, G-44)', async () => {
    const form = recordingForm(TRANSCRIPTION.body, TEN_SECONDS, 'notes.txt', 'text/plain');
    expect((await harness.postForm(TRANSCRIPTION, form)).status).toBe(200);
    expect(harness.provider.only.body.toString('latin1', 0, 2_000)).toContain(
      'filename="audio.wav"\r\nContent-Type: audio/wav',
    );
  });

  it('is never billed by a declared duration (AUD-22)', async () => {
    for (const operation of RECORDING_OPERATIONS) {
      const form = recordingForm({ ...operation.body, duration_seconds: 1 }, TEN_SECONDS);
      const param = 'duration_seconds';
      await harness.refused(() => harness.postForm(operation, form), 400, 'invalid_request', param);
      await harness.refused(
        () => harness.postJson(operation, { [param]: 1 }),
        400,
        'invalid_request',
        param,
      );
    }
  });
});
