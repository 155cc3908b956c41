import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { wavFile } from '../../media/wav-file.js';
import { AudioHarness } from '../../support/audio-harness.js';
import {
  ALIGNMENT,
  type AudioOperation,
  recordingForm,
  TEN_SECONDS,
  TRANSCRIPTION,
  VOICE_CHANGER,
} from '../../support/audio-operations.js';
import { errorOf, send } from '../../support/http-answer.js';
import { formSeen } from '../../support/stub-provider.js';

/** Text, so that it can stand between other parts. */
const WAV = wavFile(8_000, 8_000, 8).toString('latin1').replaceAll('\x80', '\x7f');

let harness: AudioHarness;
beforeAll(async () => {
  harness = await AudioHarness.open();
});
beforeEach(() => harness.clear());
afterAll(() => harness.close());

/** Sends the parts of a form unchanged, for forms that no client would send. */
const postParts = (operation: AudioOperation, parts: readonly string[], boundary = 'B') =>
  send(harness.url(operation), {
    method: 'POST',
    headers: {
      ...harness.account.headers,
      'content-type': `multipart/form-data; boundary=${boundary}`,
    },
    body: parts.map((part) => `--B\r\n${part}\r\n`).join('') + '--B--\r\n',
  });
const textPart = (name: string, value: string) =>
  `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`;
const typedPart = (name: string, type: string, content: string) =>
  `Content-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n${content}`;
/** What some HTTP clients send for bytes that were given no filename. */
const bytesPart = (name: string, content: string) =>
  typedPart(name, 'application/octet-stream', content);
const filePart = (name: string, content = 'abc') =>
  `Content-Disposition: form-data; name="${name}"; filename="a.wav"\r\n\r\n${content}`;

const WHOLE = [textPart('model', 'aud-transcribe-v2'), filePart('file', WAV)];

describe('a form', () => {
  it('has its texts converted by the type of the field (AUD-06)', async () => {
    const fields = { diarize: 'true', num_speakers: '2', temperature: '0.5', subtitles: 'false' };
    const answer = await harness.call(TRANSCRIPTION, fields);
    expect(answer.status).toBe(200);
    expect((await formSeen(harness.provider.only)).fields).toEqual({
      model_id: 'scribe_v2',
      diarize: 'true',
      num_speakers: '2',
      temperature: '0.5',
    });
    const changed = await harness.call(VOICE_CHANGER, { stability: '0.5' });
    expect(changed.status).toBe(200);
  });

  it.each(
    (
      [
        [TRANSCRIPTION, 'diarize', 'TRUE'],
        [TRANSCRIPTION, 'diarize', '1'],
        [TRANSCRIPTION, 'diarize', 'yes'],
        [TRANSCRIPTION, 'num_speakers', '2x'],
        [TRANSCRIPTION, 'num_speakers', ' 2'],
        [TRANSCRIPTION, 'timestamp_granularities[]', 'letter'],
        [VOICE_CHANGER, 'stability', 'abc'],
        [VOICE_CHANGER, 'seed', '1.5'],
        [VOICE_CHANGER, 'voice', '42'],
      ] as const
    ).map(([operation, field, value]) => [operation.path, field, value, operation] as const),
  )('of %s is refused with %s = "%s" (AUD-07, G-41)', async (_path, field, value, operation) => {
    const form = recordingForm({ ...operation.body, [field]: value }, TEN_SECONDS);
    const param = field.replace('[]', '');
    await harness.refused(() => harness.postForm(operation, form), 400, 'invalid_request', param);
  });

  it('takes empty optional fields as omitted, and the booleans of Python', async () => {
    const fields = { diarize: 'True', subtitles: 'False', num_speakers: '', temperature: '' };
    const empty = { language: '', audio_url: '' };
    expect((await harness.call(TRANSCRIPTION, { ...fields, ...empty })).status).toBe(200);
    const seen = (await formSeen(harness.provider.only)).fields;
    expect(seen).toEqual({ model_id: 'scribe_v2', diarize: 'true' });
  });

  it.each([
    ['audio', 'audio must not be a file: a recording is sent in the field file.'],
    ['model', 'model must not be a file: a recording is sent in the field file.'],
  ])('refuses a file in the field %s, which it names', async (field, message) => {
    const form = new FormData();
    form.append('model', TRANSCRIPTION.body.model);
    form.append(field, new Blob([TEN_SECONDS]), 'a.wav');
    const answer = await harness.postForm(TRANSCRIPTION, form);
    expect([answer.status, errorOf(answer)]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid_multipart', param: field, message }),
    ]);
  });

  it.each(['42', 'true', 'null', '1e3', '{"a":1}'])(
    'keeps the text "%s" a text where the field is one (AUD-08, G-41)',
    async (text) => {
      const answer = await harness.call(ALIGNMENT, { text });
      expect(answer.status).toBe(200);
      expect((await formSeen(harness.provider.only)).fields.text).toBe(text);
    },
  );

  it.each([
    ['another boundary', [textPart('model', 'aud-transcribe-v2')], 'C'],
    ['a part that does not end', ['Content-Disposition: form-data; name="model"'], 'B'],
    ['a nameless part', ['Content-Disposition: form-data\r\n\r\nabc'], 'B'],
    [
      'a file whose field has no name',
      ['Content-Disposition: form-data; filename="a"\r\n\r\n'],
      'B',
    ],
    [
      'too many fields',
      [
        textPart('model', 'aud-transcribe-v2'),
        ...Array.from({ length: 40 }, (_, at) => textPart(`f${at}`, '')),
      ],
      'B',
    ],
    ['a name that is too long', [textPart('n'.repeat(200), 'a')], 'B'],
    ['names nested too deep', [textPart('a[b][c]', 'a')], 'B'],
    ['a huge list index', [textPart('a[999999999]', 'a')], 'B'],
    ['a second file', [filePart('file'), filePart('file')], 'B'],
    ['a file and a text named file', [textPart('file', 'a'), filePart('file')], 'B'],
    ['nothing in it', [], 'B'],
    ['a part without a disposition', [...WHOLE, 'Content-Type: text/plain\r\n\r\nword'], 'B'],
    ['an attachment', [...WHOLE, 'Content-Disposition: attachment; name="a"\r\n\r\n'], 'B'],
    ['a name without end', [...WHOLE, 'Content-Disposition: form-data; name="a\r\n\r\n'], 'B'],
    ['an unknown charset', [...WHOLE, typedPart('a', 'text/plain; charset=x', 'b')], 'B'],
    ['padded boundaries', WHOLE.map((part) => `${part}\r\n--B \r\n${part}`), 'B'],
  ])('with %s is refused', async (_what, parts, boundary) => {
    await harness.refused(
      () => postParts(TRANSCRIPTION, parts, boundary),
      400,
      'invalid_multipart',
    );
  });

  it.each([
    ['timestamps', 'invalid_multipart'],
    ['foo', 'invalid_multipart'],
    ['audio', 'invalid_multipart'],
    ['file', 'audio_input_required'],
  ])(
    'with bytes named %s that are no file is refused: nothing that was sent is left out',
    async (name, code) => {
      const url = textPart('audio_url', `${harness.host.url}/a.wav`);
      const parts = [textPart('model', 'aud-transcribe-v2'), url, bytesPart(name, 'word')];
      await harness.refused(() => postParts(TRANSCRIPTION, parts), 400, code);
    },
  );

  it('is whole however many parts it has', async () => {
    const fields = ['diarize', 'subtitles', 'tag_audio_events'].map((name) =>
      textPart(name, 'true'),
    );
    expect((await postParts(TRANSCRIPTION, [...fields, ...WHOLE])).status).toBe(200);
  });

  it('of a page on which no file was chosen has no file', async () => {
    const url = textPart('audio_url', `${harness.host.url}/a.wav`);
    const empty =
      'Content-Disposition: form-data; name="file"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n';
    const parts = [textPart('model', 'aud-transcribe-v2'), url, empty];
    expect((await postParts(TRANSCRIPTION, parts)).status).toBe(200);
  });

  it('with a list where no field is one is refused by the name of the list', async () => {
    const name = 'include';
    const parts = [textPart(`${name}[]`, 'word'), textPart(`${name}[]`, 'segment')];
    const send = () => postParts(TRANSCRIPTION, [textPart('model', 'aud-transcribe-v2'), ...parts]);
    await harness.refused(send, 400, 'invalid_multipart', name);
  });

  it.each([';', ' ; ', '; charset="utf-8; x";'])(
    'may be declared with the parameters "%s" after its boundary',
    async (rest) => {
      const parts = [textPart('model', 'aud-transcribe-v2')];
      await harness.refused(
        () => postParts(TRANSCRIPTION, parts, `B${rest}`),
        400,
        'audio_input_required',
      );
    },
  );

  it('with a field longer than any is refused by name', async () => {
    const parts = [
      textPart('model', 'aud-forced-alignment'),
      textPart('text', 'x'.repeat(400_001)),
      filePart('file'),
    ];
    await harness.refused(() => postParts(ALIGNMENT, parts), 400, 'invalid_request', 'text');
  });

  it('without a boundary, cut short or never begun is refused', async () => {
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=']) {
      const post = () =>
        send(harness.url(TRANSCRIPTION), {
          method: 'POST',
          headers: { ...harness.account.headers, 'content-type': type },
          body: 'abc',
        });
      await harness.refused(post, 400, 'invalid_multipart');
    }
    const post = () =>
      send(harness.url(TRANSCRIPTION), {
        method: 'POST',
        headers: { ...harness.account.headers, 'content-type': 'multipart/form-data; boundary=B' },
        body: `--B\r\n${textPart('model', 'aud-transcribe-v2')}\r\n--B\r\n${filePart('file')}`,
      });
    await harness.refused(post, 400, 'invalid_multipart');
  });

  it('with a __proto__ field is refused like any other unknown field', async () => {
    const parts = [
      textPart('model', 'aud-transcribe-v2'),
      textPart('__proto__', 'a'),
      filePart('file'),
    ];
    await harness.refused(
      () => postParts(TRANSCRIPTION, parts),
      400,
      'invalid_request',
      '__proto__',
    );
  });
});
