import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { wavFile } from '../../media/wav-file.js';
import { AudioHarness } from '../../support/audio-harness.js';
import { ISOLATION } from '../../support/audio-operations.js';
import { formSeen } from '../../support/stub-provider.js';

let harness: AudioHarness;

beforeAll(async () => {
  harness = await AudioHarness.open();
});
beforeEach(() => harness.clear());
afterAll(() => harness.close());

describe('POST /v1/audio/isolation', () => {
  it.each([
    [202_860, 15_000n, 'ISO-29'],
    [224_910, 15_000n, 'ISO-31'],
    [229_320, 18_000n, 'ISO-31'],
  ])('bills %d samples at 44.1 kHz %d micro-USD (%s, G-20)', async (samples, price) => {
    const file = wavFile(samples, 44_100, 8);
    const { charged } = await harness.charges(ISOLATION, () => harness.call(ISOLATION, {}, file));
    expect(charged).toBe(price);
  });

  it('bills an hour (ISO-31)', async () => {
    const file = wavFile(3_600_000, 1_000, 8);
    const { charged } = await harness.charges(ISOLATION, () => harness.call(ISOLATION, {}, file));
    expect(charged).toBe(10_800_000n);
  });

  it.each([202_859, 202_419, 198_450, 22_050])(
    'refuses %d samples at 44.1 kHz before any hold, whatever the balance (ISO-30, LIMIT-05, G-19)',
    async (samples) => {
      // A form is read only if the account has some balance (decision G-101), but less than the price is enough.
      harness.account = await harness.gateway.account(1n);
      const file = wavFile(samples, 44_100, 8);
      await harness.refused(
        () => harness.call(ISOLATION, {}, file),
        400,
        'audio_too_short',
        'file',
      );
      harness.account = await harness.gateway.account(0n);
      harness.serve(file);
      await harness.refused(() => harness.postJson(ISOLATION), 400, 'audio_too_short', 'audio_url');
      const holds = await harness.gateway.dataSource.query<unknown[]>(
        'SELECT 1 FROM execution WHERE account_id = $1',
        [harness.account.accountId],
      );
      expect(holds).toEqual([]);
    },
  );

  it.each(['response_format', 'voice', 'stability', 'text', 'language'])(
    'refuses the field %s (ISO-32)',
    async (field) => {
      await harness.refusesField(ISOLATION, field, 'mp3');
      const send = () => harness.call(ISOLATION, { [field]: 'mp3' });
      await harness.refused(send, 400, 'invalid_request', field);
    },
  );

  it('answers MP3 and sends the provider the recording alone (ISO-33)', async () => {
    const { answer, seen } = await harness.charges(ISOLATION, () => harness.call(ISOLATION));
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(seen.url).toBe('/v1/audio-isolation');
    expect((await formSeen(seen)).fields).toEqual({});
  });
});
