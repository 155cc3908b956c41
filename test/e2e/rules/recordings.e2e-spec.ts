import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { StubUpstream } from '../../support/stub-upstream.js';
import { AudioHarness } from '../../support/audio-harness.js';
import {
  recordingForm,
  RECORDING_OPERATIONS,
  TEN_SECONDS,
} from '../../support/audio-operations.js';
import { formSeen } from '../../support/stub-provider.js';

const LIMIT_BYTES = 52_428_800;

let harness: AudioHarness;

beforeAll(async () => {
  harness = await AudioHarness.open();
});
beforeEach(() => harness.clear());
afterAll(() => harness.close());

/** A test of every operation that takes a recording. `rows` are in the order of RECORDING_OPERATIONS. */
const rule = (...rows: string[]) =>
  it.each(
    RECORDING_OPERATIONS.map((operation, at) => [operation.path, rows[at], operation] as const),
  );

describe('a recording', () => {
  rule(
    'STT-14',
    'ALIGN-14',
    'VC-14',
    'ISO-14',
  )(
    'for %s costs the same uploaded and downloaded, and is sent on byte by byte (%s, AUD-42)',
    async (_path, _row, operation) => {
      const costs: (string | null)[] = [];
      for (const answer of [
        await harness.call(operation),
        await harness.postJson(operation),
        await harness.postForm(
          operation,
          recordingForm({ ...operation.body, audio_url: `${harness.host.url}/a.wav` }, null),
        ),
      ]) {
        expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
        costs.push(answer.headers.get('x-gateway-charge-microusd'));
      }
      const price = operation.price.toString();
      expect(costs).toEqual([price, price, price]);
      for (const seen of harness.provider.seen) {
        expect((await formSeen(seen)).file?.equals(TEN_SECONDS)).toBe(true);
      }
    },
  );

  rule()('for %s by URL may come with a file that is null', async (_path, _row, operation) => {
    expect((await harness.postJson(operation, { file: null })).status).toBe(200);
    await harness.refusesField(operation, 'file', 'UklGRg==');
    await harness.refused(
      () => harness.postJson(operation, { file: null, audio_url: null }),
      400,
      'audio_input_required',
    );
  });

  rule(
    'STT-29',
    'ALIGN-29',
    'VC-29',
    'ISO-28',
  )(
    'for %s is downloaded once: the provider gets the bytes that were measured (%s)',
    async (_path, _row, operation) => {
      let downloads = 0;
      harness.host.reply = (response) => {
        downloads += 1;
        response.end(downloads === 1 ? TEN_SECONDS : Buffer.alloc(100));
      };
      expect((await harness.postJson(operation)).status).toBe(200);
      expect(downloads).toBe(1);
      expect((await formSeen(harness.provider.only)).file?.equals(TEN_SECONDS)).toBe(true);
    },
  );

  rule(
    'STT-15',
    'ALIGN-15',
    'VC-15',
    'ISO-15',
  )('for %s comes as a file or as a URL, not both (%s)', async (_path, _row, operation) => {
    const fields = { ...operation.body, audio_url: `${harness.host.url}/a.wav` };
    await harness.refused(
      () => harness.postForm(operation, recordingForm(fields, TEN_SECONDS)),
      400,
      'invalid_request',
      'audio_url',
    );
  });

  rule(
    'STT-16',
    'ALIGN-16',
    'VC-16',
    'ISO-16',
  )('for %s has to be there (%s)', async (_path, _row, operation) => {
    const { body } = operation;
    for (const post of [
      () => harness.postForm(operation, recordingForm(body, null)),
      () => harness.postForm(operation, recordingForm({ ...body, file: 'not a file part' }, null)),
      () =>
        harness.postForm(operation, recordingForm({ ...body, file: 'x'.repeat(500_000) }, null)),
      () => harness.postJson(operation, { audio_url: undefined }),
      () => harness.postJson(operation, { audio_url: null }),
    ]) {
      await harness.refused(post, 400, 'audio_input_required');
    }
  });

  rule(
    'STT-17',
    'ALIGN-17',
    'VC-17',
    'ISO-17',
  )('for %s needs a form with a model (%s)', async (_path, _row, operation) => {
    const fields = { ...operation.body, model: undefined };
    const post = () => harness.postForm(operation, recordingForm(fields, TEN_SECONDS));
    await harness.refused(post, 400, 'invalid_multipart', 'model');
  });

  rule(
    'STT-18',
    'ALIGN-18',
    'VC-18',
    'ISO-18',
  )('for %s is the only file of its form (%s)', async (_path, _row, operation) => {
    for (const other of ['file', 'other']) {
      const form = recordingForm(operation.body, TEN_SECONDS);
      form.append(other, new Blob(['abc']), 'b.wav');
      await harness.refused(() => harness.postForm(operation, form), 400, 'invalid_multipart');
    }
  });

  rule(
    'STT-19',
    'ALIGN-19',
    'VC-19',
    'ISO-19',
  )('for %s comes with no field twice (%s)', async (_path, _row, operation) => {
    for (const name of ['model', 'language', 'foo', 'file', 'constructor']) {
      const form = recordingForm(operation.body, TEN_SECONDS);
      if (name !== 'file') form.append(name, 'a');
      if (name !== 'model') form.append(name, 'b');
      await harness.refused(() => harness.postForm(operation, form), 400, 'invalid_multipart');
    }
  });

  rule(
    'STT-20',
    'ALIGN-20',
    'VC-20',
    'ISO-20',
  )('for %s is in the field named file (%s)', async (_path, _row, operation) => {
    const form = recordingForm(operation.body, null);
    form.set('audio', new Blob([new Uint8Array(TEN_SECONDS)]), 'a.wav');
    await harness.refused(() => harness.postForm(operation, form), 400, 'invalid_multipart');
  });

  rule(
    'STT-21',
    'ALIGN-21',
    'VC-21',
    'ISO-21',
  )('for %s has to be readable media (%s, AUD-19)', async (_path, _row, operation) => {
    for (const [name, bytes] of [
      ['a.txt', Buffer.from('Some text, longer than a header would be, but no media at all.')],
      ['a.pdf', Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\n')],
      ['a.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
      ['a.wav', TEN_SECONDS.subarray(0, 30)],
      ['a.mp3', Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7919) & 0xff))],
      ['a.mp3', Buffer.alloc(0)],
    ] as const) {
      const form = recordingForm(operation.body, bytes, name, 'audio/mpeg');
      form.set('file', new Blob([new Uint8Array(bytes)], { type: 'audio/mpeg' }), name);
      await harness.refused(
        () => harness.postForm(operation, form),
        400,
        'unsupported_audio_format',
      );
    }
    harness.host.reply = (response) => response.end('<!doctype html>');
    await harness.refused(() => harness.postJson(operation), 400, 'unsupported_audio_format');
  });

  rule(
    'STT-22',
    'ALIGN-22',
    'VC-22',
    'ISO-22',
  )('for %s has to be downloadable (%s, AUD-46)', async (_path, _row, operation) => {
    for (const reply of [
      (response) => response.writeHead(404).end('gone'),
      (response) => response.writeHead(500).end(),
      (response) => response.end(),
      (response) => response.writeHead(200, { 'content-length': 99 }).destroy(),
      (response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
    ] satisfies StubUpstream['reply'][]) {
      harness.host.reply = reply;
      await harness.refused(
        () => harness.postJson(operation),
        400,
        'audio_download_failed',
        'audio_url',
      );
    }
    const nowhere = { audio_url: 'http://name.invalid/a.wav' };
    await harness.refused(
      () => harness.postJson(operation, nowhere),
      400,
      'audio_download_failed',
      'audio_url',
    );
  });

  rule(
    'STT-23',
    'ALIGN-23',
    'VC-23',
    'ISO-23',
  )('for %s has at most 50 MB (%s)', async (_path, _row, operation) => {
    const tooLarge = Buffer.alloc(LIMIT_BYTES + 1);
    const form = recordingForm(operation.body, tooLarge);
    await harness.refused(
      () => harness.postForm(operation, form),
      413,
      'request_too_large',
      'file',
    );
    harness.serve(tooLarge);
    await harness.refused(() => harness.postJson(operation), 413, 'audio_too_large', 'audio_url');
  });
});
